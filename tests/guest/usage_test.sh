#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Wrong usage of qemu/run and dev ends with 2 and names the wrong word and the known ones; no guest
# is booted.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
failures=0

expect_refusal() { # TEXT COMMAND...
  local text=$1 said status=0
  shift
  said=$("$@" 2>&1 </dev/null) || status=$?
  if ((status == 2)) && [[ $said == *"$text"* ]]; then
    printf 'ok: %s\n' "$*"
  else
    printf 'FAILED: %s: status %s, said: %s\n' "$*" "$status" "$said"
    failures=$((failures + 1))
  fi
}

expect_refusal "unknown option '--nodes'; known: --topology" "$root/qemu/run" --nodes 3 -- true
expect_refusal 'option --memory needs a value' "$root/qemu/run" --memory -- true
expect_refusal 'option --log needs a value' "$root/qemu/run" --log
expect_refusal "--memory '1x' is not a size" "$root/qemu/run" --memory 1x -- true
expect_refusal '--memory 8M is too small' "$root/qemu/run" --memory 8M -- true
expect_refusal "--timeout 'soon' is not a number" "$root/qemu/run" --timeout soon -- true
expect_refusal "--share '/no/such' is not a folder" "$root/qemu/run" --share /no/such -- true
expect_refusal "unknown topology 'ring'; known: cxl1-dram2 dram2" \
  "$root/qemu/run" --topology ring -- true
expect_refusal 'no COMMAND given' "$root/qemu/run" --memory 1G
expect_refusal '--shell takes no COMMAND' "$root/qemu/run" --shell -- true
expect_refusal "unknown verb 'biuld'; known: deps build demo test lint bench guest help" \
  "$root/dev" biuld
expect_refusal "unknown preset 'fast'; known: dev release asan tsan fuzz" \
  "$root/dev" build --preset fast
expect_refusal "unknown group of packages 'all'; known: build demo test guest" "$root/dev" deps all
exit $((failures > 0))
