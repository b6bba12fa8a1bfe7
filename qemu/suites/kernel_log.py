# SPDX-License-Identifier: Apache-2.0
"""The kernel's log while a check runs, by /dev/kmsg; empty where that cannot be opened."""
import os
import re

import kernel_faults

PATH = "/dev/kmsg"


class Follower:
    """Reads what the kernel logs from now on."""

    def __init__(self, from_start=False):
        try:
            self.descriptor = os.open(PATH, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            self.descriptor = -1
            return
        if not from_start:
            os.lseek(self.descriptor, 0, os.SEEK_END)

    def lines(self):
        """Messages since the last call."""
        found = []
        while self.descriptor >= 0:
            try:
                record = os.read(self.descriptor, 8192)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno == 32:      # EPIPE: messages were overwritten before they were read
                    continue
                break
            text = record.decode(errors="replace").split(";", 1)[-1]
            found.append(text.split("\n", 1)[0])
        return found

    def faults(self):
        """(name, line) of each line that tells of a fault; closes."""
        found = kernel_faults.faults(self.lines())
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        return found


def write(text):
    """Puts a line into the log."""
    try:
        with open(PATH, "w", encoding="utf-8") as file:
            file.write(f"<6>cxltier-check: {text}\n")
    except OSError:
        pass


def demotion_targets():
    """{node: preferred nodes} as the kernel last printed them."""
    targets = {}
    for line in Follower(from_start=True).lines():
        match = re.search(r"Demotion targets for Node (\d+): (?:preferred: ([\d,-]+)|null)", line)
        if match:
            targets[int(match[1])] = (match[2] or "").strip(",")
    return targets
