#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the linter: every rule must pass a good snippet and catch a bad one, on the right line.

The snippets are trees in the making (path -> content) and are written to a scratch folder; here
they would be faults of our own.  A rule without a case fails the test.
"""
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import lint
from source import Source
from snippets import CASES, SCANS

# A tool that is absent cannot be tested here; anything else may not skip.
TOOLS = {lint.rule_name(rule) for rule in lint.TOOL_RULES}


def findings_of(rule, tree):
    with tempfile.TemporaryDirectory(prefix="cxltier-lint-") as scratch:
        root = Path(scratch)
        for path, content in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8")
        sources = lint.load_sources(root)
        return lint.check(root, sources, {rule})


def check_case(rule, case):
    """-> faults of the linter, as text"""
    good, skips = findings_of(rule, case.good)
    if skips and rule in TOOLS:
        print(skips[0])
        return []
    faults = [f"{rule}: refuses a good snippet: {finding}" for finding in good]
    for tree, path, line in case.bad:
        found, _ = findings_of(rule, tree)
        places = [(finding.path, finding.line) for finding in found]
        if (path, line) not in places:
            faults.append(f"{rule}: misses {path}:{line}; found {places}")
        faults += [f"{rule}: no fix in '{f}'" for f in found if not f.fix or f.rule != rule]
    return faults


def check_scan(code, expected):
    """The functions that the scan of C++ sees: (name, parameters, nesting)."""
    with tempfile.TemporaryDirectory(prefix="cxltier-lint-") as scratch:
        Path(scratch, "x.cpp").write_text(code, encoding="utf-8")
        seen = [(f.name, len(f.parameters), f.nesting)
                for f in Source(scratch, "x.cpp").functions()]
    return [] if sorted(seen) == sorted(expected) else [f"scan of {code!r}: {seen}"]


def main():
    names = {lint.rule_name(r) for r in lint.FILE_RULES + lint.TREE_RULES + lint.TOOL_RULES}
    faults = [f"{name}: no case" for name in sorted(names - set(CASES))]
    faults += [f"{name}: no such rule" for name in sorted(set(CASES) - names)]
    for rule in sorted(names & set(CASES)):
        faults += check_case(rule, CASES[rule])
    for code, expected in SCANS:
        faults += check_scan(code, expected)
    for fault in faults:
        print(fault)
    print(f"{len(CASES)} rules, {len(SCANS)} scans, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
