#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the load generators for arm64 and runs them under an emulator: neon_in_emulator.sh SOURCE,
# the root of the source tree.  Exit status 77, where there is no cross compiler or no emulator,
# means skip.
set -euo pipefail

root=$1
compiler=$(command -v aarch64-linux-gnu-g++ || true)
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if [[ -z $compiler || -z $emulator ]]; then
  echo 'skipped: no aarch64-linux-gnu-g++, or no qemu-aarch64'
  exit 77
fi
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT
kernel=$root/bench/tier/kernel
"$compiler" -std=c++20 -O3 -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -static \
  -I "$root" -o "$scratch/neon_check" "$root/tests/bench/tier/neon_check.cpp" \
  "$kernel/load_kernel.cpp" "$kernel/load_kernel_neon.cpp" "$kernel/load_kernel_scalar.cpp" \
  "$kernel/mix.cpp"
"$emulator" "$scratch/neon_check"
