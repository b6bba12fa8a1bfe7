# SPDX-License-Identifier: Apache-2.0
"""Suite `discovery`: everything of the topology is there, with the values that it must have.

On a real machine, where nobody says what must be there, it checks that what is there fits together.
"""
from pathlib import Path

import cxl
import kernel_log
import sysfs
from checks import Failure, Skip, check, expect, require
from region import declared, duplicate_serials, hypervisor_visible, need_cxl

# With these a kernel can use CXL memory as system memory; built in or as modules.
DRIVERS = ("cxl_core", "cxl_acpi", "cxl_pci", "cxl_mem", "cxl_port", "kmem", "dax_cxl")
PCI = Path("/sys/bus/pci/devices")
CLASS_CXL_MEMORY = 0x050210
CAUSES = (("efi=nosoftreserve", "memory that firmware reserves for CXL becomes ordinary memory"),
          ("numa=off", "there is one node only"),
          ("numa=nohmat", "firmware's latencies and bandwidths are ignored"),
          ("memhp_default_state=offline", "new memory stays offline"),
          ("module_blacklist=cxl", "a CXL driver is kept out"),
          ("modprobe.blacklist=cxl", "a CXL driver is kept out"),
          ("initcall_blacklist=cxl", "a CXL driver is kept out"))


def need_device(machine):
    """Ends the check where nothing of CXL is, or is meant to be."""
    if machine.is_guest and not machine.all("device"):
        raise Skip("the topology has no CXL device")
    if not machine.is_guest and not pci_memory() and not cxl.devices():
        raise Skip("this machine has no CXL memory device")


def pci_memory():
    """Addresses of PCI functions of class CXL memory."""
    return {path.name for path in PCI.glob("*") if sysfs.number(path / "class") == CLASS_CXL_MEMORY}


@check("discovery")
def kernel_parameters(machine):
    """Nothing on the kernel's command line stands in the way of CXL memory."""
    wanted = " ".join(k["parameters"] for k in machine.all("kernel")).split()
    found = [f"'{word}' is on the kernel's command line: {effect}"
             for word in sysfs.command_line() if word not in wanted
             for cause, effect in CAUSES if word.startswith(cause)]
    require(not found, "; ".join(found))


@check("discovery")
def hypervisor_bit(machine):
    """Where it is visible the kernel refuses to commit CXL regions."""
    need_device(machine)
    require(not hypervisor_visible(), "the CPU shows the hypervisor bit: commits of CXL regions "
            "are refused; start QEMU with -cpu ...,-hypervisor")


@check("discovery")
def drivers(machine):
    """What CXL memory needs is in the kernel."""
    need_device(machine)
    missing = [name for name in DRIVERS if not driver_present(name)]
    machine.note("present: " + " ".join(d for d in DRIVERS if d not in missing))
    require(not missing, f"neither loaded nor built in: {' '.join(missing)}")


def driver_present(name):
    """A built-in module without parameters has no folder in /sys/module; its driver has one."""
    places = [Path("/sys/module") / name, Path("/sys/bus/cxl/drivers") / name,
              Path("/sys/bus/pci/drivers") / name, Path("/sys/bus/dax/drivers") / name,
              Path("/sys/bus/platform/drivers") / name]
    return any(place.exists() for place in places) or (
        name == "dax_cxl" and Path("/sys/bus/cxl/drivers/cxl_dax_region").exists())


@check("discovery")
def memory_devices(machine):
    """Each device is found by its serial, with its sizes, and enabled."""
    found = cxl.devices()
    for device in found:
        machine.note(f"{device.name}: {device.address}, serial {device.serial:#x}, "
                     f"ram {device.ram >> 20} MiB, pmem {device.pmem >> 20} MiB")
    same = duplicate_serials()
    require(not same, f"several devices have serial {same}: nothing tells them apart")
    if not machine.is_guest:
        for device in found:
            require(device.enabled, f"{device.name} ({device.address}) has no driver: CXL.mem off")
        return
    wanted = [d for d in machine.all("device") if d["plugged"]]
    if not wanted:
        raise Skip("the topology has no CXL device")
    need_cxl(machine)
    expect("serials", sorted(f"{d['serial']:#x}" for d in wanted),
           sorted(f"{d.serial:#x}" for d in found))
    for want in wanted:
        have = cxl.device_by_serial(want["serial"])
        expect(f"ram of {want['name']} ({have.name})", want["ram"], have.ram)
        expect(f"pmem of {want['name']} ({have.name})", want["pmem"], have.pmem)
        require(have.enabled, f"{have.name} has no driver")


