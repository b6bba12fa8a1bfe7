#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a test program in a guest: in_guest.sh PROGRAM [ARG...].  Exit status is the program's; 77,
# from the program or because no guest can run here, means skip.  CXLTIER_GUEST_OPTIONS holds more
# options for qemu/run.  Of a test that failed, the end of the console is printed.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
read -r -a options <<<"${CXLTIER_GUEST_OPTIONS:-}"
work=$(mktemp --directory)
guest=
trap 'rm -rf "$work"' EXIT
trap 'kill -TERM "$guest" 2>/dev/null || true; wait "$guest" 2>/dev/null || true; exit 143' TERM INT

run_guest() { # COMMAND...
  "$here/../../qemu/run" --timeout 540 --log "$work/console" "${options[@]}" -- "$@" \
    2>"$work/said" &
  guest=$!
  status=0
  wait "$guest" || status=$?
  cat "$work/said" >&2
}

run_guest "$@"
# QEMU itself died of a signal, as TCG now and then does while the memory map changes
# ("iotlb_to_section: Assertion `section_index < d->map.sections_nb' failed", QEMU 10.0): that says
# nothing of the program.  Once; a second time is a failure.
if ((status >= 124)) && grep -Eq 'QEMU ended with status 1(34|39) ' "$work/said"; then
  echo 'in_guest.sh: QEMU itself crashed; running the guest once again' >&2
  run_guest "$@"
fi
# What qemu/run ends with 124 or 125 for, it has shown itself.
if ((status != 0 && status != 77 && status < 124)) && [[ -s $work/console ]]; then
  echo "last lines of the guest's console:" >&2
  tail -n 40 "$work/console" | tr -d '\r' | sed 's/^/  | /' >&2
fi
exit "$status"
