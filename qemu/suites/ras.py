# SPDX-License-Identifier: Apache-2.0
"""Suite `ras`: errors that QEMU injects into a device are seen by the kernel, as trace events.

Trace events of the kernel: include in drivers/cxl/core/trace.h.  Where a device's event interrupt
reaches the kernel, records are read and cleared by it.
"""
import contextlib
import mmap
import re
import time

import cxl
import qmp
import runtime
import sysfs
from checks import Failure, Skip, check, require

TRACING = "/sys/kernel/tracing"
PCI = "/sys/bus/pci/devices"
# Advanced error reporting: offsets of the masks, and the bits of internal errors, which carry the
# errors of CXL (PCI Express 6.0, 7.8.4).
CAPABILITY_AER, MASKS = 1, ((0x08, 1 << 22), (0x14, 1 << 14))
# The register locator, the block that it locates, and the masks in its RAS capability, in 32-bit
# words (CXL 3.1, 8.1.9, 8.2.3, 8.2.4.17).
CAPABILITY_DVSEC, VENDOR_CXL, DVSEC_LOCATOR, BLOCK_COMPONENT = 0x23, 0x1e98, 8, 1
CACHEMEM, REGISTERS_RAS, RAS_MASKS = 0x1000, 2, (1, 4)
POISON_AT, POISON_LENGTH = 0x10000, 0x40
SECONDS = 10


def target(machine):
    """The first plugged device, and the kernel's name for it."""
    for want in machine.all("device"):
        have = cxl.device_by_serial(want["serial"]) if want["plugged"] else None
        if have and have.enabled:
            return want, have
    raise Skip("there is no CXL memory device")


@contextlib.contextmanager
def events(name):
    """Collects trace events of the group `cxl` that are called `name`."""
    folder = f"{TRACING}/events/cxl/{name}"
    if sysfs.text(f"{folder}/enable") is None:
        raise Skip(f"kernel {sysfs.kernel_release()} has no trace event {name}")
    sysfs.write(f"{TRACING}/trace", "")
    sysfs.write(f"{folder}/enable", 1)

    def wait(pattern):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for line in (sysfs.text(f"{TRACING}/trace") or "").splitlines():
                if f" {name}: " in line and re.search(pattern, line):
                    return line.split(f"{name}: ", 1)[1]
            time.sleep(0.1)
        raise Failure(f"no trace event {name} within {SECONDS} s")
    try:
        yield wait
    finally:
        sysfs.write(f"{folder}/enable", 0)


@check("ras", changes=True, needs_guest=True)
def poison(machine):
    """A poisoned range stands in the list that the device gives."""
    want, have = target(machine)
    if not want["ram"]:
        raise Skip(f"{have.name} has no volatile memory")
    with qmp.Monitor() as monitor, events("cxl_poison") as wait:
        monitor.execute("cxl-inject-poison", path=qmp.device_path(want["name"]), start=POISON_AT,
                        length=POISON_LENGTH)
        sysfs.write(have.folder / "trigger_poison_list", 1)
        line = wait(rf"dpa=0x{POISON_AT:x}\b")
        machine.note(line)
        require(f"memdev={have.name}" in line, f"the event names another device: {line}")


def number_at(found, place):
    return int.from_bytes(found[place:place + 4], "little")


def capabilities(space):
    """(id, place) of each extended capability of a configuration space."""
    place = 0x100
    while place:
        yield number_at(space, place) & 0xffff, place
        place = number_at(space, place) >> 20


def unmask(machine, address):
    """Clears the masks that hold back protocol errors, which firmware or the kernel should do: of
    internal errors in the PCI function, and of all errors in its CXL registers.  QEMU 10.0 raises
    nothing while an error is masked in the latter; Linux 6.12 unmasks these, 7.3.4 leaves them."""
    with open(f"{PCI}/{address}/config", "r+b", buffering=0) as file:
        space = file.read(4096)
        aer = next((at for ident, at in capabilities(space) if ident == CAPABILITY_AER), None)
        if aer is None:
            raise Skip(f"{address} has no advanced error reporting")
        masked = [(aer + offset, bit) for offset, bit in MASKS
                  if number_at(space, aer + offset) & bit]
        for place, bit in masked:
            file.seek(place)
            file.write((number_at(space, place) & ~bit).to_bytes(4, "little"))
    tell(machine, f"internal errors of {address}", masked)
    tell(machine, f"CXL protocol errors of {address}", unmask_registers(address, space))


def tell(machine, what, masked):
    machine.note(f"{what} were " + ("masked; the check unmasked them" if masked else
                                    "unmasked by the kernel"))


def component_registers(space):
    """(BAR, offset) of a function's component registers, by its register locator."""
    for ident, place in capabilities(space):
        if (ident == CAPABILITY_DVSEC and number_at(space, place + 4) & 0xffff == VENDOR_CXL
                and number_at(space, place + 8) & 0xffff == DVSEC_LOCATOR):
            length = number_at(space, place + 4) >> 20
            for entry in range(place + 0xc, place + length, 8):
                low, high = number_at(space, entry), number_at(space, entry + 4)
                if low >> 8 & 0xff == BLOCK_COMPONENT:
                    return low & 7, high << 32 | low & 0xffff0000
    raise Skip("the device locates no component registers")


