#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A real database that asks its allocator questions: its answers must be about the heap in use.
#
#   redis_server.sh LIBRARY
set -euo pipefail

(($# == 1)) || { sed -n '4,6p' "$0" >&2; exit 2; }
library=$1
for program in redis-server redis-cli; do
  command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done

work=$(mktemp --directory)
server=
stop() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
fail() {
  echo "$1" >&2
  cat "$work/log" >&2
  exit 1
}
ask() { redis-cli -s "$work/socket" "$@"; }
field() { ask INFO memory | tr --delete '\r' | sed -n "s/^$1://p"; }

env "LD_PRELOAD=$library" redis-server --port 0 --unixsocket "$work/socket" --dir "$work" \
  --save '' --appendonly no --daemonize no >"$work/log" 2>&1 &
server=$!
for ((i = 0; i < 100; ++i)); do
  [[ -S $work/socket && $(ask PING 2>/dev/null) == PONG ]] && break
  kill -0 "$server" 2>/dev/null || fail "redis-server died"
  sleep 0.1
done
grep --quiet "$library" "/proc/$server/maps" || fail "the library is not in the server"

[[ $(ask SET key value) == OK ]] || fail "SET"
[[ $(ask GET key) == value ]] || fail "GET"
ask DEBUG JMAP >/dev/null 2>&1 || true
ask EVAL "for i = 1, 20000 do redis.call('SET', 'k' .. i, string.rep('x', 1000)) end" 0 >/dev/null
used=$(field used_memory)
allocated=$(field allocator_allocated)
((used > 20000000)) || fail "used_memory is only $used"
((allocated > used * 9 / 10 && allocated < used * 3 / 2)) ||
  fail "allocator_allocated is $allocated, used_memory $used"

resident=$(field allocator_resident)
[[ $(ask FLUSHALL SYNC) == OK ]] || fail "FLUSHALL"
[[ $(ask MEMORY PURGE) == OK ]] || fail "MEMORY PURGE"
# The statistics are refreshed once in a while by the server's timer.
for ((i = 0; i < 100; ++i)); do
  (($(field allocator_resident) < resident - 10000000)) && break
  sleep 0.1
done
((i < 100)) || fail "MEMORY PURGE kept $(field allocator_resident) of $resident bytes"

# A child that saves the data while the parent goes on.
ask SET after purge >/dev/null
[[ $(ask BGSAVE) == 'Background saving started' ]] || fail "BGSAVE"
for ((i = 0; i < 100; ++i)); do
  [[ -s $work/dump.rdb ]] && break
  sleep 0.1
done
[[ -s $work/dump.rdb ]] || fail "the child did not save"

ask SHUTDOWN NOSAVE >/dev/null 2>&1 || true
status=0
wait "$server" || status=$?
server=
((status == 0)) || fail "redis-server ended with status $status"
! grep --quiet --ignore-case 'jemalloc>\|cxltier' "$work/log" || fail "the allocator spoke"
