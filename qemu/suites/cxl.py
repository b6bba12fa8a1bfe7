# SPDX-License-Identifier: Apache-2.0
"""The kernel's view of CXL: memory devices, root decoders, regions; and how a region is made.

    window (decoder0.N) > region > an endpoint decoder (decoderE.I) per device > DAX device > node
"""
import re
import uuid
from dataclasses import dataclass
from pathlib import Path

import sysfs
from checks import Failure, await_true

BUS = Path("/sys/bus/cxl/devices")
DAX = Path("/sys/bus/dax")
DRIVER = Path("/sys/bus/cxl/drivers/cxl_region")
ENXIO, EBUSY = 6, 16


@dataclass(frozen=True)
class Device:
    """A memory device; `address` is that of its PCI function."""
    name: str
    serial: int
    ram: int
    pmem: int
    node: int
    enabled: bool
    address: str

    @property
    def folder(self):
        return BUS / self.name


@dataclass(frozen=True)
class Window:
    """A root decoder; `targets` are the UIDs of host bridges."""
    name: str
    start: int
    size: int
    ways: int
    granularity: int
    targets: tuple

    @property
    def folder(self):
        return BUS / self.name

    @property
    def number(self):
        return int(self.name.rpartition(".")[2])


def by_number(paths):
    return sorted(paths, key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)])


def devices():
    """Every memory device, in the kernel's order."""
    found = []
    for folder in by_number(BUS.glob("mem[0-9]*")):
        parent = folder.resolve().parent.name
        found.append(Device(folder.name, sysfs.number(folder / "serial") or 0,
                            sysfs.number(folder / "ram/size") or 0,
                            sysfs.number(folder / "pmem/size") or 0,
                            sysfs.number(folder / "numa_node"), (folder / "driver").exists(),
                            parent))
    return found


def device_by_serial(serial):
    return next((d for d in devices() if d.serial == serial), None)


def windows():
    found = []
    for folder in by_number(BUS.glob("decoder0.*")):
        listed = (sysfs.text(folder / "target_list") or "").split(",")
        targets = tuple(map(int, filter(None, listed)))
        found.append(Window(folder.name, sysfs.number(folder / "start"),
                            sysfs.number(folder / "size"),
                            sysfs.number(folder / "interleave_ways"),
                            sysfs.number(folder / "interleave_granularity"), targets))
    return found


def endpoint_of(device):
    """Name of the endpoint port of a memory device, or None while it has none."""
    for folder in BUS.glob("endpoint*"):
        if sysfs.link_name(folder / "uport") == device.name:
            return folder.name
    return None


def in_use(device):
    """Whether any decoder of a memory device holds a part of it."""
    endpoint = endpoint_of(device)
    return endpoint is None or any(
        sysfs.number(folder / "dpa_size")
        for folder in BUS.glob(f"decoder{endpoint[len('endpoint'):]}.*"))


def regions():
    """Names of all regions, in their order."""
    return [folder.name for folder in by_number(BUS.glob("region[0-9]*"))]


def region_devices(region):
    """Serials of a region's devices, by position."""
    serials = []
    for position in range(sysfs.number(BUS / region / "interleave_ways") or 0):
        decoder = sysfs.text(BUS / region / f"target{position}") or ""
        match = re.fullmatch(r"decoder(\d+)\.\d+", decoder)
        endpoint = f"endpoint{match[1]}" if match else ""
        device = sysfs.link_name(BUS / endpoint / "uport") if match else None
        serials.append(sysfs.number(BUS / device / "serial") if device else None)
    return serials


def dax_of(region):
    """Name of the DAX device of a region of volatile memory, or None."""
    for path in (BUS / region / f"dax_{region}").glob("dax*.*"):
        return path.name
    return None


def dax_driver(dax):
    return sysfs.link_name(DAX / "devices" / dax / "driver")


def target_node(region):
    dax = dax_of(region)
    return sysfs.number(DAX / "devices" / dax / "target_node") if dax else None


# --- making and removing regions ------------------------------------------------------------------

@dataclass(frozen=True)
class Plan:
    """A region to be made; `size` is that of all devices together, `serials` their positions."""
    window: int
    serials: tuple
    size: int
    granularity: int = 256
    kind: str = "ram"


def free_decoder(device):
    endpoint = await_true(f"an endpoint of {device.name}", lambda: endpoint_of(device))
    for folder in by_number(BUS.glob(f"decoder{endpoint[len('endpoint'):]}.*")):
        if sysfs.number(folder / "dpa_size") == 0:
            return folder
    raise Failure(f"{endpoint} of {device.name} has no free decoder")


