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
expect_refusal "unknown topology 'ring'; known: cpuless-tiers cxl1-dram2 cxl1-pmem cxl1" \
  "$root/qemu/run" --topology ring -- true
expect_refusal "unknown --accel 'xen'; known: tcg kvm" "$root/qemu/run" --accel xen -- true
expect_refusal "--log '/no/such/file': give the path" "$root/qemu/run" --log /no/such/file -- true
expect_refusal "--kernel '/etc' is no file" "$root/qemu/run" --kernel /etc -- true
expect_refusal '--resume needs --out FOLDER' "$root/qemu/validate" --resume
expect_refusal '--jobs 0 is no number of guests' "$root/qemu/validate" --jobs 0
expect_refusal "--kernel '/no/such' is no file" "$root/qemu/run" --kernel /no/such -- true
expect_refusal '--modules belongs to --kernel' "$root/qemu/run" --modules /lib -- true
expect_refusal "--kernel-tree '/no/such' is no folder" \
  "$root/qemu/run" --kernel-tree /no/such -- true
expect_refusal "--qmp '/no/such/socket': give the path" \
  "$root/qemu/run" --qmp /no/such/socket -- true
expect_refusal "--smp 'two' is not a number of CPUs" "$root/qemu/run" --smp two -- true
expect_refusal "unknown suite 'moon'; known: region setup boot" \
  "$root/qemu/validate" --suite moon
expect_refusal 'is no report of qemu/validate' \
  "$root/qemu/validate" --baseline "$root/README.md"
expect_refusal "unknown suite 'moon'; known: region" "$root/qemu/suites/run_suites" moon
expect_refusal 'no COMMAND given' "$root/qemu/run" --memory 1G
expect_refusal '--shell takes no COMMAND' "$root/qemu/run" --shell -- true
expect_refusal "unknown verb 'biuld'; known: deps build demo test lint bench guest help" \
  "$root/dev" biuld
expect_refusal "unknown preset 'fast'; known: dev release asan tsan fuzz" \
  "$root/dev" build --preset fast
expect_refusal "unknown group of packages 'all'; known: build demo test guest" "$root/dev" deps all
# What `git bisect run` is told: skip a tree that was not built, stop where the usage is wrong.
expect_status() { # STATUS COMMAND...
  local status=0 wanted=$1
  shift
  "$@" >/dev/null 2>&1 </dev/null || status=$?
  if ((status == wanted)); then
    printf 'ok: %s\n' "$*"
  else
    printf 'FAILED: %s: status %s, wanted %s\n' "$*" "$status" "$wanted"
    failures=$((failures + 1))
  fi
}
expect_status 255 "$root/qemu/run" --bisect --nodes 3 -- true
if command -v qemu-system-x86_64 >/dev/null; then
  expect_status 125 "$root/qemu/run" --bisect --kernel-tree "$root/qemu" -- true
fi

# A topology's mistakes are named by line, all at once, before QEMU is looked for.
wrong=$(mktemp --suffix=.topology)
trap 'rm -f "$wrong"' EXIT
printf 'node 0 cpus=0 memory=1G\nnode 2 cpu=1\n' >"$wrong"
expect_refusal "$wrong:2: 'node' knows no 'cpu=1'; fix: its keys are: cpus memory initiator" \
  "$root/qemu/run" --topology "$wrong" -- true
exit $((failures > 0))
