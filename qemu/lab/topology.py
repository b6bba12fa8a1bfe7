# SPDX-License-Identifier: Apache-2.0
"""The topology of a guest: one file, one statement a line, read into plain values.

    KIND [NAME...] key=value...         # a comment

`KINDS` below is the whole format: every kind with the names that it takes and its keys, each with
how its value is read and what stands for it when it is left out (`REQUIRED`: it may not be).  A
file opens with a comment that holds the table of its nodes, devices, windows and regions;
`table.py` prints that table.  What the statements mean together is checked by `topology_rules.py`.

Sizes are bytes, latencies nanoseconds, bandwidths GB/s, link speeds GT/s.
"""
import re
from dataclasses import dataclass, field
from types import SimpleNamespace

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
REQUIRED = object()


@dataclass(frozen=True)
class Fault:
    """One mistake of a file; `line` 0 stands for the file as a whole."""
    line: int
    what: str
    fix: str

    def text(self, path):
        place = f"{path}:{self.line}" if self.line else str(path)
        return f"{place}: {self.what}; fix: {self.fix}"


class TopologyError(Exception):
    """All mistakes of a file."""

    def __init__(self, path, faults):
        super().__init__("\n".join(fault.text(path) for fault in faults))
        self.faults = faults


# --- how a value is read: each returns it, or raises ValueError with what it should be ------------

def size(text):
    match = re.fullmatch(r"([1-9]\d{0,8})([kKMGT]?)", text)
    if not match:
        raise ValueError("a size such as 256, 8k, 512M or 4G")
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match[2].lower()]


def count(text):
    if not re.fullmatch(r"\d{1,6}", text):
        raise ValueError("a number")
    return int(text)


def serial(text):
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text):
        raise ValueError("a serial number in hexadecimal such as 0x1")
    return int(text, 16)


def cpus(text):
    match = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", text)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise ValueError("a CPU or a range such as 0 or 0-3")
    return tuple(range(int(match[1]), int(match[2] or match[1]) + 1))


def name(text):
    if not re.fullmatch(r"[A-Za-z][\w.-]{0,30}", text):
        raise ValueError("a name: a letter, then letters, digits, '.', '-' or '_'")
    return text


def names(text):
    return tuple(name(part) for part in text.split(","))


def one_of(*words):
    def read(text):
        if text not in words:
            raise ValueError("one of " + " ".join(words))
        return text
    return read


def flag(text):
    return one_of("yes", "no")(text) == "yes"


def version(text):
    if not re.fullmatch(r"\d+\.\d+", text):
        raise ValueError("a version such as 9.2")
    return tuple(map(int, text.split(".")))


def link_speed(text):
    return int(one_of("2", "5", "8", "16", "32", "64")(text))


def link_width(text):
    return int(one_of("1", "2", "4", "8", "16", "32")(text))


@dataclass(frozen=True)
class Kind:
    """What a statement takes: `places` are (name, reader), `keys` map to (reader, default)."""
    places: tuple = ()
    keys: dict = field(default_factory=dict)
    rest: str = ""       # name of a list that takes all remaining words


KINDS = {
    # cpus and memory only where there is no node; sockets: of equal size; hmat: table of
    # performances; slots=no leaves maxmem out, and with it the SRAT where there is no node
    "machine": Kind((), {"cpus": (count, 0), "memory": (size, 0), "sockets": (count, 1),
                         "hmat": (flag, False), "slots": (flag, True),
                         "hypervisor": (one_of("hidden", "visible"), "hidden")}),
    "node": Kind((("number", count),), {"cpus": (cpus, ()), "memory": (size, 0),
                                        "initiator": (count, None)}),
    "distance": Kind((("source", count), ("target", count), ("value", count))),
    "performance": Kind((("initiator", count), ("target", count)),
                        {"latency": (count, REQUIRED), "bandwidth": (count, REQUIRED)}),
    # node: of the CPUs beside it; port-node: proximity domain of its generic port;
    # decoders: its own HDM decoders even where it has one port only
    "bridge": Kind((("name", name),), {"bus": (count, REQUIRED), "node": (count, None),
                                       "port-node": (count, None), "decoders": (flag, False)}),
    "port": Kind((("name", name),), {"bridge": (name, REQUIRED), "speed": (link_speed, 64),
                                     "width": (link_width, 32), "reserve": (size, 0)}),
    "switch": Kind((("name", name),), {"port": (name, REQUIRED), "serial": (serial, REQUIRED)}),
    "downstream": Kind((("name", name),), {"switch": (name, REQUIRED)}),
    # port of a device: a root port or a downstream port; plugged=no: kept for hot-plug
    "device": Kind((("name", name),), {
        "port": (name, REQUIRED), "serial": (serial, REQUIRED), "ram": (size, 0), "pmem": (size, 0),
        "dynamic": (size, 0), "dynamic-regions": (count, 2), "speed": (link_speed, 32),
        "width": (link_width, 16), "plugged": (flag, True),
        "backing": (one_of("memory", "file"), "memory")}),
    "window": Kind((), {"targets": (names, REQUIRED), "size": (size, REQUIRED),
                        "granularity": (size, 256)}),
    # made when the guest starts; online=no leaves the memory to the command
    "region": Kind((("name", name),), {
        "devices": (names, REQUIRED), "window": (count, 0), "granularity": (size, 256),
        "type": (one_of("ram", "pmem"), "ram"), "online": (flag, True)}),
    "kernel": Kind((), {}, "parameters"),
    "requires": Kind((), {"qemu": (version, REQUIRED)}),
    # a rule of topology_rules.py that this file breaks on purpose, and why
    "allow": Kind((("rule", name),), {}, "reason"),
}
ONCE = ("machine", "requires")


