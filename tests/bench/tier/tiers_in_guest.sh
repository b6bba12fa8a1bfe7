#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tier bench on three tiers: boots a guest with two DRAM nodes and a CXL device, measures in it,
# and checks the results here.  tiers_in_guest.sh PROGRAM [FOLDER_TO_KEEP_RESULTS_IN]
#
# Shapes, labels and the order of tiers are asserted; no figure is, since all of it is emulated.
# Exit status 77, when no guest can run here, means skip.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
program=$1
results=${2:-}
if [[ -z $results ]]; then
  results=$(mktemp --directory)
  trap 'rm -rf "$results"' EXIT
fi
read -r -a options <<<"${CXLTIER_GUEST_OPTIONS:-}"

# Small buffers: each access to emulated CXL memory costs microseconds.
common='--rounds 3 --sample-ms 20 --buffer-mib 8 --time 100 --pages 4k'
status=0
"$here/../../../qemu/run" --timeout 540 --share "$results" "${options[@]}" -- bash -c "
  set -e
  cd '$results'
  '$program' latency $common --json >latency.json
  '$program' bandwidth --mixes R,1:1 $common --json >bandwidth.json
  '$program' curve --mixes R --delays 0,2000 $common --json >curve.json
  '$program' interleave --mixes R $common --json >interleave.json
  '$program' move --nodes 0,2 $common --json >move.json
  '$program' latency $common >latency.txt
" || status=$?
((status == 0)) || exit "$status"
python3 "$here/guest_results.py" "$results"
