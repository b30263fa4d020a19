#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""The tables of definitions, depths, loops and regions have the JSON's numbers, column by column."""
import re

from browser import main
from checks import check, same
from shown import is_count, is_percent, is_ratio, is_time

TABLE = """const t = document.querySelector("#" + a + " table"), text = (e) => e.innerText.trim();
    return t ? [...t.tBodies[0].rows].map((r) => Object.fromEntries([...r.cells].map((c, i) =>
        [t.tHead.rows[0].cells[i].querySelector(".sort").textContent.trim(), text(c)]))) : [];"""
# What turns the direction of writing is no part of what is shown.
CLEANED = "[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd?]"


def compare(report, what, shown, expected, columns):
    """Row by row; of a column's title: what fits a text, and the value in a row of the JSON. Left out are columns
    without a value."""
    wrong = []
    if len(shown) != len(expected):
        wrong.append("%d rows, expected %d" % (len(shown), len(expected)))
    for row, values in zip(shown, expected):
        for title, (fits, value) in columns.items():
            want = value(values)
            if title in row and not fits(row[title].split("\n")[0], want):
                wrong.append("%s: %r, expected %r, in %s" % (title, row[title], want, list(row.values())[0]))
            elif title not in row and any(value(v) for v in expected):
                wrong.append("no column %s, expected %r" % (title, want))
    same("%s: %s as in the JSON" % (report.name, what), wrong[:8], [])


def stat(name, part):
    return lambda row: row[name][part] if row[name] else None


def key(name):
    return lambda row: row[name]


def is_source(text, source):
    return re.sub(CLEANED, "", text).startswith(re.sub(CLEANED, "", source or "unknown")[:20])


def is_text(text, value):
    return text.startswith(value or "–")


def is_of(text, pair):
    return text == "–" if pair[0] is None else text == "%d of %d" % pair


def is_balance(text, value):
    return text == "partial" if value == "partial" else is_ratio(text, value)


DEFINITIONS = {
    "definition": (is_source, key("source")), "kind": (is_text, key("kind")), "grains": (is_count, key("instances")),
    "time": (is_time, stat("exec_ns", "sum")), "mean": (is_time, stat("exec_ns", "mean")),
    "shortest": (is_time, stat("exec_ns", "min")), "longest": (is_time, stat("exec_ns", "max")),
    "deviation": (is_time, stat("exec_ns", "stddev")), "inclusive": (is_time, stat("inclusive_ns", "mean")),
    "created in": (is_time, stat("create_ns", "mean")), "critical": (is_time, key("critical_path_ns")),
    "leaves": (is_count, key("leaves")), "undeferred": (is_count, key("undeferred")),
    "incomplete": (is_count, key("incomplete")), "discarded": (is_count, key("discarded")),
}
DEPTHS = {
    "depth": (is_count, key("depth")), "grains": (is_count, key("grains")), "time": (is_time, stat("exec_ns", "sum")),
    "mean": (is_time, stat("exec_ns", "mean")), "shortest": (is_time, stat("exec_ns", "min")),
    "longest": (is_time, stat("exec_ns", "max")),
}
LOOPS = {
    "loop": (is_text, key("id")), "source": (is_source, key("source")), "chunks": (is_count, key("chunks")),
    "chunk": (is_count, key("chunk")), "iterations": (is_count, key("iterations")),
    "threads": (is_count, key("members")),
    "wall": (is_time, key("wall_ns")), "time": (is_time, key("exec_ns")),
    "book-keeping": (is_time, key("bookkeeping_ns")), "load balance": (is_ratio, key("load_balance")),
    "minimum cores": (is_of, lambda loop: (loop["minimum_cores"], loop["members"])),
}
REGIONS = {
    "region": (is_text, key("id")), "source": (is_source, key("source")), "threads": (is_count, key("threads")),
    "wall": (is_time, key("wall_ns")), "tasks": (is_count, key("tasks")),
    "load balance": (is_balance, lambda region: "partial" if region["incomplete"] else region["load_balance"]),
    "at once": (is_count, key("max_active_tasks_per_thread")),
}


def tables(browser, inputs):
    for report in inputs.logs() + [inputs.made(500), inputs.damaged(), inputs.dependent()]:
        browser.open(report)
        summary = report.summary
        problems = {name.replace("_", " "): (is_percent, stat_of_problem(name))
                    for name, known in summary["problems"].items() if known["available"]}
        compare(report, "definitions", browser.js(TABLE, "definitions"),
                sorted(summary["definitions"], key=lambda d: -d["exec_ns"]["sum"]), {**DEFINITIONS, **problems})
        for what, columns in (("depths", DEPTHS), ("regions", REGIONS), ("loops", LOOPS)):
            compare(report, what, browser.js(TABLE, what), summary[what], columns)


def steps(browser, inputs):
    """A chunk's size is how many iterations it has, however far apart these are."""
    for step in (1, 4):
        report = inputs.stepped(step)
        browser.open(report)
        chunks = [c for c in report.contexts if c["kind"] == "chunk" and c["lower"] is not None and "/l" in c["id"]]
        ranges = sorted({c["upper"] - c["lower"] for c in chunks})
        same("step %d: what the bounds say" % step, ranges, [9 * step])
        browser.js("document.getElementById('loops').scrollIntoView()")
        check("step %d: chunk sizes of the table are iterations" % step, browser.until(
            "document.querySelector('#loops td:last-child svg[aria-label]')"))
        labels = browser.js("[...document.querySelectorAll('#loops td:last-child svg')]"
                            ".map((e) => e.getAttribute('aria-label'))"
                            ".filter((label) => !/: 1 to 1,/.test(label))")
        same("step %d: chunk sizes" % step, labels, ["iterations of chunks: 10 to 10, median 10"])
        said = browser.js("[...document.querySelectorAll('#distributions .dist-sizes')].map((e) => e.textContent)")
        same("step %d: sizes beside the distribution" % step, said, ["every chunk has 10 iterations"])
        browser.js("app.set('selected', a)", report.index[chunks[1]["id"]])
        rows = browser.js("[...document.querySelectorAll('#details dl > div')]"
                          ".map((e) => e.innerText.replace(/\\s+/g, ' '))")
        expected = ("iterations %d to %d" % (chunks[1]["lower"], chunks[1]["upper"]) +
                    (" in steps of 4" if step > 1 else ""))
        check("step %d: details say which" % step, expected in rows, expected, rows)


def stat_of_problem(name):
    return lambda row: row["problems"][name]["percent"]


if __name__ == "__main__":
    main(tables, steps)
