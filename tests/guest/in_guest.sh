#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a test program in a guest: in_guest.sh PROGRAM [ARG...].  Exit status is the program's; 77,
# from the program or because no guest can run here, means skip.  CXLTIER_GUEST_OPTIONS holds more
# options for qemu/run.  Of a test that failed, the end of the console is printed.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
read -r -a options <<<"${CXLTIER_GUEST_OPTIONS:-}"
console=$(mktemp)
guest=
trap 'rm -f "$console"' EXIT
trap 'kill -TERM "$guest" 2>/dev/null || true; wait "$guest" 2>/dev/null || true; exit 143' TERM INT
"$here/../../qemu/run" --timeout 540 --log "$console" "${options[@]}" -- "$@" &
guest=$!
status=0
wait "$guest" || status=$?
# What qemu/run ends with 124 or 125 for, it has shown itself.
if ((status != 0 && status != 77 && status < 124)) && [[ -s $console ]]; then
  echo "last lines of the guest's console:" >&2
  tail -n 40 "$console" | tr -d '\r' | sed 's/^/  | /' >&2
fi
exit "$status"
