# SPDX-License-Identifier: Apache-2.0
"""Reading and writing the kernel's small files.  A file that is missing reads as None."""
import os
import re
from pathlib import Path

SYSTEM = Path("/sys/devices/system")
NODES = SYSTEM / "node"
MEMORY = SYSTEM / "memory"


def text(path):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def number(path):
    """Decimal or 0x; None where the file is missing or holds something else."""
    try:
        return int(text(path) or "", 0)
    except ValueError:
        return None


def write(path, value):
    """Raises OSError that names the file and the value."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{value}\n")
    except OSError as error:
        raise type(error)(error.errno, f"writing '{value}': {error.strerror}", str(path)) from None


def link_name(path):
    """Last part of what a link points to, or None."""
    try:
        return os.readlink(path).rpartition("/")[2]
    except OSError:
        return None


def id_list(value):
    """'0-2,5' as a list."""
    found = []
    for part in filter(None, (value or "").split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


def node_numbers(which):
    """Nodes that are `online`, `possible`, `has_cpu` or `has_memory`."""
    return id_list(text(NODES / which))


def node_bytes(node):
    """MemTotal of a node."""
    match = re.search(r"MemTotal:\s*(\d+) kB", text(NODES / f"node{node}/meminfo") or "")
    return int(match[1]) << 10 if match else 0


def distances(node):
    """Distance to each online node."""
    values = (text(NODES / f"node{node}/distance") or "").split()
    return dict(zip(node_numbers("online"), map(int, values)))


def block_bytes():
    return int(text(MEMORY / "block_size_bytes") or "0", 16)


def tiers():
    """Memory tiers, fastest first, each a list of nodes."""
    folder = Path("/sys/devices/virtual/memory_tiering")
    found = {int(path.name[len("memory_tier"):]): id_list(text(path / "nodelist"))
             for path in folder.glob("memory_tier[0-9]*")}
    return [found[key] for key in sorted(found)]


def vmstat(name):
    match = re.search(rf"^{name} (\d+)$", text("/proc/vmstat") or "", re.M)
    return int(match[1]) if match else None


def command_line():
    return (text("/proc/cmdline") or "").split()


def kernel_release():
    return os.uname().release
