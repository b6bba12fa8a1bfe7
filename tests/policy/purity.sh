#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The policy archive needs nothing of an operating system, a clock or a heap: what it leaves
# undefined is the four memory functions that a compiler may call, and check_failed.
#
#   purity.sh NM ARCHIVE
set -euo pipefail

nm="$1"
archive="$2"

allowed='^(memcpy|memset|memmove|memcmp|cxltier::check_failed\(char const\*\))$'
# What compilers add of themselves: position independent code, stack protection, and arithmetic
# that the oldest processors lack an instruction for (libgcc, linked in statically).
compiler='^(_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__popcountdi2)$'

symbols="$("$nm" --demangle "$archive")"
defined="$(awk 'NF >= 3 && $2 != "U" { sub(/^[0-9a-f]+ [A-Za-z] /, ""); print }' <<<"$symbols")"
undefined="$(awk '$1 == "U" { sub(/^ *U /, ""); print }' <<<"$symbols")"
if [ -z "$undefined" ]; then
  echo "purity: $archive has no undefined symbol at all: wrong file?" >&2
  exit 1
fi

foreign="$(comm -23 <(sort -u <<<"$undefined") <(sort -u <<<"$defined") |
  grep -Ev "$allowed" | grep -Ev "$compiler" || true)"
if [ -n "$foreign" ]; then
  echo "purity: $archive needs what policy/ must not use:" >&2
  echo "$foreign" >&2
  exit 1
fi
echo "purity: $archive needs memory functions and check_failed only"
