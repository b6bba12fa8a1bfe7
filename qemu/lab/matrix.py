# SPDX-License-Identifier: Apache-2.0
"""The matrix of a run: which of its guests are still to be run, and running them."""
import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import cells as lab
import guests
import known
import report


class Matrix:
    """Cells in their order: those that an earlier run left, and those that are still to do.  A
    guest that broke is run again."""

    def __init__(self, cells, earlier, differences, jobs):
        kept = {cell.key: cell for cell in earlier if not cell.verdict}
        self.cells = [kept.get(cell.key, cell) for cell in cells]
        self.todo = [cell for cell in self.cells if cell.key not in kept]
        self.ended = {cell.key for cell in self.cells} & set(kept)
        self.differences, self.jobs = differences, jobs
        self.absent = {}           # what was expected to differ and did not, by cell
        self.why_not = ""          # why guests cannot run here
        for cell in self.sorted():
            self.judge(cell)
        self.begin = time.monotonic()

    def judge(self, cell):
        self.absent[cell.key] = [(cell.key, *entry)
                                 for entry in known.apply(self.differences, cell)]

    def run(self, settings, version, each):
        """Calls `each(cell)` after each guest, in this thread; -> whether guests can run here."""
        planned, together = lab.planned_checks(settings), guests.Guests()
        for cell in self.todo:
            cell.qemu = version
        with ThreadPoolExecutor(self.jobs) as pool:
            started = {pool.submit(lab.run_guest, cell, settings, planned, together): cell
                       for cell in self.todo}
            try:
                for future in as_completed(started):
                    cell = started[future]
                    if not future.result():
                        self.why_not = cell.verdict
                        return False
                    self.judge(cell)
                    self.ended.add(cell.key)
                    each(cell)
            finally:
                together.stop()
                pool.shutdown(cancel_futures=True)
        return True

    def sorted(self):
        """What has ended, in the order of the matrix."""
        return [cell for cell in self.cells if cell.key in self.ended]

    def progress(self, cell):
        left = len(self.cells) - len(self.ended)
        seconds = (time.monotonic() - self.begin) / (len(self.todo) - left) * left
        return (f"[{len(self.ended)}/{len(self.cells)}] {cell.key}: {report.summary(cell)} "
                f"({cell.seconds:.0f} s, CPU {cell.cpu_seconds:.0f} s)"
                + (f"; {time_text(seconds)} left" if left else ""))

    def took(self):
        """Wall and CPU time of the guests of this run, and the machine's load."""
        done = [cell for cell in self.todo if cell.key in self.ended]
        cpus = len(os.sched_getaffinity(0))
        return (f"{len(done)} guests, {self.jobs} at a time on {cpus} CPUs: "
                f"{time_text(time.monotonic() - self.begin)}, CPU time "
                f"{time_text(sum(cell.cpu_seconds for cell in done))}, load "
                f"{os.getloadavg()[2]:.1f}")


def time_text(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
