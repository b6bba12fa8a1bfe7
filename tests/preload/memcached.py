#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memcached with locked memory and another user, under the preload library.

    memcached.py LIBRARY

-k calls mlockall, which fills every page that is open; -u changes the user id in process.
Exit status 77: skipped.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ITEMS = 20000
# What locking may add: the library itself, and a step of committed memory.
RESIDENT_ADDED_KIB_MAX = 80 * 1024


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rwb")

    def store(self, key, value):
        self.file.write(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
        self.file.flush()
        return self.file.readline() == b"STORED\r\n"

    def load(self, key):
        self.file.write(b"get %s\r\n" % key)
        self.file.flush()
        head = self.file.readline()
        if head == b"END\r\n":
            return None
        value = self.file.read(int(head.split()[3]) + 2)[:-2]
        self.file.readline()
        return value


def value_of(number):
    return (b"%d," % number) * (number % 200 + 1)


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def run(library, folder):
    """-> resident KiB after start; ends the server."""
    path = os.path.join(folder, "socket")
    command = ["memcached", "-s", path, "-a", "0777", "-k", "-m", "64", "-t", "4"]
    if os.getuid() == 0:
        # Where the root folder is closed to others, nobody can reach the socket.
        is_open = os.stat("/").st_mode & 0o001
        command += ["-u", "nobody" if is_open else "root"]
    environment = dict(os.environ, CXLTIER_START="1M")
    if library:
        environment["LD_PRELOAD"] = library
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as server:
        try:
            deadline = time.monotonic() + 20
            while not os.path.exists(path):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"no server: {server.stderr.read1(4096).decode()}")
                time.sleep(0.05)
            resident = resident_kib(server.pid)
            client = Client(path)
            for number in range(ITEMS):
                if not client.store(b"key%d" % number, value_of(number)):
                    raise RuntimeError(f"item {number} was not stored")
            for number in range(ITEMS):
                value = client.load(b"key%d" % number)
                if value not in (None, value_of(number)):
                    raise RuntimeError(f"item {number} is {value[:40]}")
            if client.load(b"key%d" % (ITEMS - 1)) is None:
                raise RuntimeError("the last item is not there")
            server.send_signal(signal.SIGTERM)
            status = server.wait(20)
        finally:
            server.kill()
    os.path.exists(path) and os.unlink(path)
    if status not in (0, -signal.SIGTERM):
        raise RuntimeError(f"the server ended with {status}")
    return resident


def main():
    if shutil.which("memcached") is None:
        print("skipped: memcached is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        plain = run(None, folder)
        preloaded = run(sys.argv[1], folder)
    print(f"resident with locked memory: {plain} KiB plain, {preloaded} KiB preloaded")
    if preloaded > plain + RESIDENT_ADDED_KIB_MAX:
        print("more is resident than a step of committed memory explains", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
