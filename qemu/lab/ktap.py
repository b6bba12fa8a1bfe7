# SPDX-License-Identifier: Apache-2.0
"""Reads what suites/run_suites prints, also where it ends early, and the console beside it."""
import re
from dataclasses import dataclass, field

import kernel_faults

MARKER = re.compile(r"cxltier-check: start (\S+)")
TIMESTAMP = re.compile(r"^\[ *\d+\.\d+\] ?")
PASS, FAIL, SKIP, KNOWN, LOST = "pass", "fail", "skip", "known", "lost"


@dataclass
class Result:
    """One check: `reason` says why it did not pass; `notes` is its evidence; `known` says why it is
    no surprise, if it is none."""
    name: str
    status: str
    reason: str = ""
    notes: list = field(default_factory=list)
    seconds: float = 0.0
    console: str = ""
    known: str = ""

    @property
    def why(self):
        return f"{self.known} ({self.reason})" if self.known else self.reason


def parse(text):
    """-> results in their order, name of the check that had begun and not ended (or None)."""
    results, notes, begun, seconds = [], [], None, 0.0
    for line in text.splitlines():
        line = line.strip()
        start = re.match(r"# start (\S+)$", line)
        took = re.match(r"# took ([\d.]+) s$", line)
        done = re.match(r"(ok|not ok) \d+ (\S+\.\S+)(?: # SKIP (.*))?$", line)
        if start:
            begun, notes, seconds = start[1], [], 0.0
        elif took:
            seconds = float(took[1])
        elif done:
            results.append(finished(done, notes, seconds))
            begun = None
        elif line.startswith("# ") and begun:
            notes.append(line[2:])
    return results, begun


def finished(match, notes, seconds):
    if match[3]:
        return Result(match[2], SKIP, match[3], notes, seconds)
    if match[1] == "ok":
        return Result(match[2], PASS, "", notes, seconds)
    failed = [note[len("failed: "):] for note in notes if note.startswith("failed: ")]
    return Result(match[2], FAIL, "; ".join(failed) or (notes[-1] if notes else "no reason given"),
                  notes, seconds)


def console_parts(console):
    """-> {name of check: its lines of the console}; "" is what came before the first."""
    parts, name = {"": []}, ""
    for line in console.replace("\r", "").splitlines():
        match = MARKER.search(line)
        if match:
            name = match[1]
        parts.setdefault(name, []).append(line)
    return parts


def join_console(results, console):
    """Gives each result its part of the console; a fault of the kernel in it fails the check."""
    parts = console_parts(console)
    for result in results:
        lines = parts.get(result.name, [])
        result.console = "\n".join(lines)
        found = kernel_faults.faults(lines)
        if found and result.status != FAIL:
            result.status = FAIL
            name, line = found[0]
            result.reason = f"kernel {name}: {TIMESTAMP.sub('', line)}"
    return results


def complete(results, begun, planned, verdict):
    """Adds what never ended: the check that was running failed, those after it are lost."""
    names = {result.name for result in results}
    for name in planned:
        if name not in names:
            status = FAIL if name == begun else LOST
            results.append(Result(name, status, verdict if status == FAIL else
                                  f"not run: {verdict}"))
    return results
