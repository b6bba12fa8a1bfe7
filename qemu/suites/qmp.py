# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor, from inside the guest: the port that qemu/run --qmp-in-guest adds."""
import json
import os
import select
import time

from checks import Failure, Skip

PORT = "/dev/virtio-ports/qmp"


class Monitor:
    """One conversation at a time; a command's error is a Failure with QEMU's words."""

    def __init__(self):
        if not os.path.exists(PORT):
            raise Skip("the guest has no monitor; run it with --qmp-in-guest")
        self.descriptor = os.open(PORT, os.O_RDWR | os.O_NONBLOCK)
        self.rest = b""

    def __enter__(self):
        # The greeting was sent when QEMU started; an earlier conversation may have read it.
        self.execute("qmp_capabilities", may_fail=True)
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)

    def receive(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0:
                raise Failure("QEMU's monitor does not answer")
            if select.select([self.descriptor], [], [], left)[0]:
                try:
                    part = os.read(self.descriptor, 65536)
                except BlockingIOError:
                    continue
                if not part:
                    time.sleep(0.05)
                self.rest += part
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def execute(self, command, may_fail=False, **arguments):
        """-> what the command returns."""
        request = {"execute": command}
        if arguments:
            request["arguments"] = {k.replace("_", "-"): v for k, v in arguments.items()}
        os.write(self.descriptor, json.dumps(request).encode() + b"\n")
        while True:
            answer = self.receive(20)
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                if may_fail:
                    return None
                raise Failure(f"QEMU: {command}: {answer['error'].get('desc')}")


def device_path(name):
    return f"/machine/peripheral/{name}"
