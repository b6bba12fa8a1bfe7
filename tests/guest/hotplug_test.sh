#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# In a guest whose CXL memory is taken away: a program that starts now has one tier.  When the
# memory comes back its limit is kept; `provision --undo` refuses while it is there and says who
# uses it; when it goes by force, the program has one tier again.  Every word of its heap stays.
# Runs from the folder of the binaries, and without arguments, so that it shares a boot.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/expect.sh
source "$here/../expect.sh"
bin=$PWD
library=${bin%/*}/lib/libcxltier-preload.so
[[ -e $library ]] || { echo 'skipped: no preload library in this build'; exit 77; }
cxl_node=/sys/devices/system/node/node2
work=$(mktemp --directory)
pid=
# shellcheck disable=SC2317 # called by the trap
stop() {
  [[ -z $pid ]] || kill -KILL "$pid" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

status_of() {
  local status=0
  "$@" >"$work/out" 2>&1 || status=$?
  printf '%s' "$status"
}

# Whether the command succeeds within two minutes: a bound that only ends a failed test.
becomes_true() { # COMMAND...
  local i
  for ((i = 0; i < 240; ++i)); do
    if "$@"; then echo yes; return; fi
    sleep 0.5
  done
  "$bin/cxltier" stat "$pid" >&2 || true
  echo no
}
# Conditions, called by name.
# shellcheck disable=SC2317
state_is() { "$bin/cxltier" stat "$pid" 2>/dev/null | head --lines=1 | grep --quiet ": $1"; }
# What the kernel says that the program's heap has on the CXL node, in pages.
# shellcheck disable=SC2317
pages_on_cxl() {
  awk '{ for (i = 2; i <= NF; ++i) if ($i ~ /^N2=/) sum += substr($i, 4) } END { print sum + 0 }' \
    "/proc/$pid/numa_maps"
}
# shellcheck disable=SC2317
has_pages_on_cxl() { (($(pages_on_cxl) >= $1)); }

[[ ! -e $cxl_node || $(status_of "$bin/cxltier" provision --undo) == 0 ]] || cat "$work/out"
mkfifo "$work/in"
env "LD_PRELOAD=$library" CXLTIER_START=1M CXLTIER_LIMIT=dram=8M "$bin/preload_grow_heap" \
  <"$work/in" >"$work/program" 2>&1 &
pid=$!
exec {input}>"$work/in"
expect 'without CXL memory: idle' yes "$(becomes_true state_is 'idle: only one memory tier')"

expect 'provision' 0 "$(status_of "$bin/cxltier" provision)"
expect 'with CXL memory: active' yes "$(becomes_true state_is active)"
# 32 MiB of heap under a limit of 8 MiB.
expect 'beyond the limit: on CXL' yes "$(becomes_true has_pages_on_cxl $((20 * 256)))"

expect 'undo while it is in use' 1 "$(status_of "$bin/cxltier" provision --undo)"
named=$(grep --only-matching --max-count=1 "\b$pid\b" "$work/out" || cat "$work/out")
expect 'undo names the program' "$pid" "${named%%$'\n'*}"

expect 'undo all the same' 0 "$(status_of "$bin/cxltier" provision --undo --force)"
expect 'gone: idle' yes "$(becomes_true state_is 'idle: only one memory tier')"

exec {input}>&-
status=0
wait "$pid" || status=$?
pid=
expect 'exit status of the program' 0 "$status"
expect 'its output: every word is there' $'grown\nunchanged' "$(<"$work/program")"
exit $((failures > 0))
