#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Counts the instructions of allocating and freeing 64 bytes and compares them with plain jemalloc.
#
#   instructions_per_pair.sh LIBRARY PAIRS LOAD    PAIRS: malloc_pairs, LOAD: allocator_load
#
# Counts are exact and repeatable, other than times.  The limits leave room for one comparison and
# a second jump in malloc and in free, and for nothing else; a sized delete shall be a plain free.
set -euo pipefail

(($# == 3)) || { sed -n '4,6p' "$0" >&2; exit 2; }
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
library=$work/library.so pairs=$work/pairs load=$work/load
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
# Debug information of a newer compiler than valgrind's own ends valgrind.
objcopy --strip-debug "$1" "$library"
objcopy --strip-debug "$2" "$pairs"
objcopy --strip-debug "$3" "$load"
# Found as the loader finds it.
jemalloc=$(ldconfig --print-cache 2>/dev/null || /sbin/ldconfig --print-cache)
jemalloc=$(awk '/libjemalloc\.so\.2/ { print $NF; exit }' <<<"$jemalloc")
[[ -n $jemalloc ]] || { echo "skipped: libjemalloc.so.2 is not installed"; exit 77; }

instructions() {  # LIBRARY COMMAND...
  local preloaded=$1
  shift
  env "LD_PRELOAD=$preloaded" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 |
    awk '/Collected :/ { n = $NF } END { print n + 0 }'
}
# Of one pair, in hundredths: what start-up costs cancels out.
per_pair() {  # LIBRARY COMMAND...: N stands for the number of pairs
  local preloaded=$1 many few
  shift
  many=$(instructions "$preloaded" "${@/#N/120000}")
  few=$(instructions "$preloaded" "${@/#N/20000}")
  echo $(((many - few) / 1000))
}
failed=0
compare() {  # WHAT OURS THEIRS PERCENT
  echo "$1: ${2%??}.${2: -2} ours, ${3%??}.${3: -2} jemalloc"
  (($3 > 0)) || { echo "callgrind counted nothing" >&2; exit 1; }
  (($2 * 100 <= $3 * $4)) || { echo "more than $4 % of jemalloc's" >&2; failed=1; }
}

theirs=$(per_pair "$jemalloc" "$pairs" N)
compare 'malloc + free' "$(per_pair "$library" "$pairs" N)" "$theirs" 112
compare 'new + sized delete' "$(per_pair "$library" "$load" new_delete_64 N)" \
  "$(per_pair "$jemalloc" "$load" new_delete_64 N)" 75
exit "$failed"
