#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libcxltier.so with and without the core in the process, linked and opened late, and what the
# library itself is made of: client_test.sh CLIENT_PROGRAM CLIENT_LIBRARY PRELOAD_LIBRARY
set -euo pipefail

program=$1 client=$2 preload=$3
# shellcheck source=tests/expect.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../expect.sh"

status=0
"$program" absent || status=$?
expect 'linked, without the core' 0 "$status"
status=0
LD_PRELOAD=$preload "$program" present || status=$?
expect 'linked, with the core' 0 "$status"

open_late='
import ctypes, sys
client = ctypes.CDLL(sys.argv[1])
client.cxltier_version.restype = ctypes.c_char_p
figures = (ctypes.c_uint64 * 7)(56)
version = client.cxltier_version().decode()
print(version, client.cxltier_active(), client.cxltier_statistics(figures))'
if command -v python3 >/dev/null; then
  expect 'dlopen, without the core' "$CXLTIER_VERSION 0 -38" "$(python3 -c "$open_late" "$client")"
  # A heap below CXLTIER_START: the core is there and has not started.
  expect 'dlopen, with the core' "$CXLTIER_VERSION 0 -11" \
    "$(CXLTIER_START=1G LD_PRELOAD=$preload python3 -c "$open_late" "$client")"
fi

# The linker may leave libc out where nothing is called.
expect 'needs nothing but libc' '' "$(readelf --dynamic --wide "$client" |
  sed --quiet 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep --invert-match '^libc\.so\.6$' || true)"
expect 'thread-local storage' '' \
  "$(readelf --program-headers --wide "$client" | grep TLS || true)"
map=$(dirname -- "${BASH_SOURCE[0]}")/../../runtime/api/client.map
expect 'exports' "$(sed --quiet 's/^ *\(cxltier_[a-z_]*\);$/\1/p' "$map" | sort)" \
  "$(nm --dynamic --defined-only "$client" |
    awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort)"
exit $((failures > 0))
