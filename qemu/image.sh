# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The guest's initramfs: busybox, our init and the modules that it takes to reach the machine's own
# userland.  Sourced by `qemu/run` after provision.sh; qemu_folder is the folder of this file.
#
#   <cache>/image/<kernel version>-<hash of all that goes in>.cpio
#
# Invariant: a file of that name is complete, and never changes (write, then rename).

# Wanted modules, in the order of loading; those that they need are found by modprobe.
image_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay
  libnvdimm cxl_pmem cxl_acpi cxl_pci cxl_mem device_dax dax_cxl kmem)

# The bootable file of an unpacked kernel package.
kernel_file() { # KERNEL
  local file
  for file in "$1"/boot/vmlinuz-* "$1"/usr/lib/modules/*/vmlinuz; do
    [[ -e $file ]] && { printf '%s\n' "$file"; return; }
  done
  return 1
}

# The release that a bzImage says it is, e.g. 6.12.95+deb13-amd64: a text of the boot protocol, 512
# bytes behind where the 16-bit number at offset 0x20e points.
kernel_release() { # FILE
  local offset
  offset=$(od --address-radix=n --format=u2 --skip-bytes=526 --read-bytes=2 "$1" 2>/dev/null) ||
    return 1
  dd if="$1" bs=1 skip=$((offset + 512)) count=128 status=none | tr '\0' '\n' |
    head -n 1 | cut --delimiter=' ' --fields=1
}

# Prints the module files in the order of loading, each once.  A kernel of the user's may have them
# built in, or may lack some.
module_files() { # KERNEL VERSION
  local module
  [[ -n $1 ]] || return 0
  for module in "${image_modules[@]}"; do
    modprobe --dirname "$1" --set-version "$2" --show-depends "$module" 2>/dev/null ||
      echo "qemu/run: note: kernel $2 has no module $module" >&2
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

unpack_module() { # FILE TARGET
  case $1 in
    *.xz) xz --decompress --stdout "$1" >"$2" ;;
    *.zst) zstd --quiet --decompress --stdout "$1" >"$2" ;;
    *.gz) gzip --decompress --stdout "$1" >"$2" ;;
    *) cp "$1" "$2" ;;
  esac
}

# shellcheck disable=SC2154  # qemu_folder is set by qemu/run
# Fills folder $1 with what the initramfs holds.
lay_out_image() { # FOLDER KERNEL VERSION BUSYBOX
  local files file name
  mkdir -p "$1"/{bin,dev,proc,sys,host,job,upper,new,guest,modules}
  cp "$4" "$1/bin/busybox"
  cp "$qemu_folder/guest/init" "$1/init"
  cp "$qemu_folder/guest/main" "$qemu_folder/guest/regions" "$1/guest/"
  chmod 755 "$1/init" "$1/bin/busybox"
  : >"$1/modules/order"
  files=$(module_files "$2" "$3")
  while read -r file; do
    [[ -n $file ]] || continue
    name=${file##*/}
    name=${name%%.ko*}.ko
    unpack_module "$file" "$1/modules/$name" || return 1
    printf '%s\n' "$name" >>"$1/modules/order"
  done <<<"$files"
}

# Names all that goes into the image: our files, and the modules that lie in folder $1.
image_parts() { # KERNEL VERSION BUSYBOX
  local files=()
  mapfile -t files < <(module_files "$1" "$2" 2>/dev/null)
  cat "$qemu_folder"/guest/{init,main,regions} "$qemu_folder/image.sh" "$3"
  ((${#files[@]} == 0)) || stat --format='%n %s %Y' "${files[@]}"
}

# Sets `$1` to the initramfs for the modules in `$2/lib/modules/$3` (none if $2 is empty), made with
# the busybox at $4.
provision_image() { # VARIABLE KERNEL VERSION BUSYBOX
  local folder version=$3 hash file work
  folder=$(cache_folder)/image
  hash=$(image_parts "$2" "$version" "$4" | sha256sum)
  file=$folder/$version-${hash:0:16}.cpio
  if [[ ! -e $file ]]; then
    make_cache_folder "$folder"
    make_unfinished "$folder/.work"
    # shellcheck disable=SC2154  # set by make_unfinished
    work=$unfinished
    if ! (lay_out_image "$work/root" "$2" "$version" "$4" && cd "$work/root" &&
      find . | cpio --quiet --create --format=newc >"$work/image") >"$work/log" 2>&1; then
      cat "$work/log" >&2
      rm -rf "$work"
      cannot_run "cannot make the guest's initramfs for kernel $version; $(room_in "$folder")"
    fi
    grep '^qemu/run: note:' "$work/log" >&2 || true
    mv "$work/image" "$file"
    rm -rf "$work"
  fi
  printf -v "$1" '%s' "$file"
}
