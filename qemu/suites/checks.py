# SPDX-License-Identifier: Apache-2.0
"""What a check is: a function of a suite that looks at this machine and says what it saw.

A check gets a `Machine`, calls `note` for evidence, returns when all is well, and raises `Failure`
(what was expected, what was found, and the likely cause) or `Skip` (why it cannot say anything
here).  `run` prints KTAP: one subtest per suite, evidence as diagnostic lines before each result.
A kernel warning while a check runs fails it, whatever the check says.
"""
import os
import sys
import time
import traceback
from dataclasses import dataclass, field

import kernel_log


class Failure(Exception):
    """The machine is not as it must be."""


class Skip(Exception):
    """Nothing can be said here, for this reason."""


@dataclass
class Machine:
    """What checks may know and use; `topology` is None on a real machine."""
    topology: dict = None
    thorough: bool = False
    destructive: bool = True       # may make and remove regions, take memory offline
    programs: str = ""             # folder of cxltier's programs, empty if there is none
    notes: list = field(default_factory=list)

    def note(self, text):
        self.notes.extend(str(text).splitlines())

    def all(self, kind):
        """Statements of the topology; none on a real machine."""
        return (self.topology or {}).get(kind, [])

    @property
    def is_guest(self):
        return self.topology is not None


@dataclass(frozen=True)
class Check:
    suite: str
    name: str
    function: object
    changes: bool       # makes or removes regions, takes memory offline, injects errors
    needs_guest: bool   # talks to QEMU
    last: bool          # may leave the machine unusable

    @property
    def full_name(self):
        return f"{self.suite}.{self.name}"


CHECKS = []


def check(suite, changes=False, needs_guest=False, last=False):
    """Registers a function as a check of `suite`, in the order of the file."""
    def register(function):
        CHECKS.append(Check(suite, function.__name__, function, changes, needs_guest, last))
        return function
    return register


def expect(what, expected, found, cause=""):
    if expected != found:
        text = f"{what}: expected {expected}, found {found}"
        raise Failure(f"{text}; {cause}" if cause else text)


def require(condition, what):
    if not condition:
        raise Failure(what)


def await_true(what, condition, seconds=30):
    """Polls until `condition()` is true; its last value is returned."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(0.05)


# --- running --------------------------------------------------------------------------------------

def outcome_of(one, machine):
    """-> (ok, directive) of one check."""
    if one.changes and not machine.destructive:
        return True, "SKIP it changes the machine; --destructive allows it"
    if one.needs_guest and not machine.is_guest:
        return True, "SKIP it needs a guest, whose devices QEMU can change"
    try:
        one.function(machine)
    except Skip as skip:
        return True, f"SKIP {skip}"
    except Failure as failure:
        machine.note(f"failed: {failure}")
        return False, ""
    except PermissionError as error:
        if os.geteuid() != 0:
            return True, f"SKIP needs root: {error.filename} cannot be opened"
        machine.note(f"failed: {error}")
        return False, ""
    except OSError as error:
        machine.note(f"failed: {error}")
        return False, ""
    except Exception:  # pylint: disable=broad-except  # a check's own fault is a failure as well
        machine.note(traceback.format_exc())
        return False, ""
    return True, ""


def run_one(one, number, machine):
    """Prints the lines of one check; -> whether it passed or was skipped."""
    machine.notes.clear()
    say(f"  # start {one.full_name}")
    log = kernel_log.Follower()
    begin = time.monotonic()
    ok, directive = outcome_of(one, machine)
    faults = log.faults()
    for name, line in faults:
        machine.note(f"failed: kernel {name}: {line}")
    if faults:
        ok, directive = False, ""
    for note in machine.notes:
        say(f"  # {note}")
    say(f"  # took {time.monotonic() - begin:.2f} s")
    say(f"  {'ok' if ok else 'not ok'} {number} {one.full_name}" +
        (f" # {directive}" if directive else ""))
    return ok


def say(line):
    print(line, flush=True)
    # The console's log is cut into checks by these lines.
    if line.startswith("  # start "):
        kernel_log.write(line.strip(" #"))


def run(suites, machine):
    """Runs the checks of `suites`, those that may break the machine last; -> number of failures."""
    chosen = [one for one in CHECKS if one.suite in suites]
    order = [one for one in chosen if not one.last] + [one for one in chosen if one.last]
    groups = []
    for one in order:
        if not groups or groups[-1][0] != one.suite:
            groups.append((one.suite, []))
        groups[-1][1].append(one)
    say("KTAP version 1")
    say(f"1..{len(groups)}")
    failed = 0
    for index, (suite, members) in enumerate(groups, start=1):
        say("  KTAP version 1")
        say(f"  1..{len(members)}")
        bad = sum(not run_one(one, i, machine) for i, one in enumerate(members, start=1))
        failed += bad
        say(f"{'not ok' if bad else 'ok'} {index} {suite}")
    sys.stdout.flush()
    return failed
