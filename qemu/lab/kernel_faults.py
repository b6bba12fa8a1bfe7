# SPDX-License-Identifier: Apache-2.0
"""Lines of a kernel's log that fail whatever ran: the kernel itself says that something is wrong.

Each pattern has a name; the texts are those of the kernel's own sources (lib/bug.c, kernel/panic.c,
kernel/locking/lockdep.c, mm/kasan/report.c, kernel/rcu/tree_stall.h, kernel/watchdog.c).
"""
import re

PATTERNS = (
    ("panic", r"Kernel panic - not syncing"),
    ("BUG", r"\bBUG: |kernel BUG at |Oops: |general protection fault|Unable to handle kernel"),
    ("WARN", r"WARNING: (?:CPU: \d+ PID|\S+:\d+ at )"),
    ("lockdep", r"possible (?:recursive|circular) locking|inconsistent lock state|"
                r"suspicious RCU usage|INFO: .*lock.*dependency detected|held lock freed"),
    ("KASAN", r"BUG: K[A-Z]?(?:A|C|M|FENCE)[A-Z]*: "),
    ("UBSAN", r"UBSAN: "),
    ("RCU", r"rcu: INFO: .*(?:stall|detected)"),
    ("hung task", r"INFO: task .* blocked for more than"),
    ("machine check", r"mce: \[Hardware Error\]"),
)
COMPILED = tuple((name, re.compile(pattern)) for name, pattern in PATTERNS)


def fault_of(line):
    """-> name of the fault that a line of the log tells of, or None."""
    return next((name for name, pattern in COMPILED if pattern.search(line)), None)


def faults(lines):
    """-> (name, line) of each."""
    return [(name, line) for line in lines for name in [fault_of(line)] if name]
