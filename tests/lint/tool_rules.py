# SPDX-License-Identifier: Apache-2.0
"""Rules that other programs check: the compiler, clang-format and shellcheck.

A tool that is absent is a printed skip, not a pass.
"""
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from finding import Finding
from layer_rules import is_core

FORMAT_TOOLS = ("clang-format-14", "clang-format")
CORE_FLAGS = ("-fno-exceptions", "-fno-rtti")


def run(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def include_flags(root, path):
    """Our root, and the public headers of what the file's layer may know."""
    flags = ["-I", "."]
    for folder in ("allocator/include", "runtime/include"):
        if (Path(root) / folder).is_dir() and not path.startswith("policy/"):
            flags += ["-I", folder]
    return flags


def compile_commands(root, source):
    """As C++20; a public .h as C11 too."""
    public = "/include/" in f"/{source.path}"
    flags = include_flags(root, source.path) + ["-include", source.path]
    core = list(CORE_FLAGS) if is_core(source.path) else []
    yield ["g++", "-std=c++20", "-fsyntax-only", "-Wall", *core, *flags, "-x", "c++", "/dev/null"]
    if public and source.suffix == ".h":
        yield ["gcc", "-std=c11", "-fsyntax-only", "-Wall", *flags, "-x", "c", "/dev/null"]


def header_alone(root, sources):
    """-> findings, skip reason"""
    if not shutil.which("g++"):
        return [], "g++ is not installed"
    headers = [s for s in sources if s.suffix in (".h", ".hpp")]

    def check(source):
        for command in compile_commands(root, source):
            status, output = run(command, root)
            if status != 0:
                first = next((li for li in output.splitlines() if "error" in li), output[:200])
                return Finding(source.path, 1, "header-alone", f"does not compile alone: {first}",
                               "include what it uses")
        return None
    with ThreadPoolExecutor(max_workers=2) as pool:
        return [found for found in pool.map(check, headers) if found], None


def format_tool():
    """clang-format of version 14: others lay out some constructs differently."""
    for name in FORMAT_TOOLS:
        if shutil.which(name):
            _, output = run([name, "--version"], ".")
            if re.search(r"version 14\.", output):
                return name
    return None


def formatted(root, sources):
    tool = format_tool()
    if tool is None:
        return [], "clang-format 14 is not installed"
    paths = [s.path for s in sources if s.kind == "cpp"]
    if not paths:
        return [], None
    _, output = run([tool, "--dry-run", "--style=file", *paths], root)
    findings = {}
    for match in re.finditer(r"^(\S+?):(\d+):\d+: \w+: code should be clang-formatted", output,
                             re.M):
        path, line = match.group(1), int(match.group(2))
        findings.setdefault(path, Finding(path, line, "formatted", "not as clang-format writes it",
                                          f"{tool} -i {path}"))
    return list(findings.values()), None


def shellcheck(root, sources):
    if not shutil.which("shellcheck"):
        return [], "shellcheck is not installed"
    paths = [s.path for s in sources if s.kind == "shell"]
    if not paths:
        return [], None
    _, output = run(["shellcheck", "--external-sources", "--format=gcc", *paths], root)
    pattern = r"^(\S+?):(\d+):\d+: (?:error|warning|note): (.*)$"
    return [Finding(m.group(1), int(m.group(2)), "shellcheck", m.group(3), "see its wiki page")
            for m in re.finditer(pattern, output, re.M)], None


RULES = (header_alone, formatted, shellcheck)
