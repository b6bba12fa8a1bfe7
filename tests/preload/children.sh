#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Programs that a preloaded program starts: preloaded too, unless CXLTIER_CHILDREN=drop; and other
# libraries in LD_PRELOAD stay.
#
#   children.sh LIBRARY OTHER_LIBRARY
set -euo pipefail

(($# == 2)) || { sed -n '4,7p' "$0" >&2; exit 2; }
library=$1 other=$2
failed=0
expect() {  # WHAT WANTED GOT
  [[ $2 == "$3" ]] || { echo "$1: wanted '$2', got '$3'" >&2; failed=1; }
}
# Whether the shell itself, and a child of it, has the library.
# shellcheck disable=SC2016
look='own=no; child=no
while read -r line; do case $line in *libcxltier-preload*) own=yes ;; esac; done </proc/$$/maps
grep --quiet libcxltier-preload /proc/self/maps && child=yes
echo "$own $child $LD_PRELOAD"'

expect 'by default' "yes yes $library" "$(env LD_PRELOAD="$library" bash -c "$look")"
expect inherit "yes yes $library" \
  "$(env LD_PRELOAD="$library" CXLTIER_CHILDREN=inherit bash -c "$look")"
expect drop 'yes no ' "$(env LD_PRELOAD="$library" CXLTIER_CHILDREN=drop bash -c "$look")"
expect 'drop, another before' "yes no $other" \
  "$(env LD_PRELOAD="$other:$library" CXLTIER_CHILDREN=drop bash -c "$look")"
expect 'drop, another behind' "yes no $other" \
  "$(env LD_PRELOAD="$library $other" CXLTIER_CHILDREN=drop bash -c "$look")"
wrong=$(env LD_PRELOAD="$library" CXLTIER_CHILDREN=lose true 2>&1)
expect 'a wrong word' "cxltier: CXLTIER_CHILDREN=lose: unknown choice 'lose'; known: inherit, drop;\
 using inherit" "$wrong"
exit "$failed"