@check("discovery")
def pci_functions(machine):
    """Each PCI function of class CXL memory became a memory device, and no other did."""
    functions = pci_memory()
    if not functions and not cxl.devices():
        raise Skip("no PCI function is CXL memory")
    machine.note("functions: " + " ".join(sorted(functions)))
    expect("PCI functions with a memory device", sorted(functions),
           sorted(d.address for d in cxl.devices()))


@check("discovery")
def windows(machine):
    """Root decoders have the size, targets and granularity of the windows."""
    found = cxl.windows()
    for window in found:
        machine.note(f"{window.name}: {window.size >> 20} MiB at {window.start:#x}, "
                     f"{window.ways} ways of {window.granularity}, bridges {window.targets}")
    if not machine.is_guest:
        if not found:
            raise Skip("firmware publishes no CXL window")
        return
    wanted = machine.all("window")
    if not wanted:
        raise Skip("the topology has no CXL window")
    need_cxl(machine)
    expect("number of windows", len(wanted), len(found))
    buses = {b["name"]: b["bus"] for b in machine.all("bridge")}
    for want, have in zip(wanted, found):
        expect(f"size of {have.name}", want["size"], have.size)
        expect(f"ways of {have.name}", len(want["targets"]), have.ways)
        # QEMU gives a host bridge the number of its bus as UID.
        expect(f"bridges of {have.name}", [buses[t] for t in want["targets"]], list(have.targets))
        if have.ways > 1:
            expect(f"granularity of {have.name}", want["granularity"], have.granularity)


@check("discovery")
def ports(machine):
    """Every device hangs below the host bridge that the topology says, over the switch if any."""
    if not cxl.devices():
        raise Skip("there is no memory device")
    buses = {b["name"]: b["bus"] for b in machine.all("bridge")}
    switches = {d["name"]: True for d in machine.all("downstream")}
    for device in cxl.devices():
        endpoint = cxl.endpoint_of(device)
        require(endpoint, f"{device.name} has no endpoint port: its decoders cannot be used")
        path = [part for part in (cxl.BUS / endpoint).resolve().parts
                if part.startswith(("root", "port", "endpoint"))]
        machine.note(f"{device.name}: " + " > ".join(path))
        want = next((d for d in machine.all("device") if d["serial"] == device.serial), None)
        if want is None:
            continue
        expect(f"ports above {endpoint}", 2 if want["port"] in switches else 1, len(path) - 2)
        uid = bridge_uid(path[1])
        expect(f"host bridge of {device.name}", buses[want["bridge"]], uid)


def bridge_uid(port):
    """UID of the host bridge that a port below root0 stands for."""
    for dport in (cxl.BUS / "root0").glob("dport*"):
        if dport.resolve() == (cxl.BUS / port / "uport").resolve():
            return int(dport.name[len("dport"):])
    return None


@check("discovery")
def links(machine):
    """Speed and width of each device's link are the lesser of what both ends can do."""
    any_link = False
    for device in cxl.devices():
        have = link(PCI / device.address)
        above = link(PCI / device.address / "..")
        if have is None or above is None:
            continue
        any_link = True
        machine.note(f"{device.name}: {have['current']}, device {have['max']}, port {above['max']}")
        lesser = tuple(map(min, have["max"], above["max"]))
        trained = tuple(map(min, have["current"], above["current"]))
        want = next((d for d in machine.all("device") if d["serial"] == device.serial), None)
        if want is None:
            require(trained >= have["max"] or trained == lesser, f"{device.name} trained {trained},"
                    f" both ends can do {lesser}: riser, bifurcation, retimer or slot")
            continue
        port = next((p for p in machine.all("port") if p["name"] == want["port"]), None)
        limits = [(want["speed"], want["width"])]
        limits += [(port["speed"], port["width"])] if port else []
        expect(f"link of {device.name} (GT/s, lanes)", tuple(map(min, *limits)) if port else
               limits[0], trained if port else have["current"])
    if not any_link:
        raise Skip("no device has a PCI Express link")


def link(function):
    """(GT/s, lanes) of a function's link now and at most, or None."""
    found = {}
    for which in ("current", "max"):
        speed = (sysfs.text(function / f"{which}_link_speed") or "").split(" ")[0]
        width = sysfs.number(function / f"{which}_link_width")
        if not speed.replace(".", "").isdigit() or not width:
            return None
        found[which] = (int(float(speed)), width)
    return found


