# SPDX-License-Identifier: Apache-2.0
"""Good and bad snippets for every rule, for selftest.py."""
from typing import NamedTuple

CPP_HEAD = "// SPDX-License-Identifier: Apache-2.0\n//\n// What lives here, told.\n"
SHELL_HEAD = "#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n# What it is for, told.\n"
HEADER = CPP_HEAD + "#pragma once\n"


class Case(NamedTuple):
    good: dict
    bad: list  # (tree, path, line) each


def body(lines):
    return "int f() {\n" + "  g();\n" * (lines - 2) + "}\n"


def one(path, good, *bad):
    """A case whose snippets are one file each; bad: (content, line)."""
    return Case({path: good}, [({path: content}, path, line) for content, line in bad])


def nested(depth):
    opening = "".join(f"{'  ' * i}if (a) {{\n" for i in range(depth))
    return "void f() {\n" + opening + "}\n" * depth + "}\n"


FORMAT = "BasedOnStyle: Google\n"

CASES = {
    "function-length": Case(
        {"a.cpp": body(70), "b.sh": "f() {\n" + "  true\n" * 60 + "}\n",
         "c.cpp": "namespace a {\n" + body(70) + "\n" * 50 + "class B {\n" + "int x;\n" * 90 +
         "};}"},
        [({"a.cpp": body(71)}, "a.cpp", 1),
         ({"a.cpp": "namespace a {\nclass B {\n" + body(71) + "};\n}\n"}, "a.cpp", 3),
         ({"b.sh": "f() {\n" + "  true\n" * 80 + "}\n"}, "b.sh", 1),
         ({"c.py": "def f():\n" + "    g()\n" * 80}, "c.py", 1),
         ({"CMakeLists.txt": "function(f)\n" + "  g()\n" * 80 + "endfunction()\n"},
          "CMakeLists.txt", 1)]),
    "function-parameters": one(
        "a.cpp",
        "int f(int a, std::map<int, int> b, int c, int (*d)(int, int), int e) { return a; }"
        "\nextern \"C\" {\nint g(int a, int b, int c, int d, int e, int f) { return a; }\n}\n"
        "\n#define ENTRY extern \"C\"\nENTRY int h(int a, int b, int c, int d, int e, int f) {}\n",
        ("int f(int a, int b, int c,\n int d, int e, int g) { return a; }", 1)),
    "function-nesting": one(
        "a.cpp", nested(4) + "int g() { return X{Y{Z{W{V{U{1}}}}}}.x; }\n", (nested(5), 6)),
    "bool-parameter": one(
        "a.cpp", "void set_dry(bool dry) {}\nint f(int a, const bool* b) { return a; }\n",
        ("\nint f(int a, bool dry) { return a; }\n", 2)),
    "file-length": one("a.cpp", "int x;\n" * 800, ("int x;\n" * 801, 801)),
    "line-length": Case(
        {"a.cpp": "/" * 100 + "\n", "b.md": "x" * 150},
        [({"a.sh": "# " + "x" * 99}, "a.sh", 1),
         ({"CMakeLists.txt": "\n# " + "x" * 99}, "CMakeLists.txt", 2)]),
    "spdx": one("a.sh", SHELL_HEAD, ("#!/bin/sh\n# What it is for, told.\n", 1)),
    "head-comment": Case(
        {"a.cpp": CPP_HEAD, "b.sh": SHELL_HEAD,
         "c.py": '# SPDX-License-Identifier: Apache-2.0\n"""What it is for."""\n'},
        [({"a.h": "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n// Too late to say it.\n"},
          "a.h", 2)]),
    "pragma-once": one("a.h", HEADER, (CPP_HEAD + "#ifndef A_H\n#define A_H\n#endif\n", 1)),
    "file-name": Case({"page_mover.cpp": "", "database.cpp": ""},
                      [({"page_utils.cpp": ""}, "page_utils.cpp", 1),
                       ({"data-set.sh": ""}, "data-set.sh", 1)]),
    "type-name": one(
        "a.h", "class PageMover final : public Mover {};\nstruct stat about {};\n"
        "struct Datum;  // class Helper {};\n",
        ("\nclass PageManager {};\n", 2), ("enum class info_kind : int { a };\n", 1),
        ("\n\nusing CommonPage = int;\n", 3)),
    "foreign-word": one(
        "a.md", "The process's root is /proc/PID/ro" "ot/dev, the network/wo" "rk/x is not ours.\n",
        ("\nsee /wo" "rk/main\n", 2), ("see ../sha" "red/x\n", 1), ("in '/ro" "ot/x'\n", 1),
        ("fixes iss" "ue #3\n", 1)),
    "cmake-glob": one("CMakeLists.txt", "add_library(a a.cpp)\n",
                      ("\nfile(GLOB files *.cpp)\n", 2)),
    "shell-options": one("a.sh", SHELL_HEAD + "set -euo pipefail\n", (SHELL_HEAD + "set -e\n", 1)),
    "folder-readme": Case(
        {"a/b.cpp": "", "a/README.md": "", "a/include/x/y.h": "", "c/sysfs.txt": ""},
        [({"a/README.md": "", "a/b/c.cpp": ""}, "a/b/README.md", 1)]),
    "layering": Case(
        {"policy/a.h": '#include "policy/b.h"\n#include <array>\n',
         "allocator/a.cpp": '#include "allocator/b.h"\n',
         "runtime/a.cpp": '#include "policy/b.h"\n#include "allocator/include/cxltier/alloc.h"\n',
         "runtime/cli/a.cpp": '#include "runtime/cli/verb.h"\n'},
        [({"policy/a.h": '\n#include "runtime/b.h"\n'}, "policy/a.h", 2),
         ({"allocator/a.h": '#include "policy/b.h"\n'}, "allocator/a.h", 1),
         ({"runtime/a.h": '#include "allocator/arena.h"\n'}, "runtime/a.h", 1),
         ({"runtime/os/a.h": '#include "tests/fakes/b.h"\n'}, "runtime/os/a.h", 1),
         ({"runtime/os/a.h": '#include "runtime/cli/verb.h"\n'}, "runtime/os/a.h", 1)]),
    "include-folder": one("runtime/a.cpp", '#include "runtime/a.h"\n', ('#include "a.h"\n', 1)),
    "policy-purity": Case(
        {"policy/a.cpp": "#include <algorithm>\n", "policy/simulator/a.cpp": "#include <chrono>\n"},
        [({"policy/a.cpp": "#include <sys/mman.h>\n"}, "policy/a.cpp", 1),
         ({"policy/a.cpp": "\n#include <chrono>\n"}, "policy/a.cpp", 2)]),
    "core-headers": Case(
        {"runtime/os/a.cpp": "#include <span>\n", "runtime/cli/a.cpp": "#include <string>\n"},
        [({"runtime/os/a.cpp": "#include <vector>\n"}, "runtime/os/a.cpp", 1)]),
    "core-calls": Case(
        {"runtime/os/clock_linux.cpp": "auto t = clock_gettime(CLOCK_MONOTONIC, &now);\n",
         "runtime/preload/start.cpp": "auto x = getenv(name);\n",
         "runtime/cli/a.cpp": "auto x = std::getenv(name);\n",
         "runtime/mover/a.cpp": "// malloc(3) is not used\nauto x = scan.time(nullptr_page);\n"
                                "new (where) Mover();\n"},
        [({"runtime/mover/a.cpp": "\nauto x = getenv(name);\n"}, "runtime/mover/a.cpp", 2),
         ({"runtime/mover/a.cpp": "auto t = std::chrono::now();\n"}, "runtime/mover/a.cpp", 1),
         ({"runtime/mover/a.cpp": "auto t = malloc(8);\n"}, "runtime/mover/a.cpp", 1),
         ({"runtime/mover/a.cpp": "auto t = new Mover;\n"}, "runtime/mover/a.cpp", 1),
         ({"runtime/mover/a.cpp": "auto t = text.substr(1);\n"}, "runtime/mover/a.cpp", 1),
         ({"policy/a.cpp": "throw 1;\n"}, "policy/a.cpp", 1)]),
    "header-alone": Case(
        {"policy/a.h": HEADER + "#include <cstddef>\nstd::size_t f();\n",
         "allocator/include/cxltier/b.h": HEADER.replace("//", "/*").replace("\n", " */\n", 1)
         .replace("/*\n", "").replace("told.\n", "told. */\n") + "int cxltier_f(void);\n"},
        [({"policy/a.h": HEADER + "std::size_t f();\n"}, "policy/a.h", 1),
         ({"policy/a.h": HEADER + "inline int f() { throw 1; }\n"}, "policy/a.h", 1),
         ({"allocator/include/cxltier/b.h": "#pragma once\nbool f();\n"},
          "allocator/include/cxltier/b.h", 1)]),
    "formatted": Case(
        {".clang-format": FORMAT, "a.cpp": "int f() { return 1; }\n"},
        [({".clang-format": FORMAT, "a.cpp": "int x;\nint  f( ) {return 1;}\n"}, "a.cpp", 2)]),
    "shellcheck": one("a.sh", SHELL_HEAD + "set -euo pipefail\necho \"$1\"\n",
                      (SHELL_HEAD + "set -euo pipefail\necho $1\n", 5)),
}

