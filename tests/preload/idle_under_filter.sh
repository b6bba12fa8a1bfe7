#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A process that the service's filter keeps the runtime from serving: it runs on, and `cxltier stat`
# says why it is left alone.
#
#   idle_under_filter.sh BIN LIBRARY [WORD...]
#
# BIN is the folder of the built programs, a WORD what the reason must name.  Without a WORD any
# reason will do: on a machine with one node that is found out first.  CXLTIER_FILTER holds
# the filter's option, if not the service's filter is meant.
set -euo pipefail

(($# >= 2)) || { sed -n '6,9p' "$0" >&2; exit 2; }
bin=$1 library=$2
shift 2

work=$(mktemp --directory)
pid=
stop() {
  [[ -z $pid ]] || kill -KILL "$pid" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
fail() {
  printf 'FAILED: %s\n' "$1" >&2
  cat "$work"/{out,err,stat} >&2 || true
  exit 1
}

mkfifo "$work/in"
env "LD_PRELOAD=$library" CXLTIER_START=1M "$bin/preload_service_filter" \
  ${CXLTIER_FILTER:+"$CXLTIER_FILTER"} "$bin/preload_grow_heap" \
  <"$work/in" >"$work/out" 2>"$work/err" &
pid=$!
exec {input}>"$work/in"

# The bound only ends a failed test: an emulated guest is slow.
for ((i = 0; i < 600; ++i)); do
  if ! kill -0 "$pid" 2>/dev/null; then
    grep --quiet '^skipped' "$work/out" && { cat "$work/out"; exit 77; }
    fail 'the process died'
  fi
  "$bin/cxltier" stat "$pid" >"$work/stat" 2>&1 && grep --quiet ': idle: ' "$work/stat" && break
  sleep 0.1
done
((i < 600)) || fail 'stat never said idle'
state=$(head -n 1 "$work/stat")
for word in "$@"; do
  [[ $state == *"$word"* ]] || fail "the reason does not name $word"
done
printf 'ok: %s\n' "$state"

exec {input}>&-
status=0
wait "$pid" || status=$?
pid=
((status == 0)) || fail "the process ended with status $status"
[[ $(<"$work/out") == $'grown\nunchanged' ]] || fail 'its output differs'
[[ ! -s $work/err ]] || fail 'something was written to its standard error'
