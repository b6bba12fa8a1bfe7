# shellcheck shell=bash disable=SC2154  # the options and `run` are set by qemu/run
# SPDX-License-Identifier: Apache-2.0
#
# The machine: its kernel, firmware and accelerator, and QEMU's command line.  Sourced by
# `qemu/run`.

# QEMU maps a window of CXL memory as device memory; under KVM, programs in it end by "internal
# error" until this version, which has a fast path for windows that do not interleave.
qemu_version_kvm=11.1

# --- topology -------------------------------------------------------------------------------------

# Sets topology_file.
find_topology() {
  local known
  topology_file=$topology
  [[ $topology == */* ]] || topology_file=$qemu_folder/topologies/$topology.topology
  if [[ ! -f $topology_file || ! -r $topology_file ]]; then
    known=("$qemu_folder"/topologies/*.topology)
    known=("${known[@]##*/}")
    usage_error \
      "unknown topology '$topology'; known: ${known[*]%.topology} (or a path with a / in it)"
  fi
}

# Checks the topology's file and fills $run/job with what was made of it.  Sets topology_arguments.
compile_topology() { # FOLDER_OF_MEMORY_FILES
  local wanted version kernel_parameters
  python3 "$qemu_folder/lab/compile_topology" --out "$run/job" --memory $((memory_mib << 20)) \
    --smp "$smp" --accel "$accel" --folder "$1" "$topology_file" || exit "$status_usage"
  mapfile -t topology_arguments <"$run/job/arguments"
  mapfile -t kernel_parameters <"$run/job/kernel"
  append="${kernel_parameters[*]/#/ }$append"
  if [[ $regions == no ]]; then : >"$run/job/regions"; fi
  wanted=$(<"$run/job/qemu") version=$(qemu_version)
  version_at_least "$version" "$wanted" ||
    cannot_run "topology $topology needs QEMU $wanted or newer; $qemu_binary is $version"
  if [[ $accel == kvm ]]; then require_kvm "$version"; fi
}

require_kvm() { # QEMU_VERSION
  [[ -r /dev/kvm && -w /dev/kvm ]] || cannot_run '/dev/kvm cannot be opened; use --accel tcg'
  if [[ " ${topology_arguments[*]} " == *cxl-type3* ]] && ! version_at_least "$1" $qemu_version_kvm
  then
    usage_error "--accel kvm with CXL memory needs QEMU $qemu_version_kvm or newer, this is $1:\
 older ones map the window as device memory, and programs in it end the guest; use --accel tcg"
  fi
}

# --- kernel ---------------------------------------------------------------------------------------

# Sets kernel_image, modules_root (empty: no modules) and kernel_version.
choose_kernel() {
  local package_root
  modules_root=
  if [[ -n $kernel_tree ]]; then
    kernel_image=$kernel_tree/arch/x86/boot/bzImage
    [[ -r $kernel_image ]] || cannot_boot "$kernel_tree holds no arch/x86/boot/bzImage; build it\
 with qemu/kernel.config merged into its configuration"
  elif [[ -n $kernel ]]; then
    kernel_image=$kernel
  else
    provision_kernel package_root "$kernel_package"
    kernel_image=$(kernel_file "$package_root") ||
      cannot_run "no kernel in $package_root; remove that folder"
    modules_root=$package_root
  fi
  kernel_version=$(kernel_release "$kernel_image") || kernel_version=
  [[ $kernel_version =~ ^[0-9]+\.[0-9]+ ]] ||
    cannot_boot "$kernel_image is no bzImage: it does not say which release it is"
  if [[ -n $modules ]]; then find_modules; fi
}

# Sets modules_root from --modules: a root that holds lib/modules/VERSION, or that folder itself.
find_modules() {
  local candidate
  for candidate in "$modules" "$modules/../../.."; do
    if [[ -d $candidate/lib/modules/$kernel_version ]]; then
      modules_root=$(cd -- "$candidate" && pwd -P)
      [[ -e $modules_root/lib/modules/$kernel_version/modules.dep ]] || usage_error \
        "--modules: $modules_root/lib/modules/$kernel_version has no modules.dep; run depmod"
      return
    fi
  done
  usage_error "--modules '$modules' has no lib/modules/$kernel_version, the release of the kernel"
}

# --- firmware -------------------------------------------------------------------------------------

# Sets bios_arguments.
choose_bios() {
  local file
  bios_arguments=()
  case $bios in
    '' | seabios) return ;;
    ovmf)
      for file in /usr/share/ovmf/OVMF.fd /usr/share/qemu/OVMF.fd /usr/share/edk2/x64/OVMF.4m.fd; do
        if [[ -r $file ]]; then
          bios_arguments=(-bios "$file")
          return
        fi
      done
      cannot_run 'no OVMF.fd is installed; install the package ovmf, or give a file to --bios'
      ;;
    *)
      [[ -f $bios && -r $bios ]] ||
        usage_error "--bios '$bios' is no file; give one, seabios or ovmf"
      bios_arguments=(-bios "$bios")
      ;;
  esac
}

