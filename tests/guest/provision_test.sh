#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How an apt entry for backports is derived from the machine's own, in both of apt's formats, and
# what is said about a QEMU that is missing or too old.  Nothing of the machine is touched.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=qemu/provision.sh
source "$root/qemu/provision.sh"
# shellcheck source=tests/expect.sh
source "$root/tests/expect.sh"
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT

# What surrounds the wanted entry must not be taken: comments, sources, other suites, disabled ones.
cat >"$work/one_line" <<'END'
# deb http://comment.example/debian bookworm main
deb-src http://a.example/debian bookworm main
deb http://a.example/debian bookworm-updates main
deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian bookworm main contrib
deb http://b.example/debian bookworm main
END
expect 'one-line entry with options' \
  'deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian bookworm-backports main' \
  "$(derive_one_line bookworm "$work/one_line")"
expect 'no one-line entry of that suite' '' "$(derive_one_line sid "$work/one_line")"

cat >"$work/deb822" <<'END'
# A comment.

Types: deb-src
URIs: http://source.example/debian
Suites: bookworm

Enabled: no
Types: deb
URIs: http://disabled.example/debian
Suites: bookworm

Types: deb deb-src
# A comment inside.
URIs: http://a.example/debian
 http://b.example/debian
Suites: bookworm bookworm-updates
Components: main
 contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
expect 'deb822 stanza' 'Types: deb
Suites: bookworm-backports
Components: main
URIs: http://a.example/debian
 http://b.example/debian
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' \
  "$(derive_deb822 bookworm "$work/deb822")"
expect 'no deb822 stanza of that suite' '' "$(derive_deb822 sid "$work/deb822")"
expect 'no file at all' '' "$(derive_deb822 bookworm)$(derive_one_line bookworm)"

# A QEMU of Ubuntu 24.04: 77, with the version found and the one needed.
printf '#!/bin/sh\necho "QEMU emulator version 8.2.2 (Debian 1:8.2.2+ds-0ubuntu1)"\n' \
  >"$work/qemu-system-x86_64"
chmod +x "$work/qemu-system-x86_64"
status=0
said=$(PATH=$work:$PATH "$root/qemu/run" -- true 2>&1) || status=$?
expect 'status with an old QEMU' 77 "$status"
expect 'versions in the message' 'QEMU 8.2.2 is too old: older than 9.1' \
  "$(sed 's/.*here: //; s/ aborts.*//' <<<"$said")"
expect '9.1 is recent enough' yes "$(version_at_least 9.1.0 9.1 && echo yes)"
expect '10.0.2 is newer than 9.1' yes "$(version_at_least 10.0.2 9.1 && echo yes)"
exit $((failures > 0))
