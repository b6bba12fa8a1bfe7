# SPDX-License-Identifier: Apache-2.0
"""QEMU's arguments for a topology.

Facts about QEMU that shape them: several windows belong into one -machine option; a port's slot is
unique; `maxmem` alone is enough for an SRAT; the memory of a device that is plugged in later must
exist from the start; and a hypervisor bit makes the kernel refuse to commit a region.
"""
from dataclasses import dataclass

from topology import GIB, MIB

# What hot-plugged DIMMs could fill: only its presence matters.
SPARE_MEMORY = 8 * GIB
LABEL_AREA = MIB


@dataclass(frozen=True)
class Choices:
    """What the caller of qemu/run chose; 0 and "" stand for what the topology says."""
    memory: int = 0              # bytes of each node with CPUs
    cpus: int = 0
    accelerator: str = "tcg"
    folder: str = "RUN"          # for files that hold memory


def on_off(value):
    return "on" if value else "off"


def mib(value):
    return f"{value // MIB}M"


def escaped(path):
    """In a QEMU option a comma is written twice."""
    return path.replace(",", ",,")


def cpu_model(topology, accelerator):
    """Without erms and fsrm the kernel copies word by word: much faster on emulated CXL."""
    base = "host" if accelerator == "kvm" else "max"
    if topology.machine.hypervisor == "hidden":
        base += ",-hypervisor"
    return base if accelerator == "kvm" else base + ",-erms,-fsrm"


def cpu_ranges(topology, choices):
    """CPUs of each node with CPUs: the topology's, or the chosen number spread evenly."""
    nodes = topology.cpu_nodes
    if not choices.cpus or not nodes:
        return [node.cpus for node in nodes]
    each, rest = divmod(choices.cpus, len(nodes))
    if rest or not each or choices.cpus % topology.machine.sockets:
        raise ValueError(f"--smp {choices.cpus} does not spread over {len(nodes)} nodes and "
                         f"{topology.machine.sockets} sockets; give a multiple")
    return [tuple(range(i * each, (i + 1) * each)) for i in range(len(nodes))]


def node_memory(node, choices):
    return choices.memory if node.cpus and choices.memory else node.memory


def processors_and_memory(topology, choices):
    machine, ranges = topology.machine, cpu_ranges(topology, choices)
    total = sum(map(len, ranges)) or choices.cpus or machine.cpus
    memory = sum(node_memory(node, choices) for node in topology.all("node"))
    memory = memory or choices.memory or machine.memory
    size = mib(memory)
    if machine.slots:
        size += f",maxmem={mib(memory + SPARE_MEMORY)},slots=4"
    yield from ("-smp", f"{total},sockets={machine.sockets},cores={total // machine.sockets}")
    yield from ("-m", size)


def numa(topology, choices):
    ranges = iter(cpu_ranges(topology, choices))
    for node in topology.all("node"):
        option, size = f"node,nodeid={node.number}", node_memory(node, choices)
        if size:
            yield from ("-object", f"memory-backend-ram,id=dram{node.number},size={mib(size)}")
            option += f",memdev=dram{node.number}"
        if node.cpus:
            cpus = next(ranges)
            option += f",cpus={cpus[0]}-{cpus[-1]}"
        # QEMU wants an initiator for each node once there is an HMAT and the node has memory.
        if topology.machine.hmat and (node.cpus or node.initiator is not None):
            option += f",initiator={node.number if node.cpus else node.initiator}"
        yield from ("-numa", option)
    for item in topology.all("distance"):
        yield from ("-numa", f"dist,src={item.source},dst={item.target},val={item.value}")


def performances(topology):
    """After the generic ports: QEMU wants every node to be known as a target."""
    for item in topology.all("performance"):
        pair = f"hmat-lb,initiator={item.initiator},target={item.target},hierarchy=memory"
        yield from ("-numa", f"{pair},data-type=access-latency,latency={item.latency}")
        yield from ("-numa", f"{pair},data-type=access-bandwidth,bandwidth={item.bandwidth}G")


def bridges_and_ports(topology):
    for bridge in topology.all("bridge"):
        option = f"pxb-cxl,bus_nr={bridge.bus},bus=pcie.0,id={bridge.name}"
        if bridge.node is not None:
            option += f",numa_node={bridge.node}"
        if bridge.decoders:
            option += ",hdm_for_passthrough=true"
        yield from ("-device", option)
        if bridge.port_node is not None:
            yield from ("-object", f"acpi-generic-port,id=gp-{bridge.name},pci-bus={bridge.name},"
                        f"node={bridge.port_node}")
    slot, below = 2, {}
    for port in topology.all("port"):
        number = below.setdefault(port.bridge, 0)
        below[port.bridge] += 1
        option = f"cxl-rp,port={number},bus={port.bridge},id={port.name},chassis=0,slot={slot}"
        if (port.speed, port.width) != (64, 32):
            option += f",x-speed={port.speed},x-width={port.width}"
        if port.reserve:
            option += f",mem-reserve={mib(port.reserve)}"
        yield from ("-device", option)
        slot += 1
    for switch in topology.all("switch"):
        yield from ("-device", f"cxl-upstream,bus={switch.port},id={switch.name},addr=0.0,"
                    f"multifunction=on,sn={switch.serial:#x}")
        yield from ("-device", f"cxl-switch-mailbox-cci,bus={switch.port},addr=0.1,"
                    f"target={switch.name}")
    for downstream in topology.all("downstream"):
        number = below.setdefault(downstream.switch, 0)
        below[downstream.switch] += 1
        yield from ("-device", f"cxl-downstream,port={number},bus={downstream.switch},"
                    f"id={downstream.name},chassis=0,slot={slot}")
        slot += 1


