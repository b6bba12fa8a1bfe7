#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# PostgreSQL from initdb to a restart, with parallel queries, under the library; then the same data
# is read without it.
#
#   postgres.sh LIBRARY
set -euo pipefail

(($# == 1)) || { sed -n '4,7p' "$0" >&2; exit 2; }
library=$1
skip() { echo "skipped: $1"; exit 77; }
programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort --version-sort |
  tail -1)
[[ -n $programs && -x $programs/pgbench ]] || skip 'postgresql is not installed'
as=()
if ((EUID == 0)); then
  id postgres >/dev/null 2>&1 || skip 'no user postgres'
  as=(setpriv --reuid postgres --regid postgres --clear-groups)
fi

work=$(mktemp --directory)
((EUID != 0)) || chown postgres "$work"
# The library must be readable by that user, wherever the build lies.
cp "$library" "$work/library.so"
chmod 755 "$work/library.so"
data=$work/data
run() { (cd "$work" && "${as[@]}" env HOME="$work" PGHOST="$work" "$@"); }
preloaded() { run LD_PRELOAD="$work/library.so" CXLTIER_START=1M "$@"; }
control() { run "$programs/pg_ctl" -D "$data" -m "$1" -w stop >/dev/null 2>&1; }
stop() {
  [[ ! -f $data/postmaster.pid ]] || control immediate || true
  rm -rf "$work"
}
trap stop EXIT
fail() {
  echo "$1" >&2
  tail -n 30 "$work"/log* >&2 || true
  exit 1
}

start() {  # LOG COMMAND...: the words before pg_ctl
  local log=$1
  shift
  "$@" "$programs/pg_ctl" -D "$data" -l "$log" -w -t 60 -o "-k $work -h ''" start \
    >"$work/log.ctl" 2>&1 || fail 'the server did not start'
}
query() { run psql --no-psqlrc --tuples-only --no-align --dbname=postgres --command "$1"; }

preloaded "$programs/initdb" -D "$data" --auth=trust --no-sync >"$work/log.initdb" 2>&1 ||
  fail initdb
start "$work/log.first" preloaded
server=$(head -1 "$data/postmaster.pid")
grep --quiet "$work/library.so" "/proc/$server/maps" || fail 'the library is not in the server'
preloaded "$programs/pgbench" --initialize --scale=2 --quiet postgres >"$work/log.load" 2>&1 ||
  fail 'pgbench -i'
preloaded "$programs/pgbench" --client=4 --jobs=2 --transactions=200 postgres \
  >"$work/log.bench" 2>&1 || fail pgbench
grep --quiet 'transactions actually processed: 800/800' "$work/log.bench" ||
  fail 'transactions are missing'
parallel='set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0;
  set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set work_mem = "32MB";
  select sum(hashtext(a.filler)::bigint + b.aid) from pgbench_accounts a join pgbench_accounts b
  on a.abalance = b.abalance and a.aid = b.aid'
with=$(query "$parallel" | tail -1)
control fast || fail 'the server did not stop'
start "$work/log.second" preloaded
[[ $(query 'select count(*) from pgbench_history') == 800 ]] ||
  fail 'the history was lost in the restart'
control fast || fail 'the server did not stop again'

start "$work/log.plain" run
[[ $(query "$parallel" | tail -1) == "$with" ]] ||
  fail 'the query has another answer without the library'
control fast
if grep --extended-regexp 'PANIC|terminated by signal|invalid pointer' "$work"/log.*; then
  fail 'see above'
fi
