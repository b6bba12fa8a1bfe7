# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Where QEMU, the guest's kernel and its busybox come from.  Sourced by `dev` and by `qemu/run`.
#
# Only the machine's own apt sources are used, so a mirror or a proxy that was set up keeps serving.
# Debian 12 ships QEMU 7.2 and Linux 6.1, which are too old; there, and only there, one more suite
# of the same mirror is enabled, with a pin that takes nothing from it but the packages named below.
# QEMU is installed.  Kernel and busybox are only downloaded and unpacked into the cache: an
# installed kernel would become the machine's own at its next boot, and busybox-static would push
# out busybox.
#
#   <cache>/kernel/<package version>/     an unpacked kernel (image and modules), with modules.dep
#   <cache>/busybox/<package version>/    an unpacked busybox-static package
#
# Invariant: a folder of the cache that bears its final name is complete (unpack, then rename).
# `unfinished` is a folder that whoever is interrupted must remove.

qemu_binary=qemu-system-x86_64
qemu_version_min=9.1
kernel_series=6.12
# Where kernels are that this machine's apt does not know: suites of the same mirror, whose lists
# are read into a temporary folder and forgotten.
kernel_suites=(trixie-backports)
backports_packages=(qemu-system-x86 qemu-system-common qemu-system-data qemu-system-gui
  qemu-block-extra qemu-utils seabios ipxe-qemu "linux-image-$kernel_series.*")
backports_pin=/etc/apt/preferences.d/cxltier-backports
backports_source=/etc/apt/sources.list.d/cxltier-backports

# Exit status of whatever cannot run on this machine at all; CTest counts it as a skip.
status_cannot_run=77

unfinished=

cache_folder() {
  printf '%s\n' "${CXLTIER_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/cxltier}"
}

cannot_run() {
  printf 'qemu/run: cannot run here: %s\n' "$1" >&2
  exit "$status_cannot_run"
}

# The value of one variable of /etc/os-release, e.g. ID or VERSION_CODENAME.
os_release() {
  # shellcheck source=/dev/null
  (. /etc/os-release 2>/dev/null && printf '%s\n' "${!1:-}")
}

# --- QEMU -----------------------------------------------------------------------------------------

# Prints the version of the installed QEMU, or nothing.
qemu_version() {
  "$qemu_binary" --version 2>/dev/null |
    sed -n 's/^QEMU emulator version \([0-9][0-9.]*[0-9]\).*/\1/p'
}

version_at_least() { # VERSION MIN
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort --version-sort | head -n 1) == "$2" ]]
}

qemu_is_recent() {
  local version
  version=$(qemu_version)
  [[ -n $version ]] && version_at_least "$version" "$qemu_version_min"
}

# Ends with "cannot run here" unless QEMU is recent enough.
require_qemu() {
  local version fix
  version=$(qemu_version)
  case "$(os_release ID) $(os_release VERSION_CODENAME)" in
    'debian bookworm' | 'debian trixie') fix="run './dev deps guest' as root" ;;
    *) fix="install QEMU $qemu_version_min or newer so that qemu-system-x86_64 is found in PATH" ;;
  esac
  [[ -n $version ]] || cannot_run "$qemu_binary is not installed; $fix"
  version_at_least "$version" "$qemu_version_min" || cannot_run "QEMU $version is too old:\
 older than $qemu_version_min aborts when code or page tables lie in CXL memory; $fix"
}

# --- apt's sources --------------------------------------------------------------------------------

backports_needed() {
  [[ $(os_release ID) == debian && $(os_release VERSION_CODENAME) == bookworm ]]
}

