#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the library writes to standard error once it knows the machine, and that it writes nothing
# where that is another file by now: log_lines.sh BIN LIBRARY
set -euo pipefail

bin=$1 library=$2
# shellcheck source=tests/expect.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../expect.sh"
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/in"

# Lets the program on the FIFO run until the runtime has said what it does here; the bound only ends
# a failed test.
await_state() { # PID
  local i input
  exec {input}>"$work/in"
  for ((i = 0; i < 600; ++i)); do
    "$bin/cxltier" stat "$1" 2>&1 | grep --quiet --extended-regexp ': (idle|active|watching)' &&
      break
    sleep 0.1
  done
  exec {input}>&-
  wait "$1"
}

# Prints the standard error of a program whose heap grows.
lines_of() { # VARIABLE...
  env "LD_PRELOAD=$library" CXLTIER_START=1M "$@" "$bin/preload_grow_heap" \
    <"$work/in" >/dev/null 2>"$work/err" &
  await_state $!
  cat "$work/err"
}

expect 'errors: nothing to say' '' "$(lines_of CXLTIER_LOG=errors)"
stays='this process stays as it is: .+'
watches='watches this process: policy hot-cold, [2-8] tiers'
expect 'all: one line, whether it works here or not' 1 "$(lines_of CXLTIER_LOG=all |
  grep --count --extended-regexp "^cxltier: ($stays|$watches)\$")"
line="cxltier: CXLTIER_TIERS=0;999: '999' names a node that the machine does not have; \
using the machine's own order; see cxltier topo"
expect 'errors: a node that is not here' "$line" "$(lines_of 'CXLTIER_TIERS=0;999')"
line='cxltier: the machine profile /absent is not there; write it with cxltier bench --save'
expect 'errors: a profile that was named and is not here' "$line" \
  "$(lines_of CXLTIER_PROFILE=/absent)"
printf 'cxltier-profile 1\nmachine.cpu Another 9000\n' >"$work/profile"
line="cxltier: the machine profile $work/profile was measured on another machine (its processor \
differs); measure this one with cxltier bench --save"
expect 'errors: the profile of another machine' "$line" \
  "$(lines_of "CXLTIER_PROFILE=$work/profile")"
expect 'off' '' "$(lines_of CXLTIER_LOG=off 'CXLTIER_TIERS=0;999')"

# A daemon that took the number 2 for a file of its own.
reopen='
import os, sys
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), 2)
blocks = [bytearray(65536) for _ in range(1500)]
os.read(0, 1)'
expect 'another file in its place' '' "$(
  env "LD_PRELOAD=$library" CXLTIER_START=48M CXLTIER_LOG=all \
    python3 -c "$reopen" "$work/mine" <"$work/in" 2>"$work/err" &
  await_state $!
  cat "$work/err" "$work/mine")"
exit $((failures > 0))
