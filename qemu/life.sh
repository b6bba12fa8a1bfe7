# shellcheck shell=bash disable=SC2154  # the options, `qemu` and `run` are set by qemu/run
# SPDX-License-Identifier: Apache-2.0
#
# The life of a guest, from its start to the verdict.  Sourced by `qemu/run`.
#
#   COMMAND > FIFO > cat > virtio port | FIFO RUN/out > cat > our stdout     (err likewise)
#   guest's process 1  > virtio port   | FIFO RUN/status > follow_guest:
#                                        ready, alive, exit N, broken WHY
#
# QEMU inherits a descriptor of each FIFO, so that end of file means that QEMU has ended, be it
# before it opened them.

qemu_pid=
qemu_status=
carriers=()
terminal=
# What QEMU ends with when an assertion of its own fails.
status_aborted=134

clean_up() {
  trap - EXIT INT TERM HUP
  if [[ -n $qemu_pid ]]; then kill -KILL "$qemu_pid" 2>/dev/null || true; fi
  if ((${#carriers[@]})); then kill "${carriers[@]}" 2>/dev/null || true; fi
  wait 2>/dev/null || true
  if [[ -n $terminal ]]; then stty "$terminal" <&0 2>/dev/null || true; fi
  if [[ -n $run ]]; then rm -rf "$run"; fi
  # Sockets did not exist before; a QEMU that was killed leaves its own.
  rm -f ${qmp:+"$qmp"} ${gdb:+"$gdb"}
  if [[ -n $unfinished ]]; then rm -rf "$unfinished"; fi
}

# Starts QEMU and the carriers of its output; descriptor 8 then reads the guest's status lines.
start_guest() {
  exec 7<&0
  rm -f "$run/status" "$run/out" "$run/err"
  mkfifo "$run/status" "$run/out" "$run/err"
  exec 8<>"$run/status" 5<>"$run/out" 6<>"$run/err"
  # Should we be killed outright, the kernel ends QEMU.
  setpriv --pdeathsig KILL "${qemu[@]}" <&7 2>"$run/qemu" &
  qemu_pid=$!
  if [[ $shell == no ]]; then
    cat <"$run/out" 5>&- 6>&- 7<&- 8>&- &
    carriers+=($!)
    cat <"$run/err" >&2 5>&- 6>&- 7<&- 8>&- &
    carriers+=($!)
  fi
  exec 9<"$run/status"
  exec 5>&- 6>&- 7<&- 8<&9 9<&-
}

# Reads status lines until QEMU ends or a deadline passes.  Sets ready, reported (the exit status),
# broken and late: no, or which deadline passed (boot, pulse, command, end).
follow_guest() {
  local line code wait deadline=$((SECONDS + boot_seconds)) pulse=$((SECONDS + boot_seconds))
  local phase=boot
  ready=no reported='' broken='' late=no
  while :; do
    wait=$((deadline < pulse ? deadline - SECONDS : pulse - SECONDS))
    code=0
    IFS= read -r -t "$((wait > 0 ? wait : 1))" -u 8 line || code=$?
    if ((code > 128)); then
      [[ -n $gdb ]] && continue # whoever debugs a guest stops it
      ((SECONDS < deadline)) && phase=pulse
      late=$phase
      return
    fi
    ((code == 0)) || return 0
    pulse=$((SECONDS + pulse_seconds))
    case $line in
      alive) [[ $ready == yes ]] || pulse=$deadline ;;
      ready) ready=yes phase=command deadline=$((SECONDS + timeout)) ;;
      'exit '*) reported=${line#exit } phase=end deadline=$((SECONDS + power_off_seconds)) ;;
      'broken '*) broken=${line#broken } phase=end deadline=$((SECONDS + power_off_seconds)) ;;
    esac
  done
}

# Waits for QEMU and for the carriers of its output.  Sets qemu_status.
await_end() {
  [[ -n $qemu_pid ]] || return 0
  qemu_status=0
  # bash would report the death of a job that a signal ended.
  { wait "$qemu_pid" || qemu_status=$?; } 2>/dev/null
  qemu_pid=
  if ((${#carriers[@]})); then wait "${carriers[@]}" || true; fi
  carriers=()
}

# Starts a guest once more whose QEMU aborted while it booted: under load, QEMU 10.0 with several
# emulation threads now and then fails its assertion in iotlb_to_section while bridges are set up.
retry_aborted_boot() {
  [[ $ready == no && $late == no && -z $broken ]] || return 0
  await_end
  ((qemu_status == status_aborted)) || return 0
  printf 'qemu/run: note: QEMU aborted while the guest booted, which is started again: %s\n' \
    "$(tail -n 1 "$run/qemu")" >&2
  start_guest
  follow_guest
}

# Prints a verdict with the last words of the guest's console and of QEMU.
report_broken() { # REASON
  {
    printf 'qemu/run: %s\n' "$1"
    if [[ -s $console ]]; then
      echo "qemu/run: last lines of the guest's console:"
      tail -n 25 "$console" | tr -d '\r' | sed 's/\x1b\[[0-9;=?]*[A-Za-z]//g; s/^/  | /'
    fi
    if [[ -s $run/qemu ]]; then
      echo 'qemu/run: QEMU said:'
      tail -n 10 "$run/qemu" | sed 's/^/  | /'
    fi
  } >&2
}

# Prints why a guest has ended, or must be ended, without a status.
verdict() { # QEMU_STATUS
  local panic
  panic=$(grep --text --max-count=1 --only-matching 'Kernel panic.*' "$console" 2>/dev/null) || true
  if [[ -n $broken ]]; then
    echo "the guest broke: $broken"
  elif [[ -n $panic ]]; then
    echo "the guest's kernel panicked: ${panic%$'\r'}"
  elif [[ $late == boot && ! -s $console ]]; then
    echo "the guest did not come up within $boot_seconds s and wrote nothing to its console: its" \
      'kernel has no serial console (SERIAL_8250_CONSOLE), or its firmware did not start it'
  elif [[ $late == boot ]]; then
    echo "the guest did not come up within $boot_seconds s"
  elif [[ $late == pulse ]]; then
    echo "the guest hangs: no process of it has run for $pulse_seconds s"
  elif [[ $late == end ]]; then
    echo "the guest did not power off within $power_off_seconds s"
  elif (($1)); then
    echo "QEMU ended with status $1 before the command did"
  else
    echo 'the guest powered off or restarted before the command ended'
  fi
}

# Ends the script with the verdict on a guest that has ended or must be ended.
conclude() {
  if [[ $late != no && -n $qemu_pid ]]; then kill -KILL "$qemu_pid" 2>/dev/null || true; fi
  await_end
  [[ -z $reported ]] || finish "$reported"
  if [[ $late == command ]]; then
    report_broken "timeout: the command was still running after $timeout s"
    finish "$status_timeout"
  fi
  report_broken "$(verdict "$qemu_status")"
  finish "$status_broken"
}

# Ends the script.  `git bisect run` reads 125 as "cannot be tested", 1 to 127 as bad, and stops at
# more: only a guest that did not come up cannot be tested.
finish() { # STATUS
  local status=$1
  if [[ $bisect == yes ]]; then
    if [[ $1 == "$status_broken" ]]; then
      [[ $ready == no ]] || status=1
    elif (($1 > 124)); then
      status=1
    fi
  fi
  exit "$status"
}
