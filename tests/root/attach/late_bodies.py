#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the rounds of a program are exact from some time on. A round is a region of two threads with 20 tasks.

usage: late_bodies.py NAME GRAINS.ndjson SUMMARY.json FROM_MS

Prints one line, "ok - " or "not ok - ", and the time from which the rounds are exact. Regions that began FROM_MS
or more after the first grain, except the last one, must have two members and twenty whole tasks. There must be ten
such regions.
"""
import collections
import json
import re
import sys

name, grains_file, summary_file, from_ms = sys.argv[1:]
grains = [json.loads(line) for line in open(grains_file)]
summary = json.load(open(summary_file))
first = min(g["start_ns"] for g in grains) + int(from_ms) * 1000000
regions = collections.defaultdict(list)
for g in grains:
    if g["kind"] in ("implicit", "task") and ".p" in g["id"]:
        regions[re.match(r".*?\.p\d+", g["id"]).group()].append(g)
starts = sorted((min(g["start_ns"] for g in r), k) for k, r in regions.items())[:-1]
late = [k for start, k in starts if start > first]


def is_wrong(k):
    return sum(g["kind"] == "implicit" for g in regions[k]) != 2 or len(regions[k]) != 22 or \
        sum(g["kind"] == "task" and not g.get("incomplete") for g in regions[k]) != 20


wrong = [(k, len(regions[k])) for k in late if is_wrong(k)]
last_wrong = max((start for start, k in starts if is_wrong(k)), default=starts[0][0] if starts else 0)
good = len(late) >= 10 and not wrong and summary["events"]["lost"] == 0
print("%s - %s: %d regions" % ("ok" if good else "not ok", name, len(late)))
print("= %s: exact from %.0f ms on" % (name, (last_wrong - min(g["start_ns"] for g in grains)) / 1e6))
if not good:
    print("# %s of %d wrong, %s, %s" % (wrong[:5], len(late), collections.Counter(g["kind"] for g in grains),
                                        summary["events"]))