def create_region(plan):
    """-> name of a committed region; raises OSError or Failure and leaves nothing behind."""
    root = BUS / f"decoder0.{plan.window}"
    name = sysfs.text(root / f"create_{plan.kind}_region")
    if name is None:
        raise Failure(f"{root.name} cannot hold a region of {plan.kind}")
    sysfs.write(root / f"create_{plan.kind}_region", name)
    taken = []
    try:
        fill_region(plan, BUS / name, taken)
    except (OSError, Failure):
        release(root, name, taken)
        raise
    return name


def fill_region(plan, folder, taken):
    if plan.kind == "pmem":
        sysfs.write(folder / "uuid", uuid.uuid4())
    sysfs.write(folder / "interleave_granularity", plan.granularity)
    sysfs.write(folder / "interleave_ways", len(plan.serials))
    for serial in plan.serials:
        device = device_by_serial(serial)
        if device is None:
            raise Failure(f"no memory device has serial {serial:#x}")
        decoder = free_decoder(device)
        sysfs.write(decoder / "mode", plan.kind)
        taken.append(decoder)
        sysfs.write(decoder / "dpa_size", plan.size // len(plan.serials))
    sysfs.write(folder / "size", plan.size)
    for position, decoder in enumerate(taken):
        sysfs.write(folder / f"target{position}", decoder.name)
    sysfs.write(folder / "commit", 1)


def release(root, name, taken):
    """Undoes what of a region was made; what was not made cannot be undone."""
    folder = BUS / name
    undo = [(folder / "commit", 0)]
    undo += [(folder / f"target{i}", "") for i in range(len(taken))]
    undo += [(decoder / "dpa_size", 0) for decoder in reversed(taken)]
    undo.append((root / "delete_region", name))
    for path, value in undo:
        try:
            sysfs.write(path, value)
        except OSError:
            pass


def bind(region):
    """Hands a committed region to its driver, which makes a DAX device of volatile memory."""
    sysfs.write(DRIVER / "bind", region)


def await_dax(region, driver="kmem"):
    def bound():
        dax = dax_of(region)
        return dax if dax and dax_driver(dax) == driver else None
    return await_true(f"a DAX device of {region} with driver {driver}", bound)


def set_dax_driver(dax, driver):
    """`kmem` makes a DAX device system memory, `device_dax` a device that programs can map."""
    current = dax_driver(dax)
    if current == driver:
        return
    if current:
        sysfs.write(DAX / "drivers" / current / "unbind", dax)
    sysfs.write(DAX / "drivers" / driver / "new_id", dax)
    await_true(f"{dax} with driver {driver}", lambda: dax_driver(dax) == driver)
    # Else the next device of this name would go to the same driver.
    sysfs.write(DAX / "drivers" / driver / "remove_id", dax)


def root_of(region):
    """The root decoder above a region."""
    return (BUS / region).resolve().parent


def destroy_region(region):
    """pre: none of its memory is online."""
    root, folder = BUS / root_of(region).name, BUS / region
    taken = []
    for position in range(sysfs.number(folder / "interleave_ways") or 0):
        name = sysfs.text(folder / f"target{position}")
        if name:
            taken.append(BUS / name)
    if (folder / "driver").exists():
        sysfs.write(DRIVER / "unbind", region)
    sysfs.write(folder / "commit", 0)
    release(root, region, taken)
    await_true(f"the end of {region}", lambda: not folder.exists())


# --- blocks of memory -----------------------------------------------------------------------------

def block_numbers(region):
    """Of the memory blocks that fit into a region."""
    size = sysfs.block_bytes()
    start = sysfs.number(BUS / region / "resource")
    length = sysfs.number(BUS / region / "size")
    if not size or start is None or not length:
        return range(0)
    return range(-(-start // size), (start + length) // size)


def blocks(region):
    """Folders of the memory blocks that lie in a region, by address."""
    return [sysfs.MEMORY / f"memory{i}" for i in block_numbers(region)
            if (sysfs.MEMORY / f"memory{i}").exists()]


def await_blocks(region, count, online):
    """The driver of a DAX device is named before its blocks are all there: large ones take a while,
    and those that are added last must find the policy of then."""
    def there():
        found = blocks(region)
        return len(found) >= count and (not online or all(
            sysfs.text(block / "state") == "online" for block in found))
    await_true(f"{count} blocks of memory of {region}" + (" that are online" if online else ""),
               there, 120)


def set_blocks(region, state):
    """`online_movable`, `online_kernel` or `offline`; blocks are taken offline from the end."""
    order = blocks(region)
    for block in order if state != "offline" else reversed(order):
        now = sysfs.text(block / "state")
        if (state == "offline") != (now == "offline"):
            sysfs.write(block / "state", state)
