#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs many test programs, so that one boot serves them all: run_each.sh PROGRAM...
# Exit status: 1 if any failed, 77 if all were skipped, else 0.
set -euo pipefail

failed=() passed=0
for program in "$@"; do
  printf '== %s\n' "${program##*/}"
  status=0
  "$program" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) ;;
    *) failed+=("${program##*/} ($status)") ;;
  esac
done
if ((${#failed[@]})); then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
((passed)) || exit 77
