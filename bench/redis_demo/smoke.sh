#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs its arguments, unless this is root in a system where an ordinary user can run nothing, as in
# a chroot whose root folder is closed: the demo starts its servers as such a user.  Exit status 77
# is a skip.
set -euo pipefail

if ((EUID == 0)) && ! setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
  echo "skipped: an ordinary user can run no program here (is / closed to others?)"
  exit 77
fi
exec "$@"