def backend(kind, device, size, folder):
    """One memory object of a device."""
    ident = f"{device.name}-{kind}"
    if device.backing == "file" or kind in ("pmem", "lsa"):
        return ("-object", f"memory-backend-file,id={ident},share=on,size={mib(size)},"
                f"mem-path={escaped(folder)}/{ident}.raw")
    return ("-object", f"memory-backend-ram,id={ident},share=on,size={mib(size)}")


def device_option(device):
    option = f"cxl-type3,bus={device.port},id={device.name},sn={device.serial:#x}"
    if device.ram:
        option += f",volatile-memdev={device.name}-ram"
    if device.pmem:
        option += f",persistent-memdev={device.name}-pmem,lsa={device.name}-lsa"
    if device.dynamic:
        option += (f",volatile-dc-memdev={device.name}-dynamic,"
                   f"num-dc-regions={device.dynamic_regions}")
    if (device.speed, device.width) != (32, 16):
        option += f",x-speed={device.speed},x-width={device.width}"
    return option


def devices(topology, folder):
    for device in topology.all("device"):
        if device.ram:
            yield from backend("ram", device, device.ram, folder)
        if device.pmem:
            yield from backend("pmem", device, device.pmem, folder)
            yield from backend("lsa", device, LABEL_AREA, folder)
        if device.dynamic:
            yield from backend("dynamic", device, device.dynamic, folder)
        if device.plugged:
            yield from ("-device", device_option(device))


def windows(topology):
    parts = []
    for number, window in enumerate(topology.all("window")):
        prefix = f"cxl-fmw.{number}"
        parts += [f"{prefix}.targets.{i}={target}" for i, target in enumerate(window.targets)]
        parts.append(f"{prefix}.size={mib(window.size)}")
        if len(window.targets) > 1:
            parts.append(f"{prefix}.interleave-granularity={window.granularity}")
    if parts:
        yield from ("-machine", ",".join(parts))


def arguments(topology, choices):
    """-> the list of QEMU's arguments; raises ValueError for choices that do not fit."""
    machine = "q35"
    if topology.all("bridge"):
        machine += ",cxl=on"
    if topology.machine.hmat:
        machine += ",hmat=on"
    accelerator = "tcg,thread=multi" if choices.accelerator == "tcg" else choices.accelerator
    return ["-accel", accelerator, "-machine", machine,
            "-cpu", cpu_model(topology, choices.accelerator),
            *processors_and_memory(topology, choices), *numa(topology, choices),
            *bridges_and_ports(topology), *performances(topology),
            *devices(topology, choices.folder), *windows(topology)]


# --- what the guest is told -----------------------------------------------------------------------

def region_lines(topology):
    """For qemu/guest/regions, one region a line: type window granularity size online serials."""
    for region in topology.all("region"):
        serials = [topology.named("device", wanted).serial for wanted in region.devices]
        yield " ".join([region.type, str(region.window), str(region.granularity),
                        str(topology.region_bytes(region)),
                        "online" if region.online else "offline", *(f"{s:#x}" for s in serials)])


def description(topology, choices):
    """The topology as plain values, for suites: its statements, and what follows from them."""
    plain = {kind: [dict(vars(item)) for item in items]
             for kind, items in topology.statements.items()}
    plain.setdefault("machine", [dict(vars(topology.machine))])
    for node in plain.get("node", []):
        node["memory"] = node_memory(next(n for n in topology.all("node")
                                          if n.number == node["number"]), choices)
    for device in plain.get("device", []):
        item = topology.named("device", device["name"])
        device["bridge"] = topology.bridge_of_port(device["port"])
        device["plug_option"] = dict(part.partition("=")[::2] for part in
                                     ("driver=" + device_option(item)).split(","))
    for region in plain.get("region", []):
        region["size"] = topology.region_bytes(topology.named("region", region["name"]))
    plain["name"] = topology.path.rpartition("/")[2].rpartition(".")[0]
    plain["has_srat"] = topology.has_srat
    plain["window_nodes"] = [topology.node_of_window(i) for i in range(len(topology.all("window")))]
    return plain
