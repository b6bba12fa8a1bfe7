#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes a private copy of the distribution's jemalloc, in which no name can meet another jemalloc.
#
#   rename_jemalloc.sh ARCHIVE OUTPUT
#
# Every symbol that the archive defines gets the prefix cxltier_je_, and so do the imports that we
# answer ourselves (allocator/jemalloc_imports.cpp).  The C++ operators are dropped; ours replace
# them, and without them nothing needs libstdc++.  Environment: NM, AR, OBJCOPY.
set -euo pipefail

(($# == 2)) || { sed -n '4,6p' "$0" >&2; exit 2; }
archive=$1 output=$2
nm=${NM:-nm} ar=${AR:-ar} objcopy=${OBJCOPY:-objcopy}

# Kernel calls go through our seam, fork handlers through fork.cpp; the mathematics and the stack
# walks belong to heap profiling, which stays off, and would pull in libm and libgcc_s.
imports=(mmap munmap madvise mprotect sbrk pthread_atfork exp log round _Unwind_Backtrace
  _Unwind_GetIP)

work=$(mktemp --directory "$output.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$archive" "$work/jemalloc.a"
chmod u+w "$work/jemalloc.a"
if "$ar" t "$work/jemalloc.a" | grep --quiet --line-regexp 'jemalloc_cpp.pic.o'; then
  "$ar" d "$work/jemalloc.a" jemalloc_cpp.pic.o
fi

# Local symbols keep their names, except what the compiler split off (je_tsd_cleanup.cold).
{
  "$nm" "$work/jemalloc.a" | awk 'NF == 3 && ($2 ~ /^[TBDVRWGS]$/ || $3 ~ /^je_/) { print $3 }'
  printf '%s\n' "${imports[@]}"
} | LC_ALL=C sort --unique | awk '{ print $1, "cxltier_je_" $1 }' >"$work/names"
grep --quiet '^malloc ' "$work/names" || {
  echo "rename_jemalloc: $archive does not define malloc under its own name" >&2
  exit 1
}

"$objcopy" --redefine-syms="$work/names" --remove-section='.gnu.lto_*' \
  --remove-section='.gnu.debuglto_*' "$work/jemalloc.a"
mv "$work/jemalloc.a" "$output"
