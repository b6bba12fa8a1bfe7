#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command without and with the preload library and compares stdout and exit status.
#
#   same_answers.sh LIBRARY COMMAND...
#
# A command that is not on this machine is a skip: exit status 77 with the reason.
set -euo pipefail

(($# >= 2)) || { sed -n '4,8p' "$0" >&2; exit 2; }
library=$1
shift
command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 77; }

work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
run() {  # NAME COMMAND...: stdout, stderr and status under that name
  local name=$1
  shift
  local status=0
  "$@" >"$work/$name.out" 2>"$work/$name.err" || status=$?
  echo "exit status $status" >>"$work/$name.out"
}
run plain "$@"
run preloaded env "LD_PRELOAD=$library" "$@"

[[ -s $work/plain.out ]] || { echo "the command printed nothing" >&2; exit 1; }
diff "$work/plain.out" "$work/preloaded.out" || {
  echo "stdout or exit status differ; stderr with the library:" >&2
  cat "$work/preloaded.err" >&2
  exit 1
}
diff "$work/plain.err" "$work/preloaded.err" || { echo "stderr differs" >&2; exit 1; }
