# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a run: one file without anything from outside, made from page.html.

    overview     topologies x (kernel, firmware): how many checks did what
    per topology checks x (kernel, firmware): the outcome of each; a click shows its evidence
"""
import html
import json
from pathlib import Path

from ktap import FAIL, KNOWN, LOST, PASS, SKIP, console_parts
from report import absent_lines, reasons, summary

TEMPLATE = Path(__file__).resolve().parent / "page.html"
SIGNS = {PASS: "✓", FAIL: "✗", SKIP: "–", KNOWN: "≈", LOST: "?"}
WORDS = {PASS: "passed", FAIL: "failed", SKIP: "skipped", KNOWN: "known to differ", LOST: "not run"}


def text(value):
    return html.escape(str(value))


def short(name):
    """A path's last part."""
    return name.rpartition("/")[2].removesuffix(".topology") or name


def column_name(cell):
    return f"{short(cell.kernel)} · {short(cell.bios)}"


def groups(cells):
    """{topology: cells}, and the columns, both in their order."""
    by_topology = {}
    for cell in cells:
        by_topology.setdefault(cell.topology, []).append(cell)
    return by_topology, list(dict.fromkeys(column_name(cell) for cell in cells))


def worst(cell):
    for status in (FAIL, LOST, KNOWN, PASS):
        if cell.count(status):
            return status
    return FAIL if cell.verdict else SKIP


def overview(by_topology, columns):
    yield "<div class=scroll><table><thead><tr><th>topology</th>"
    yield "".join(f"<th>{text(column)}</th>" for column in columns) + "</tr></thead><tbody>"
    for topology, cells in by_topology.items():
        name = text(short(topology))
        yield f"<tr><th scope=row><a href='#t-{name}'>{name}</a></th>"
        for column in columns:
            cell = next((c for c in cells if column_name(c) == column), None)
            if cell is None:
                yield "<td></td>"
                continue
            status = worst(cell)
            yield (f"<td class={status}>{unbroken(f'{SIGNS[status]} {summary(cell)}')}<small>"
                   f"{unbroken(f'{cell.seconds:.0f} s{cpu_text(cell)}')}</small></td>")
        yield "</tr>"
    yield "</tbody></table></div>"


def unbroken(words):
    """Lines may end behind a comma only: on a phone a column is narrow."""
    return ", ".join(f"<span>{text(part)}</span>" for part in words.split(", "))


def cpu_text(cell):
    return f", CPU {cell.cpu_seconds:.0f} s" if cell.cpu_seconds else ""


def check_table(cells, columns, numbers):
    """Rows of checks; `numbers` maps (cell key, check) to an entry of the page's evidence."""
    names = list(dict.fromkeys(r.name for c in cells for r in c.results))
    yield "<div class=scroll><table class=checks><thead><tr><th>check</th>"
    yield "".join(f"<th>{text(column)}</th>" for column in columns) + "</tr></thead><tbody>"
    suite = None
    for name in names:
        if name.split(".")[0] != suite:
            suite = name.split(".")[0]
            yield f"<tr class=suite><th colspan={len(columns) + 1}>{text(suite)}</th></tr>"
        yield f"<tr><th scope=row>{text(name.split('.', 1)[1])}</th>"
        for column in columns:
            cell = next((c for c in cells if column_name(c) == column), None)
            result = next((r for r in cell.results if r.name == name), None) if cell else None
            if result is None:
                yield "<td></td>"
                continue
            label = f"{name}, {column}: {WORDS[result.status]}"
            yield (f"<td class={result.status}><button data-n={numbers[cell.key, name]} "
                   f"aria-label='{text(label)}'>{SIGNS[result.status]}</button></td>")
        yield "</tr>"
    yield "</tbody></table></div>"


def section(topology, cells, columns, numbers):
    bad = sum(cell.count(FAIL) + cell.count(LOST) + bool(cell.verdict) for cell in cells)
    yield f"<details id='t-{text(short(topology))}'{' open' if bad else ''}><summary>"
    yield f"<h2>{text(short(topology))}</h2> {'; '.join(text(summary(c)) for c in cells[:1])}"
    yield (f" <span class=more>and {len(cells) - 1} more</span>" if len(cells) > 1 else "")
    yield "</summary>"
    for cell in cells:
        if cell.verdict:
            yield f"<p class=verdict>{text(column_name(cell))}: {text(cell.verdict)}</p>"
    yield from check_table(cells, columns, numbers)
    yield "<p>Console: " + " · ".join(
        f"<button class=console data-n={numbers[cell.key, '']}>{text(column_name(cell))}</button>"
        for cell in cells) + "</p></details>"


