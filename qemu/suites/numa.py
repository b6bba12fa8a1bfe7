# SPDX-License-Identifier: Apache-2.0
"""Memory on a chosen node, by the kernel's own system calls (x86-64 and arm64 numbers).

Sources: linux/mempolicy.h for modes, mbind(2), move_pages(2), set_mempolicy(2).
"""
import ctypes
import mmap
import os
import platform

PAGE = mmap.PAGESIZE
BIND, INTERLEAVE, WEIGHTED_INTERLEAVE, DEFAULT = 2, 3, 6, 0
MASK_BITS = 1024
CALLS = {"x86_64": {"mbind": 237, "move_pages": 279},
         "aarch64": {"mbind": 235, "move_pages": 239}}
MADV_HUGEPAGE = 14

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def call(name, *arguments):
    """A system call; raises OSError."""
    LIBC.syscall.argtypes = None
    result = LIBC.syscall(ctypes.c_long(CALLS[platform.machine()][name]), *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def mask_of(nodes):
    words = (ctypes.c_ulong * (MASK_BITS // 64))()
    for node in nodes:
        words[node // 64] |= 1 << (node % 64)
    return words


class Memory:
    """An anonymous mapping whose pages the kernel places by a policy."""

    def __init__(self, size, mode=DEFAULT, nodes=(), huge=False):
        self.size = size
        self.map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.view = (ctypes.c_char * size).from_buffer(self.map)
        self.address = ctypes.addressof(self.view)
        if mode != DEFAULT:
            self.bind(mode, nodes)
        if huge:
            self.map.madvise(MADV_HUGEPAGE)

    def bind(self, mode, nodes):
        call("mbind", ctypes.c_void_p(self.address), ctypes.c_ulong(self.size),
             ctypes.c_long(mode), mask_of(nodes), ctypes.c_ulong(MASK_BITS), ctypes.c_ulong(0))

    def touch(self):
        """Makes every page exist; each begins with its own number."""
        for page in range(self.size // PAGE):
            self.map[page * PAGE:page * PAGE + 8] = page.to_bytes(8, "little")

    def broken_pages(self):
        """Pages that do not begin with their number any more."""
        return [page for page in range(self.size // PAGE)
                if self.map[page * PAGE:page * PAGE + 8] != page.to_bytes(8, "little")]

    def pages(self):
        count = self.size // PAGE
        return (ctypes.c_void_p * count)(*range(self.address, self.address + self.size, PAGE))

    def nodes(self):
        """{node: pages}; negative numbers are errors, -2 a page that does not exist."""
        count = self.size // PAGE
        status = (ctypes.c_int * count)()
        call("move_pages", ctypes.c_long(0), ctypes.c_ulong(count), self.pages(), None, status,
             ctypes.c_long(0))
        found = {}
        for value in status:
            found[value] = found.get(value, 0) + 1
        return found

    def move(self, node):
        """Moves every page; -> {status: pages}."""
        count = self.size // PAGE
        status = (ctypes.c_int * count)()
        call("move_pages", ctypes.c_long(0), ctypes.c_ulong(count), self.pages(),
             (ctypes.c_int * count)(*[node] * count), status, ctypes.c_long(2))
        found = {}
        for value in status:
            found[value] = found.get(value, 0) + 1
        return found

    def close(self):
        del self.view
        self.map.close()
