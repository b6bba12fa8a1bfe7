# SPDX-License-Identifier: Apache-2.0
"""Regions by libcxl, the library that cxl-cli and others stand on, called through its C interface.

Source of names, arguments and values: cxl/libcxl.h of ndctl, from version 74 on.
"""
import ctypes
import os
import uuid

import cxl
import sysfs
from checks import Failure, Skip

SONAME = "libcxl.so.1"
MODES = {"pmem": 2, "ram": 3}       # enum cxl_decoder_mode
POINTER, INT, LONG, TEXT = (ctypes.c_void_p, ctypes.c_int, ctypes.c_ulonglong, ctypes.c_char_p)
# Result and arguments; an INT result is 0 or a negative errno where `call` is used.
FUNCTIONS = {
    "cxl_new": (INT, ctypes.POINTER(POINTER)),
    "cxl_unref": (POINTER, POINTER),
    "cxl_decoder_get_by_name": (POINTER, POINTER, TEXT),
    "cxl_decoder_create_pmem_region": (POINTER, POINTER),
    "cxl_decoder_set_mode": (INT, POINTER, INT),
    "cxl_decoder_set_dpa_size": (INT, POINTER, LONG),
    "cxl_region_get_first": (POINTER, POINTER),
    "cxl_region_get_next": (POINTER, POINTER),
    "cxl_region_get_devname": (TEXT, POINTER),
    "cxl_region_get_size": (LONG, POINTER),
    "cxl_region_get_interleave_ways": (ctypes.c_uint, POINTER),
    "cxl_region_get_interleave_granularity": (ctypes.c_uint, POINTER),
    "cxl_region_decode_is_committed": (INT, POINTER),
    "cxl_region_is_enabled": (INT, POINTER),
    "cxl_region_set_size": (INT, POINTER, LONG),
    "cxl_region_set_uuid": (INT, POINTER, TEXT),
    "cxl_region_set_interleave_ways": (INT, POINTER, ctypes.c_uint),
    "cxl_region_set_interleave_granularity": (INT, POINTER, ctypes.c_uint),
    "cxl_region_set_target": (INT, POINTER, INT, POINTER),
    "cxl_region_clear_all_targets": (INT, POINTER),
    "cxl_region_decode_commit": (INT, POINTER),
    "cxl_region_decode_reset": (INT, POINTER),
    "cxl_region_enable": (INT, POINTER),
    "cxl_region_disable": (INT, POINTER),
    "cxl_region_delete": (INT, POINTER),
}
# From version 77 on; with an older one the region is created by sysfs, all else is the library's.
CREATE_RAM = "cxl_decoder_create_ram_region"


def load():
    """-> the library; Skip where it is not installed."""
    try:
        library = ctypes.CDLL(SONAME)
    except OSError:
        raise Skip(f"{SONAME} is not installed (package libcxl1)") from None
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if hasattr(library, CREATE_RAM):
        getattr(library, CREATE_RAM).restype = POINTER
        getattr(library, CREATE_RAM).argtypes = [POINTER]
    return library


class Context:
    """What the library read of this machine.  It reads a list once, so what others made since is
    seen only by a new one."""

    def __init__(self):
        self.library, self.pointer = load(), POINTER()

    def __enter__(self):
        self.call("cxl_new", ctypes.byref(self.pointer))
        return self

    def __exit__(self, *_):
        self.library.cxl_unref(self.pointer)

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result < 0:
            raise Failure(f"{name}: {os.strerror(-result)}")

    def decoder(self, name):
        found = self.library.cxl_decoder_get_by_name(self.pointer, name.encode())
        if not found:
            raise Failure(f"libcxl does not find {name}")
        return found

    def region(self, root, name):
        found = self.library.cxl_region_get_first(self.decoder(root))
        while found and self.library.cxl_region_get_devname(found) != name.encode():
            found = self.library.cxl_region_get_next(found)
        if not found:
            raise Failure(f"libcxl does not find {name} below {root}")
        return found


def creates_volatile(library):
    return hasattr(library, CREATE_RAM)


def create_region(plan):
    """-> name of a committed and bound region; leaves nothing behind where it fails."""
    root, before, taken = f"decoder0.{plan.window}", cxl.regions(), []
    try:
        if plan.kind == "ram" and not creates_volatile(load()):
            attribute = cxl.BUS / root / "create_ram_region"
            sysfs.write(attribute, sysfs.text(attribute))
        with Context() as context:
            fill(context, plan, new_region(context, root, plan, before), taken)
    except (OSError, Failure):
        for name in [name for name in cxl.regions() if name not in before]:
            cxl.release(cxl.BUS / root, name, taken)
        raise
    return next(name for name in cxl.regions() if name not in before)


def new_region(context, root, plan, before):
    """The library's handle of a region that was made just now."""
    made = [name for name in cxl.regions() if name not in before]
    if made:
        return context.region(root, made[0])
    create = getattr(context.library, f"cxl_decoder_create_{plan.kind}_region")
    region = create(context.decoder(root))
    if not region:
        raise Failure(f"cxl_decoder_create_{plan.kind}_region made none")
    return region


def fill(context, plan, region, taken):
    """Sets all of a region, commits it and hands it to its driver."""
    if plan.kind == "pmem":
        context.call("cxl_region_set_uuid", region, uuid.uuid4().bytes)
    context.call("cxl_region_set_interleave_granularity", region, plan.granularity)
    context.call("cxl_region_set_interleave_ways", region, len(plan.serials))
    decoders = []
    for serial in plan.serials:
        device = cxl.device_by_serial(serial)
        if device is None:
            raise Failure(f"no memory device has serial {serial:#x}")
        folder = cxl.free_decoder(device)
        decoders.append(context.decoder(folder.name))
        context.call("cxl_decoder_set_mode", decoders[-1], MODES[plan.kind])
        taken.append(folder)
        context.call("cxl_decoder_set_dpa_size", decoders[-1], plan.size // len(plan.serials))
    context.call("cxl_region_set_size", region, plan.size)
    for position, decoder in enumerate(decoders):
        context.call("cxl_region_set_target", region, position, decoder)
    context.call("cxl_region_decode_commit", region)
    context.call("cxl_region_enable", region)


def seen(window, name):
    """What a fresh look by the library says of a region."""
    with Context() as context:
        region = context.region(f"decoder0.{window}", name)

        def value(what):
            return getattr(context.library, f"cxl_region_{what}")(region)
        return {"size": value("get_size"), "ways": value("get_interleave_ways"),
                "granularity": value("get_interleave_granularity"),
                "committed": bool(value("decode_is_committed")),
                "enabled": bool(value("is_enabled"))}


def destroy_region(plan, name):
    """pre: none of its memory is online."""
    folders = [cxl.BUS / sysfs.text(cxl.BUS / name / f"target{position}")
               for position in range(len(plan.serials))]
    with Context() as context:
        region = context.region(f"decoder0.{plan.window}", name)
        for what in ("disable", "decode_reset", "clear_all_targets"):
            context.call(f"cxl_region_{what}", region)
        for folder in reversed(folders):
            context.call("cxl_decoder_set_dpa_size", context.decoder(folder.name), 0)
        context.call("cxl_region_delete", region)
