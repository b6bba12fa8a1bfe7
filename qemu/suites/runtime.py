# SPDX-License-Identifier: Apache-2.0
"""Suite `runtime`: what cxltier says of this machine, and its own tests on it."""
import json
import os
import subprocess
import time
from pathlib import Path

import cxl
import sysfs
from checks import Failure, Skip, check, require

SECONDS = 400
# Tests of tests/guest/, which need two nodes of DRAM and one of CXL memory.
TESTS = ("busy_hot_set_test", "daemonises_test", "full_dram_test", "hinted_memory_test",
         "no_free_memory_test", "pages_move_test", "stays_demoted_test")


def program(machine, name):
    path = Path(machine.programs or ".", name)
    if not machine.programs or not os.access(path, os.X_OK):
        raise Skip(f"{name} is not built; give --programs build/release/bin")
    return str(path)


def run(command, seconds=60):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds,
                          stdin=subprocess.DEVNULL)


@check("runtime")
def topo(machine):
    """`cxltier topo` knows every node with memory, and which of them is slow."""
    done = run([program(machine, "cxltier"), "topo", "--json"])
    require(done.returncode == 0, f"cxltier topo --json ended with {done.returncode}: "
            + done.stderr.strip())
    nodes = {n["id"]: n for n in json.loads(done.stdout)["nodes"] if n.get("total_bytes", 1)}
    missing = [n for n in sysfs.node_numbers("has_memory")
               if sysfs.node_bytes(n) and n not in nodes]
    require(not missing, f"nodes {missing} are not in the output")
    machine.note(" ".join(f"node {i}: tier {n.get('tier')}" for i, n in sorted(nodes.items())))


def verb(machine, wanted):
    """Path of a cxltier that knows the verb."""
    name = program(machine, "cxltier")
    if run([name, wanted, "--help"]).returncode:
        raise Skip(f"this cxltier has no verb {wanted}")
    return name


@check("runtime")
def doctor(machine):
    """`cxltier doctor` can look at this machine; what it says is evidence."""
    done = run([verb(machine, "doctor"), "doctor"])
    machine.note("\n".join((done.stdout + done.stderr).splitlines()[:20]))
    require(done.returncode in (0, 1), f"cxltier doctor ended with {done.returncode}")


@check("runtime", needs_guest=True)
def own_tests(machine):
    """cxltier's guest tests on this topology's nodes."""
    if len(sysfs.node_numbers("has_cpu")) != 2 or len(cxl.regions()) != 1:
        raise Skip("the tests need two nodes of DRAM and one region of CXL memory: cxl1-dram2")
    paths = [program(machine, name) for name in TESTS]
    failed, skipped = [], {}
    for path in paths:
        name, begin = Path(path).name, time.monotonic()
        done = run([path], SECONDS)
        words = (done.stdout + done.stderr).splitlines()
        machine.note(f"{name}: {done.returncode} after {time.monotonic() - begin:.0f} s")
        if done.returncode == 77:
            skipped[name] = words[-1] if words else "no reason given"
        elif done.returncode:
            failed.append(name)
            machine.note("\n".join(words[-20:]))
    if failed:
        raise Failure(f"failed: {' '.join(failed)}")
    if skipped:
        raise Skip("; ".join(f"{name}: {why}" for name, why in skipped.items()))