@dataclass
class Topology:
    """The statements of a file by kind, in their order, and the comment that it opens with."""
    path: str
    title: str
    head: list
    statements: dict

    def all(self, kind):
        return self.statements.get(kind, [])

    def one(self, kind):
        found = self.all(kind)
        return found[0] if found else None

    def named(self, kind, wanted):
        return next((s for s in self.all(kind) if s.name == wanted), None)

    @property
    def machine(self):
        return self.one("machine") or read_words(0, "machine", [])

    @property
    def cpu_nodes(self):
        return [node for node in self.all("node") if node.cpus]

    @property
    def has_srat(self):
        return bool(self.all("node")) or self.machine.slots

    def node_of_window(self, window):
        """The kernel gives each window that is in no SRAT entry the next free node."""
        if not self.has_srat:
            return 0
        return max(len(self.all("node")), 1) + window

    def bridge_of_port(self, wanted):
        """The host bridge above a root port or a downstream port, or None."""
        downstream = self.named("downstream", wanted)
        if downstream:
            switch = self.named("switch", downstream.switch)
            wanted = switch.port if switch else ""
        port = self.named("port", wanted)
        return port.bridge if port else None

    def region_bytes(self, region):
        devices = [self.named("device", wanted) for wanted in region.devices]
        return sum(getattr(device, region.type) for device in devices if device)


def read_words(line, kind, words):
    """-> the statement as a value; raises ValueError((what, fix))."""
    shape = KINDS[kind]
    values = {"line": line, "kind": kind}
    places = list(shape.places)
    for place, reader in places:
        if not words or "=" in words[0]:
            wanted = " ".join(p.upper() for p, _ in places)
            raise ValueError((f"'{kind}' lacks its {place}", f"write {kind} {wanted} ..."))
        values[place] = read_value(place, reader, words.pop(0))
    if shape.rest:
        if not words:
            raise ValueError((f"'{kind}' lacks its {shape.rest}", "add it at the end of the line"))
        values[shape.rest] = " ".join(words)
        return SimpleNamespace(**values)
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in shape.keys:
            known = " ".join(shape.keys) or "none"
            raise ValueError((f"'{kind}' knows no '{word}'", f"its keys are: {known}"))
        if key.replace("-", "_") in values:
            raise ValueError((f"'{key}' stands twice", "keep one of them"))
        values[key.replace("-", "_")] = read_value(key, shape.keys[key][0], text)
    for key, (_, default) in shape.keys.items():
        if default is REQUIRED and key.replace("-", "_") not in values:
            raise ValueError((f"'{kind}' lacks {key}=", f"add {key}=..."))
        values.setdefault(key.replace("-", "_"), default)
    return SimpleNamespace(**values)


def read_value(key, reader, text):
    try:
        return reader(text)
    except ValueError as error:
        raise ValueError((f"{key} '{text}' is wrong", f"give {error}")) from None


def parse(path, text):
    """-> Topology, faults of single lines."""
    statements, faults, head, in_head = {}, [], [], True
    for number, line in enumerate(text.splitlines(), start=1):
        if in_head and line.startswith("#"):
            head.append(line)
            continue
        in_head = in_head and not line.strip()
        words = re.sub(r"(^|\s)#.*", "", line).split()
        if not words:
            continue
        kind = words.pop(0)
        if kind not in KINDS:
            faults.append(Fault(number, f"unknown statement '{kind}'",
                                "it must begin with one of " + " ".join(KINDS)))
            continue
        if kind in ONCE and kind in statements:
            faults.append(Fault(number, f"a second '{kind}'", "join it with the first"))
            continue
        try:
            statements.setdefault(kind, []).append(read_words(number, kind, words))
        except ValueError as error:
            faults.append(Fault(number, *error.args[0]))
    comment = [line.lstrip("# ") for line in head if "SPDX" not in line]
    title = next((line for line in comment if line), "")
    return Topology(str(path), title, head, statements), faults
