# SPDX-License-Identifier: Apache-2.0
"""Guests that run at the same time, and how they end together.

    run (threads of a pool)  -->  running  -->  ended, with its output and its CPU time
    stop (the main thread)   -->  every running one is told to end and cleans up after itself
"""
import os
import signal
import subprocess
import threading
from pathlib import Path

MEMORY_EACH = 6 << 30      # of the largest topology, with room for QEMU itself


class Stopped(Exception):
    """No guest is started any more."""


class Guests:
    """The guests that run now.  A process group each, so that a terminal's Ctrl-C reaches us
    alone and the guests are ended once, by `stop`."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def run(self, command, folder):
        """-> the ended process, CPU seconds of it and of all below it; output goes through FOLDER.
        Raises Stopped."""
        output, errors = Path(folder, "stdout"), Path(folder, "stderr")
        with open(output, "wb") as out, open(errors, "wb") as err:
            with self.lock:
                if self.stopped:
                    raise Stopped
                # Popen's own wait would not tell the CPU time.
                # pylint: disable-next=consider-using-with
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                           stderr=err, process_group=0)
                self.running.add(process.pid)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with self.lock:     # until here the number is the process's own, and `stop` may use it
            _, status, usage = os.wait4(process.pid, 0)
            self.running.discard(process.pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        done = subprocess.CompletedProcess(command, process.returncode,
                                           output.read_text(errors="replace"),
                                           errors.read_text(errors="replace"))
        return done, usage.ru_utime + usage.ru_stime

    def stop(self):
        with self.lock:
            self.stopped = True
            for pid in self.running:
                os.killpg(pid, signal.SIGTERM)


def default_jobs():
    """As many guests at a time as there are CPUs and free memory: each mostly uses one."""
    with open("/proc/meminfo", encoding="ascii") as file:
        values = dict(line.split(":") for line in file)
    free = int(values["MemAvailable"].split()[0]) << 10
    return max(1, min(len(os.sched_getaffinity(0)), free // MEMORY_EACH))
