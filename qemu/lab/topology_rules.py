# SPDX-License-Identifier: Apache-2.0
"""What the statements of a topology must fulfil together.

Each rule yields the faults that it finds.  A rule of `MAY_BE_ALLOWED` is a mistake of a
configuration, not of the file: a file may `allow` it, to see how a kernel answers.
"""
from topology import Fault, GIB, MIB, TopologyError, parse

GRANULE = 256 * MIB
# QEMU 10.0 builds what a switch needs on the bus numbers that follow its bridge's.
BUS_GAP = 8
# Address bits 8 to 14 (CXL 3.1, 8.2.4.20.1).
SPAN_MAX = 1 << 15
MAY_BE_ALLOWED = ("window-size", "serial-unique", "region-granularity")


def spell(bytes_count):
    """A size as one writes it."""
    for unit, letter in ((GIB, "G"), (MIB, "M"), (1 << 10, "k")):
        if bytes_count >= unit and bytes_count % unit == 0:
            return f"{bytes_count // unit}{letter}"
    return str(bytes_count)


def unique_names(topology):
    seen = {}
    for kind in ("bridge", "port", "switch", "downstream", "device", "region"):
        for item in topology.all(kind):
            if item.name in seen:
                yield Fault(item.line,
                            f"the name '{item.name}' was given in line {seen[item.name]}",
                            "give each a name of its own")
            seen.setdefault(item.name, item.line)


def machine_or_nodes(topology):
    machine, nodes = topology.machine, topology.all("node")
    if nodes and (machine.cpus or machine.memory):
        yield Fault(machine.line, "cpus= and memory= of the machine, beside nodes",
                    "give them to the nodes")
    if not nodes and not (machine.cpus and machine.memory):
        yield Fault(machine.line, "neither nodes nor cpus= and memory= of the machine",
                    "add 'node 0 cpus=0-1 memory=1G'")


def node_numbers(topology):
    nodes = topology.all("node")
    for wanted, node in enumerate(nodes):
        if node.number != wanted:
            yield Fault(node.line, f"node {node.number} stands where node {wanted} belongs",
                        "number nodes from 0 without a gap, in their order")
    if nodes and not topology.cpu_nodes:
        yield Fault(nodes[0].line, "no node has CPUs", "give node 0 cpus=0-1")
    for node in nodes:
        if node.cpus and not node.memory:
            yield Fault(node.line, f"node {node.number} has CPUs and no memory",
                        "add memory=1G; the kernel places its own data there")
        if node.memory % (2 * MIB):
            yield Fault(node.line, "memory is no multiple of 2M", "round it up")


def cpu_numbers(topology):
    expected = 0
    for node in topology.cpu_nodes:
        if node.cpus[0] != expected:
            yield Fault(node.line, f"CPUs begin at {node.cpus[0]}, not at {expected}",
                        "number CPUs from 0 without a gap, node by node")
            return
        expected = node.cpus[-1] + 1
    machine, total = topology.machine, expected or topology.machine.cpus
    if not 1 <= machine.sockets <= max(total, 1) or total % machine.sockets:
        yield Fault(machine.line, f"{total} CPUs do not divide into {machine.sockets} sockets",
                    "give sockets= a divisor of the number of CPUs")
        return
    per_socket = total // machine.sockets
    for node in topology.cpu_nodes:
        begin, length = node.cpus[0] % per_socket, len(node.cpus)
        if begin + length > per_socket and length % per_socket:
            yield Fault(node.line, f"node {node.number} spans a part of a socket",
                        "the kernel warns about that; change sockets= or cpus=")
    if len(topology.cpu_nodes) > machine.sockets:
        yield Fault(machine.line, "a socket would span nodes, which the kernel warns about",
                    f"give the machine sockets={len(topology.cpu_nodes)}")


def references(topology):
    nodes = {node.number for node in topology.all("node")}

    def missing(item, key, kind, wanted):
        known = " ".join(x.name for x in topology.all(kind)) or f"none; add a '{kind}'"
        return Fault(item.line, f"{key} names '{wanted}', which is no {kind}", f"known: {known}")
    for port in topology.all("port"):
        if not topology.named("bridge", port.bridge):
            yield missing(port, "bridge", "bridge", port.bridge)
    for switch in topology.all("switch"):
        if not topology.named("port", switch.port):
            yield missing(switch, "port", "port", switch.port)
    for downstream in topology.all("downstream"):
        if not topology.named("switch", downstream.switch):
            yield missing(downstream, "switch", "switch", downstream.switch)
    for device in topology.all("device"):
        if topology.bridge_of_port(device.port) is None:
            yield missing(device, "port", "port", device.port)
    for window in topology.all("window"):
        for target in window.targets:
            if not topology.named("bridge", target):
                yield missing(window, "targets", "bridge", target)
    for region in topology.all("region"):
        for wanted in region.devices:
            if not topology.named("device", wanted):
                yield missing(region, "devices", "device", wanted)
    for item, number in node_references(topology):
        if number is not None and number not in nodes:
            yield Fault(item.line, f"names node {number}, which no 'node' declares",
                        f"declared: {' '.join(map(str, sorted(nodes))) or 'none'}")


