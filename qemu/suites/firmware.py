# SPDX-License-Identifier: Apache-2.0
"""Suite `firmware`: the ACPI tables against the topology and against the kernel."""
import acpi
import cxl
import sysfs
from checks import Failure, Skip, check, expect, require

MIB = 1 << 20


def need(found, signature, machine, wanted):
    """Ends the check where there is no table; a failure if the topology needs it."""
    if found is not None:
        return found
    if machine.is_guest and wanted:
        raise Failure(f"firmware gave the kernel no {signature}")
    raise Skip(f"firmware has no {signature}")


@check("firmware")
def cedt_windows(machine):
    """Each window of the CEDT is one of the topology, and one root decoder of the kernel."""
    bridges, windows = need(acpi.cedt(), "CEDT", machine, machine.all("window"))
    for window in windows:
        machine.note(f"window at {window['base']:#x}: {window['size'] // MIB} MiB, "
                     f"{window['ways']} ways of {window['granularity']}, targets "
                     f"{window['targets']}, restrictions {window['restrictions']:#x}")
        require(set(window["targets"]) <= set(bridges),
                f"targets {window['targets']} are no host bridge; those are {sorted(bridges)}")
        require(window["restrictions"] & 4 or not machine.is_guest,
                f"the window at {window['base']:#x} may hold no volatile memory")
    kernel = [(w.start, w.size, w.ways) for w in cxl.windows()]
    expect("root decoders", [(w["base"], w["size"], w["ways"]) for w in windows], kernel,
           "" if kernel else "driver cxl_acpi did not read the CEDT")
    if machine.is_guest:
        expect("sizes of windows", [w["size"] for w in machine.all("window")],
               [w["size"] for w in windows])
        expect("targets", [len(w["targets"]) for w in machine.all("window")],
               [w["ways"] for w in windows])


@check("firmware")
def cedt_host_bridges(machine):
    """Each host bridge of the CEDT is a downstream port of the kernel's root."""
    bridges, _ = need(acpi.cedt(), "CEDT", machine, machine.all("bridge"))
    found = sorted(int(p.name[len("dport"):]) for p in (cxl.BUS / "root0").glob("dport*"))
    machine.note(f"host bridges {sorted(bridges)}")
    expect("downstream ports of root0", sorted(bridges), found)
    if machine.is_guest:
        expect("number of host bridges", len(machine.all("bridge")), len(bridges))


@check("firmware")
def srat(machine):
    """Memory of each proximity domain is that of the node; a window is in none of them."""
    ranges = acpi.srat_memory()
    if machine.is_guest and not machine.topology["has_srat"]:
        expect("SRAT", None, ranges)
        machine.note("no SRAT, as the topology says")
        return
    need(ranges, "SRAT", machine, True)
    sums = {}
    for domain, base, size, hot in ranges:
        machine.note(f"domain {domain}: {size // MIB} MiB at {base:#x}" + (", empty slots" if hot
                                                                          else ""))
        if not hot:
            sums[domain] = sums.get(domain, 0) + size
    for node in machine.all("node"):
        # A PC has no memory from 640 KiB to 1 MiB.
        have, size = sums.get(node["number"], 0), node["memory"]
        require(have == size or size - MIB < have < size and node["number"] == 0,
                f"domain {node['number']} has {have} bytes, the topology says {size}")
    for window in cxl.windows():
        end = window.start + window.size
        inside = [r for r in ranges if r[1] < end and window.start < r[1] + r[2]]
        if inside and machine.is_guest:
            raise Failure(f"{window.name} lies in the SRAT: {inside}")


@check("firmware")
def srat_generic_ports(machine):
    """Generic ports stand in the proximity domains that the topology gives them."""
    wanted = [b["port_node"] for b in machine.all("bridge") if b["port_node"] is not None]
    found = acpi.srat_generic_ports()
    if not wanted and not found:
        raise Skip("there is no generic port")
    machine.note(f"generic ports in domains {found}")
    if machine.is_guest:
        expect("domains of generic ports", wanted, found)


@check("firmware")
def slit(machine):
    """Distances are those of the topology and those of the kernel."""
    rows = need(acpi.slit(), "SLIT", machine, machine.all("distance"))
    for row in rows:
        machine.note(" ".join(map(str, row)))
    for want in machine.all("distance"):
        expect(f"distance from {want['source']} to {want['target']}", want["value"],
               rows[want["source"]][want["target"]])
    if machine.is_guest:
        for a in sysfs.node_numbers("online"):
            for b, value in sysfs.distances(a).items():
                if a < len(rows) and b < len(rows):
                    expect(f"the kernel's distance from {a} to {b}", rows[a][b], value)


@check("firmware")
def hmat(machine):
    """Latencies and bandwidths are those of the topology, and reach the nodes' attributes."""
    values = need(acpi.hmat(), "HMAT", machine, machine.all("performance"))
    for (initiator, target), pair in sorted(values.items()):
        machine.note(f"{initiator} -> {target}: {pair.get('latency')} ns, "
                     f"{pair.get('bandwidth')} MB/s")
    for want in machine.all("performance"):
        pair = values.get((want["initiator"], want["target"]), {})
        what = f"from {want['initiator']} to {want['target']}"
        expect(f"latency {what}", want["latency"], pair.get("latency"))
        # QEMU counts a gigabyte as 1024 MB here.
        expect(f"bandwidth {what}", want["bandwidth"] * 1024, pair.get("bandwidth"))


@check("firmware")
def hmat_in_kernel(machine):
    """access1 of each node holds the best of the HMAT among the nodes with CPUs."""
    values = need(acpi.hmat(), "HMAT", machine, machine.all("performance"))
    seen = 0
    for node in sysfs.node_numbers("has_memory"):
        folder = sysfs.NODES / f"node{node}/access1/initiators"
        latency = sysfs.number(folder / "read_latency")
        best = [pair["latency"] for (_, target), pair in values.items()
                if target == node and "latency" in pair]
        if latency is None or not best:
            continue
        seen += 1
        machine.note(f"node {node}: {latency} ns, "
                     f"{sysfs.number(folder / 'read_bandwidth')} MB/s")
        if machine.is_guest:
            expect(f"latency of node {node}", min(best), latency)
    if not seen:
        raise Skip("the kernel has no access attributes for nodes")
