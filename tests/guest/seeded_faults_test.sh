#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Faults of a configuration that are seeded on purpose: qemu/validate must fail, and the reason of a
# failed check must name the cause.  One guest per fault.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
validate=$here/../../qemu/validate
# shellcheck source=tests/expect.sh
source "$here/../expect.sh"
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT

# Runs a guest; its report is then looked at by expect_cause.
seed() { # WHAT TOPOLOGY OPTION...
  local what=$1 topology=$2 status=0
  shift 2
  "$validate" --topology "$topology" --suite region --suite discovery --out "$work/out" "$@" \
    >"$work/said" 2>&1 || status=$?
  if ((status == 77)); then
    cat "$work/said"
    exit 77
  fi
  expect "$what: status" 1 "$status"
}

# The reason of failed check $1 holds text $2.
expect_cause() { # CHECK TEXT
  local reason
  reason=$(python3 - "$work/out/report.json" "$1" <<'END'
import json
import sys
with open(sys.argv[1], encoding="utf-8") as file:
    results = json.load(file)["cells"][0]["results"]
print(next((r["reason"] for r in results if r["name"] == sys.argv[2] and r["status"] == "fail"),
           "the check did not fail"))
END
  )
  if [[ $reason == *"$2"* ]]; then
    printf 'ok: %s: %s\n' "$1" "$reason"
  else
    expect "$1" "...$2..." "$reason"
  fi
}

seed 'memory stays offline' cxl1 --append 'efi=nosoftreserve memhp_default_state=offline'
expect_cause discovery.kernel_parameters "'efi=nosoftreserve' is on the kernel's command line"
expect_cause discovery.kernel_parameters "'memhp_default_state=offline' is on the kernel's"
expect_cause discovery.regions "'memhp_default_state=offline' is on the kernel's command line"

seed 'no cxl_acpi' cxl1 --append 'module_blacklist=cxl_acpi'
expect_cause setup.declared_regions "'module_blacklist=cxl_acpi' is on the kernel's command line"
expect_cause discovery.drivers 'neither loaded nor built in: cxl_acpi'

seed 'a window that is too small' "$here/faults/small-window.topology"
expect_cause setup.declared_regions 'window 0 has 256 MiB, too small for the region'

seed 'two devices with one serial' "$here/faults/same-serials.topology"
expect_cause discovery.memory_devices 'several devices have serial 0x1'

seed 'another granularity' "$here/faults/granularity.topology"
expect_cause setup.declared_regions \
  'granularity 256 differs from the 8192 of the interleaved window'

seed 'a visible hypervisor' "$here/faults/hypervisor.topology"
expect_cause discovery.hypervisor_bit 'the CPU shows the hypervisor bit'
expect_cause setup.declared_regions 'the CPU shows the hypervisor bit'
exit $((failures > 0))
