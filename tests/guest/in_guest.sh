#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a test program in a guest: in_guest.sh PROGRAM [ARG...].  Exit status is the program's; 77,
# from the program or because no guest can run here, means skip.  CXLTIER_GUEST_OPTIONS holds more
# options for qemu/run.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
read -r -a options <<<"${CXLTIER_GUEST_OPTIONS:-}"
exec "$here/../../qemu/run" --timeout 540 "${options[@]}" -- "$@"
