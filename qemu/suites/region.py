# SPDX-License-Identifier: Apache-2.0
"""Suite `region`: every region that the topology allows is made, used as a device and removed.

It runs before any region exists, with new memory left offline, so that what is made can be removed
again; suite `setup` then makes the regions that the topology declares.
"""
import contextlib
import itertools
import mmap
import os
import shutil
import subprocess

import cxl
import libcxl
import sysfs
from checks import Failure, Skip, check, expect, require

GRANULARITIES = tuple(256 << i for i in range(7))
# Decoders of devices select by address bits 8 to 14 (CXL 3.1, 8.2.4.20.1): ways times granularity.
SPAN_MAX = 1 << 15
MIB = 1 << 20
AUTO_ONLINE = sysfs.MEMORY / "auto_online_blocks"
# The oldest cxl-cli that makes regions of volatile memory on kernels from 6.12; 76.1 makes none.
CXL_CLI_MIN = 78


@contextlib.contextmanager
def new_memory(state):
    """Blocks that appear meanwhile get this state."""
    before = sysfs.text(AUTO_ONLINE)
    sysfs.write(AUTO_ONLINE, state)
    try:
        yield
    finally:
        sysfs.write(AUTO_ONLINE, before)


# --- what can be made -----------------------------------------------------------------------------

def behind(machine, window):
    """Plugged devices behind each target of a window, by target."""
    return [[d for d in machine.all("device") if d["bridge"] == target and d["plugged"]]
            for target in window["targets"]]


