# SPDX-License-Identifier: Apache-2.0
"""Sizes: of functions, files, lines, parameter lists and nesting."""
from finding import Finding

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 800
LINE_COLUMNS_MAX = 100
PARAMETERS_MAX = 5
NESTING_MAX = 4
CODE = ("cpp", "shell", "python", "cmake")


def function_length(source):
    for function in source.functions():
        if function.length > FUNCTION_LINES_MAX:
            yield Finding(source.path, function.first_line, "function-length",
                          f"{function.name} has {function.length} lines, at most "
                          f"{FUNCTION_LINES_MAX}", "name its steps and make them functions")


def function_parameters(source):
    """Functions with C linkage are left out: mmap has six, whoever defines it."""
    for function in source.functions():
        if not function.is_c and len(function.parameters) > PARAMETERS_MAX:
            yield Finding(source.path, function.first_line, "function-parameters",
                          f"{function.name} takes {len(function.parameters)} parameters, at most "
                          f"{PARAMETERS_MAX}", "pass a struct with named fields")


def function_nesting(source):
    """Blocks in braces inside the function's own; lambdas count, initialiser braces do not."""
    for function in source.functions():
        if function.nesting > NESTING_MAX:
            yield Finding(source.path, function.deepest_line, "function-nesting",
                          f"{function.name} nests {function.nesting} blocks, at most {NESTING_MAX}",
                          "return early, or make the inner block a function")


def bool_parameter(source):
    """A call f(true) says nothing.  One-parameter setters and gtest's macros read well enough."""
    if source.kind != "cpp":
        return
    for function in source.functions():
        for parameter in function.parameters:
            words = parameter.split("=")[0].split()
            if len(function.parameters) > 1 and words[:1] == ["bool"] and len(words) == 2:
                yield Finding(source.path, function.first_line, "bool-parameter",
                              f"{function.name} takes a bare bool '{words[1]}'",
                              "make it an enum class with two named values")


def file_length(source):
    if source.kind in CODE and len(source.lines) > FILE_LINES_MAX:
        yield Finding(source.path, FILE_LINES_MAX + 1, "file-length",
                      f"{len(source.lines)} lines, at most {FILE_LINES_MAX}",
                      "move one of its nouns to a file of its own")


def line_length(source):
    if source.kind not in CODE:
        return
    for number, line in enumerate(source.lines, start=1):
        if len(line) > LINE_COLUMNS_MAX:
            yield Finding(source.path, number, "line-length",
                          f"{len(line)} columns, at most {LINE_COLUMNS_MAX}", "break the line")


RULES = (function_length, function_parameters, function_nesting, bool_parameter, file_length,
         line_length)
