# SPDX-License-Identifier: Apache-2.0
"""Suite `memory`: the nodes that CXL memory made, and those without CPUs, hold what is written."""
import errno
import mmap
import os
import random
import re
import time

import cxl
import numa
import sysfs
from checks import Failure, Skip, check, expect, require
from region import declared, new_memory, pattern

MIB = 1 << 20
RANDOM_BYTES = 64 * MIB      # over all regions together
CHUNK = 64 << 10
MOVED = 4 * MIB


def ram_regions():
    """Regions of volatile memory."""
    found = [name for name in cxl.regions() if sysfs.text(cxl.BUS / name / "mode") == "ram"]
    if not found:
        raise Skip("there is no region of volatile memory")
    return found


def online_regions():
    found = [name for name in ram_regions()
             if any(sysfs.text(b / "state") == "online" for b in cxl.blocks(name))]
    if not found:
        raise Skip("no CXL memory is online")
    return found


def far_nodes():
    """Nodes with memory and without CPUs."""
    with_cpus = sysfs.node_numbers("has_cpu")
    found = [n for n in sysfs.node_numbers("has_memory") if n not in with_cpus
             and sysfs.node_bytes(n)]
    if not found:
        raise Skip("no node without CPUs has memory")
    return found


def near_node():
    return sysfs.node_numbers("has_cpu")[0]


@check("memory")
def blocks(machine):
    """Every block of a region is there, and online as movable where it came online."""
    states = {}
    for name in ram_regions():
        found = cxl.blocks(name)
        size = sysfs.number(cxl.BUS / name / "size")
        inside = size // sysfs.block_bytes()
        machine.note(f"{name}: {len(found)} blocks of {sysfs.block_bytes() // MIB} MiB")
        require(len(found) >= inside - 1 and found,
                f"{name} of {size // MIB} MiB has {len(found)} blocks: a block is "
                f"{sysfs.block_bytes() // MIB} MiB, what does not fill one is lost")
        for block in found:
            key = sysfs.text(block / "state"), (sysfs.text(block / "valid_zones") or "").split()[0]
            states[key] = states.get(key, 0) + 1
    machine.note(f"states: {states}")
    wanted = [online for plan, online in declared(machine) if plan.kind == "ram"]
    if machine.is_guest and all(wanted):
        policy = [p for p in sysfs.command_line() if p.startswith("memhp_default_state=")]
        require({state for state, _ in states} == {"online"}, f"blocks are {states}"
                + (f"; '{policy[0]}' is on the kernel's command line" if policy else ""))


@check("memory", changes=True)
def offline_and_online(machine):
    """Empty memory goes offline, and comes back as movable; its node keeps its size."""
    for name in online_regions():
        node = cxl.target_node(name)
        found, before = cxl.blocks(name), sysfs.node_bytes(node)
        chosen = found if machine.thorough else found[-2:]
        for block in reversed(chosen):
            sysfs.write(block / "state", "offline")
        less = before - len(chosen) * sysfs.block_bytes()
        expect(f"size of node {node} meanwhile", less, sysfs.node_bytes(node))
        for block in chosen:
            sysfs.write(block / "state", "online_movable")
            expect(f"zone of {block.name}", "Movable",
                   (sysfs.text(block / "valid_zones") or "").split()[0])
        expect(f"size of node {node}", before, sysfs.node_bytes(node))
        machine.note(f"{name}: {len(chosen)} of {len(found)} blocks")


