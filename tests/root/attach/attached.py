#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares a report of a window with the program's own times of its regions.

usage: attached.py NAME TIMES FROM_NS TO_NS GRAINS.ndjson SUMMARY.json THREADS PROGRAM.json

TIMES is what tests/omp/loop_forever wrote. Every region that lies in [FROM_NS, TO_NS] must be there, complete and
exact. Prints "ok - " and "not ok - " lines that begin with NAME.
"""
import bisect
import collections
import json
import re
import sys

name, times_file, t_from, t_to, grains_file, summary_file, threads, program_file = sys.argv[1:9]
t_from, t_to, threads = int(t_from), int(t_to), int(threads)


def check(what, good, *details):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        for d in details[:6]:
            print("#   " + str(d)[:300])


program = json.load(open(program_file))
check("the program is unharmed", program["correct"] is True, program)
times = [tuple(map(int, line.split())) for line in open(times_file)]
inside = [r for r in times if t_from <= r[0] and r[1] <= t_to]
summary = json.load(open(summary_file))
grains = [json.loads(line) for line in open(grains_file)]
regions = {r["id"]: r for r in summary["regions"]}

# The region of a task or member is the part of the identifier up to its p<n>.
members = collections.defaultdict(list)
tasks = collections.defaultdict(list)
orphans = []
for g in grains:
    m = re.match(r"^(0\.p\d+)\.", g["id"])
    if g["kind"] == "implicit" and m:
        members[m.group(1)].append(g)
    elif g["kind"] == "task" and m:
        tasks[m.group(1)].append(g)
    elif g["kind"] == "task":
        orphans.append(g)

# Which of the program's regions each recorded one is: the time tells.
starts = [r[0] for r in times]
seen = {}
strange = []
edges = []
for rid, ms in members.items():
    start = min(m["start_ns"] for m in ms)
    i = bisect.bisect_right(starts, start) - 1
    if i < 0 or start > times[i][1]:
        strange.append((rid, start))
    elif i in seen:
        strange.append((rid, "is also", seen[i]))
    else:
        seen[i] = rid
check("every recorded region is one of the program's", not strange, *strange)
whole = [i for i, r in enumerate(times) if t_from <= r[0] and r[1] <= t_to]
check("the window holds at least 20 regions (%d)" % len(whole), len(whole) >= 20)
absent = [i for i in whole if i not in seen]
check("every region inside the window is there", not absent, "%d absent" % len(absent), absent[:10])
wrong = []
for i in whole:
    if i not in seen:
        continue
    rid = seen[i]
    ts, ms, r = tasks[rid], members[rid], regions.get(rid)
    want = times[i][2]
    ids = sorted(t["id"] for t in ts)
    expected = sorted("%s.s0.%d" % (rid, n) for n in range(want - 1)) + ["%s.s0.%d.0" % (rid, want - 2)]
    if ids != sorted(expected):
        wrong.append((rid, "tasks", len(ts), "of", want, sorted(set(ids) ^ set(expected))[:4]))
    if len(ms) != threads:
        wrong.append((rid, "members", len(ms), "of", threads))
    for g in ts + ms:
        if g["incomplete"]:
            wrong.append((rid, "incomplete", g["id"]))
        # Workers may wake from the region's last barrier after the program has left the region.
        worker = g["kind"] == "implicit" and not g["id"].endswith(".0")
        if not times[i][0] <= g["start_ns"] <= g["end_ns"] or g["start_ns"] > times[i][1] \
                or g["end_ns"] > times[i][1] and not worker:
            wrong.append((rid, "outside of its region", g["id"]))
    if r is None or r["threads"] != threads:
        wrong.append((rid, "in the summary", r))
check("each of them is exact: %d tasks, their names, their members" % sum(times[i][2] for i in whole),
      not wrong and bool(whole), "%d wrong" % len(wrong), *wrong)

# All other regions, at the edges, must be marked incomplete unless they are all there.
unmarked = []
for i, rid in seen.items():
    if i in whole:
        continue
    ts = tasks[rid]
    if len(ts) != times[i][2] or len(members[rid]) != threads:
        if not any(g["incomplete"] for g in ts + members[rid]) and not regions.get(rid, {}).get("incomplete"):
            unmarked.append((rid, len(ts), times[i]))
check("regions at the edges are marked incomplete", not unmarked, *unmarked)
by_id = {g["id"]: g for g in grains}


def marked(g):
    """True if it, or a grain that it descends from, is marked incomplete."""
    while g is not None and not g["incomplete"]:
        g = by_id.get(g["parent"])
    return g is not None


check("tasks without a region are marked incomplete, or their parent is (%d)" % len(orphans),
      all(marked(g) for g in orphans), *[(g["id"], g["parent"]) for g in orphans if not marked(g)])
check("nothing lost", summary["events"]["lost"] == 0, summary["events"])
check("conservation holds", summary["conservation"]["violations"] == 0, summary["conservation"])
