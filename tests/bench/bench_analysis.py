#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""How long the analysis of large traces takes, and how much memory.

usage: bench_analysis.py BUILD_DIRECTORY [GRAINS...]

A table of generated traces, one line a size (10000 100000 1000000 10000000
unless given): seconds of the complete analysis (graph, all metrics, task
profile, aggregation to one root group) on one core, the CPU time of that in the
program and in the kernel, the aggregation's share, the peak of resident memory,
bytes of that a grain without what the program takes before it starts, the
exponent with which the program's CPU time grows from the size before, and the
rate at which the grains' JSON is written to a file. Below it the targets. Exits with 1 when
one is missed.

The host of a virtual machine takes unused memory back and gives it slowly: that
is not the analysis'. Before each run as much memory is touched as it will use,
and growth is that of the time in the program, without the kernel's.
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
SIZES = [int(a) for a in sys.argv[2:]] or [10000, 100000, 1000000, 10000000]
THREADS = 8
# Exponent of n log n between two sizes, and what a shared machine adds by chance.
NOISE = 0.1
missed = 0


def measure(folder, grains):
    """Medians of some runs; JSON of 10 million grains goes where no disk is needed."""
    trace, out = folder + "/trace.grt", folder + "/grains.ndjson"
    subprocess.run([B + "/tests/tools/make_trace", trace, str(grains), str(THREADS)], check=True,
                   stdout=subprocess.DEVNULL)
    runs = []
    try:
        for _ in range(5 if grains <= 1000000 else 1):
            touch(int(grains * 450) + (64 << 20))
            argv = [B + "/tests/tools/time_analysis", trace] + ([out] if grains <= 1000000 else [])
            runs.append(json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout))
            if os.path.exists(out):
                os.unlink(out)
    finally:
        os.unlink(trace)
    m = {k: statistics.median(r[k] for r in runs) for k in runs[0]}
    m["seconds"] = m["load_s"] + m["groups_s"]
    m["bytes"] = (m["peak_kb"] - m["start_kb"]) * 1024 / grains
    m["rate"] = m["json_bytes"] / m["json_s"] / 1e6 if m["json_s"] else None
    return m


def exponent(a, b):
    return math.log(b["user_s"] / a["user_s"]) / math.log(b["grains"] / a["grains"])


def n_log_n(a, b):
    """The exponent between the same two sizes of what takes n log n."""
    return 1 + math.log(math.log(b["grains"]) / math.log(a["grains"])) / math.log(b["grains"] / a["grains"])


def target(what, good, value):
    global missed
    missed += not good
    print("%-52s %-7s %s" % (what, "ok" if good else "MISSED", value))


def targets(table):
    million, ten = table.get(1000000), table.get(10000000)
    if million:
        target("1,000,000 grains in 2 s", million["seconds"] <= 2, "%.2f s" % million["seconds"])
        target("in 400 bytes a grain, all of the program", million["peak_kb"] * 1024 <= 400e6,
               "%.0f bytes" % (million["peak_kb"] * 1024 / 1e6))
        target("their JSON at 200 MB/s", million["rate"] >= 200, "%.0f MB/s" % million["rate"])
    if ten:
        target("10,000,000 grains in 6 GB", ten["peak_kb"] * 1024 <= 6e9, "%.2f GB" % (ten["peak_kb"] * 1024 / 1e9))
    sizes = sorted(n for n in table if n >= 100000)
    for a, b in zip(sizes, sizes[1:]):
        e, most = exponent(table[a], table[b]), n_log_n(table[a], table[b])
        target("from %s to %s grains no more than n log n" % (f"{a:,}", f"{b:,}"), e <= most + NOISE,
               "%.2f, n log n has %.2f" % (e, most))


def main():
    table, last = {}, None
    folder = tempfile.mkdtemp(prefix="graind-bench.")
    print("%10s %9s %9s %9s %9s %9s %9s %8s %9s" %
          ("grains", "seconds", "program s", "kernel s", "groups s", "peak MB", "B/grain", "growth", "JSON MB/s"))
    try:
        for grains in SIZES:
            m = table[grains] = measure(folder, grains)
            print("%10d %9.3f %9.3f %9.3f %9.3f %9.1f %9.0f %8s %9s" %
                  (grains, m["seconds"], m["user_s"], m["cpu_s"] - m["user_s"], m["groups_s"],
                   m["peak_kb"] / 1024, m["bytes"],
                   "%.2f" % exponent(last, m) if last else "-", "%.0f" % m["rate"] if m["rate"] else "-"))
            sys.stdout.flush()
            last = m
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    targets(table)
    return missed != 0


sys.exit(main())
