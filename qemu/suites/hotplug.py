# SPDX-License-Identifier: Apache-2.0
"""Suite `hotplug`: a device is added, becomes memory, is drained and removed."""
import cxl
import numa
import qmp
import sysfs
from checks import Failure, Skip, await_true, check, expect
from region import create, new_memory

USED = 4 << 20
# Properties that QMP wants as numbers.
NUMBERS = ("sn", "num-dc-regions")


@check("hotplug", changes=True, needs_guest=True)
def add_use_remove(machine):
    """Added by QEMU, found by serial, made a region, used as memory, drained, removed."""
    want = next((d for d in machine.all("device") if not d["plugged"]), None)
    if want is None:
        raise Skip("the topology has no device that is plugged in later")
    window = next((i for i, w in enumerate(machine.all("window"))
                   if want["bridge"] in w["targets"]), None)
    if window is None:
        raise Failure(f"no window holds what is behind {want['bridge']}: one must exist at boot")
    with qmp.Monitor() as monitor:
        monitor.execute("device_add", **{key: int(value, 0) if key in NUMBERS else value
                                         for key, value in want["plug_option"].items()})
        device = await_true(f"a memory device with serial {want['serial']:#x}",
                            lambda: cxl.device_by_serial(want["serial"]))
        await_true(f"a driver for {device.name}", lambda: (device.folder / "driver").exists())
        machine.note(f"added: {device.name} at {device.address}")
        neighbours = [name for name in cxl.regions() if cxl.dax_of(name)]
        for name in neighbours:     # so that the node's memory is the new device's alone
            cxl.set_blocks(name, "offline")
        use(machine, window, want)
        for name in neighbours:
            cxl.set_blocks(name, "online_movable")
        monitor.execute("device_del", id=want["name"])
        await_true(f"the end of {device.name}",
                   lambda: cxl.device_by_serial(want["serial"]) is None)
    machine.note("removed")


def use(machine, window, want):
    plan = cxl.Plan(window, (want["serial"],), want["ram"])
    with new_memory("online_movable"):
        region = create(plan)
        cxl.bind(region)
        cxl.await_dax(region)
        cxl.await_blocks(region, len(cxl.block_numbers(region)), True)
    node = cxl.target_node(region)
    memory = numa.Memory(USED, numa.BIND, [node])
    memory.touch()
    expect("pages", {node: USED // numa.PAGE}, memory.nodes())
    expect("broken pages", [], memory.broken_pages())
    machine.note(f"used: {USED >> 20} MiB on node {node}")
    # Draining: with the pages still in use, going offline moves them to other memory.
    memory.bind(numa.BIND, [node, sysfs.node_numbers("has_cpu")[0]])
    cxl.set_blocks(region, "offline")
    expect("broken pages after draining", [], memory.broken_pages())
    memory.close()
    machine.note("drained: every block went offline with pages in use, no page broke")
    cxl.set_dax_driver(cxl.dax_of(region), "device_dax")
    cxl.destroy_region(region)
