# SPDX-License-Identifier: Apache-2.0
#
# Sourced by shell tests: expect compares and goes on, so that one run shows all that is wrong; the
# test ends with `exit $((failures > 0))`.
# shellcheck shell=bash

failures=0

expect() { # WHAT WANTED FOUND
  if [[ $2 == "$3" ]]; then
    printf 'ok: %s\n' "$1"
  else
    printf 'FAILED: %s: wanted %q, found %q\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}
