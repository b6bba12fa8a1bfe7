# SPDX-License-Identifier: Apache-2.0
"""Suite `dcd`: capacity that is added to a device, and released, while the guest runs."""
import cxl
import qmp
import sysfs
from checks import Failure, Skip, await_true, check, require

EXTENT = 256 << 20


def device_of(machine):
    want = next((d for d in machine.all("device") if d["dynamic"] and d["plugged"]), None)
    if want is None:
        raise Skip("the topology has no device with dynamic capacity")
    have = cxl.device_by_serial(want["serial"])
    if have is None:
        raise Failure(f"no memory device has serial {want['serial']:#x}")
    return want, have


def partition(device):
    """The folder by which a kernel shows dynamic capacity, or None."""
    found = [path for path in device.folder.glob("d*") if path.name.startswith(("dc", "dynamic_"))]
    return found[0] if found else None


@check("dcd", needs_guest=True)
def device_is_found(machine):
    """A device with dynamic capacity only is a memory device without memory at boot."""
    want, have = device_of(machine)
    require(have.enabled, f"{have.name} has no driver")
    require(have.ram == want["ram"] and have.pmem == want["pmem"],
            f"{have.name} has ram {have.ram} and pmem {have.pmem} before capacity was added")
    machine.note(f"{have.name}: ram {have.ram}, pmem {have.pmem}")


@check("dcd", changes=True, needs_guest=True)
def capacity_comes_and_goes(machine):
    """An extent that QEMU adds is accepted by the kernel, and given back when it is asked for."""
    want, have = device_of(machine)
    shown = partition(have)
    if shown is None:
        raise Skip(f"kernel {sysfs.kernel_release()} has no support for dynamic capacity")
    path = qmp.device_path(want["name"])
    extent = [{"offset": 0, "len": EXTENT}]
    with qmp.Monitor() as monitor:
        monitor.execute("cxl-add-dynamic-capacity", path=path, host_id=0,
                        selection_policy="prescriptive", region=0, extents=extent)
        await_true("the extent", lambda: (sysfs.number(shown / "size") or 0) >= EXTENT)
        machine.note(f"added: {shown.name} has {sysfs.number(shown / 'size')} bytes")
        monitor.execute("cxl-release-dynamic-capacity", path=path, host_id=0,
                        removal_policy="prescriptive", region=0, extents=extent)