def node_references(topology):
    for item in topology.all("distance"):
        yield item, item.source
        yield item, item.target
    for item in topology.all("performance"):
        yield item, item.initiator
        yield item, item.target
    for item in topology.all("bridge"):
        yield item, item.node
        yield item, item.port_node
    for item in topology.all("node"):
        yield item, item.initiator


def distances(topology):
    for item in topology.all("distance"):
        if not 10 <= item.value <= 254 or (item.source != item.target and item.value == 10):
            yield Fault(item.line, f"distance {item.value}", "11 to 254 between two nodes")
        if item.source == item.target and item.value != 10:
            yield Fault(item.line, "a node's distance to itself is 10", "leave this line out")
    if topology.all("distance"):
        given = {frozenset((d.source, d.target)) for d in topology.all("distance")}
        numbers = [node.number for node in topology.all("node")]
        for a in numbers:
            for b in numbers[a + 1:]:
                if frozenset((a, b)) not in given:
                    yield Fault(topology.all("distance")[0].line,
                                f"no distance between node {a} and node {b}",
                                f"QEMU wants all or none: add 'distance {a} {b} 20'")


def performances(topology):
    machine, items = topology.machine, topology.all("performance")
    if items and not machine.hmat:
        yield Fault(items[0].line, "'performance' without an HMAT", "add 'machine hmat=yes'")
    if not machine.hmat:
        return
    given = {(item.initiator, item.target) for item in items}
    for initiator in (node.number for node in topology.cpu_nodes):
        for target in (node.number for node in topology.all("node")):
            if (initiator, target) not in given:
                yield Fault(machine.line, f"no performance from node {initiator} to {target}",
                            f"add 'performance {initiator} {target} latency=NS bandwidth=GB/s'")


def one_per_port(topology):
    users = {}
    for item in topology.all("switch") + topology.all("device"):
        if item.port in users:
            yield Fault(item.line, f"port '{item.port}' is taken by '{users[item.port]}'",
                        "one device or switch per port; add a port")
        users.setdefault(item.port, item.name)


def bus_numbers(topology):
    last = None
    for bridge in sorted(topology.all("bridge"), key=lambda b: b.bus):
        if not BUS_GAP <= bridge.bus <= 255 - BUS_GAP or (last and bridge.bus < last + BUS_GAP):
            yield Fault(bridge.line, f"bus {bridge.bus} leaves no room for what lies below",
                        f"leave {BUS_GAP} numbers between bridges, from {BUS_GAP} to "
                        f"{255 - BUS_GAP}")
        last = bridge.bus


def device_memory(topology):
    for device in topology.all("device"):
        if not device.ram + device.pmem + device.dynamic:
            yield Fault(device.line, "the device has no memory", "add ram=, pmem= or dynamic=")
        for kind in ("ram", "pmem", "dynamic"):
            if getattr(device, kind) % GRANULE:
                yield Fault(device.line, f"{kind}={spell(getattr(device, kind))}",
                            "device memory comes in multiples of 256M")
        if device.dynamic and device.dynamic % (device.dynamic_regions * GRANULE):
            yield Fault(device.line, f"dynamic={spell(device.dynamic)} does not divide into "
                        f"{device.dynamic_regions} regions of a multiple of 256M", "round it up")


def windows(topology):
    for window in topology.all("window"):
        if window.size % (GRANULE * len(window.targets)):
            yield Fault(window.line, f"size={spell(window.size)}",
                        f"a window of {len(window.targets)} targets is a multiple of "
                        f"{spell(GRANULE * len(window.targets))}")
        if len(window.targets) not in (1, 2, 4, 8, 16):
            yield Fault(window.line, f"{len(window.targets)} targets", "1, 2, 4, 8 or 16 of them")
        yield from granularity(window)


def granularity(item):
    if not 256 <= item.granularity <= 16384 or item.granularity & (item.granularity - 1):
        yield Fault(item.line, f"granularity {spell(item.granularity)}",
                    "a power of two from 256 to 16k")


def window_size(topology):
    """The window must hold the regions of all devices behind it."""
    for number, window in enumerate(topology.all("window")):
        behind = [device for device in topology.all("device")
                  if topology.bridge_of_port(device.port) in window.targets]
        used = [region for region in topology.all("region") if region.window == number]
        wanted = sum(map(topology.region_bytes, used))
        if not used and len(topology.all("window")) == 1:
            wanted = sum(device.ram + device.pmem for device in behind)
        if wanted > window.size:
            yield Fault(window.line, f"window {number} of {spell(window.size)} is smaller than the "
                        f"{spell(wanted)} behind it", f"size={spell(wanted)} or more")