def plans(machine, kind):
    """Every region of the topology: each number of ways, with each granularity it can have."""
    if not machine.is_guest:
        yield from unused(kind)
    for number, window in enumerate(machine.all("window")):
        columns = [[d for d in column if d[kind]] for column in behind(machine, window)]
        depth, ways = min(map(len, columns), default=0), len(columns)
        for per_target in (1, 2, 4, 8):
            if per_target > depth:
                break
            # Position p of the region is below target p mod ways.
            chosen = [columns[p % ways][p // ways] for p in range(ways * per_target)]
            if len({d[kind] for d in chosen}) != 1:
                continue
            sizes = GRANULARITIES if ways == 1 and per_target > 1 else (window["granularity"],)
            for granularity in (g for g in sizes if g * len(chosen) <= SPAN_MAX):
                yield cxl.Plan(number, tuple(d["serial"] for d in chosen),
                               chosen[0][kind] * len(chosen), granularity, kind)


def unused(kind):
    """On a real machine: each device that is in no region, on its own."""
    for device in cxl.devices():
        size = getattr(device, kind)
        if not device.enabled or size < MIB or cxl.in_use(device):
            continue
        window = next((w for w in cxl.windows() if w.ways == 1 and w.size >= size), None)
        if window:
            yield cxl.Plan(window.number, (device.serial,), size, window.granularity, kind)


def declared(machine):
    """The regions that the topology's file asks for, with whether their memory comes online."""
    for region in machine.all("region"):
        serials = tuple(d["serial"] for name in region["devices"]
                        for d in machine.all("device") if d["name"] == name)
        yield cxl.Plan(region["window"], serials, region["size"], region["granularity"],
                       region["type"]), region["online"]


def spell(plan):
    return (f"{plan.kind} {plan.size // MIB} MiB, {len(plan.serials)} ways, granularity "
            f"{plan.granularity}, window {plan.window}")


def need_cxl(machine):
    if not machine.is_guest and not cxl.windows():
        raise Skip("firmware publishes no CXL window")
    if machine.is_guest and not machine.all("window"):
        raise Skip("the topology has no CXL window")
    if not cxl.windows():
        raise Failure("the kernel has no root decoder: " + no_root_cause())


def no_root_cause():
    if (cxl.BUS / "root0").exists():
        return "root0 is there; its firmware table (CEDT) holds no window"
    blocked = [p for p in sysfs.command_line() if "blacklist" in p and "cxl" in p]
    if blocked:
        return f"'{blocked[0]}' is on the kernel's command line"
    return "driver cxl_acpi is not loaded or found no ACPI0017 device"


def cause_of(error, plan):
    """What an error of the kernel most likely means."""
    window = next((w for w in cxl.windows() if w.number == plan.window), None)
    path = str(getattr(error, "filename", "") or "")
    if window and plan.size > window.size:
        return f"window {plan.window} has {window.size // MIB} MiB, too small for the region"
    if window and window.ways > 1 and plan.granularity != window.granularity:
        return (f"granularity {plan.granularity} differs from the {window.granularity} of the "
                "interleaved window")
    if path.endswith("/commit") and hypervisor_visible():
        return ("the CPU shows the hypervisor bit: the kernel cannot flush caches, and refuses the "
                "commit; start QEMU with -cpu ...,-hypervisor")
    if len(set(plan.serials)) < len(plan.serials) or duplicate_serials():
        return f"devices share a serial number: {duplicate_serials()}"
    return "see the kernel's log"


def hypervisor_visible():
    return " hypervisor" in (sysfs.text("/proc/cpuinfo") or "")


def duplicate_serials():
    serials = sorted(d.serial for d in cxl.devices())
    return ", ".join(sorted({f"{a:#x}" for a, b in itertools.pairwise(serials) if a == b}))


def create(plan):
    """cxl.create_region, with the likely cause of a failure."""
    try:
        return cxl.create_region(plan)
    except (OSError, Failure) as error:
        raise Failure(f"{spell(plan)}: {error}; cause: {cause_of(error, plan)}") from None


# --- checks ---------------------------------------------------------------------------------------

def verify_shape(name, plan):
    folder = cxl.BUS / name
    expect(f"size of {name}", plan.size, sysfs.number(folder / "size"))
    expect(f"ways of {name}", len(plan.serials), sysfs.number(folder / "interleave_ways"))
    expect(f"granularity of {name}", plan.granularity,
           sysfs.number(folder / "interleave_granularity"))
    expect(f"devices of {name}", list(plan.serials), cxl.region_devices(name))
    window = next(w for w in cxl.windows() if w.number == plan.window)
    start = sysfs.number(folder / "resource")
    require(window.start <= start and start + plan.size <= window.start + window.size,
            f"{name} at {start:#x} lies outside of window {window.number}")


def use_as_device(name, size):
    """Writes and reads pages of both ends and of the middle through the DAX device."""
    dax = cxl.await_dax(name)
    cxl.set_dax_driver(dax, "device_dax")
    align = sysfs.number(cxl.DAX / "devices" / dax / "align") or 2 * MIB
    length = sysfs.number(cxl.DAX / "devices" / dax / "size")
    require(length <= size and size - length < align, f"{dax} has {length} bytes of {size}")
    descriptor = os.open(f"/dev/{dax}", os.O_RDWR)
    try:
        places = sorted({0, length // 2 // align * align, length - align})
        with mmap.mmap(descriptor, length, mmap.MAP_SHARED) as memory:
            for place in places:
                memory[place:place + 4096] = pattern(place, 4096)
                memory[place + align - 4096:place + align] = pattern(place + 1, 4096)
            for place in places:
                require(memory[place:place + 4096] == pattern(place, 4096) and
                        memory[place + align - 4096:place + align] == pattern(place + 1, 4096),
                        f"{dax}: a page at {place:#x} does not hold what was written")
    finally:
        os.close(descriptor)


def pattern(seed, length):
    """Bytes that differ for each seed."""
    word = ((seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) & (1 << 64) - 1).to_bytes(8, "little")
    return word * (length // 8)


@check("region", changes=True)
def volatile_by_sysfs(machine):
    """Each shape: created, its values read back, written and read, destroyed."""
    need_cxl(machine)
    chosen = list(plans(machine, "ram"))
    if not chosen:
        raise Skip("no device has volatile memory that is free")
    before = cxl.regions()
    with new_memory("offline"):
        for plan in chosen:
            name = create(plan)
            try:
                verify_shape(name, plan)
                cxl.bind(name)
                use_as_device(name, plan.size)
            finally:
                cxl.destroy_region(name)
            machine.note(f"{spell(plan)}: made, used, removed")
    expect("regions afterwards", before, cxl.regions())


@check("region", changes=True)
def persistent_by_sysfs(machine):
    """Each shape of persistent memory: created, its values read back, destroyed."""
    need_cxl(machine)
    chosen = list(plans(machine, "pmem"))
    if not chosen:
        raise Skip("no device has persistent memory that is free")
    for plan in chosen:
        name = create(plan)
        try:
            verify_shape(name, plan)
            cxl.bind(name)
        finally:
            cxl.destroy_region(name)
        machine.note(f"{spell(plan)}: made, bound, removed")


@check("region", changes=True)
def wrong_ones_are_refused(machine):
    """A region beyond its window, and a wrong granularity below an interleaved one, are refused."""
    need_cxl(machine)
    chosen = list(plans(machine, "ram"))
    if not chosen:
        raise Skip("no device has volatile memory that is free")
    plan, before = chosen[-1], cxl.regions()
    wrong = [("larger than its devices", cxl.Plan(plan.window, plan.serials, plan.size * 2,
                                                  plan.granularity))]
    if next(w for w in cxl.windows() if w.number == plan.window).ways > 1:
        other = 256 if plan.granularity != 256 else 512
        wrong.append(("of another granularity than its window",
                      cxl.Plan(plan.window, plan.serials, plan.size, other)))
        wrong.append(("with devices in the wrong order",
                      cxl.Plan(plan.window, plan.serials[::-1], plan.size, plan.granularity)))
    for what, bad in wrong:
        try:
            name = cxl.create_region(bad)
        except OSError as error:
            machine.note(f"a region {what} is refused: {error.strerror}")
            continue
        cxl.destroy_region(name)
        raise Failure(f"a region {what} was committed")
    expect("regions afterwards", before, cxl.regions())


def through_libcxl(machine, kind, use):
    """Each shape of a kind of memory by the library's calls; `use(name, plan)` before the end."""
    need_cxl(machine)
    chosen = list(plans(machine, kind))
    if not chosen:
        raise Skip(f"no device has {kind} that is free")
    before, library = cxl.regions(), libcxl.load()
    machine.note(f"{libcxl.SONAME} " + ("creates regions of volatile memory"
                 if libcxl.creates_volatile(library) else "creates none of volatile memory (before "
                 "77): that one step is done by sysfs"))
    for plan in chosen:
        name = libcxl.create_region(plan)
        try:
            verify_shape(name, plan)
            expect(f"what libcxl says of {name}",
                   {"size": plan.size, "ways": len(plan.serials), "granularity": plan.granularity,
                    "committed": True, "enabled": True}, libcxl.seen(plan.window, name))
            use(name, plan)
        except (OSError, Failure):
            cxl.destroy_region(name)
            raise
        libcxl.destroy_region(plan, name)
        machine.note(f"{spell(plan)}: made, used, removed")
    expect("regions afterwards", before, cxl.regions())


@check("region", changes=True)
def volatile_by_libcxl(machine):
    """Each shape of volatile memory by libcxl: created, read back, written and read, destroyed."""
    need_cxl(machine)
    with new_memory("offline"):
        through_libcxl(machine, "ram", lambda name, plan: use_as_device(name, plan.size))


@check("region", changes=True)
def persistent_by_libcxl(machine):
    """Each shape of persistent memory by libcxl: created, its values read back, destroyed."""
    through_libcxl(machine, "pmem", lambda name, plan: None)


def cxl_cli_version():
    if not shutil.which("cxl"):
        raise Skip("cxl-cli is not installed (Debian 12: package ndctl, 13: package cxl)")
    said = subprocess.run(["cxl", "version"], capture_output=True, text=True, check=False).stdout
    return said.strip()


@check("region", changes=True)
def volatile_by_cxl_cli(machine):
    """cxl-cli makes a region of one device's volatile memory."""
    need_cxl(machine)
    plan = next((p for p in plans(machine, "ram") if len(p.serials) == 1), None)
    if plan is None:
        raise Skip("no device can be a region on its own")
    version = cxl_cli_version()
    if not version or float(".".join(version.split(".")[:2])) < CXL_CLI_MIN:
        raise Skip(f"cxl-cli {version} makes no region of volatile memory on this kernel, "
                   f"{CXL_CLI_MIN} does")
    device, before = cxl.device_by_serial(plan.serials[0]), cxl.regions()
    with new_memory("offline"):
        done = subprocess.run(["cxl", "create-region", "-t", "ram", "-d",
                               f"decoder0.{plan.window}", "-m", device.name],
                              capture_output=True, text=True, check=False)
        made = [name for name in cxl.regions() if name not in before]
        require(done.returncode == 0 and made, f"cxl create-region: {done.stderr}")
        name = made[0]
        verify_shape(name, cxl.Plan(plan.window, plan.serials, plan.size,
                                    sysfs.number(cxl.BUS / name / "interleave_granularity")))
        dax = cxl.await_dax(name)
        cxl.set_dax_driver(dax, "device_dax")
        cxl.destroy_region(name)


@check("setup", changes=True)
def declared_regions(machine):
    """Makes the regions that the topology declares; their memory comes online as movable."""
    wanted = list(declared(machine))
    if not wanted:
        raise Skip("the topology declares no region")
    need_cxl(machine)
    # Parameters of the user's decide before we do.
    chosen = [p for p in sysfs.command_line() if p.startswith("memhp_default_state=")]
    state = sysfs.text(AUTO_ONLINE) if chosen else "online_movable"
    for plan, online in wanted:
        with new_memory(state if online else "offline"):
            name = create(plan)
            cxl.bind(name)
            if plan.kind == "ram":
                cxl.await_dax(name)
                cxl.await_blocks(name, len(cxl.block_numbers(name)),
                                 online and "offline" not in state)
        machine.note(f"{name}: {spell(plan)}")