def reason_table(rows):
    """Why checks did not pass; the same reason of many guests is one row."""
    yield "<table class=reasons><tbody>"
    for (status, name, why), where in rows.items():
        yield (f"<tr><td class={status}>{SIGNS[status]}</td><td class=why><b>{text(name)}</b>: "
               f"{text(why)}{where_list(where)}</td></tr>")
    yield "</tbody></table>"


def where_list(cells):
    """Topologies by column: short, where it is so in all columns of a topology or all of one."""
    by_column = {}
    for cell in cells:
        by_column.setdefault(column_name(cell), []).append(short(cell.topology))
    same = {}
    for column, topologies in by_column.items():
        same.setdefault(", ".join(topologies), []).append(column)
    return "".join(f"<small>{text('; '.join(columns))}: {text(topologies)}</small>"
                   for topologies, columns in same.items())


def attention(cells, absent):
    """Failures and known differences, those that did not show up, then what was skipped."""
    rows = reasons(cells, (FAIL, KNOWN))
    if rows:
        yield from reason_table(rows)
    else:
        yield "<p>No check failed, and none differs from what is expected.</p>"
    for line in absent_lines(absent):
        yield f"<p class=known>{text(line)}</p>"
    skipped = reasons(cells, (SKIP,))
    if skipped:
        yield f"<details><summary>Skipped: {len(skipped)} reasons</summary>"
        yield from reason_table(skipped)
        yield "</details>"


def change_list(context):
    changes = context.get("changes")
    if changes:
        yield "<h2>Since the baseline</h2>"
        for kind in ("broke", "fixed", "new", "gone"):
            items = "".join(f"<li>{text(cell)}: {text(check)}: {text(why)}</li>"
                            for cell, check, why in changes[kind])
            yield (f"<details{' open' if kind == 'broke' and items else ''}><summary>{kind}: "
                   f"{len(changes[kind])}</summary><ul>{items}</ul></details>")


def evidence(cells):
    """-> entries for the page's script, and the number of each.  A whole console is what came
    before the first check, and the parts of the checks after it: `parts` are their numbers."""
    entries, numbers = [], {}
    for cell in cells:
        first = numbers[cell.key, ""] = len(entries)
        entries.append({"title": f"Console: {cell.key}", "status": "", "reason": cell.verdict,
                        "notes": "$ " + cell.command,
                        "console": "\n".join(console_parts(cell.console)[""]),
                        "parts": list(range(first + 1, first + 1 + len(cell.results)))})
        for result in cell.results:
            numbers[cell.key, result.name] = len(entries)
            entries.append({"title": f"{result.name} — {cell.key}",
                            "status": f"{SIGNS[result.status]} {WORDS[result.status]}, "
                                      f"{result.seconds:.2f} s",
                            "reason": result.why, "notes": "\n".join(result.notes),
                            "console": result.console})
    return entries, numbers


def render(cells, context):
    """-> the page."""
    by_topology, columns = groups(cells)
    entries, numbers = evidence(cells)
    total = {status: sum(cell.count(status) for cell in cells) for status in SIGNS}
    heads = " · ".join(f"<b class={status}>{total[status]} {WORDS[status]}</b>"
                       for status in SIGNS if total[status])
    took = text(context.get("took") or f"{len(cells)} guests")
    body = [f"<h1>CXL validation</h1><p>{text(context['started'])} · QEMU "
            f"{text(cells[0].qemu or 'none')} · {took}</p><p>{heads}</p>",
            *overview(by_topology, columns), *change_list(context),
            "<h2>What needs a look</h2>", *attention(cells, context.get("absent", ()))]
    for topology, members in by_topology.items():
        body += section(topology, members, columns, numbers)
    # A "<" of a console must not be read as markup.
    script = json.dumps(entries).replace("<", "\\u003c")
    page = TEMPLATE.read_text(encoding="utf-8")
    return page.replace("@BODY@", "\n".join(body)).replace("@EVIDENCE@", script)