def unmask_registers(address, space):
    """-> which masks of the RAS capability held errors back."""
    bar, offset = component_registers(space)
    with open(f"{PCI}/{address}/resource{bar}", "r+b", buffering=0) as file, \
            mmap.mmap(file.fileno(), CACHEMEM * 2, offset=offset) as memory:
        registers = memoryview(memory).cast("I")
        try:
            return clear_masks(registers)
        finally:
            registers.release()


def clear_masks(registers):
    """On 32-bit words of a block of component registers."""
    first = CACHEMEM // 4
    for entry in range(first + 1, first + 1 + (registers[first] >> 24)):
        if registers[entry] & 0xffff == REGISTERS_RAS:
            base = first + (registers[entry] >> 20) // 4
            masked = [place for place in RAS_MASKS if registers[base + place]]
            for place in masked:
                registers[base + place] = 0
            return masked
    raise Skip("the device has no CXL registers for errors")


def inject_event(machine, event, command, **arguments):
    want, have = target(machine)
    with qmp.Monitor() as monitor, events(event) as wait:
        monitor.execute(command, path=qmp.device_path(want["name"]), **arguments)
        line = wait(rf"memdev={have.name}\b")
        machine.note(line)
    return line


@check("ras", changes=True, needs_guest=True)
def general_media_event(machine):
    """A general media record arrives with its address."""
    line = inject_event(machine, "cxl_general_media", "cxl-inject-general-media-event",
                        log="informational", flags=1, dpa=0x1000, descriptor=3, type=3,
                        transaction_type=192, channel=3, rank=17, device=5)
    require(re.search(r"dpa=0?x?1000\b", line), f"the record has another address: {line}")


@check("ras", changes=True, needs_guest=True)
def dram_event(machine):
    """A DRAM record arrives with channel and bank."""
    line = inject_event(machine, "cxl_dram", "cxl-inject-dram-event",
                        log="informational", flags=1, dpa=0x2000, descriptor=3, type=3,
                        transaction_type=192, channel=3, rank=17, nibble_mask=37421234,
                        bank_group=7, bank=11, row=2, column=77, correction_mask=[33, 44, 55, 66])
    require(re.search(r"\bchannel=3\b", line) and re.search(r"\brow=2\b", line),
            f"the record has other values: {line}")


@check("ras", changes=True, needs_guest=True)
def memory_module_event(machine):
    """A memory module record arrives with temperature and life used."""
    line = inject_event(machine, "cxl_memory_module", "cxl-inject-memory-module-event",
                        log="informational", flags=1, type=3, health_status=3, media_status=7,
                        additional_status=33, life_used=30, temperature=15,
                        dirty_shutdown_count=4, corrected_volatile_error_count=32,
                        corrected_persistent_error_count=7)
    require("life_used=30" in line, f"the record has other values: {line}")


@check("ras", changes=True, needs_guest=True)
def correctable_error(machine):
    """A correctable protocol error is reported by PCI Express and decoded."""
    unmask(machine, target(machine)[1].address)
    line = inject_event(machine, "cxl_aer_correctable_error", "cxl-inject-correctable-error",
                        type="mem-data-ecc")
    require("Memory" in line, f"the event has another status: {line}")


def total(path):
    """The last line of a file aer_dev_*: all errors of its kind, or 0."""
    match = re.search(r"TOTAL_ERR_\w+ (\d+)", sysfs.text(path) or "")
    return int(match[1]) if match else 0


@check("ras", changes=True, needs_guest=True)
def corrected_errors_in_doctor(machine):
    """`cxltier doctor` names the device whose errors the kernel has counted."""
    name = runtime.verb(machine, "doctor")
    address = target(machine)[1].address
    counted = total(f"{PCI}/{address}/aer_dev_correctable")
    if not counted:
        raise Skip(f"the kernel counted no corrected error of {address}")
    done = runtime.run([name, "doctor"])
    wanted = f"{address}: {counted} corrected link errors"
    machine.note("\n".join(line for line in done.stdout.splitlines() if address in line))
    require(wanted in done.stdout, f"cxltier doctor does not say '{wanted}': " +
            "; ".join((done.stdout + done.stderr).splitlines()[:5]))


@check("ras", changes=True, needs_guest=True, last=True)
def uncorrectable_error(machine):
    """An uncorrectable protocol error is decoded with its header; the memory is lost by it."""
    unmask(machine, target(machine)[1].address)
    line = inject_event(machine, "cxl_aer_uncorrectable_error", "cxl-inject-uncorrectable-errors",
                        errors=[{"type": "mem-data-parity", "header": list(range(32))}])
    require("Memory Data" in line, f"the event has another status: {line}")
