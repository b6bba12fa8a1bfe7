#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topologies are read, checked and turned into QEMU's arguments; results of guests, also of
those that died, are read and compared.  Boots nothing."""
import json
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
QEMU = Path(__file__).resolve().parents[2] / "qemu"
sys.path.insert(0, str(QEMU / "lab"))

# pylint: disable=wrong-import-position
import cells
import command_line
import guests
import kernel_faults
import known
import ktap
import matrix
import page
import report
import table
import topology
import topology_rules

SMALL = """node 0 cpus=0-1 memory=1G
bridge cxl.1 bus=12
port rp0 bridge=cxl.1
device d0 port=rp0 ram=512M serial=0x1
window targets=cxl.1 size=4G
region r0 devices=d0
"""
TWO_WAY = SMALL.replace("window targets=cxl.1 size=4G", """bridge cxl.2 bus=222
port rp1 bridge=cxl.2
device d1 port=rp1 ram=512M serial=0x2
window targets=cxl.1,cxl.2 size=4G granularity=8k""").replace(
    "devices=d0", "devices=d0,d1 granularity=8k")


def faults_of(text):
    """Mistakes of a topology: (line, what)."""
    made, faults = topology.parse("t", text)
    faults = faults or topology_rules.check(made)
    return [(fault.line, fault.what) for fault in faults]


def arguments_of(text, **choices):
    made, faults = topology.parse("t", text)
    assert not faults
    return command_line.arguments(made, command_line.Choices(**choices))


class Files(unittest.TestCase):
    def test_every_file_is_right_and_opens_with_its_table(self):
        files = sorted((QEMU / "topologies").glob("*.topology"))
        self.assertGreaterEqual(len(files), 15)
        for path in files:
            made = topology_rules.load(path)
            head = "\n".join(made.head)
            self.assertIn("\n".join(table.comment(made)), head, f"{path}: the table is not that of "
                          "its statements; see compile_topology --table")

    def test_readme_names_every_file(self):
        readme = (QEMU / "topologies" / "README.md").read_text(encoding="utf-8")
        for path in (QEMU / "topologies").glob("*.topology"):
            self.assertIn(f"`{path.stem}`", readme)


class Mistakes(unittest.TestCase):
    def expect(self, text, line, what):
        found = faults_of(text)
        self.assertTrue(any(at == line and what in said for at, said in found), found)

    def test_right_ones_have_none(self):
        self.assertEqual(faults_of(SMALL), [])
        self.assertEqual(faults_of(TWO_WAY), [])

    def test_words(self):
        self.expect("nod 0 cpus=0", 1, "unknown statement 'nod'")
        self.expect("node 0 cpus=0 memory=1X", 1, "memory '1X' is wrong")
        self.expect("node 0 cpus=0 cpus=1", 1, "'cpus' stands twice")
        self.expect("node cpus=0", 1, "lacks its number")
        self.expect("machine sockets=1\nmachine sockets=2", 2, "a second 'machine'")
        self.expect("bridge cxl.1", 1, "'bridge' lacks bus=")

    def test_all_mistakes_at_once(self):
        self.assertEqual([line for line, _ in faults_of("x\nnode 0 cpus=a\ny")], [1, 2, 3])

    def test_nodes(self):
        self.expect(SMALL.replace("node 0", "node 1"), 1, "where node 0 belongs")
        self.expect(SMALL.replace("cpus=0-1", "cpus=1-2"), 1, "CPUs begin at 1")
        self.expect(SMALL.replace(" cpus=0-1", ""), 1, "no node has CPUs")
        self.expect("node 0 cpus=0 memory=1G\nnode 1 cpus=1 memory=1G", 0,
                    "socket would span nodes")

    def test_devices_and_ports(self):
        self.expect(SMALL.replace("port=rp0", "port=rp9"), 4, "names 'rp9', which is no port")
        self.expect(SMALL + "device d1 port=rp0 ram=256M serial=0x2", 7, "is taken by 'd0'")
        self.expect(SMALL.replace("ram=512M", "ram=300M"), 4, "ram=300M")
        self.expect(SMALL.replace(" ram=512M", ""), 4, "no memory")

    def test_windows_and_regions(self):
        self.expect(SMALL.replace("size=4G", "size=256M"), 5, "is smaller than the 512M behind it")
        self.expect(SMALL.replace("devices=d0", "devices=d0 window=1"), 6, "there is no window 1")
        self.expect(SMALL.replace("devices=d0", "devices=d0 type=pmem"), 6, "has no pmem")
        self.expect(TWO_WAY.replace("d0,d1", "d1,d0"), 9, "but position 0 of window 0 is 'cxl.1'")
        self.expect(TWO_WAY.replace("d0,d1 granularity=8k", "d0,d1 granularity=256"), 9,
                    "granularity 256 on an interleaved window of 8k")

    def test_serials(self):
        self.expect(TWO_WAY.replace("serial=0x2", "serial=0x1"), 7, "serial 0x1 is also that of")

    def test_no_srat(self):
        self.expect(SMALL.replace("node 0 cpus=0-1", "machine slots=no cpus=2"), 6,
                    "online without an SRAT")

    def test_a_rule_can_be_broken_on_purpose(self):
        small = SMALL.replace("size=4G", "size=256M")
        self.assertEqual(faults_of(small + "allow window-size a seeded fault"), [])
        self.expect(small + "allow node-numbers no reason", 7, "cannot be allowed")

    def test_message_names_file_line_and_fix(self):
        with tempfile.NamedTemporaryFile("w", suffix=".topology") as file:
            file.write("node 0 cpus=0 memory=1G\ndistance 0 5 20\n")
            file.flush()
            with self.assertRaises(topology.TopologyError) as caught:
                topology_rules.load(file.name)
            self.assertIn(f"{file.name}:2: names node 5", str(caught.exception))
            self.assertIn("; fix: ", str(caught.exception))


class Arguments(unittest.TestCase):
    def test_windows_share_one_option(self):
        made = arguments_of(SMALL + "window targets=cxl.1 size=1G")
        window = [word for word in made if word.startswith("cxl-fmw")]
        self.assertEqual(window, ["cxl-fmw.0.targets.0=cxl.1,cxl-fmw.0.size=4096M,"
                                  "cxl-fmw.1.targets.0=cxl.1,cxl-fmw.1.size=1024M"])

    def test_hypervisor_bit(self):
        self.assertIn("max,-hypervisor,-erms,-fsrm", arguments_of(SMALL))
        self.assertIn("max,-erms,-fsrm", arguments_of(SMALL + "machine hypervisor=visible"))
        self.assertIn("host,-hypervisor", arguments_of(SMALL, accelerator="kvm"))

    def test_memory_and_cpus_of_the_caller(self):
        made = arguments_of(SMALL, memory=2 << 30, cpus=4)
        self.assertIn("memory-backend-ram,id=dram0,size=2048M", made)
        self.assertIn("node,nodeid=0,memdev=dram0,cpus=0-3", made)
        with self.assertRaises(ValueError):
            arguments_of(SMALL.replace("node 0 cpus=0-1", "machine sockets=2\nnode 0 cpus=0-1"),
                         cpus=3)

    def test_no_slots_no_srat(self):
        made = arguments_of("machine cpus=2 memory=1G slots=no")
        self.assertEqual(made[made.index("-m") + 1], "1024M")
        self.assertNotIn("-numa", made)

    def test_commas_in_paths(self):
        made = arguments_of(SMALL.replace("ram=512M", "ram=512M backing=file"), folder="/a,b")
        self.assertTrue(any("mem-path=/a,,b/d0-ram.raw" in word for word in made))

    def test_regions_for_the_guest(self):
        made, _ = topology.parse("t", TWO_WAY)
        self.assertEqual(list(command_line.region_lines(made)),
                         ["ram 0 8192 1073741824 online 0x1 0x2"])

    def test_node_of_a_window(self):
        made, _ = topology.parse("t", SMALL + "window targets=cxl.1 size=1G")
        self.assertEqual([made.node_of_window(0), made.node_of_window(1)], [1, 2])


KTAP = """KTAP version 1
1..1
  KTAP version 1
  1..3
  # start a.one
  # saw it
  # took 0.25 s
  ok 1 a.one
  # start a.two
  # failed: expected 1, found 2
  # took 0.10 s
  not ok 2 a.two
  # start a.three
  # took 0.00 s
  ok 3 a.three # SKIP no such device
