# SPDX-License-Identifier: Apache-2.0
"""A source file as the rules see it: its lines, its code without comments and texts, its functions.

C++ is not parsed but scanned: comments, texts and preprocessor lines are blanked (line numbers
stay), then braces are matched and each one is named by what stands before it.  That is enough for
sizes and nesting, and needs no compiler.  What it does not see: functions made by macros, and
blocks without braces.
"""
import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

CPP = {".h", ".hpp", ".cpp", ".cc", ".c"}
HEADERS = {".h", ".hpp"}


@dataclass
class Function:
    name: str
    first_line: int
    last_line: int
    parameters: list = field(default_factory=list)
    nesting: int = 0  # deepest block inside, the function's own braces not counted
    deepest_line: int = 0
    is_c: bool = False  # C linkage: its signature is somebody else's

    @property
    def length(self):
        return self.last_line - self.first_line + 1


class Source:
    """One file; `path` is relative to the root and has forward slashes."""

    def __init__(self, root, path):
        self.root = Path(root)
        self.path = path
        self.text = (self.root / path).read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.splitlines()
        self._code = None
        self.c_words = frozenset()  # macros of the whole tree that stand for extern "C"

    @property
    def suffix(self):
        return Path(self.path).suffix

    @property
    def kind(self):
        """cpp, shell, python, cmake, markdown or other."""
        name = Path(self.path).name
        if self.suffix in CPP:
            return "cpp"
        if name == "CMakeLists.txt" or self.suffix == ".cmake":
            return "cmake"
        if self.suffix == ".md":
            return "markdown"
        shebang = self.lines[0] if self.lines and self.lines[0].startswith("#!") else ""
        if self.suffix == ".py" or "python" in shebang:
            return "python"
        if self.suffix == ".sh" or re.search(r"\b(ba|da)?sh\b", shebang):
            return "shell"
        return "other"

    @property
    def code(self):
        if self._code is None:
            self._code = blank_cpp(self.text) if self.kind == "cpp" else self.text
        return self._code

    def linkage_macros(self):
        """Macros that stand for extern "C", as CXLTIER_ENTRY."""
        return set(re.findall(r'#\s*define\s+(\w+)\s+extern\s+"C"', self.text))

    def code_lines(self):
        return enumerate(self.code.split("\n"), start=1)

    def includes(self):
        """(line, target, quoted) of each #include."""
        for number, line in enumerate(self.lines, start=1):
            match = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
            if match:
                yield number, match.group(2), match.group(1) == '"'

    def functions(self):
        finders = {"cpp": lambda: CppScan(self.code, self.c_words).functions,
                   "python": self._python_functions,
                   "shell": self._shell_functions, "cmake": self._cmake_functions}
        return finders.get(self.kind, lambda: [])()

    def _python_functions(self):
        try:
            tree = ast.parse(self.text)
        except SyntaxError:
            return []
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return [Function(node.name, node.lineno, node.end_lineno,
                         [a.arg for a in node.args.args + node.args.kwonlyargs if a.arg != "self"])
                for node in ast.walk(tree) if isinstance(node, kinds)]

    def _between(self, opening, closing):
        found, begun = [], None
        for number, line in enumerate(self.lines, start=1):
            match = re.match(opening, line)
            if match and begun is None:
                begun = (match.group(1), number)
            if begun and re.match(closing, line):
                found.append(Function(begun[0], begun[1], number))
                begun = None
        return found

    def _shell_functions(self):
        return self._between(r"(?:function\s+)?([\w-]+)\s*\(\)\s*[{(]", r"[})]|.*\S\s*}\s*$")

    def _cmake_functions(self):
        return self._between(r"\s*(?:function|macro)\s*\(\s*(\w+)", r"\s*end(?:function|macro)\b")


CPP_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'", re.S)


def blank_cpp(text):
    """Comments, texts and preprocessor lines become blanks of the same shape."""
    def blank(match):
        token = match.group(0)
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return '"' + re.sub(r"[^\n]", "_", token[1:-1]) + '"'
    text = CPP_TOKEN.sub(blank, text)
    directive = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
    return directive.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


EXTERN_C = re.compile(r'\bextern\s+"_*"$')
BLOCK_WORDS = re.compile(r"\b(else|do|try)$")
LAMBDA_TAIL = re.compile(r"\]\s*(\(.*\))?\s*((mutable|noexcept|constexpr)\s*)*(->[^;{}]*)?$", re.S)
FUNCTION_TAIL = re.compile(
    r"\)\s*(const|noexcept(\s*\([^()]*\))?|override|final|volatile|&&?|->[^;{}]*|requires[^;{}]*|"
    r"try|\[\[[^\]]*\]\]|\s)*$", re.S)
CONTROL = re.compile(r"^\s*(if|for|while|switch|catch|else|do|return)\b")


