# SPDX-License-Identifier: Apache-2.0
"""What a rule reports."""
from typing import NamedTuple


class Finding(NamedTuple):
    path: str
    line: int
    rule: str
    fault: str
    fix: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.fault}; fix: {self.fix}"
