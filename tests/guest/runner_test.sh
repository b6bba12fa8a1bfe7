#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What every other guest test relies on: qemu/run passes on the exit status and each byte of stdout
# and stderr, writes through --share, shows the nodes of its default topology, and leaves CXL memory
# empty for the command.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
run=$here/../../qemu/run
# shellcheck source=tests/expect.sh
source "$here/../expect.sh"
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT

# 4 MiB with every byte value, made here; the guest's copy must not differ in one byte.
head --bytes 4194304 /dev/urandom >"$work/bytes"
mkdir "$work/share"

# shellcheck disable=SC2016  # expanded in the guest
in_guest='
  cat "$1"
  echo "only stderr" >&2
  echo "also by name" >/dev/stderr
  {
    cat /sys/devices/system/node/has_cpu /sys/devices/system/node/has_memory
    awk "/MemTotal/ { print \$4 }" /sys/devices/system/node/node2/meminfo
    ls -d /sys/bus/dax/devices/dax*/target_node | wc -l
    cat /sys/bus/dax/devices/dax*/target_node
    id -u; pwd; echo "$2"
    grep SigIgn /proc/self/status
    grep -c N2= /proc/self/numa_maps
    dmesg | grep -c "WARNING:\|BUG:"
  } >"$3"/seen
  exit 43'
status=0
cd "$work"
"$run" --share "$work/share" -- bash -c "$in_guest" sh "$work/bytes" $'a b\'"\t$c' "$work/share" \
  >"$work/out" 2>"$work/err" || status=$?
if ((status == 77)); then
  cat "$work/err"
  exit 77
fi
mapfile -t seen <"$work/share/seen" || true

expect 'exit status' 43 "$status"
expect 'stdout' "$(sha256sum <"$work/bytes")" "$(sha256sum <"$work/out")"
expect 'stderr' $'only stderr\nalso by name' "$(cat "$work/err")"
expect 'nodes with CPUs' 0-1 "${seen[0]:-}"
expect 'nodes with memory' 0-2 "${seen[1]:-}"
expect 'KiB of node 2' 1048576 "${seen[2]:-}"
expect 'DAX devices' 1 "${seen[3]:-}"
expect 'node of the CXL memory' 2 "${seen[4]:-}"
expect 'user' 0 "${seen[5]:-}"
expect 'folder' "$work" "${seen[6]:-}"
expect 'an argument with blanks and quotes' $'a b\'"\t$c' "${seen[7]:-}"
expect 'ignored signals' $'SigIgn:\t0000000000000000' "${seen[8]:-}"
expect 'mappings with pages on CXL memory' 0 "${seen[9]:-}"
expect 'warnings of the kernel' 0 "${seen[10]:-}"
if ((failures)); then
  echo 'stderr of the run:'
  cat "$work/err"
  exit 1
fi
