#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs, then builds and runs the examples from outside, as a user would.
#
#   installed_package.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail

(($# == 2)) || { sed -n '4,6p' "$0" >&2; exit 2; }
build=$1 source=$2
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1" >&2; exit 1; }

# Only what belongs to the libraries: the command may not be built yet.
cmake -DCMAKE_INSTALL_PREFIX="$work/usr" -DCMAKE_INSTALL_COMPONENT=libraries \
  -P "$build/cmake_install.cmake" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
library=$(find "$work/usr" -name 'libcxltier-preload.so')
[[ -n $library ]] || fail "the preload library was not installed"
folder=$(dirname "$library")

cmake -G Ninja -S "$source/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/usr" \
  -DCMAKE_BUILD_TYPE=Debug >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }

expect() {  # WORD COMMAND...: the command succeeds and prints the word
  local word=$1 printed
  shift
  printed=$("$@") || fail "failed: $* printed: $printed"
  [[ $printed == *"$word"* ]] || fail "'$*' printed no '$word': $printed"
}
expect 'tier 0:' "$work/build/hints"
expect right "$work/build/containers"
expect 'no core' "$work/build/hints_with_client"
expect 'tier 0:' env LD_PRELOAD="$library" "$work/build/hints_with_client"

command -v pkg-config >/dev/null || { echo 'skipped: pkg-config is not installed'; exit 77; }
export PKG_CONFIG_PATH=$folder/pkgconfig LD_LIBRARY_PATH=$folder
for package in cxltier cxltier-client; do
  # The prefix of the build is not where this copy lies.
  read -ra flags < <(pkg-config --define-variable=prefix="$work/usr" --cflags --libs "$package")
  "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "$source/examples/hints.c" \
    -o "$work/$package" "${flags[@]}"
done
expect 'tier 0:' "$work/cxltier"
expect 'no core' "$work/cxltier-client"