# The first deb822 stanza for suite $1 in files $2..., with the suite changed to its backports.
derive_deb822() {
  local suite=$1
  shift
  (($#)) || return 0
  awk -v suite="$suite" '
    BEGIN { RS = ""; FS = "\n" }
    done { next }
    {
      wanted = 0; enabled = 1; binary = 0; text = ""; replaced = 0
      for (i = 1; i <= NF; i++) {
        line = $i
        if (line ~ /^#/) continue
        if (line ~ /^[ \t]/) { if (!replaced) text = text line "\n"; continue }
        name = tolower(line); sub(/:.*/, "", name)
        value = line; sub(/^[^:]*:[ \t]*/, "", value)
        if (name == "suites") wanted = index(" " value " ", " " suite " ") > 0
        if (name == "types") binary = index(" " value " ", " deb ") > 0
        if (name == "enabled") enabled = tolower(value) != "no"
        replaced = name ~ /^(suites|types|components|enabled)$/
        if (!replaced) text = text line "\n"
      }
      if (wanted && enabled && binary) {
        printf "Types: deb\nSuites: %s-backports\nComponents: main\n%s", suite, text
        done = 1
      }
    }' "$@"
}

# The first one-line entry for suite $1 in files $2..., with the suite changed to its backports.
derive_one_line() {
  local suite=$1
  shift
  (($#)) || return 0
  local blank='[ \t]+'
  local entry="^deb$blank(\\[[^]]*\\]$blank)?([^ \\t]+)$blank$suite$blank.*"
  sed --quiet --regexp-extended "s/$entry/deb \\1\\2 $suite-backports main/p" "$@" | head -n 1
}

# Prints the machine's own apt entry for suite $1, with the suite changed to its backports.
backports_entry() { # SUITE
  local entry deb822=() one_line=() file
  for file in /etc/apt/sources.list.d/*.sources; do [[ -r $file ]] && deb822+=("$file"); done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -r $file ]] && one_line+=("$file")
  done
  entry=$(derive_deb822 "$1" "${deb822[@]}")
  [[ -n $entry ]] || entry=$(derive_one_line "$1" "${one_line[@]}")
  if [[ -z $entry ]]; then
    echo "qemu: no apt entry for suite $1 in /etc/apt: no mirror to take its backports from" >&2
    return 1
  fi
  printf '%s\n' "$entry"
}

# The ending of an apt source file that holds entry $1.
source_ending() {
  if [[ $1 == Types:* ]]; then echo sources; else echo list; fi
}

# Writes our apt source, derived from the machine's own.  Prints the file's name.
write_backports_source() { # SUITE
  local entry file
  entry=$(backports_entry "$1") || return 1
  file=$backports_source.$(source_ending "$entry")
  printf '# Written by cxltier (./dev deps); derived from the entry for %s.\n%s\n' \
    "$1" "$entry" >"$file"
  printf '%s\n' "$file"
}

# Only what is named here may come from backports.  500 is the priority of any other suite, so the
# newest version wins; 1 is never chosen by itself.
write_backports_pin() { # SUITE
  cat >"$backports_pin" <<PIN
# Written by cxltier (./dev deps): nothing but these packages comes from $1-backports.
Package: ${backports_packages[*]}
Pin: release n=$1-backports
Pin-Priority: 500

Package: *
Pin: release n=$1-backports
Pin-Priority: 1
PIN
}

# pre: root.  Enables backports unless they are; on failure nothing of ours is left behind.
enable_backports() {
  local suite file
  suite=$(os_release VERSION_CODENAME)
  if apt-cache policy 2>/dev/null | grep --quiet "n=$suite-backports"; then
    [[ -e $backports_pin ]] || write_backports_pin "$suite"
    return 0
  fi
  file=$(write_backports_source "$suite") || return 1
  write_backports_pin "$suite"
  if ! apt-get update -o Dir::Etc::sourcelist="$file" -o Dir::Etc::sourceparts=- \
    -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any --quiet=2; then
    rm -f "$file" "$backports_pin"
    echo "dev: the machine's mirror does not serve $suite-backports, which has QEMU >=\
 $qemu_version_min and Linux $kernel_series" >&2
    return 1
  fi
}

# --- packages that are only unpacked --------------------------------------------------------------

# Makes folder $1 of the cache.
make_cache_folder() {
  if ! mkdir -p "$1" 2>/dev/null || [[ ! -w $1 ]]; then
    cannot_run "the cache folder $1 cannot be written; set CXLTIER_CACHE to a folder that can"
  fi
}

# "3 MiB free in FOLDER": where something cannot be written, its own words often cannot be either.
room_in() { # FOLDER
  df --output=avail --block-size=MiB "$1" 2>/dev/null |
    awk -v folder="$1" 'NR == 2 { sub(/MiB/, ""); print $1 " MiB free in " folder }'
}

# Makes a folder of a new name that begins with $1, and sets `unfinished` to it.  The name is known
# before the folder is there, so that an interruption at any moment can remove it.
make_unfinished() { # PREFIX
  unfinished=$1.$BASHPID.$RANDOM$RANDOM
  mkdir --mode 700 "$unfinished" 2>/dev/null || {
    unfinished=
    cannot_run "no folder can be made in ${1%/*}; is its disk full?"
  }
}

# More options of apt, for packages of a suite that the machine's own apt does not know.
apt_options=()

# Downloads packages $2... and unpacks them together into folder $1.
unpack_packages() { # TARGET PACKAGE...
  local target=$1 work
  shift
  make_cache_folder "${target%/*}"
  echo "qemu/run: downloading $*" >&2
  make_unfinished "${target%/*}/.unpack"
  work=$unfinished
  if ! (cd "$work" && apt-get "${apt_options[@]}" download --quiet=2 -o APT::Sandbox::User=root \
    "$@" && for file in ./*.deb; do dpkg-deb --extract "$file" root || exit 1; done) \
    >"$work/log" 2>&1; then
    cat "$work/log" >&2
    rm -rf "$work"
    return 1
  fi
  finish_unpacked "$work/root" || { rm -rf "$work"; return 1; }
  mv --no-target-directory "$work/root" "$target" 2>/dev/null || [[ -d $target ]]
  rm -rf "$work"
}

# Makes `apt_options` stand for suite $1 of this machine's mirror alone, with its lists in folder
# $2.  Needs no root and changes nothing of the machine.
read_suite() { # SUITE FOLDER
  local own entry file
  own=$(os_release VERSION_CODENAME)
  entry=$(backports_entry "$own") || return 1
  file=$2/source.$(source_ending "$entry")
  mkdir -p "$2/lists/partial" "$2/cache/archives/partial"
  printf '%s\n' "${entry/$own-backports/$1}" >"$file"
  apt_options=(-o "Dir::Etc::sourcelist=$file" -o Dir::Etc::sourceparts=- -o "Dir::Cache=$2/cache"
    -o "Dir::State::lists=$2/lists" -o Dir::Etc::preferences=- -o Dir::Etc::preferencesparts=-
    -o APT::Sandbox::User=root)
  apt-get "${apt_options[@]}" update --quiet=2 -o APT::Update::Error-Mode=any
}

# An unpacked kernel has no module index yet.  Its modules lie in /lib or in /usr/lib, and kmod
# looks in one of them, by release: both names must work.
finish_unpacked() { # ROOT
  local modules
  if [[ -d $1/usr/lib/modules && ! -e $1/lib ]]; then ln -s usr/lib "$1/lib"; fi
  [[ -d $1/lib/modules ]] || return 0
  if [[ ! -e $1/usr/lib/modules ]]; then
    mkdir -p "$1/usr/lib"
    ln -s ../../lib/modules "$1/usr/lib/modules"
  fi
  for modules in "$1"/lib/modules/*; do
    depmod --basedir "$1" "${modules##*/}" || return 1
  done
}

# The newest folder of the cache below $1 whose name fits pattern $2, or nothing.
newest_unpacked() { # FOLDER PATTERN
  local folders=()
  shopt -s nullglob
  # shellcheck disable=SC2206  # a pattern
  folders=("$1"/$2)
  shopt -u nullglob
  ((${#folders[@]})) || return 0
  printf '%s\n' "${folders[@]}" | sort --version-sort | tail -n 1
}

# The newest kernel package that apt knows whose version fits pattern $1: generic flavour, no debug
# symbols.
kernel_package() { # PATTERN
  local package
  apt-cache "${apt_options[@]}" pkgnames linux-image- 2>/dev/null |
    grep --extended-regexp '^linux-image-[0-9.]+[^-]*-amd64$' | sort --version-sort --reverse |
    while read -r package; do # names outlive their packages: take one that can still be had
      # shellcheck disable=SC2053  # a pattern
      [[ ${package#linux-image-} == $1 ]] || continue
      apt-cache "${apt_options[@]}" show "$package" >/dev/null 2>&1 || continue
      printf '%s\n' "$package"
      break
    done
}

# What holds the files of kernel package $1: itself, or in newer ones the packages on which it
# depends: image, modules, and what is built in.
kernel_parts() { # PACKAGE
  local parts
  parts=$(apt-cache "${apt_options[@]}" show "$1" | sed --quiet 's/^Depends: //p' | head -n 1 |
    grep --only-matching --extended-regexp 'linux-(base|binary|modules)-[^ ,]+' || true)
  printf '%s\n' "${parts:-$1}"
}

# Downloads the newest kernel that fits pattern $1; fails if apt knows none.
download_kernel() { # PATTERN
  local package parts
  package=$(kernel_package "$1")
  [[ -n $package ]] || return 1
  mapfile -t parts < <(kernel_parts "$package")
  unpack_packages "$(cache_folder)/kernel/${package#linux-image-}" "${parts[@]}" ||
    cannot_run "cannot download or unpack $package; $(room_in "$(cache_folder)")"
}

# Sets `$1` to the folder of an unpacked kernel: $2 is a series such as 7.3, or a package's name or
# version.  Uses the network only when none is in the cache.
provision_kernel() { # VARIABLE [WANTED]
  local folder pattern=${2:-$kernel_series} suite lists
  pattern=${pattern#linux-image-}
  [[ ! $pattern =~ ^[0-9]+\.[0-9]+$ ]] || pattern+='.*'
  folder=$(newest_unpacked "$(cache_folder)/kernel" "$pattern")
  if [[ -z $folder ]]; then
    if ! download_kernel "$pattern"; then
      lists=$(mktemp --directory "${run:-${TMPDIR:-/tmp}}/cxltier-apt.XXXXXX")
      for suite in "${kernel_suites[@]}"; do
        if read_suite "$suite" "$lists" && download_kernel "$pattern"; then break; fi
      done
      apt_options=()
      rm -rf "$lists"
    fi
    folder=$(newest_unpacked "$(cache_folder)/kernel" "$pattern")
    [[ -n $folder ]] || cannot_run \
      "apt knows no kernel ${2:-$kernel_series}, nor does ${kernel_suites[*]}; run './dev deps\
 guest' as root, or name a package linux-image-*-amd64 that there is"
  fi
  printf -v "$1" '%s' "$folder"
}

# Sets `$1` to a statically linked busybox.
provision_busybox() {
  local folder
  folder=$(newest_unpacked "$(cache_folder)/busybox" '*')
  if [[ -z $folder ]]; then
    folder=$(cache_folder)/busybox/$(os_release VERSION_CODENAME)
    unpack_packages "$folder" busybox-static ||
      cannot_run "cannot download or unpack busybox-static; $(room_in "$(cache_folder)")"
  fi
  if [[ -x $folder/bin/busybox ]]; then
    printf -v "$1" '%s' "$folder/bin/busybox"
  else
    printf -v "$1" '%s' "$folder/usr/bin/busybox"
  fi
}