class CppScan:
    """Matches the braces of blanked C++ and keeps the functions."""

    def __init__(self, code, c_words=frozenset()):
        self.code = code
        self.c_words = c_words
        self.functions = []
        self.stack = []  # (kind, function or None)
        self.head = 0    # where the text that leads to the next brace begins
        self._line_starts = [0] + [i + 1 for i, c in enumerate(code) if c == "\n"]
        depth = 0
        for match in re.finditer(r"[{}();]", code):
            at, char = match.start(), match.group(0)
            if char in "()":
                depth = max(0, depth + (1 if char == "(" else -1))
            elif char == "{":
                self._open(at, depth)
                depth = 0 if self.stack[-1][0] != "value" else depth
            elif char == "}":
                depth = self._close(at, depth)
            elif depth == 0:
                self.head = at + 1

    def _line(self, at):
        low, high = 0, len(self._line_starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._line_starts[middle] <= at else (low, middle)
        return low + 1

    def _function(self):
        return next((f for _, f, _ in reversed(self.stack) if f), None)

    def _open(self, at, depth):
        before = self.code[self.head:at].rstrip()
        kind = self._kind_of(before)
        function = None
        if kind == "function":
            first = self.head + len(self.code[self.head:at]) - len(self.code[self.head:at].lstrip())
            name, parameters = signature_of(before)
            function = Function(name, self._line(first), 0, parameters)
            function.is_c = self._has_c_linkage(before)
        self.stack.append((kind, function, depth))
        if kind == "block":
            self._note_nesting(at)
        if kind != "value":
            self.head = at + 1

    def _note_nesting(self, at):
        owner = self._function()
        inside = 0
        for kind, function, _ in reversed(self.stack):
            if function is owner and function:
                break
            inside += kind == "block"
        if owner and inside > owner.nesting:
            owner.nesting, owner.deepest_line = inside, self._line(at)

    def _kind_of(self, before):
        tail = before.strip()
        in_function = self._function() is not None
        if not tail or tail[-1] in ";{" or (tail[-1] == "}" and in_function):
            return "block" if in_function else "scope"
        if EXTERN_C.search(tail):
            return "extern"
        if re.search(r"\bnamespace\b[\s\w:]*$", tail):
            return "scope"
        if re.search(r"\b(class|struct|union|enum)\b", tail) and not FUNCTION_TAIL.search(tail):
            return "value" if "=" in tail else "scope"
        if LAMBDA_TAIL.search(tail) and "operator" not in tail:
            return "block" if in_function else "value"
        if in_function:
            is_block = tail.endswith(")") or BLOCK_WORDS.search(tail) or tail.endswith(":")
            return "block" if is_block and (CONTROL.search(tail) or not tail.endswith("=")) \
                else "value"
        return "function" if is_function_head(tail) else "value"

    def _has_c_linkage(self, before):
        inside = any(kind == "extern" for kind, _, _ in self.stack)
        words = set(re.findall(r"\w+", before.split("(")[0]))
        return inside or bool(words & self.c_words) or bool(re.search(r'\bextern\s+"', before))

    def _close(self, at, depth):
        if not self.stack:
            return depth
        kind, function, outer_depth = self.stack.pop()
        if function:
            function.last_line = self._line(at)
            self.functions.append(function)
        if kind != "value":
            self.head = at + 1
        return outer_depth


def is_function_head(tail):
    if "(" not in tail:
        return False
    flat = remove_groups(tail)
    before_parameters = re.sub(r"operator\s*[^\w\s]+", "", flat.split("()")[0])
    if re.search(r"(?<![=!<>+\-*/])=(?!=)", before_parameters):
        return False
    initialisers = re.search(r"\(\)[^?]*?(?<!:):(?!:)(.*)$", flat, re.S)
    if initialisers:  # a brace after a member's name begins that member's value
        return bool(re.search(r"[)}]$", tail))
    return bool(FUNCTION_TAIL.search(tail))


def remove_groups(text):
    """Empties all parentheses, so that what is left is the outer level."""
    out, depth = [], 0
    for char in text:
        if char == ")":
            depth -= 1
        if depth == 0:
            out.append(char)
        if char == "(":
            depth += 1
    return "".join(out)


def signature_of(head):
    """Name and parameters of a function's head."""
    head = re.sub(r"\[\[.*?\]\]|\b(alignas|decltype|noexcept|explicit|requires)\s*\([^()]*\)", "",
                  head, flags=re.S)
    match = re.search(r"(operator\s*(?:\(\)|(?:new|delete)\s*(?:\[\])?|[^\s\w(]+|\w+)|"
                      r"[~\w:]+)\s*\(", head)
    if not match:
        return "?", []
    depth, begin = 0, match.end()
    for at in range(begin - 1, len(head)):
        depth += {"(": 1, ")": -1}.get(head[at], 0)
        if depth == 0:
            return match.group(1), split_parameters(head[begin:at])
    return match.group(1), []


def split_parameters(text):
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(text):
        if char in "(<[{":
            depth += 1
        elif char in ")]}" or (char == ">" and text[at - 1] != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip() not in ("", "void")]
