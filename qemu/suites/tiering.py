# SPDX-License-Identifier: Apache-2.0
"""Suite `tiering`: what the kernel itself does with slow nodes: demotion, promotion, weights."""
import contextlib
import errno
import os
import time
from pathlib import Path

import numa
import sysfs
from checks import Failure, Skip, check, expect, require
from memory import far_nodes, near_node

MIB = 1 << 20
DEMOTION = Path("/sys/kernel/mm/numa/demotion_enabled")
BALANCING = Path("/proc/sys/kernel/numa_balancing")
WEIGHTS = Path("/sys/kernel/mm/mempolicy/weighted_interleave")
DAMON = Path("/sys/kernel/mm/damon/admin/kdamonds")
DAMON_STAT = Path("/sys/module/damon_stat/parameters/enabled")
SCHEDULER = Path("/sys/kernel/debug/sched/numa_balancing")
CGROUPS = Path("/sys/fs/cgroup")
SECONDS = 40


@contextlib.contextmanager
def setting(path, value):
    """A file of the kernel's holds `value` meanwhile."""
    before = sysfs.text(path)
    if before is None:
        raise Skip(f"kernel {sysfs.kernel_release()} has no {path}")
    sysfs.write(path, value)
    try:
        yield
    finally:
        sysfs.write(path, before)


@contextlib.contextmanager
def cgroup(name):
    """A control group with memory accounting, and this process in it."""
    folder = CGROUPS / name
    if not (CGROUPS / "cgroup.controllers").exists():
        raise Skip("there is no cgroup2")
    own = CGROUPS / (sysfs.text("/proc/self/cgroup") or "0::/").rpartition("::")[2].lstrip("/")
    sysfs.write(CGROUPS / "cgroup.subtree_control", "+memory")
    folder.mkdir()
    try:
        sysfs.write(folder / "cgroup.procs", os.getpid())
        yield folder
    finally:
        sysfs.write(own / "cgroup.procs", os.getpid())
        folder.rmdir()


def lower_tier():
    """A node of the lowest tier that has memory and no CPUs."""
    tiers, far = sysfs.tiers(), far_nodes()
    below = [node for tier in tiers[1:] for node in tier if node in far]
    if not below:
        raise Skip("no node is of a lower tier than DRAM")
    return below


@check("tiering", changes=True)
def demotion(machine):
    """Under reclaim, pages move from DRAM to a lower tier, and keep their bytes."""
    below = lower_tier()
    with setting(DEMOTION, "true"), setting(BALANCING, 0), cgroup("cxltier-demotion") as folder:
        if not (folder / "memory.reclaim").exists():
            raise Skip("the kernel has no memory.reclaim (before 5.19)")
        memory = numa.Memory(32 * MIB)
        memory.touch()
        before = sum(sysfs.vmstat(f"pgdemote_{who}") or 0
                     for who in ("kswapd", "direct", "khugepaged", "proactive"))
        end, moved = time.monotonic() + SECONDS, 0
        while not moved and time.monotonic() < end:
            try:
                sysfs.write(folder / "memory.reclaim", "16M")
            except OSError:
                pass        # EAGAIN: less than that was reclaimed
            moved = sum(count for node, count in memory.nodes().items() if node in below)
        after = sum(sysfs.vmstat(f"pgdemote_{who}") or 0
                    for who in ("kswapd", "direct", "khugepaged", "proactive"))
        machine.note(f"{moved} of {memory.size // numa.PAGE} pages are on nodes {below}; the kernel"
                     f" counts {after - before} demoted")
        expect("broken pages", [], memory.broken_pages()[:8])
        require(moved, f"no page went to nodes {below} within {SECONDS} s of reclaim")
        require(after > before, "the kernel counts no demoted page")
        memory.close()


@check("tiering", changes=True)
def balancing_modes(machine):
    """NUMA balancing takes each of its modes, and reads back what was written."""
    for mode in (0, 1, 2, 3):
        with setting(BALANCING, mode):
            expect("mode", mode, sysfs.number(BALANCING))
    machine.note("modes 0, 1, 2, 3")


