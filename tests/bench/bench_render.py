#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""How long drawing takes.

usage: bench_render.py BUILD_DIRECTORY [ROUNDS]

A table of generated task programs, one line a kind and size: the layout of so
many nodes (every fragment, fork and join) alone; the SVG of so many nodes, from
the trace to the file; the HTML report of so many grains, likewise. Medians of
ROUNDS (5 unless given) rounds, in each of which everything is measured once, on
one core: seconds, of these the seconds to load the trace, megabytes written, the peak of
resident memory, and the exponent with which the CPU time of the program grows
from the size before, without the kernel's to hand out memory. Below it the
targets; growth is judged from sizes on that take long enough to tell. Exits with 1 when one is missed.

Before each measurement as much memory is touched as it will use (memory.py).
"""
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from memory import touch

if len(sys.argv) < 2:
    sys.exit(__doc__)
B = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
THREADS = 8
# Of the invented program, so many a task.
NODES_PER_TASK = 4.34
KINDS = {"layout": (10000, 100000, 1000000, 4000000), "svg": (30000, 100000), "page": (10000, 100000, 1000000)}
WHAT = {"layout": "layout, nodes", "svg": "SVG, nodes", "page": "HTML, grains"}
# The kernel counts a program's time in ticks of 4 ms. Shorter times are too inexact to compute a growth from.
LEAST_S = 0.1
# Between two of the sizes, n log n grows with an exponent of at most 1.09. The rest is chance, on a shared machine.
MOST_GROWTH = 1.09 + 0.11
missed = 0


def tasks_for(kind, size):
    return size if kind == "page" else math.ceil(size / NODES_PER_TASK)


def measure(folder, kind, size):
    out = folder + "/out"
    trace = "%s/%d.grt" % (folder, tasks_for(kind, size))
    argv = [B + "/tests/tools/time_render", trace, kind, out] + ([str(2 * size)] if kind == "svg" else [])
    touch(size * 600 + (64 << 20))
    m = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
    if kind != "layout":
        m["seconds"] += m["load_s"]
        m["user_s"] += m["load_user_s"]
    if kind == "svg":
        with open(out, encoding="utf-8") as svg:
            m["nodes"] = svg.read().count('<a id="')
    os.unlink(out)
    return m


def exponent(table, kind, a, b):
    return math.log(table[kind, b]["user_s"] / table[kind, a]["user_s"]) / math.log(b / a)


def target(what, good, value):
    global missed
    missed += not good
    print("%-52s %-7s %s" % (what, "ok" if good else "MISSED", value))


def targets(table):
    layout, svg, page = table["layout", 1000000], table["svg", 100000], table["page", 1000000]
    target("layout of 1,000,000 nodes in 1 s", layout["seconds"] <= 1 and layout["nodes"] >= 1e6,
           "%.2f s for %d" % (layout["seconds"], layout["nodes"]))
    a_node = (layout["peak_kb"] - layout["loaded_kb"]) * 1024 / layout["nodes"]
    target("in 220 bytes a node beside the graph", a_node <= 220, "%.0f" % a_node)
    target("SVG of 100,000 nodes in 4 s in all", svg["seconds"] <= 4 and svg["nodes"] >= 1e5,
           "%.2f s for %d" % (svg["seconds"], svg["nodes"]))
    target("HTML of 1,000,000 grains in 5 s in all", page["seconds"] <= 5, "%.2f s" % page["seconds"])
    target("in 15 MB", page["bytes"] <= 15e6, "%.1f MB" % (page["bytes"] / 1e6))
    for kind, sizes in KINDS.items():
        told = [pair for pair in zip(sizes, sizes[1:]) if table[kind, pair[0]]["user_s"] >= LEAST_S]
        if not told:
            target("%s: linear" % WHAT[kind], False, "all but the largest take less than %.1f s" % LEAST_S)
        for a, b in told:
            e = exponent(table, kind, a, b)
            target("%s: from %s to %s linear" % (WHAT[kind], f"{a:,}", f"{b:,}"), e <= MOST_GROWTH,
                   "exponent %.2f" % e)


def main():
    runs = {(kind, size): [] for kind, sizes in KINDS.items() for size in sizes}
    folder = tempfile.mkdtemp(prefix="graind-bench.")
    try:
        for tasks in sorted({tasks_for(*key) for key in runs}):
            subprocess.run([B + "/tests/tools/make_trace", "%s/%d.grt" % (folder, tasks), str(tasks), str(THREADS)],
                           check=True, stdout=subprocess.DEVNULL)
        for _ in range(ROUNDS):
            for key, results in runs.items():
                results.append(measure(folder, *key))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    table = {key: {k: statistics.median(r[k] for r in results) for k in results[0]} for key, results in runs.items()}
    print("%-14s %9s %9s %9s %9s %9s %8s" % ("what", "size", "seconds", "load s", "MB", "peak MB", "growth"))
    for (kind, size), m in table.items():
        before = [s for s in KINDS[kind] if s < size]
        print("%-14s %9d %9.3f %9s %9s %9.1f %8s" %
              (WHAT[kind], size, m["seconds"], "-" if kind == "layout" else "%.3f" % m["load_s"],
               "-" if kind == "layout" else "%.2f" % (m["bytes"] / 1e6), m["peak_kb"] / 1024,
               "%.2f" % exponent(table, kind, before[-1], size) if before else "-"))
    targets(table)
    return missed != 0


sys.exit(main())