@check("memory", changes=True)
def pattern_over_region(machine):
    """First and last page of every block, and 64 MiB at random, hold what is written there."""
    found = online_regions()
    for name in found:
        node, dax = cxl.target_node(name), cxl.dax_of(name)
        size, count = sysfs.node_bytes(node), len(cxl.blocks(name))
        cxl.set_blocks(name, "offline")
        cxl.set_dax_driver(dax, "device_dax")
        try:
            length = sysfs.number(cxl.DAX / "devices" / dax / "size")
            todo = chunks(length, RANDOM_BYTES // len(found), machine.thorough)
            wrong = verify_device(f"/dev/{dax}", length, todo)
        finally:
            with new_memory("online_movable"):
                cxl.set_dax_driver(dax, "kmem")
                cxl.await_blocks(name, count, True)
        expect(f"pages of {dax} with other bytes", [], wrong[:8])
        cxl.set_blocks(name, "online_movable")
        expect(f"size of node {node}", size, sysfs.node_bytes(node))
        machine.note(f"{name}: " + ("all of it" if machine.thorough else
                                    f"2 pages of each block, "
                                    f"{RANDOM_BYTES // len(found) // MIB} MiB at random"))


def chunks(length, random_bytes, thorough):
    """(place, bytes) to be written; disjoint."""
    block = sysfs.block_bytes()
    if thorough:
        return [(place, min(CHUNK, length - place)) for place in range(0, length, CHUNK)]
    edges = {place for start in range(0, length, block)
             for place in (start, min(start + block, length) - mmap.PAGESIZE)}
    taken = {edge // CHUNK * CHUNK for edge in edges}
    free = [place for place in range(0, length, CHUNK) if place not in taken]
    generator = random.Random(1)
    inside = generator.sample(free, min(len(free), random_bytes // CHUNK))
    return [(place, mmap.PAGESIZE) for place in sorted(edges)] + [(p, CHUNK) for p in inside]


def verify_device(path, length, todo):
    """Writes every chunk before it reads the first, so that two places of one memory show."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        with mmap.mmap(descriptor, length, mmap.MAP_SHARED) as memory:
            for place, size in todo:
                memory[place:place + size] = pattern(place, size)
            return [f"{place:#x}" for place, size in todo
                    if memory[place:place + size] != pattern(place, size)]
    finally:
        os.close(descriptor)


@check("memory")
def move_both_ways(machine):
    """Pages move to each far node and back, with every byte."""
    near = near_node()
    for node in far_nodes():
        memory = numa.Memory(MOVED, numa.BIND, [near])
        memory.touch()
        pages = MOVED // numa.PAGE
        expect(f"pages on node {near}", {near: pages}, memory.nodes())
        memory.bind(numa.BIND, [near, node])
        expect(f"pages moved to node {node}", {node: pages}, move_all(memory, node))
        expect(f"pages broken by the way to node {node}", [], memory.broken_pages()[:8])
        expect(f"pages moved back from node {node}", {near: pages}, move_all(memory, near))
        expect(f"pages broken by the way back from node {node}", [], memory.broken_pages()[:8])
        memory.close()
        machine.note(f"{pages} pages from node {near} to {node} and back")


def move_all(memory, node):
    """Moves every page; those that are busy (in a batch of a CPU's) are tried again."""
    for _ in range(10):
        found = memory.move(node)
        if -errno.EBUSY not in found:
            break
        time.sleep(0.05)
    return found


@check("memory")
def bind_to_node(machine):
    """Memory that is bound to a far node lies there, and only there."""
    for node in far_nodes():
        memory = numa.Memory(MOVED, numa.BIND, [node])
        memory.touch()
        expect(f"pages bound to node {node}", {node: MOVED // numa.PAGE}, memory.nodes())
        expect("broken pages", [], memory.broken_pages()[:8])
        memory.close()
        machine.note(f"{MOVED // MIB} MiB on node {node}")


@check("memory")
def huge_pages(machine):
    """A transparent huge page comes from a far node where the kernel is asked for one."""
    enabled = sysfs.text("/sys/kernel/mm/transparent_hugepage/enabled") or ""
    if "[never]" in enabled or not enabled:
        raise Skip("transparent huge pages are off")
    for node in far_nodes():
        memory = numa.Memory(8 * MIB, numa.BIND, [node], huge=True)
        memory.touch()
        size = huge_bytes(memory.address)
        expect("pages on the node", {node: 8 * MIB // numa.PAGE}, memory.nodes())
        memory.close()
        if not size:
            raise Failure(f"node {node} gave no huge page")
        machine.note(f"node {node}: {size // MIB} MiB in huge pages")


def huge_bytes(address):
    """AnonHugePages of the mapping that holds an address."""
    inside = False
    with open("/proc/self/smaps", encoding="utf-8") as file:
        for line in file:
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
            if match:
                inside = int(match[1], 16) <= address < int(match[2], 16)
            elif inside and line.startswith("AnonHugePages:"):
                return int(line.split()[1]) << 10
    return 0
