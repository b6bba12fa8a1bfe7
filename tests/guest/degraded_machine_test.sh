#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A machine that allows less: few mappings for each process, or no more memory promised than there
# is.  Programs under the library give the same answers, and hints still work.  Runs in a guest,
# from the folder of the binaries, and without arguments, so that it shares a boot.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
bin=$PWD
library=${bin%/*}/lib/libcxltier-preload.so
[[ -d /sys/devices/system/node/node2 && $EUID == 0 ]] ||
  { echo 'cannot run here: needs root in a guest; run it by qemu/run'; exit 77; }

checks() {
  CXLTIER_START=1M "$here/../preload/same_answers.sh" "$library" "$bin/preload_random_calls" 5 1000
  "$bin/hinted_memory_test" --gtest_filter='*ClassesDoNotMix*'
}
with() {  # SETTING VALUE: the checks, then the setting as it was
  local before
  before=$(<"/proc/sys/vm/$1")
  echo "$2" >"/proc/sys/vm/$1"
  printf '== %s=%s\n' "$1" "$2"
  checks
  echo "$before" >"/proc/sys/vm/$1"
}
with max_map_count 2000
echo 90 >/proc/sys/vm/overcommit_ratio  # counts only in the next mode
with overcommit_memory 2