# What the scan of C++ must see: (name, parameters, nesting) of each function.
SCANS = (
    ("int f() { return 1; }", [("f", 0, 0)]),
    ("Foo::Foo(int a) : a_(a), b_{1, 2} { if (a) { g(); } }", [("Foo::Foo", 1, 1)]),
    ("struct A { int x{1}; A() = default; void f(int a) const noexcept override { } };",
     [("f", 1, 0)]),
    ("constexpr std::array a{f(1), g({2})};\nint h() { return 1; }", [("h", 0, 0)]),
    ("auto t = [] { for (;;) { } return 1; }();\nvoid h() {}", [("h", 0, 0)]),
    ("template <typename T> auto f(T a, int b = g(1, 2)) -> std::pair<T, int> { return {a, b}; }",
     [("f", 2, 0)]),
    ("void f() { std::sort(a, b, [](int x, int y) { if (x) { return y; } return x; }); }",
     [("f", 0, 2)]),
    ("TEST(A, B) { for (int x : {1, 2}) { EXPECT(x); } }", [("TEST", 2, 1)]),
    ("bool operator==(A a, A b) { return a.x == b.x; }", [("operator==", 2, 0)]),
    ("const char* f() { return \"{{{\"; } // }\nchar g() { return '{'; }",
     [("f", 0, 0), ("g", 0, 0)]),
    ("void* operator new[](std::size_t n) { return f(n); }", [("operator new[]", 1, 0)]),
    ("extern \"C\" {\nint f(void) { return 1; }\n}", [("f", 0, 0)]),
    ("class [[nodiscard]] R { public: R(int v) noexcept : v_(std::move(v)) {} int v_; };",
     [("R", 1, 0)]),
    ("#define M(x) do { x; } while (0)\nint f() { switch (a) { case 1: { return 1; } } return 0; }",
     [("f", 0, 2)]),
)
