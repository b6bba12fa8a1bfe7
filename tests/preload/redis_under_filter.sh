#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# redis-server as Debian's own service runs it, as far as system calls go: it serves, keeps more
# data than the heap at which the runtime starts, and shuts down.
#
#   redis_under_filter.sh BIN LIBRARY
set -euo pipefail

(($# == 2)) || { sed -n '7p' "$0" >&2; exit 2; }
bin=$1 library=$2
for program in redis-server redis-cli; do
  command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done

work=$(mktemp --directory)
server=
stop() {
  [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
fail() {
  printf 'FAILED: %s\n' "$1" >&2
  cat "$work/log" >&2
  exit 1
}
ask() { redis-cli -s "$work/socket" "$@"; }

env "LD_PRELOAD=$library" CXLTIER_START=1M "$bin/preload_service_filter" redis-server --port 0 \
  --unixsocket "$work/socket" --dir "$work" --save '' --appendonly no --daemonize no \
  >"$work/log" 2>&1 &
server=$!
for ((i = 0; i < 300; ++i)); do
  [[ -S $work/socket && $(ask PING 2>/dev/null) == PONG ]] && break
  grep --quiet '^skipped' "$work/log" && { cat "$work/log"; exit 77; }
  kill -0 "$server" 2>/dev/null || fail 'redis-server died'
  sleep 0.1
done
grep --quiet "$library" "/proc/$server/maps" || fail 'the library is not in the server'
grep --quiet '^Seccomp:[[:space:]]*2$' "/proc/$server/status" || fail 'no filter is in force'

[[ $(ask SET key value) == OK && $(ask GET key) == value ]] || fail 'SET and GET'
ask EVAL "for i = 1, 24000 do redis.call('SET', 'k' .. i, string.rep('x', 1000) .. i) end" 0 \
  >/dev/null
used=$(ask INFO memory | tr --delete '\r' | sed -n 's/^used_memory://p')
((used > 16 << 20)) || fail "used_memory is only $used"

# The runtime has decided by then; a server that it killed would not answer any more.
for ((i = 0; i < 300; ++i)); do
  "$bin/cxltier" stat "$server" 2>/dev/null | grep --quiet ': idle: ' && break
  sleep 0.1
done
((i < 300)) || fail 'stat never said idle'
for key in 1 12345 24000; do
  [[ $(ask GET "k$key") == *"x$key" ]] || fail "k$key is not what was stored"
done

ask SHUTDOWN NOSAVE >/dev/null 2>&1 || true
status=0
wait "$server" || status=$?
server=
((status == 0)) || fail "redis-server ended with status $status"
! grep --quiet --ignore-case 'jemalloc>\|cxltier' "$work/log" || fail 'the allocator spoke'
