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
  cxl_acpi cxl_pci cxl_mem device_dax dax_cxl kmem)

# The bootable file of an unpacked kernel package.
kernel_file() { # KERNEL
  local file
  for file in "$1"/boot/vmlinuz-* "$1"/usr/lib/modules/*/vmlinuz; do
    [[ -e $file ]] && { printf '%s\n' "$file"; return; }
  done
  return 1
}

# Prints the module files in the order of loading, each once.
module_files() { # KERNEL VERSION
  local module
  for module in "${image_modules[@]}"; do
    modprobe --dirname "$1" --set-version "$2" --show-depends "$module" || return 1
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
  files=$(module_files "$2" "$3") || return 1
  while read -r file; do
    name=${file##*/}
    name=${name%%.ko*}.ko
    unpack_module "$file" "$1/modules/$name" || return 1
    printf '%s\n' "$name" >>"$1/modules/order"
  done <<<"$files"
}

# Sets `$1` to the initramfs for unpacked kernel $2, made with the busybox at $3.
provision_image() {
  local folder version hash file work
  folder=$(cache_folder)/image
  version=$(cd "$2/lib/modules" && printf '%s\n' *)
  hash=$(cat "$qemu_folder"/guest/{init,main,regions} "$qemu_folder/image.sh" "$3" | sha256sum)
  file=$folder/$version-${hash:0:16}.cpio
  if [[ ! -e $file ]]; then
    make_cache_folder "$folder"
    work=$(mktemp --directory "$folder/.work.XXXXXX")
    if ! (lay_out_image "$work/root" "$2" "$version" "$3" && cd "$work/root" &&
      find . | cpio --quiet --create --format=newc >"$work/image") >"$work/log" 2>&1; then
      cat "$work/log" >&2
      rm -rf "$work"
      cannot_run "cannot make the guest's initramfs for kernel $version; see above"
    fi
    mv "$work/image" "$file"
    rm -rf "$work"
  fi
  printf -v "$1" '%s' "$file"
}
