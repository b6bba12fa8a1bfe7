#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the preload library needs and what it shows, read from the file.
#
#   library_symbols.sh LIBRARY LIST...    LIST: the names that it shall export
set -euo pipefail

(($# >= 2)) || { sed -n '4,6p' "$0" >&2; exit 2; }
library=$1
shift
failed=0
fail() { echo "$1" >&2; failed=1; }

needed=$(readelf --dynamic --wide "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[[ -n $needed ]] || fail "nothing is needed: is this the library?"
for name in $needed; do
  case $name in
    libc.so.6 | ld-linux*.so.*) ;;
    *) fail "needs $name" ;;
  esac
done

# Programs are built on newer systems than they run on.
highest=$(objdump --dynamic-syms "$library" | grep --only-matching 'GLIBC_[0-9.]*' |
  sort --unique --version-sort | tail -1)
[[ $(printf '%s\n' "$highest" GLIBC_2.34 | sort --version-sort | tail -1) == GLIBC_2.34 ]] ||
  fail "needs $highest, which is newer than GLIBC_2.34: $(
    objdump --dynamic-syms "$library" | grep --fixed-strings "$highest")"

wanted=$(cat "$@" | grep --invert-match '^#' | LC_ALL=C sort)
exported=$(nm --dynamic --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort)
diff <(echo "$wanted") <(echo "$exported") || fail "exports differ from the lists (> is exported)"

# A jemalloc name that is not ours would meet the jemalloc of an application.
strangers=$(nm --defined-only "$library" | awk '{ print $NF }' | grep '^je_' || true)
[[ -z $strangers ]] || fail "jemalloc under its own names: $strangers"

exit "$failed"