@check("tiering", changes=True)
def promotion(machine):
    """In tiering mode, pages of a lower tier that are used come back to DRAM."""
    node, near = lower_tier()[0], sysfs.node_numbers("has_cpu")
    faster = [(SCHEDULER / name, value) for name, value in
              (("scan_delay_ms", 20), ("scan_period_min_ms", 20), ("scan_size_mb", 64),
               ("hot_threshold_ms", 10000)) if (SCHEDULER / name).exists()]
    with contextlib.ExitStack() as stack:
        for path, value in faster:
            stack.enter_context(setting(path, value))
        memory = numa.Memory(4 * MIB, numa.BIND, [node])
        memory.touch()
        memory.bind(numa.DEFAULT, [])
        before = sysfs.vmstat("pgpromote_success") or 0
        stack.enter_context(setting(BALANCING, 2))
        end, there = time.monotonic() + SECONDS, 0
        while not there and time.monotonic() < end:
            broken = memory.broken_pages()
            there = sum(count for where, count in memory.nodes().items() if where in near)
        promoted = (sysfs.vmstat("pgpromote_success") or 0) - before
        machine.note(f"{there} of {memory.size // numa.PAGE} pages came to nodes {near}; the "
                     f"kernel counts {promoted} promoted")
        expect("broken pages", [], broken[:8])
        memory.close()
    require(there and promoted, f"no page came from node {node} within {SECONDS} s")


@check("tiering", changes=True)
def weighted_interleave(machine):
    """Pages spread over nodes by the weights that were written."""
    node, near = far_nodes()[0], near_node()
    if not WEIGHTS.exists():
        raise Skip(f"kernel {sysfs.kernel_release()} has no weighted interleave (before 6.9)")
    automatic = sysfs.text(WEIGHTS / "auto")
    machine.note("auto: " + (automatic or "not in this kernel") + ", weights: " + " ".join(
        f"{p.name}={sysfs.text(p)}" for p in sorted(WEIGHTS.glob("node*"))))
    with setting(WEIGHTS / f"node{near}", 3), setting(WEIGHTS / f"node{node}", 1):
        memory = numa.Memory(8 * MIB, numa.WEIGHTED_INTERLEAVE, [near, node])
        memory.touch()
        found = memory.nodes()
        memory.close()
    machine.note(f"with weights 3 and 1: {found}")
    pages = 8 * MIB // numa.PAGE
    require(abs(found.get(near, 0) - pages * 3 // 4) <= 4,
            f"{found} of {pages} pages, three quarters belong on node {near}")
    restore_automatic(machine, automatic)


def restore_automatic(machine, value):
    """Written weights end the automatic ones, which come back only where bandwidths are known."""
    if value is None:
        return
    try:
        sysfs.write(WEIGHTS / "auto", value)
    except OSError as error:
        if error.errno != errno.ENODEV:
            raise
        machine.note("automatic weights cannot be had back: the kernel knows no bandwidths here")


@check("tiering", changes=True)
def damon(machine):
    """DAMON watches this process's addresses, and counts what its scheme looked at."""
    if not DAMON.exists():
        raise Skip("the kernel has no DAMON with a sysfs interface")
    with contextlib.ExitStack() as stack:
        if (sysfs.text(DAMON_STAT) or "N") == "Y":
            machine.note("DAMON_STAT, which wants to be alone, is off meanwhile")
            stack.enter_context(setting(DAMON_STAT, "N"))
        tried = watch_self()
    machine.note(f"{tried} regions looked at")
    if not tried:
        raise Failure(f"DAMON looked at nothing within {SECONDS} s")


def watch_self():
    """Runs a kdamond on this process; -> how many regions its scheme looked at."""
    sysfs.write(DAMON / "nr_kdamonds", 1)
    daemon = DAMON / "0"
    try:
        sysfs.write(daemon / "contexts/nr_contexts", 1)
        context = daemon / "contexts/0"
        sysfs.write(context / "operations", "vaddr")
        sysfs.write(context / "targets/nr_targets", 1)
        sysfs.write(context / "targets/0/pid_target", os.getpid())
        sysfs.write(context / "schemes/nr_schemes", 1)
        scheme = context / "schemes/0"
        sysfs.write(scheme / "action", "stat")
        for what in ("sz", "nr_accesses", "age"):
            sysfs.write(scheme / f"access_pattern/{what}/max", 1 << 40)
        sysfs.write(daemon / "state", "on")
        end, tried = time.monotonic() + SECONDS, 0
        while not tried and time.monotonic() < end:
            time.sleep(0.2)
            sysfs.write(daemon / "state", "update_schemes_stats")
            tried = sysfs.number(scheme / "stats/nr_tried") or 0
        sysfs.write(daemon / "state", "off")
        return tried
    finally:
        sysfs.write(DAMON / "nr_kdamonds", 0)