not ok 1 a
"""
CONSOLE = """[    1.0] booted
[    2.0] cxltier-check: start a.one
[    2.1] WARNING: CPU: 1 PID: 77 at mm/x.c:12 f+0x1/0x2
[    3.0] cxltier-check: start a.two
"""


def cell_of(results, **more):
    return cells.Cell("6.12", "seabios", "cxl1", results, "6.12.95", "10.0.2", **more)


class Results(unittest.TestCase):
    def test_outcomes(self):
        found, begun = ktap.parse(KTAP)
        self.assertIsNone(begun)
        self.assertEqual([(r.name, r.status, r.reason) for r in found],
                         [("a.one", "pass", ""), ("a.two", "fail", "expected 1, found 2"),
                          ("a.three", "skip", "no such device")])
        self.assertEqual((found[0].notes, found[0].seconds), (["saw it"], 0.25))

    def test_a_warning_on_the_console_fails_the_check_that_ran(self):
        found = ktap.join_console(ktap.parse(KTAP)[0], CONSOLE)
        self.assertEqual(found[0].status, "fail")
        self.assertTrue(found[0].reason.startswith("kernel WARN: WARNING: CPU: 1"))
        self.assertIn("mm/x.c", found[0].console)
        self.assertNotIn("mm/x.c", found[1].console)

    def test_a_guest_that_dies(self):
        cut = KTAP[:KTAP.index("  # failed")]
        found, begun = ktap.parse(cut)
        found = ktap.complete(found, begun, ["a.one", "a.two", "a.three"], "the kernel panicked")
        self.assertEqual([(r.name, r.status) for r in found],
                         [("a.one", "pass"), ("a.two", "fail"), ("a.three", "lost")])

    def test_faults_of_a_kernel(self):
        for line, name in (
                ("WARNING: CPU: 0 PID: 1 at kernel/a.c:1 f+0x0", "WARN"),
                ("WARNING: mm/memory.c:10 at f+0x0, CPU#1: sh/7", "WARN"),
                ("BUG: unable to handle page fault for address: 0", "BUG"),
                ("watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [a:1]", "BUG"),
                ("WARNING: possible circular locking dependency detected", "lockdep"),
                ("WARNING: suspicious RCU usage", "lockdep"),
                ("rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", "RCU"),
                ("INFO: task sh:1 blocked for more than 120 seconds.", "hung task"),
                ("Kernel panic - not syncing: x", "panic")):
            self.assertEqual(kernel_faults.fault_of(line), name, line)
        self.assertIn(kernel_faults.fault_of("BUG: KASAN: use-after-free in f"), ("BUG", "KASAN"))
        for line in ("mtrr: your CPUs had inconsistent fixed MTRR settings",
                     "Spectre V2 : WARNING: Unprivileged eBPF is enabled",
                     "rcu: Hierarchical RCU implementation.", "ACPI: bus type debug registered"):
            self.assertIsNone(kernel_faults.fault_of(line), line)


class Known(unittest.TestCase):
    def test_ranges(self):
        self.assertTrue(known.in_range("6.12.95+deb13", "<6.19"))
        self.assertTrue(known.in_range("7.3.4", ">=6.19 <8"))
        self.assertFalse(known.in_range("7.3.4", "<7.3"))
        self.assertTrue(known.in_range("7.3.4", ">=7.3"))
        with self.assertRaises(known.KnownError):
            known.in_range("7.3", "~7")

    def test_only_the_failure_that_is_described_is_known(self):
        rule = known.Difference("a.two", "because", text="found 2", kernel="<7")
        cell = cell_of(ktap.parse(KTAP)[0])
        self.assertEqual(known.apply([rule], cell), [])
        self.assertEqual(cell.results[1].status, "known")
        self.assertEqual(cell.results[1].why, "because (expected 1, found 2)")
        known.apply([], cell)
        self.assertEqual((cell.results[1].status, cell.results[1].why),
                         ("fail", "expected 1, found 2"))
        other = known.Difference("a.two", "because", text="found 3")
        cell = cell_of(ktap.parse(KTAP)[0])
        known.apply([other], cell)
        self.assertEqual(cell.results[1].status, "fail")

    def test_a_difference_that_does_not_show_up_is_told(self):
        cell = cell_of(ktap.parse(KTAP)[0])
        self.assertEqual(known.apply([known.Difference("a.one", "because")], cell),
                         [("a.one", "because")])

    def test_the_file_can_be_read_and_gives_reasons(self):
        for difference in known.load(QEMU / "known_differences.toml"):
            self.assertGreater(len(difference.reason), 20)


class Reports(unittest.TestCase):
    def test_json_comes_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "r.json")
            made = [cell_of(ktap.parse(KTAP)[0], seconds=3.5)]
            report.write_json(path, report.document(made, "now", cells.Settings()))
            self.assertEqual(report.read_json(path), made)
            path.write_text(json.dumps({"format": 99}), encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "r.json is no report"):
                report.read_json(path)

    def test_a_report_of_other_settings_is_not_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "r.json")
            settings = cells.Settings(suites=("region",))
            report.write_json(path, report.document([], "now", settings))
            self.assertEqual(report.read_json(path, settings), [])
            with self.assertRaisesRegex(ValueError, "suites"):
                report.read_json(path, cells.Settings())

    def test_one_reason_of_many_guests_is_told_once(self):
        made = [cell_of(ktap.parse(KTAP)[0]) for _ in range(5)]
        lines = [line for line in report.terminal_table(made) if "expected 1, found 2" in line]
        self.assertEqual(len(lines), 1)
        self.assertIn("and 2 more guests", lines[0])

    def test_what_changed(self):
        before, now = cell_of(ktap.parse(KTAP)[0]), cell_of(ktap.parse(KTAP)[0])
        now.results[0].status, now.results[1].status = "fail", "pass"
        now.results[0].reason = "it broke"
        found = report.changes([now], [before])
        self.assertEqual([entry[1] for entry in found["broke"]], ["a.one"])
        self.assertEqual([entry[1] for entry in found["fixed"]], ["a.two"])

    def test_junit(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "junit.xml")
            results = ktap.parse(KTAP)[0]
            results[1].notes.append("a control character: \x1b[0m")
            report.write_junit(path, [cell_of(results)])
            suite = xml.parse(path).getroot()[0]
            self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")),
                             ("3", "1", "1"))

    def test_page_holds_evidence_and_no_markup_of_a_console(self):
        results = ktap.parse(KTAP)[0]
        results[1].console = "</script><b>x</b>"
        results[1].reason = "<i>found</i>"
        made = page.render([cell_of(results)], {"started": "now"})
        self.assertNotIn("</script><b>", made)
        self.assertNotIn("<i>found", made)
        self.assertIn("a.two", made)
        self.assertNotIn("http", made)


class Running(unittest.TestCase):
    def run_in(self, together, command):
        with tempfile.TemporaryDirectory() as folder:
            return together.run(command, folder)

    def test_output_status_and_time(self):
        done, used = self.run_in(guests.Guests(), [
            "sh", "-c", f"{sys.executable} -c 'sum(range(10**6))'; echo out; echo err >&2; exit 3"])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "out\n", "err\n"))
        self.assertGreater(used, 0)

    def test_all_end_together_and_none_is_started_after(self):
        together = guests.Guests()
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(self.run_in, together, ["sleep", "600"]) for _ in range(2)]
            while len(together.running) < 2:
                time.sleep(0.01)
            together.stop()
            self.assertEqual([future.result()[0].returncode for future in running], [-15, -15])
        with self.assertRaises(guests.Stopped):
            self.run_in(together, ["true"])

    def test_a_resumed_run_keeps_what_ended_and_repeats_what_broke(self):
        def cell(topology, **more):
            return cells.Cell("6.12", "seabios", topology, **more)
        earlier = [cell("a", results=ktap.parse(KTAP)[0]), cell("b", verdict="it hung")]
        whole = matrix.Matrix([cell("a"), cell("b"), cell("c")], earlier, [], 2)
        self.assertEqual([one.topology for one in whole.todo], ["b", "c"])
        self.assertEqual(whole.sorted(), earlier[:1])
        self.assertEqual([one.topology for one in whole.cells], ["a", "b", "c"])


if __name__ == "__main__":
    unittest.main()
