# SPDX-License-Identifier: Apache-2.0
"""A run's results as values: JSON, JUnit XML, the table for a terminal, and what changed since a
baseline.  The HTML page is made by page.py."""
import json
import os
import xml.etree.ElementTree as xml
from collections import Counter
from dataclasses import asdict

from cells import Cell
from ktap import FAIL, KNOWN, LOST, PASS, SKIP, Result

FORMAT = 1
BAD = (FAIL, LOST)
SIGNS = {PASS: "ok", FAIL: "FAIL", SKIP: "skip", KNOWN: "known", LOST: "LOST"}


def document(cells, started, settings):
    """Everything of a run as plain values."""
    return {"format": FORMAT, "started": started, "settings": asdict(settings),
            "cells": [asdict(cell) for cell in cells]}


def write_json(path, content):
    """Complete or not there: a run that is cut short may be resumed from it."""
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    os.replace(part, path)


def read_json(path, settings=None):
    """-> cells of an earlier run; raises ValueError that names the file, also where it was made
    with other settings than those given."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if content.get("format") != FORMAT:
            raise ValueError(f"its format is {content.get('format')}, not {FORMAT}")
        if settings is not None:
            compare_settings(content["settings"], asdict(settings))
        return [Cell(**{**cell, "results": [Result(**r) for r in cell["results"]]})
                for cell in content["cells"]]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is no report of qemu/validate: {error}") from None


def compare_settings(before, now):
    """What decides about results must be the same; how guests are started need not."""
    for name, value in now.items():
        value = list(value) if isinstance(value, tuple) else value
        if name != "launcher" and before.get(name) != value:
            raise ValueError(f"it was made with {name}={before.get(name)!r}, not {value!r}")


# --- JUnit ----------------------------------------------------------------------------------------

def printable(text):
    """XML holds no control characters."""
    return "".join(c for c in text
                   if c in "\t\n" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd")


def write_junit(path, cells):
    root = xml.Element("testsuites", name="qemu/validate")
    for cell in cells:
        suite = xml.SubElement(
            root, "testsuite", name=cell.key, tests=str(len(cell.results)),
            failures=str(cell.count(FAIL)), errors=str(cell.count(LOST)),
            skipped=str(cell.count(SKIP) + cell.count(KNOWN)), time=str(cell.seconds))
        for result in cell.results:
            case = xml.SubElement(suite, "testcase", classname=cell.key, name=result.name,
                                  time=f"{result.seconds:.2f}")
            kind = {FAIL: "failure", LOST: "error", SKIP: "skipped", KNOWN: "skipped"}.get(
                result.status)
            if kind:
                xml.SubElement(case, kind, message=printable(result.why))
            xml.SubElement(case, "system-out").text = printable("\n".join(result.notes))
            if result.status in BAD and result.console:
                xml.SubElement(case, "system-err").text = printable(result.console)
        if cell.verdict and not cell.results:
            case = xml.SubElement(suite, "testcase", classname=cell.key, name="boot")
            xml.SubElement(case, "error", message=printable(cell.verdict))
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


# --- comparison -----------------------------------------------------------------------------------

def by_key(cells):
    return {(cell.key, result.name): result for cell in cells for result in cell.results}


def changes(cells, baseline):
    """-> what broke, what was fixed, what is new, what is gone: lists of (cell, check, reason)."""
    now, before = by_key(cells), by_key(baseline)
    found = {"broke": [], "fixed": [], "new": [], "gone": []}
    for key, result in now.items():
        if key not in before:
            found["new"].append((*key, result.status))
        elif result.status in BAD and before[key].status not in BAD:
            found["broke"].append((*key, result.why))
        elif result.status not in BAD and before[key].status in BAD:
            found["fixed"].append((*key, f"was: {before[key].reason}"))
    found["gone"] = [(*key, before[key].status) for key in before if key not in now]
    return found


# --- terminal -------------------------------------------------------------------------------------

def summary(cell):
    counts = Counter(result.status for result in cell.results)
    text = ", ".join(f"{counts[status]} {word}" for status, word in
                     ((PASS, "passed"), (FAIL, "failed"), (LOST, "lost"), (KNOWN, "known"),
                      (SKIP, "skipped")) if counts[status])
    return text or f"nothing ran: {cell.verdict}"


def reasons(cells, statuses):
    """{(status, check, why): cells} of what did not pass; many guests often share one reason."""
    found = {}
    for status in statuses:
        for cell in cells:
            for result in cell.results:
                if result.status == status:
                    found.setdefault((status, result.name, result.why), []).append(cell)
    return found


def places(members):
    """Where something is so: the first few by name."""
    names = [cell.key for cell in members[:3]]
    more = f" and {len(members) - 3} more guests" if len(members) > 3 else ""
    return "; ".join(names) + more


def absent_lines(absent):
    """What passed although a known difference says that it does not: (cell, check, reason)."""
    found = {}
    for cell, check, why in absent:
        found.setdefault((check, why), []).append(cell)
    for (check, why), members in found.items():
        where = members[0] if len(members) == 1 else f"{len(members)} guests"
        yield f"{where}: {check} passed, although it was expected to differ: {why}"


def terminal_table(cells):
    """Lines: one row per cell, one column per suite; then every failure with its reason."""
    suites = list(dict.fromkeys(r.name.split(".")[0] for c in cells for r in c.results))
    title = ["kernel", "bios", "topology", *suites]
    rows = [[cell.kernel.rpartition("/")[2] or cell.kernel, cell.bios.rpartition("/")[2],
             cell.topology.rpartition("/")[2], *(suite_sign(cell, suite) for suite in suites)]
            for cell in cells]
    widths = [max(len(row[i]) for row in [title, *rows]) for i in range(len(title))]
    for row in [title, ["-" * width for width in widths], *rows]:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
    for cell in cells:
        if cell.verdict:
            yield f"\n{cell.key}: {cell.verdict}"
    for (status, name, why), members in reasons(cells, (FAIL, KNOWN)).items():
        yield f"\n{name}: {SIGNS[status]}: {why}\n  {places(members)}"


def suite_sign(cell, suite):
    """Of a suite in a cell: ok, or how many of its checks did what."""
    counts = Counter(r.status for r in cell.results if r.name.startswith(suite + "."))
    if not counts:
        return "-"
    bad = counts[FAIL] + counts[LOST]
    if bad:
        return f"{bad} FAIL"
    if counts[KNOWN]:
        return f"{counts[KNOWN]} known"
    return "ok" if counts[PASS] else "skip"


def change_lines(found):
    for kind in ("broke", "fixed", "new", "gone"):
        if found[kind]:
            yield f"\nsince the baseline, {kind}: {len(found[kind])}"
            yield from (f"  {cell}: {check}: {text}" for cell, check, text in found[kind][:40])
    if not found["broke"] and not found["fixed"]:
        yield "\nsince the baseline: nothing broke, nothing was fixed"
