#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Counts the instructions of a malloc and free of 64 bytes and compares them with plain jemalloc.
#
#   instructions_per_pair.sh LIBRARY PROGRAM    PROGRAM: malloc_pairs
#
# Counts are exact and repeatable, other than times.  The limit of 1.12 leaves room for the test of
# one flag and the second jump, and for nothing else.
set -euo pipefail

(($# == 2)) || { sed -n '4,6p' "$0" >&2; exit 2; }
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
library=$work/library.so program=$work/program
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
# Debug information of a newer compiler than valgrind's own ends valgrind.
objcopy --strip-debug "$1" "$library"
objcopy --strip-debug "$2" "$program"
# Found as the loader finds it.
jemalloc=$(ldconfig --print-cache 2>/dev/null || /sbin/ldconfig --print-cache)
jemalloc=$(awk '/libjemalloc\.so\.2/ { print $NF; exit }' <<<"$jemalloc")
[[ -n $jemalloc ]] || { echo "skipped: libjemalloc.so.2 is not installed"; exit 77; }

instructions() {  # LIBRARY COUNT
  env "LD_PRELOAD=$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    "$program" "$2" 2>&1 | awk '/Collected :/ { n = $NF } END { print n + 0 }'
}
# Of one pair, in hundredths: what start-up costs cancels out.
per_pair() { echo $((($(instructions "$1" 120000) - $(instructions "$1" 20000)) / 1000)); }

ours=$(per_pair "$library")
theirs=$(per_pair "$jemalloc")
echo "instructions per pair: ${ours%??}.${ours: -2} ours, ${theirs%??}.${theirs: -2} jemalloc"
((theirs > 0)) || { echo "callgrind counted nothing" >&2; exit 1; }
((ours * 100 <= theirs * 112)) || { echo "more than 1.12 times jemalloc's" >&2; exit 1; }