def serial_unique(topology):
    seen = {}
    for item in topology.all("device") + topology.all("switch"):
        if item.serial in seen:
            yield Fault(item.line, f"serial {item.serial:#x} is also that of '{seen[item.serial]}'",
                        "give each device a serial of its own; nothing else tells them apart")
        seen.setdefault(item.serial, item.name)


def regions(topology):
    taken = {}
    for region in topology.all("region"):
        yield from granularity(region)
        if region.window >= len(topology.all("window")):
            yield Fault(region.line, f"there is no window {region.window}",
                        f"windows are numbered from 0 in their order; {len(topology.all('window'))}"
                        " are there")
            continue
        window = topology.all("window")[region.window]
        devices = [d for d in map(lambda n: topology.named("device", n), region.devices) if d]
        if len(region.devices) not in (1, 2, 4, 8, 16) or len(region.devices) % len(window.targets):
            yield Fault(region.line, f"{len(region.devices)} devices on a window of "
                        f"{len(window.targets)} targets", "a power of two, and a multiple of those")
        if len(region.devices) > 1 and len(region.devices) * region.granularity > SPAN_MAX:
            yield Fault(region.line, f"{len(region.devices)} ways of {spell(region.granularity)}",
                        f"ways times granularity is at most {spell(SPAN_MAX)}: decoders of devices "
                        "select by address bits 8 to 14")
        if len({getattr(device, region.type) for device in devices}) > 1:
            yield Fault(region.line, f"devices with different {region.type}=",
                        "an interleaved region takes the same from each")
        for position, device in enumerate(devices):
            yield from region_device(topology, region, position, device)
            key = (device.name, region.type)
            if key in taken:
                yield Fault(region.line, f"{region.type} of '{device.name}' belongs to "
                            f"'{taken[key]}'", "one region takes all of it")
            taken.setdefault(key, region.name)


def region_device(topology, region, position, device):
    window = topology.all("window")[region.window]
    if not getattr(device, region.type):
        yield Fault(region.line, f"'{device.name}' has no {region.type}",
                    f"give the device {region.type}= or change type=")
    if not device.plugged:
        yield Fault(region.line, f"'{device.name}' is not plugged in at boot",
                    "leave the region out; the hotplug suite makes it")
    expected = window.targets[position % len(window.targets)]
    bridge = topology.bridge_of_port(device.port)
    if bridge is not None and bridge != expected:
        yield Fault(region.line, f"'{device.name}' is below '{bridge}', but position {position} of "
                    f"window {region.window} is '{expected}'", "order devices as the targets are")


def region_granularity(topology):
    """A root decoder that interleaves gives its granularity to the region."""
    for region in topology.all("region"):
        if region.window < len(topology.all("window")):
            window = topology.all("window")[region.window]
            if len(window.targets) > 1 and region.granularity != window.granularity:
                yield Fault(region.line, f"granularity {spell(region.granularity)} on an "
                            f"interleaved window of {spell(window.granularity)}",
                            f"granularity={spell(window.granularity)}")


def no_srat(topology):
    """QEMU 10.0 dies when CXL memory comes online in a guest without an SRAT."""
    if topology.has_srat:
        return
    offline = any("memhp_default_state=offline" in k.parameters for k in topology.all("kernel"))
    for region in topology.all("region"):
        if region.online or not offline:
            yield Fault(region.line, "memory would come online without an SRAT, which ends QEMU",
                        "add a node, or online=no and 'kernel memhp_default_state=offline'")


RULES = (unique_names, machine_or_nodes, node_numbers, cpu_numbers, references, distances,
         performances, one_per_port, bus_numbers, device_memory, windows, window_size,
         serial_unique, regions, region_granularity, no_srat)


def allowances(topology):
    for allow in topology.all("allow"):
        if allow.rule not in MAY_BE_ALLOWED:
            yield Fault(allow.line, f"'{allow.rule}' cannot be allowed",
                        "only " + " ".join(MAY_BE_ALLOWED))


def check(topology):
    """-> all faults, by line."""
    allowed = {allow.rule for allow in topology.all("allow")}
    faults = list(allowances(topology))
    for rule in RULES:
        if rule.__name__.replace("_", "-") not in allowed:
            faults += rule(topology)
    return sorted(faults, key=lambda fault: fault.line)


def load(path):
    """-> Topology; raises OSError or TopologyError."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    topology, faults = parse(path, text)
    # What statements mean together cannot be told while some of them are missing.
    faults = faults or check(topology)
    if faults:
        raise TopologyError(path, faults)
    return topology
