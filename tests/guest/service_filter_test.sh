#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Where there is something to move and a service's filter kills for moving it, or a container's
# refuses: the process lives on, and stat names the calls.  Runs in a guest, from the folder of the
# binaries, and without arguments, so that it shares a boot.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
bin=$PWD
library=${bin%/*}/lib/libcxltier-preload.so

"$bin/preload_service_filter" "$bin/preload_probe_under_filter"
"$here/../preload/idle_under_filter.sh" "$bin" "$library" 'mbind (kills)' 'move_pages (kills)'
CXLTIER_FILTER=--docker "$here/../preload/idle_under_filter.sh" "$bin" "$library" \
  'mbind (refused)' 'move_pages (refused)'
CXLTIER_FILTER=--docker-nice "$here/../preload/idle_under_filter.sh" "$bin" "$library" \
  'move_pages (refused)'
