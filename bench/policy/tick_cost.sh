#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Instructions of one planner tick per leaf, counted by callgrind: 1, 16, 256 GiB and 1 TiB in 2 MiB
# leaves, when one leaf in 128 is touched.  Counts are the same on every run; the difference
# of two runs leaves the start out.
#
#   tick_cost.sh PROGRAM INSTRUCTIONS_PER_LEAF_MAX BYTES_MAX [LEAVES...]
set -euo pipefail

program="$1"
instructions_max="$2"
bytes_max="$3"
shift 3
sizes=("$@")
if [ "${#sizes[@]}" -eq 0 ]; then
  sizes=(512 8192 131072 524288)
fi

if ! command -v valgrind >/dev/null; then
  echo "tick_cost: skipped: valgrind is not installed"
  exit 77
fi

scratch="$(mktemp --directory)"
trap 'rm --recursive --force "$scratch"' EXIT

# Instructions inside Tiering::tick of a whole run.
count() {
  valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
    --toggle-collect='cxltier::Tiering::tick*' "$program" "$1" "$2" \
    >"$scratch/text" 2>"$scratch/log"
  sed -n 's/^.*Collected : \([0-9]*\)$/\1/p' "$scratch/log"
}

status=0
for leaves in "${sizes[@]}"; do
  few="$(count "$leaves" 2)"
  many="$(count "$leaves" 6)"
  per_leaf="$(((many - few) / 4 / leaves))"
  bytes="$(sed -n 's/^\([0-9]*\) bytes$/\1/p' "$scratch/text")"
  echo "leaves $leaves instructions_per_tick $(((many - few) / 4)) per_leaf $per_leaf bytes $bytes"
  # A fixed part of a tick, as the histograms, weighs more where leaves are few.
  if [ "$leaves" -ge 8192 ] && [ "$per_leaf" -gt "$instructions_max" ]; then
    echo "tick_cost: more than $instructions_max instructions per leaf" >&2
    status=1
  fi
  if [ "$bytes" -gt "$bytes_max" ]; then
    echo "tick_cost: more than $bytes_max bytes" >&2
    status=1
  fi
done
exit "$status"
