# SPDX-License-Identifier: Apache-2.0
"""Differences between kernels, firmware and QEMU versions that are known, with their reasons.

They stand in ../known_differences.toml.  A failure that one of them describes becomes `known`,
which is no failure of the run; one that should have shown up and did not is reported as well.
"""
import fnmatch
import re
import tomllib
from dataclasses import dataclass

from ktap import FAIL, KNOWN, PASS, SKIP

KEYS = {"check", "topology", "bios", "kernel", "qemu", "outcome", "text", "reason"}


class KnownError(Exception):
    """The file cannot be used."""


@dataclass(frozen=True)
class Difference:
    check: str
    reason: str
    outcome: str = FAIL
    topology: str = "*"
    bios: str = "*"
    kernel: str = ""
    qemu: str = ""
    text: str = ""

    def fits_cell(self, cell):
        return (fnmatch.fnmatch(cell.topology, self.topology)
                and fnmatch.fnmatch(cell.bios, self.bios)
                and in_range(cell.release, self.kernel) and in_range(cell.qemu, self.qemu))


def numbers(version):
    match = re.match(r"\d+(?:\.\d+)*", version or "")
    return tuple(map(int, match[0].split("."))) if match else ()


def in_range(version, wanted):
    """'>=6.14 <7.1' against a version; an empty range holds everything."""
    for part in wanted.split():
        match = re.fullmatch(r"(<|>=)([\d.]+)", part)
        if not match:
            raise KnownError(f"'{part}' is no range; write <7.0 or >=6.14")
        below = numbers(version)[:len(numbers(match[2]))] < numbers(match[2])
        if below != (match[1] == "<"):
            return False
    return True


def load(path):
    try:
        with open(path, "rb") as file:
            entries = tomllib.load(file).get("difference", [])
    except tomllib.TOMLDecodeError as error:
        raise KnownError(f"{path}: {error}") from None
    found = []
    for index, entry in enumerate(entries, start=1):
        unknown = set(entry) - KEYS
        if unknown or not {"check", "reason"} <= set(entry):
            raise KnownError(f"{path}: entry {index}: unknown {sorted(unknown)}, or no check or "
                             f"reason; known keys: {' '.join(sorted(KEYS))}")
        if entry.get("outcome", FAIL) not in (FAIL, SKIP):
            raise KnownError(f"{path}: entry {index}: outcome is fail or skip")
        difference = Difference(**entry)
        in_range("1", difference.kernel), in_range("1", difference.qemu)
        found.append(difference)
    return found


def apply(differences, cell):
    """Marks the results of a cell; -> what did not show up although it should have.

    Marks of an earlier time are taken away first, so that a report can be read with other
    differences than it was made with.
    """
    absent = []
    for result in cell.results:
        result.status, result.known = FAIL if result.status == KNOWN else result.status, ""
    for difference in differences:
        if not difference.fits_cell(cell):
            continue
        for result in cell.results:
            if not fnmatch.fnmatch(result.name, difference.check):
                continue
            if result.status == difference.outcome and re.search(difference.text, result.reason):
                if result.status == FAIL:
                    result.status = KNOWN
                result.known = difference.reason
            elif result.status == PASS:
                absent.append((result.name, difference.reason))
    return absent
