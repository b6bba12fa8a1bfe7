#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Each option that `cxltier VERB --help` lists is in the verb's manual page, and none besides; the
# formatter has nothing to complain about.  man_test.sh COMMAND FOLDER
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/expect.sh
source "$here/../expect.sh"
cxltier=$1 folder=$2

options_of_help() { # VERB...
  "$cxltier" "$@" --help | grep --extended-regexp --only-matching '^ +(-h,)?--[a-z-]+' |
    sed 's/.*--/--/' | sort --unique
}
options_of_page() { # FILE
  sed --quiet --regexp-extended 's/^\.It Fl -([a-z][a-z-]*).*/--\1/p' "$1" | sort --unique
}

expect 'cxltier' "$(options_of_help)" "$(options_of_page "$folder/cxltier.1")"
for page in "$folder"/cxltier-*.1; do
  verb=${page##*/cxltier-}
  verb=${verb%.1}
  expect "cxltier $verb" "$(options_of_help "$verb")" "$(options_of_page "$page")"
done

if command -v groff >/dev/null; then
  for page in "$folder"/*.1; do
    expect "${page##*/} has no fault" '' "$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)"
  done
else
  echo 'no groff here: the pages were not formatted'
fi
exit $((failures > 0))
