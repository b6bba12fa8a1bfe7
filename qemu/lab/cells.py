# SPDX-License-Identifier: Apache-2.0
"""One cell of the matrix: a guest of one kernel, firmware and topology, booted once for all."""
import os
import re
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import ktap

QEMU_FOLDER = Path(__file__).resolve().parent.parent
RUN_SUITES = QEMU_FOLDER / "suites" / "run_suites"
JOB_TOPOLOGY = "/run/cxltier/job/topology.json"
CANNOT_RUN = 77
# What a firmware writes to move a terminal's cursor (ECMA-48, 5.4).
TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


@dataclass
class Cell:
    """`release` is what the kernel calls itself; `verdict` why the guest ended early, if it did;
    `cpu_seconds` is what QEMU and the scripts around it used."""
    kernel: str
    bios: str
    topology: str
    results: list = field(default_factory=list)
    release: str = ""
    qemu: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    verdict: str = ""
    console: str = ""
    command: str = ""

    @property
    def key(self):
        return f"{self.kernel} / {self.bios} / {self.topology}"

    def count(self, status):
        return sum(result.status == status for result in self.results)


@dataclass(frozen=True)
class Settings:
    """What all cells of a run share."""
    suites: tuple = ()
    modules: str = ""
    qemu: str = ""
    accel: str = ""
    append: str = ""
    programs: str = ""
    thorough: bool = False
    destructive: bool = False      # on this machine; a guest may always be changed
    timeout: int = 900
    launcher: str = ""


def kernel_options(kernel, modules):
    """A folder is a build tree, a file a bzImage, anything else a package."""
    if os.path.isdir(kernel):
        return ["--kernel-tree", kernel]
    if os.path.isfile(kernel):
        return ["--kernel", kernel] + (["--modules", modules] if modules else [])
    return ["--kernel-package", kernel]


def planned_checks(settings):
    """Names of the checks in the order in which a guest runs them."""
    listed = subprocess.run([RUN_SUITES, "--list"], capture_output=True, text=True, check=True)
    names = [line.split(":")[0] for line in listed.stdout.splitlines()]
    wanted = {"boot", "setup", *settings.suites} if settings.suites else None
    return [name for name in names if wanted is None or name.split(".")[0] in wanted]


def command_of(cell, settings, console):
    command = shlex.split(settings.launcher) + [str(QEMU_FOLDER / "run"), "--topology",
               cell.topology, "--no-regions", "--qmp-in-guest", "--log", str(console),
               "--timeout", str(settings.timeout), "--append", "loglevel=7"]
    command += kernel_options(cell.kernel, settings.modules)
    for option, value in (("--bios", cell.bios), ("--qemu", settings.qemu),
                          ("--accel", settings.accel), ("--append", settings.append)):
        if value:
            command += [option, value]
    command += ["--", str(RUN_SUITES), "--topology", JOB_TOPOLOGY]
    command += ["--thorough"] if settings.thorough else []
    command += ["--programs", settings.programs] if settings.programs else []
    return command + list(settings.suites)


def run_guest(cell, settings, planned, guests):
    """Boots the guest of a cell and fills it in; -> whether guests can run here at all."""
    with tempfile.TemporaryDirectory(prefix="cxltier-validate.") as folder:
        console = Path(folder, "console")
        command = command_of(cell, settings, console)
        cell.command = shlex.join(command).replace(folder, "FOLDER")
        begin = time.monotonic()
        done, used = guests.run(command, folder)
        cell.seconds, cell.cpu_seconds = round(time.monotonic() - begin, 1), round(used, 1)
        cell.console = TERMINAL.sub("", console.read_text(errors="replace")
                                    if console.exists() else "")
    if done.returncode == CANNOT_RUN and not cell.console:
        cell.verdict = done.stderr.strip() or "cannot run here"
        return False
    fill(cell, done, planned)
    return True


def fill(cell, done, planned):
    cell.results, begun = ktap.parse(done.stdout)
    if done.returncode not in (0, 1) or begun:
        cell.verdict = verdict_of(done.stderr) or f"the guest ended with {done.returncode}"
    if done.stderr.strip() and not cell.results:
        cell.verdict = cell.verdict or done.stderr.strip()
    ktap.join_console(cell.results, cell.console)
    if cell.verdict:
        ktap.complete(cell.results, begun, planned, cell.verdict)
        add_console(cell, begun)
    release = re.search(r"kernel (\S+)", "\n".join(
        note for result in cell.results if result.name.startswith("boot.")
        for note in result.notes))
    cell.release = release[1] if release else (cell.kernel if cell.kernel[:1].isdigit() else "")


def add_console(cell, begun):
    """Whatever was running when the guest ended gets the console's end as its evidence."""
    parts = ktap.console_parts(cell.console)
    for result in cell.results:
        if result.status == ktap.FAIL and result.name == begun:
            result.console = "\n".join(parts.get(begun, []))
            result.notes = result.notes or parts.get(begun, [])[-10:]


def verdict_of(errors):
    """qemu/run's own words among what a guest printed to stderr."""
    for line in errors.splitlines():
        match = re.match(r"qemu/run: (.*)", line)
        if match and not match[1].startswith(("note:", "last lines", "downloading", "QEMU said")):
            return match[1]
    return ""


def qemu_version(binary):
    try:
        done = subprocess.run([binary or "qemu-system-x86_64", "--version"], capture_output=True,
                              text=True, check=False)
    except OSError:
        return ""
    match = re.search(r"version ([\d.]+\d)", done.stdout)
    return match[1] if match else ""


def run_host(settings):
    """The checks on this machine itself; -> its cell."""
    cell = Cell(os.uname().release, firmware_name(), "host", release=os.uname().release)
    command = [str(RUN_SUITES)]
    command += ["--thorough"] if settings.thorough else []
    command += ["--destructive"] if settings.destructive else []
    command += ["--programs", settings.programs] if settings.programs else []
    command += list(settings.suites) or ["boot", "discovery", "firmware", "region", "memory"]
    cell.command, begin = shlex.join(command), time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    cell.seconds = round(time.monotonic() - begin, 1)
    cell.results, _ = ktap.parse(done.stdout)
    cell.verdict = "" if cell.results else (done.stderr.strip() or "no check ran")
    return cell


def firmware_name():
    try:
        return Path("/sys/class/dmi/id/bios_version").read_text(encoding="utf-8").strip()
    except OSError:
        return "unknown"