@check("discovery")
def nodes(machine):
    """Nodes have the CPUs and the memory of the topology; CXL memory has a node of its own."""
    for node in sysfs.node_numbers("online"):
        machine.note(f"node {node}: {sysfs.node_bytes(node) >> 20} MiB, CPUs "
                     f"{sysfs.text(sysfs.NODES / f'node{node}/cpulist') or 'none'}")
    if not machine.is_guest:
        return
    for want in machine.all("node"):
        folder = sysfs.NODES / f"node{want['number']}"
        cpus = sysfs.id_list(sysfs.text(folder / "cpulist"))
        expect(f"CPUs of node {want['number']}", list(want["cpus"]), cpus)
        # The kernel keeps some of it for itself and counts the rest.
        have, size = sysfs.node_bytes(want["number"]), want["memory"]
        require(0.75 * size <= have <= size,
                f"node {want['number']} has {have >> 20} MiB of {size >> 20}")


@check("discovery")
def regions(machine):
    """Declared regions are committed, with their devices in order; their memory is on its node."""
    wanted = list(declared(machine))
    found = cxl.regions()
    if machine.is_guest:
        expect("number of regions", len(wanted), len(found))
    if not found:
        raise Skip("there is no region" + ("" if machine.is_guest else "; see cxltier provision"))
    for name in found:
        expect(f"{name} is committed", 1, sysfs.number(cxl.BUS / name / "commit"))
        machine.note(f"{name}: node {cxl.target_node(name)}, devices "
                     + " ".join(f"{s:#x}" for s in cxl.region_devices(name) if s is not None))
    for name, (plan, online) in zip(found, wanted):
        expect(f"size of {name}", plan.size, sysfs.number(cxl.BUS / name / "size"))
        expect(f"devices of {name}", list(plan.serials), cxl.region_devices(name))
        if plan.kind == "ram":
            node = machine.topology["window_nodes"][plan.window]
            expect(f"node of {name}", node, cxl.target_node(name))
            if online:
                verify_online(name, node)


def verify_online(name, node):
    states = {sysfs.text(block / "state") for block in cxl.blocks(name)}
    if states != {"online"}:
        policy = [p for p in sysfs.command_line() if p.startswith("memhp_default_state=")]
        cause = f"'{policy[0]}' is on the kernel's command line" if policy else (
            "new memory stays offline: " + (sysfs.text(sysfs.MEMORY / "auto_online_blocks") or "?"))
        raise Failure(f"memory of {name} is {' and '.join(sorted(map(str, states)))}; {cause}")
    require(sysfs.node_bytes(node) > 0, f"node {node} has no memory")


@check("discovery")
def node_distances(machine):
    """The kernel's distances are those of the topology."""
    online = sysfs.node_numbers("online")
    for node in online:
        machine.note(f"node {node}: {sysfs.distances(node)}")
    if len(online) < 2:
        raise Skip("there is one node only")
    for want in machine.all("distance"):
        a, b = want["source"], want["target"]
        if a in online and b in online:
            expect(f"distance from {a} to {b}", want["value"], sysfs.distances(a).get(b))
    for a in online:
        for b in online:
            expect(f"distance from {a} to {b} as back", sysfs.distances(b)[a],
                   sysfs.distances(a)[b])


@check("discovery")
def memory_tiers(machine):
    """CXL memory ranks below DRAM; nodes that an HMAT calls slower rank below faster ones."""
    tiers = sysfs.tiers()
    if not tiers:
        raise Skip("the kernel has no memory tiers (before 6.1)")
    machine.note("tiers, fastest first: " + " | ".join(map(str, tiers)))
    rank = {node: index for index, tier in enumerate(tiers) for node in tier}
    with_cpus = [node for node in sysfs.node_numbers("has_cpu") if node in rank]
    slow = {cxl.target_node(name) for name in cxl.regions()} & set(rank) - set(with_cpus)
    for node in slow:
        require(all(rank[node] > rank[fast] for fast in with_cpus),
                f"node {node} of CXL memory ranks with DRAM: no demotion will go there")
    for first in machine.all("performance"):
        for second in machine.all("performance"):
            a, b = first["target"], second["target"]
            if first["initiator"] == second["initiator"] and {a, b} <= set(rank) - set(with_cpus):
                if first["latency"] < second["latency"]:
                    require(rank[a] < rank[b], f"node {a} is faster than {b} and ranks no higher")
    if not slow and not machine.all("performance"):
        raise Skip("all memory is of one kind")


@check("discovery")
def demotion_targets(machine):
    """The kernel printed where each node demotes to, and CXL memory is among it."""
    targets = kernel_log.demotion_targets()
    if len(sysfs.tiers()) < 2:
        raise Skip("there is one tier only")
    if not targets:
        raise Skip("the kernel's log holds no demotion targets any more")
    machine.note(str(targets))
    fast = sysfs.tiers()[0]
    require(any(targets.get(node) for node in fast), f"nodes {fast} demote to nowhere")
