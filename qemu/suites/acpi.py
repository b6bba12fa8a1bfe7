# SPDX-License-Identifier: Apache-2.0
"""ACPI tables about memory, read from sysfs: CEDT, SRAT, SLIT, HMAT.

Layouts: CXL 3.1 section 9.18 (CEDT), ACPI 6.5 sections 5.2.16 (SRAT), 5.2.17 (SLIT), 5.2.28 (HMAT).
All are little endian; sizes are bytes, latencies nanoseconds, bandwidths MB/s.
"""
import struct
from pathlib import Path

from checks import Failure

FOLDER = Path("/sys/firmware/acpi/tables")
HEADER = 36


def table(signature):
    """The bytes of a table, or None; raises PermissionError unless root."""
    path = FOLDER / signature
    if not path.exists():
        return None
    found = path.read_bytes()
    length = struct.unpack_from("<I", found, 4)[0]
    if length != len(found) or sum(found) & 0xff:
        raise Failure(f"{signature}: length {length} of {len(found)}, sum {sum(found) & 0xff:#x}: "
                      "the table is damaged")
    return found


def entries(found, start, length_format, length_offset):
    """(type, bytes) of each entry of a table."""
    type_format = "<B" if length_format == "<B" or length_offset == 2 else "<H"
    while start + 4 <= len(found):
        kind = struct.unpack_from(type_format, found, start)[0]
        length = struct.unpack_from(length_format, found, start + length_offset)[0]
        if not length:
            raise Failure(f"an entry at {start} has length 0")
        yield kind, found[start:start + length]
        start += length


def cedt():
    """-> host bridges {UID: base}, windows as dictionaries; None without a table."""
    found = table("CEDT")
    if found is None:
        return None
    bridges, windows = {}, []
    for kind, entry in entries(found, HEADER, "<H", 2):
        if kind == 0:
            uid, _, _, base = struct.unpack_from("<IIIQ", entry, 4)
            bridges[uid] = base
        elif kind == 1:
            base, size, ways, _ = struct.unpack_from("<QQBB", entry, 8)
            granularity, restrictions, qtg = struct.unpack_from("<IHH", entry, 28)
            count = 1 << ways if ways < 8 else {8: 3, 9: 6, 10: 12}[ways]
            windows.append({"base": base, "size": size, "ways": count,
                            "granularity": 256 << granularity, "restrictions": restrictions,
                            "qtg": qtg, "targets": struct.unpack_from(f"<{count}I", entry, 36)})
    return bridges, windows


def srat_memory():
    """(proximity domain, base, size, hot-pluggable) of each enabled range; None without a table."""
    found = table("SRAT")
    if found is None:
        return None
    ranges = []
    for kind, entry in entries(found, 48, "<B", 1):
        if kind == 1:
            domain, _, base, size = struct.unpack_from("<IHQQ", entry, 2)
            flags = struct.unpack_from("<I", entry, 28)[0]
            if flags & 1 and size:
                ranges.append((domain, base, size, bool(flags & 2)))
    return ranges


def srat_generic_ports():
    """Proximity domains of generic ports."""
    found = table("SRAT") or b""
    return [struct.unpack_from("<I", entry, 4)[0]
            for kind, entry in entries(found, 48, "<B", 1) if kind == 6]


def slit():
    """Rows of distances; None without a table."""
    found = table("SLIT")
    if found is None:
        return None
    count = struct.unpack_from("<Q", found, HEADER)[0]
    return [list(found[44 + i * count:44 + (i + 1) * count]) for i in range(count)]


def hmat():
    """{(initiator, target): {"latency": ns, "bandwidth": MB/s}} of plain memory; None without."""
    found = table("HMAT")
    if found is None:
        return None
    revision, values = found[8], {}
    for kind, entry in entries(found, 40, "<I", 4):
        if kind != 1 or entry[8] & 15:
            continue
        what, initiators, targets = entry[9], *struct.unpack_from("<II", entry, 12)
        base = struct.unpack_from("<Q", entry, 24)[0]
        numbers = struct.unpack_from(f"<{initiators + targets}I", entry, 32)
        cells = struct.unpack_from(f"<{initiators * targets}H", entry,
                                   32 + 4 * (initiators + targets))
        for index, cell in enumerate(cells):
            pair = numbers[index // targets], numbers[initiators + index % targets]
            if cell in (0, 0xffff):
                continue
            name = "latency" if what < 3 else "bandwidth"
            # Revision 1 counts in picoseconds over ten nanoseconds; 2 in picoseconds.
            scale = (1000 if revision >= 2 else 10) if what < 3 else 1
            values.setdefault(pair, {})[name] = cell * base // scale
    return values
