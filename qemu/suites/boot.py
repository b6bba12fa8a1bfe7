# SPDX-License-Identifier: Apache-2.0
"""Suite `boot`: what the kernel said before anything ran."""
import kernel_log
import sysfs
from checks import Skip, check, require


@check("boot")
def kernel_log_is_clean(machine):
    """No warning, bug, lockdep, KASAN or RCU line since the kernel started."""
    log = kernel_log.Follower(from_start=True)
    if log.descriptor < 0:
        raise Skip("/dev/kmsg cannot be read; root can")
    found = log.faults()
    machine.note(f"kernel {sysfs.kernel_release()}")
    machine.note("command line: " + " ".join(sysfs.command_line()))
    require(not found, "; ".join(f"{name}: {line}" for name, line in found[:5]))
