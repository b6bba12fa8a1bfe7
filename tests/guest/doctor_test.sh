#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# In a guest: `cxltier doctor` finds nothing wrong with a working machine, names the missing
# region once it is taken away, and is content after the fix that it printed.
# Runs from the folder of the binaries, and without arguments, so that it shares a boot.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/expect.sh
source "$here/../expect.sh"
cxltier=$PWD/cxltier
nodes=/sys/devices/system/node

# Prints the ids of the checks that failed.
failed_checks() {
  "$cxltier" doctor --json 2>/dev/null | python3 -c '
import json, sys
print(*[check["id"] for check in json.load(sys.stdin)["checks"] if check["state"] == "fail"])'
}

# Prints the fixes of check $1.
fixes() {
  "$cxltier" doctor --json 2>/dev/null | python3 -c '
import json, sys
for check in json.load(sys.stdin)["checks"]:
    if check["id"] == sys.argv[1]:
        print(*check["fixes"], sep="\n")' "$1"
}

status_of() {
  local status=0
  "$@" >/dev/null 2>&1 || status=$?
  printf '%s' "$status"
}

expect 'failures of a working machine' '' "$(failed_checks)"
expect 'its exit status' 0 "$(status_of "$cxltier" doctor)"
expect 'an archive of it' 0 "$(status_of "$cxltier" collect /tmp/machine.tar)"
expect 'what the archive says' 0 "$(status_of "$cxltier" doctor --from /tmp/machine.tar)"

# Booted with memhp_default_state=online_movable: in zone Normal the kernel's own pages may stay.
expect 'undo' 0 "$(status_of "$cxltier" provision --undo)"
expect 'failures without a region' region "$(failed_checks)"
expect 'exit status without a region' 1 "$(status_of "$cxltier" doctor)"
expect 'the fix' 'cxltier provision' "$(fixes region | head --lines=1)"
expect 'provision' 0 "$(status_of "$cxltier" provision)"
expect 'failures after the fix' '' "$(failed_checks)"
expect 'memory of the node' 1048576 \
  "$(awk '/MemTotal/ { print $4 }' "$nodes"/node2/meminfo)"
expect 'zone of its blocks' Movable "$(cat "$nodes"/node2/memory*/valid_zones | sort --unique)"
expect 'taken away once more' 0 "$(status_of "$cxltier" provision --undo)"
exit $((failures > 0))
