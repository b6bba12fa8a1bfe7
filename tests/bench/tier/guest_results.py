# SPDX-License-Identifier: Apache-2.0
"""Checks what the tier bench measured in a guest with nodes 0 and 1 (DRAM) and 2 (CXL).

guest_results.py FOLDER; exits 1 after naming each thing that is wrong.
"""
import json
import sys
from pathlib import Path

faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def read(folder, mode):
    result = json.loads((folder / f"{mode}.json").read_text(encoding="utf-8"))
    expect(result["schema"] == "cxltier-bench" and result["version"] == 1, f"{mode}: schema")
    expect(result["machine"]["emulated"], f"{mode}: not called emulated")
    expect(any("emulated, not representative" in line for line in result["uncertainties"]),
           f"{mode}: no line that says so")
    kinds = {node["id"]: node["kind"] for node in result["machine"]["nodes"]}
    expect(kinds == {0: "dram", 1: "dram", 2: "cxl"}, f"{mode}: kinds are {kinds}")
    for cell in result["cells"]:
        expect(len(cell["samples"]) >= 3, f"{cell['id']}: {len(cell['samples'])} samples")
        placement = [flag["text"] for flag in cell["flags"] if flag["rule"] == "placement"]
        expect(not placement, f"{cell['id']}: {placement}")
    return {cell["id"]: cell for cell in result["cells"]}, result


def median(cells, cell_id):
    if cell_id not in cells:
        faults.append(f"no cell {cell_id}")
        return 0
    return cells[cell_id]["summary"]["median"]


def check_latency(folder):
    cells, _ = read(folder, "latency")
    for cpu in (0, 1):
        for order in ("page_local", "whole"):
            local, _, cxl = (median(cells, f"latency/cpu{cpu}/node{node}/4k/{order}/1")
                             for node in (cpu, 1 - cpu, 2))
            expect(cxl > local, f"cpu {cpu} {order}: CXL {cxl:.0f} ns, DRAM {local:.0f}")
    expect(len(cells) == 12, f"latency: {len(cells)} cells, 12 expected")
    expect((folder / "latency.txt").read_text(encoding="utf-8")
           .startswith("EMULATED, NOT REPRESENTATIVE"), "the table does not begin with the label")


def check_bandwidth(folder):
    cells, _ = read(folder, "bandwidth")
    expect(len(cells) == 12, f"bandwidth: {len(cells)} cells, 12 expected")
    for cpu in (0, 1):
        for mix in ("R", "1:1"):
            dram = median(cells, f"bandwidth/cpu{cpu}/node{cpu}/{mix}")
            cxl = median(cells, f"bandwidth/cpu{cpu}/node2/{mix}")
            expect(dram > cxl > 0, f"cpu {cpu} {mix}: DRAM {dram:.2f}, CXL {cxl:.2f} GB/s")


def check_curve(folder):
    cells, result = read(folder, "curve")
    points = [cell for cell in cells.values() if cell["mode"] == "curve"]
    pairs = [cell for cell in cells.values() if cell["mode"] == "interference"]
    expect(len(points) == 6, f"curve: {len(points)} points, 6 expected")
    expect(len(pairs) == 24, f"curve: {len(pairs)} cells of pairs, 24 expected")
    loads = [cell for cell in pairs if cell["delay"] is not None]
    expect(len(loads) == 12 and all(cell["companion_summary"]["median"] > 0 for cell in loads),
           "a pair without load on the other node")
    expect(all(cell["companion_summary"]["median"] > 0 for cell in points), "a curve without load")
    lines = [line for line in result["findings"] if line.startswith("load on node ")]
    expect(len(lines) == 6, f"curve: {len(lines)} lines on pairs, 6 expected")


def check_interleave(folder):
    cells, result = read(folder, "interleave")
    best, equal, first = (median(cells, f"interleave/R/{way}")
                          for way in ("best", "equal", "first"))
    expect(best > 0 and first > equal, f"1:1 is no trap: first {first:.2f}, equal {equal:.2f}")
    expect(any("weights" in line for line in result["findings"]), "no line with the weights")
    expect(any("weighted_interleave/node0" in line for line in result["findings"]), "no sysfs line")


def check_move(folder):
    cells, _ = read(folder, "move")
    for way in ("node0-node2", "node2-node0"):
        expect(median(cells, f"move/{way}/4k/512") > 0, f"move {way}: nothing moved")


def main():
    folder = Path(sys.argv[1])
    for check in (check_latency, check_bandwidth, check_curve, check_interleave, check_move):
        check(folder)
    for fault in faults:
        print(f"guest_results: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
