# SPDX-License-Identifier: Apache-2.0
"""Who may know whom, and what code in preloaded processes may use.

policy and allocator depend on nothing of ours; runtime on both, of the allocator on the public
headers only; nobody on the command line.
"""
import re

from finding import Finding

TOPS = ("policy", "allocator", "runtime", "bench", "tests", "qemu")
# Where each folder's includes may point; the most specific folder counts.
ALLOWED = {
    "policy": ("policy/",),
    "allocator": ("allocator/", "cxltier/"),
    "runtime": ("policy/", "runtime/", "allocator/include/", "cxltier/"),
    "bench": ("policy/", "runtime/", "allocator/", "bench/", "cxltier/"),
    "tests": ("policy/", "runtime/", "allocator/", "bench/", "tests/", "cxltier/"),
}
OS_HEADERS = re.compile(
    r"^(sys|linux|asm|arpa|netinet)/|^(unistd|fcntl|pthread|time|signal|sched|errno|dirent|poll|"
    r"dlfcn|numa|numaif|syscall|stdlib|stdio)\.h$|"
    r"^(chrono|thread|mutex|atomic|condition_variable|filesystem|fstream|ctime|cstdio|cstdlib|"
    r"cerrno|csignal|random)$")
HEAP_HEADERS = {"string", "vector", "map", "set", "unordered_map", "unordered_set", "list", "deque",
                "functional", "memory", "iostream", "sstream", "fstream", "regex", "future", "any",
                "thread", "mutex", "filesystem", "format", "queue", "stack", "stdexcept", "locale"}


def top_of(path):
    return path.split("/", 1)[0]


def is_core(path):
    """What a preloaded process links: not the command line, the simulator, or headers for users."""
    inside = top_of(path) in ("policy", "allocator", "runtime")
    outside = ("runtime/cli/", "runtime/doctor/", "runtime/provision/", "runtime/topology/acpi/",
               "runtime/topology/platform/", "policy/simulator/", "allocator/memkind_adapter/")
    return inside and not path.startswith(outside) and "/include/" not in path


def layering(source):
    if source.kind != "cpp" or top_of(source.path) not in ALLOWED:
        return
    top = top_of(source.path)
    for line, target, _ in source.includes():
        ours = target.startswith(tuple(f"{t}/" for t in TOPS) + ("cxltier/",))
        if ours and not target.startswith(ALLOWED[top]):
            yield Finding(source.path, line, "layering", f"{top} must not know {target}",
                          f"{top} may include {', '.join(ALLOWED[top])}")
        elif target.startswith("runtime/cli/") and not source.path.startswith(
                ("runtime/cli/", "tests/cli/")):
            yield Finding(source.path, line, "layering", f"{target} belongs to the command line",
                          "move what both need to a folder of its own")


def include_folder(source):
    """Quoted includes name the folder, so that layering is one search."""
    if source.kind != "cpp":
        return
    for line, target, quoted in source.includes():
        if quoted and "/" not in target:
            yield Finding(source.path, line, "include-folder", f"\"{target}\" names no folder",
                          f"write \"folder/{target}\"")


def policy_purity(source):
    if source.kind != "cpp" or top_of(source.path) != "policy":
        return
    if source.path.startswith("policy/simulator/"):
        return
    for line, target, quoted in source.includes():
        if not quoted and OS_HEADERS.search(target):
            yield Finding(source.path, line, "policy-purity", f"<{target}> reaches outside",
                          "policy is values in, values out: take what it gives as a parameter")


def core_headers(source):
    if source.kind != "cpp" or not is_core(source.path):
        return
    for line, target, quoted in source.includes():
        if not quoted and target in HEAP_HEADERS:
            yield Finding(source.path, line, "core-headers",
                          f"<{target}> needs the heap or the C++ library at run time",
                          "use spans, arrays and string_view in the caller's memory")


# (name, pattern, folders where it has its place, fix)
CALLS = (
    ("environment", r"(?<![\w.>])(?:secure_)?getenv\s*\(", ("runtime/preload/",),
     "take the environment block as a parameter"),
    ("clock", r"\b(?:clock_gettime|gettimeofday)\s*\(|std::chrono\b|(?<![\w.>:])time\s*\(\s*(?:0|"
     r"NULL|nullptr)", ("runtime/os/", "runtime/preload/"), "take the time as a parameter"),
    ("heap", r"(?<![\w.>])(?:std::)?(?:malloc|calloc|realloc|free)\s*\((?!\s*\))|"
     r"(?<![\w.])new\s+(?!\()[A-Z:\w]|\bmake_(?:unique|shared)\b",
     ("allocator/", "runtime/preload/", "runtime/api/"), "work in memory that the caller owns"),
    ("throwing-call", r"\.(?:substr|at|starts_with|ends_with)\s*\(", (),
     "they need the C++ library's exceptions at run time: check, then build the view yourself"),
    ("exceptions", r"\bthrow\b|\bdynamic_cast\b|\btypeid\b", (),
     "code in preloaded processes has no exceptions and no type information"),
)


def core_calls(source):
    if source.kind != "cpp" or not is_core(source.path):
        return
    for number, line in source.code_lines():
        for name, pattern, places, fix in CALLS:
            if re.search(pattern, line) and not source.path.startswith(places or ("\0",)):
                yield Finding(source.path, number, "core-calls",
                              f"{name}: '{line.strip()[:60]}' outside its one place", fix)


RULES = (layering, include_folder, policy_purity, core_headers, core_calls)
