#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks our own source against the rules of the house.

    lint.py [--root FOLDER] [--rule NAME]...

Prints one line per fault: file:line: rule: what is wrong; fix: what to do.  Exit status 0: none,
1: faults, 2: usage.  There is no list of exceptions; third_party/ is not ours.
"""
import argparse
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it was

# pylint: disable=wrong-import-position
import layer_rules
import size_rules
import text_rules
import tool_rules
from source import Source

FILE_RULES = size_rules.RULES + text_rules.RULES + layer_rules.RULES
TREE_RULES = (text_rules.folder_readme,)
TOOL_RULES = tool_rules.RULES
NOT_OURS = ("third_party/", "build/", ".git/")


def rule_name(rule):
    return rule.__name__.replace("_", "-")


def list_paths(root):
    """What git knows or would add; every file where there is no git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    except FileNotFoundError:
        done = None
    top = subprocess.run(["git", "rev-parse", "--show-prefix"], cwd=root, capture_output=True,
                         check=False) if done is not None else None
    if done is not None and done.returncode == 0 and top.stdout.strip() == b"":
        paths = [p for p in done.stdout.decode().split("\0") if p]
    else:
        paths = [str(p.relative_to(root)) for p in Path(root).rglob("*") if p.is_file()]
    return sorted(p for p in set(paths) if not p.startswith(NOT_OURS))


def is_text(path):
    with open(path, "rb") as file:
        return b"\0" not in file.read(4096)


def load_sources(root):
    files = ((root / p, p) for p in list_paths(root))
    sources = [Source(root, p) for full, p in files
               if full.is_file() and not full.is_symlink() and is_text(full)]
    c_words = frozenset().union(*(s.linkage_macros() for s in sources if s.kind == "cpp"))
    for source in sources:
        source.c_words = c_words
    return sources


def check(root, sources, wanted):
    """-> findings, skips; `wanted` is a set of rule names, empty for all."""
    def is_wanted(rule):
        return not wanted or rule_name(rule) in wanted
    findings, skips = [], []
    for rule in filter(is_wanted, FILE_RULES):
        for source in sources:
            findings += rule(source)
    for rule in filter(is_wanted, TREE_RULES):
        findings += rule(sources)
    for rule in filter(is_wanted, TOOL_RULES):
        found, skip = rule(root, sources)
        findings += found
        if skip:
            skips.append(f"{rule_name(rule)}: skipped: {skip}")
    return findings, skips


def main():
    names = [rule_name(r) for r in FILE_RULES + TREE_RULES + TOOL_RULES]
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--rule", action="append", choices=names, default=[])
    options = parser.parse_args()
    sources = load_sources(options.root)
    findings, skips = check(options.root, sources, set(options.rule))
    for line in skips + sorted(map(str, findings)):
        print(line)
    count = len(options.rule) or len(names)
    print(f"{len(sources)} files, {count} rules, {len(findings)} faults, {len(skips)} skips")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
