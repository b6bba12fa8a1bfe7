#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# qemu/validate on one guest: every check of the suites that take seconds passes or says why it was
# skipped, also with a device that is plugged in and errors that are injected; all reports are made;
# and compared with itself nothing has changed.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/expect.sh
source "$here/../expect.sh"
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT

status=0
"$here/../../qemu/validate" --topology hotplug --suite region --suite discovery --suite firmware \
  --suite ras --suite hotplug --out "$work" >"$work/table" 2>"$work/progress" || status=$?
if ((status == 77)); then
  cat "$work/progress"
  exit 77
fi
expect 'status' 0 "$status"
((status == 0)) || cat "$work/table" "$work/progress"

# What must hold of the report: WHAT EXPRESSION over `results`.
holds() {
  expect "$1" True "$(python3 - "$work/report.json" "$2" <<'END'
import json
import sys
with open(sys.argv[1], encoding="utf-8") as file:
    cell = json.load(file)["cells"][0]
results = cell["results"]
passed = {r["name"] for r in results if r["status"] == "pass"}
print(eval(sys.argv[2]))
END
  )"
}
holds 'checks' 'len(results) > 25'
holds 'every check that did not pass says why' \
  'all(r["reason"] for r in results if r["status"] != "pass")'
holds 'regions' '{"region.volatile_by_sysfs", "setup.declared_regions"} <= passed'
holds 'a device that was plugged in' '"hotplug.add_use_remove" in passed'
holds 'errors that were injected' \
  '{"ras.poison", "ras.dram_event", "ras.general_media_event"} <= passed'
holds 'a clean log of the boot' '"boot.kernel_log_is_clean" in passed'
holds 'the console' '"cxltier-check: start discovery.nodes" in cell["console"]'
expect 'JUnit' 1 "$(grep --count '<testsuites ' "$work/junit.xml")"
expect 'page' 1 "$(grep --count '<h1>CXL validation</h1>' "$work/report.html")"
if ((failures)); then
  tail -n 40 "$work/table"
fi
exit $((failures > 0))
