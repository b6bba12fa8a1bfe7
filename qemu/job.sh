# shellcheck shell=bash disable=SC2154  # the options and `run` are set by qemu/run
# SPDX-License-Identifier: Apache-2.0
#
# What the guest is told: the folder $run/job, which it mounts at /run/cxltier/job.  Sourced by
# `qemu/run`.
#
#   command          what /bin/bash runs        hidden_folders   that /tmp, /run and /dev/shm hide
#   shares           tag and folder, a line     modules          folder of modules, or empty
#   regions          see guest/regions          topology.json    see lab/command_line.py
#   interactive      is there for --shell

# Prints the entry of /tmp, /run or /dev/shm that path $1 lies in; the guest's own ones hide it.
hidden_folder() {
  local top rest entry
  case $1/ in
    /tmp/*) top=/tmp ;;
    /run/?*) top=/run ;;
    /dev/shm/?*) top=/dev/shm ;;
    *) return 0 ;;
  esac
  rest=${1#"$top"}
  rest=${rest#/}
  entry=$top/${rest%%/*}
  if [[ -n $rest && -d $entry && ! -L $entry ]]; then
    printf '%s\n' "$entry"
  elif [[ $top == /tmp ]]; then
    printf '/tmp\n'
  fi
}

# The same for all that COMMAND needs: the caller's folder and words that are absolute paths.
hidden_folders() {
  local word
  {
    hidden_folder "$(pwd -P)"
    for word in "${command[@]}"; do
      if [[ $word == /* && -e $word ]]; then
        hidden_folder "$word"
        hidden_folder "$(realpath -- "$word")"
      fi
    done
  } | sort --unique
}

write_job() { # MODULES_ROOT
  local index
  {
    printf 'cd -- %q || exit 125\nexec' "$(pwd -P)"
    printf ' %q' "${command[@]}"
    printf '\n'
  } >"$run/job/command"
  hidden_folders >"$run/job/hidden_folders"
  for index in "${!shares[@]}"; do
    printf 'share%s %s\n' "$index" "${shares[index]}"
  done >"$run/job/shares"
  # Without links: the guest looks it up before this machine's root is its own.
  if [[ -n $1 ]]; then realpath -- "$1/lib/modules"; else echo; fi >"$run/job/modules"
  if [[ $shell == yes ]]; then
    write_terminal >"$run/job/command"
    : >"$run/job/interactive"
  fi
}

# What the interactive console runs: the size of our terminal, then a login shell.
write_terminal() {
  local rows=24 columns=80
  read -r rows columns < <(stty size <&0 2>/dev/null || echo 24 80)
  printf 'export TERM=%q\nstty rows %s columns %s\n' "${TERM:-vt100}" "$rows" "$columns"
  printf 'cd -- %q || cd /\nexec /bin/bash --login\n' "$(pwd -P)"
}

