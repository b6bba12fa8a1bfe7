# SPDX-License-Identifier: Apache-2.0
"""What every file must begin with, what it must be called, and which words it must not hold."""
import re
from pathlib import Path

from finding import Finding

SPDX = "SPDX-License-Identifier: Apache-2.0"
# Names that say nothing about what a thing is.
EMPTY_NAMES = {"manager", "helper", "util", "data", "info", "common"}
# Traces of a machine or a way of working that are no part of the project.  Written in pieces, so
# that this file does not hold them.
FOREIGN_WORDS = (
    (r"(?<![\w.})])/wo" + r"rk/", "a path of one machine"),
    (r"\.\./sha" + r"red\b", "a path outside the project"),
    (r"(?<![\w.})])/ro" + r"ot/", "a path of one machine"),
    (r"\biss" + r"ue #", "a number that only a tracker knows"),
    (r"\bsub" + r"agent", "a way of working"),
)


def spdx(source):
    if source.kind not in ("cpp", "shell", "python", "cmake"):
        return
    if not any(SPDX in line for line in source.lines[:2]):
        yield Finding(source.path, 1, "spdx", "no licence line at the top",
                      f"begin with '{SPDX}' in a comment")


def head_comment(source):
    """After the licence line, what lives here; a CMakeLists.txt is named by its folder."""
    if source.kind not in ("cpp", "shell", "python") or source.path.endswith("/__init__.py"):
        return
    mark = "//" if source.kind == "cpp" else "#"
    for line in source.lines:
        text = line.strip()
        is_comment = text.startswith((mark, '"""', "#!", "/*", "*"))
        if text and not is_comment:
            break
        words = text.strip('/#*"! ').split()
        if is_comment and SPDX not in text and not text.startswith("#!") and len(words) >= 3:
            return
    yield Finding(source.path, 2, "head-comment", "nothing says what lives here",
                  "open with a comment: the idea, the invariants, who may call it")


def pragma_once(source):
    if source.suffix not in (".h", ".hpp"):
        return
    if not any(line.strip() == "#pragma once" for line in source.lines):
        yield Finding(source.path, 1, "pragma-once", "no '#pragma once'",
                      "put it after the head comment")


def is_empty_name(word):
    word = word.lower()
    return word in EMPTY_NAMES or (word.endswith("s") and word[:-1] in EMPTY_NAMES)


def file_name(source):
    words = re.split(r"[^A-Za-z]+", Path(source.path).stem)
    for word in filter(is_empty_name, words):
        yield Finding(source.path, 1, "file-name", f"'{word}' says nothing",
                      "name the file after the noun that it defines")


def type_name(source):
    if source.kind != "cpp":
        return
    definition = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(?:\[\[.*?\]\]\s*)?(\w+)"
                            r"(?:\s+final)?\s*(?::[^;(){}]*)?\{|\busing\s+(\w+)\s*=")
    for match in definition.finditer(source.code):
        name = match.group(1) or match.group(2)
        line = source.code.count("\n", 0, match.start()) + 1
        for word in re.findall(r"[A-Z][a-z]+|[a-z]+", name):
            if is_empty_name(word):
                yield Finding(source.path, line, "type-name", f"'{word}' in {name} says nothing",
                              "name what it is or does")
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) and "/include/" not in source.path:
            yield Finding(source.path, line, "type-name", f"{name} is not PascalCase",
                          "write types in PascalCase")


def foreign_word(source):
    for number, line in enumerate(source.lines, start=1):
        for pattern, what in FOREIGN_WORDS:
            match = re.search(pattern, line, re.I)
            if match:
                yield Finding(source.path, number, "foreign-word",
                              f"'{match.group(0)}' is {what}", "say it in the project's own terms")


def cmake_glob(source):
    if source.kind != "cmake":
        return
    for number, line in enumerate(source.lines, start=1):
        if re.match(r"\s*file\s*\(\s*GLOB", line, re.I):
            yield Finding(source.path, number, "cmake-glob", "a glob misses new files",
                          "list the files")


def shell_options(source):
    if source.kind != "shell":
        return
    sourced = not source.lines[0].startswith("#!") if source.lines else True
    if not sourced and not any(re.match(r"set -euo pipefail\b", line) for line in source.lines):
        yield Finding(source.path, 1, "shell-options", "no 'set -euo pipefail'",
                      "put it after the head comment")


RULES = (spdx, head_comment, pragma_once, file_name, type_name, foreign_word, cmake_glob,
         shell_options)


def folder_readme(sources):
    """Every folder with sources; public headers are described where their `include` folder is."""
    paths = {source.path for source in sources}
    folders = {str(Path(s.path).parent) for s in sources
               if s.kind in ("cpp", "shell", "python") and "/include/" not in f"/{s.path}"}
    for folder in sorted(folders):
        readme = "README.md" if folder == "." else f"{folder}/README.md"
        if readme not in paths:
            yield Finding(readme, 1, "folder-readme", "the folder has sources and no README.md",
                          "one paragraph of purpose, the files, the invariants")