# --- QEMU's command line --------------------------------------------------------------------------

# In a QEMU option a comma is written twice.
escaped() {
  printf '%s' "${1//,/,,}"
}

# Appends a file system that the guest mounts by tag $1; $3 are more options.
add_file_system() { # TAG FOLDER OPTIONS
  qemu+=(-fsdev "local,id=$1,path=$(escaped "$2"),multidevs=remap,security_model=none$3"
    -device "virtio-9p-pci,fsdev=$1,mount_tag=$1,bus=pcie.0")
}

add_port() { # NAME
  qemu+=(-chardev "file,id=$1,path=$(escaped "$run/$1")"
    -device "virtserialport,bus=ports.0,chardev=$1,name=$1")
}

# Monitors and the debugger's stub.  The guest's own monitor is a port of the guest that is
# connected to a socket of the same QEMU.
add_monitors() {
  if [[ -n $qmp ]]; then qemu+=(-qmp "unix:$(escaped "$qmp"),server=on,wait=off"); fi
  if [[ $qmp_in_guest == yes ]]; then
    qemu+=(-qmp "unix:$(escaped "$run/qmp"),server=on,wait=off"
      -chardev "socket,id=qmp,path=$(escaped "$run/qmp")"
      -device 'virtserialport,bus=ports.0,chardev=qmp,name=qmp')
  fi
  if [[ -n $gdb ]]; then
    qemu+=(-S -chardev "socket,id=gdb,path=$(escaped "$gdb"),server=on,wait=off" -gdb chardev:gdb)
  fi
}

# Sets `qemu`.  The kernel checks its timer within 40 ms, which the emulated one misses on a busy
# host: then it panics, hence no_timer_check.
# shellcheck disable=SC2054  # the commas belong to QEMU's syntax
compose_command_line() { # IMAGE
  local index debugging=
  [[ -z $gdb ]] || debugging=' nokaslr'
  qemu=("$qemu_binary" -nodefaults -no-user-config -no-reboot -display none
    "${topology_arguments[@]}" "${bios_arguments[@]}"
    -kernel "$kernel_image" -initrd "$1"
    -append "console=ttyS0 quiet panic=-1 no_timer_check init_on_alloc=0$debugging$append"
    -chardev "file,id=console,path=$(escaped "$console")" -serial chardev:console
    -device virtio-serial-pci,id=ports,bus=pcie.0)
  add_port status
  if [[ $shell == yes ]]; then
    qemu+=(-chardev stdio,id=terminal,signal=off -device virtconsole,bus=ports.0,chardev=terminal)
  else
    add_port out
    add_port err
  fi
  add_monitors
  add_file_system host / ,readonly=on
  add_file_system job "$run/job" ,readonly=on
  for index in "${!shares[@]}"; do add_file_system "share$index" "${shares[index]}" ''; done
}
