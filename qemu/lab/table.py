# SPDX-License-Identifier: Apache-2.0
"""The table that a topology file opens with, made from its statements."""
from topology_rules import spell

LOCAL, DEFAULT_REMOTE = 10, 20


def columns(title, rows):
    """Left-justified columns below their titles."""
    widths = [max(len(row[i]) for row in [title, *rows]) for i in range(len(title))]
    lines = [title, ["-" * width for width in widths], *rows]
    for index, row in enumerate(lines):
        joint = "-+-" if index == 1 else " | "
        yield joint.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()


def distance(topology, a, b):
    """Between two nodes; the kernel's default for those that no table names."""
    if a == b:
        return LOCAL
    for item in topology.all("distance"):
        if {item.source, item.target} == {a, b}:
            return item.value
    return DEFAULT_REMOTE


def node_rows(topology):
    """(number, memory, CPUs) of every node that the guest will have."""
    for node in topology.all("node"):
        cpus = f"{node.cpus[0]}-{node.cpus[-1]}" if len(node.cpus) > 1 else "".join(
            map(str, node.cpus))
        memory = f"DRAM {spell(node.memory)}" if node.memory else "none (generic port)"
        yield node.number, memory, cpus or "none"
    if not topology.all("node"):
        machine = topology.machine
        yield 0, f"DRAM {spell(machine.memory)}", f"0-{machine.cpus - 1}"
    for number, _ in enumerate(topology.all("window")):
        regions = [r for r in topology.all("region") if r.window == number and r.type == "ram"]
        if topology.has_srat:
            memory = " ".join(f"CXL {spell(topology.region_bytes(r))}"
                              + ("" if r.online else " (offline)") for r in regions)
            yield topology.node_of_window(number), memory or "CXL, no region", "none"


def table(topology):
    """-> lines without comment signs."""
    rows = list(node_rows(topology))
    numbers = [number for number, _, _ in rows]
    title = ["node", "memory", "CPUs", "distance to " + " ".join(map(str, numbers))]
    lines = list(columns(title, [
        [str(number), memory, cpus, " ".join(str(distance(topology, number, b)) for b in numbers)]
        for number, memory, cpus in rows]))
    devices = [[d.name, " ".join(f"{kind} {spell(getattr(d, kind))}"
                                 for kind in ("ram", "pmem", "dynamic") if getattr(d, kind)),
                f"{d.serial:#x}", path(topology, d) + ("" if d.plugged else " (plugged in later)")]
               for d in topology.all("device")]
    if devices:
        lines += ["", *columns(["device", "memory", "serial", "below"], devices)]
    windows = [[str(i), spell(w.size), " ".join(w.targets),
                spell(w.granularity) if len(w.targets) > 1 else "-"]
               for i, w in enumerate(topology.all("window"))]
    if windows:
        lines += ["", *columns(["window", "size", "targets", "granularity"], windows)]
    regions = [[r.name, f"{r.type} {spell(topology.region_bytes(r))}", str(r.window),
                " ".join(r.devices), spell(r.granularity)] for r in topology.all("region")]
    if regions:
        lines += ["", *columns(["region", "memory", "window", "devices", "granularity"], regions)]
    performances = [[f"{p.initiator} -> {p.target}", f"{p.latency} ns", f"{p.bandwidth} GB/s"]
                    for p in topology.all("performance")]
    if performances:
        lines += ["", *columns(["HMAT", "latency", "bandwidth"], performances)]
    return [line.rstrip() for line in lines]


def path(topology, device):
    """Bridge, ports and switch above a device."""
    downstream = topology.named("downstream", device.port)
    if not downstream:
        port = topology.named("port", device.port)
        return f"{port.bridge} > {device.port}"
    switch = topology.named("switch", downstream.switch)
    port = topology.named("port", switch.port)
    return f"{port.bridge} > {switch.port} > {switch.name} > {device.port}"


def comment(topology):
    """The table as the comment of a file."""
    return ["#   " + line if line else "#" for line in table(topology)]
