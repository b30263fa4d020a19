#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""accesses.py NAME BASE PAGES SOURCE NODE:NODE...: compares a recording of shared_pages, with each of its page
faults sampled, with what the program did. NODE:NODE are the node that task k ran on and the node of its memory.
BASE.out, .summary, .grains and .log are the program's output and the recording's."""
import json
import re
import sys

name, base, pages, source = sys.argv[1:5]
pages = int(pages)
placed = [tuple(int(n) for n in p.split(":")) for p in sys.argv[5:]]
memory = json.load(open(base + ".out"))
s = json.load(open(base + ".summary"))
grains = {g["id"]: g for g in map(json.loads, open(base + ".grains"))}
numa = s["numa"]
a = numa["addresses"]
line = next(i for i, text in enumerate(open(source), 1) if "measured" in text)


def same(what, got, expected):
    print("%s - %s: %s" % ("ok" if got == expected else "not ok", name, what))
    if got != expected:
        print("# got      %s\n# expected %s" % (str(got)[:700], str(expected)[:700]))


def of(count, remote):
    return {"samples": count, "local": count - remote, "remote": remote,
            "remote_percent": 100 * remote / count if count else None}


counts = [pages * (k + 1) for k in range(len(placed))]
remote = [n if at != on else 0 for n, (at, on) in zip(counts, placed)]
same("event", (a["available"], a.get("event")), (True, "page-faults:period=1"))
same("nothing is lost", (a["lost"], s["events"]["lost"]), (0, 0))
tasks = [grains.get("0.p1.s0.%d" % k, {}) for k in range(len(placed))]
same("task k has (k + 1) * %d, remote as its CPU and its memory are" % pages, [t.get("accesses") for t in tasks],
     [of(n, r) for n, r in zip(counts, remote)])
mine = [d for d in a["definitions"] if (d["source"] or "").endswith(":%d" % line)]
same("so has the construct", [{k: d[k] for k in ("samples", "local", "remote")} for d in mine],
     [{k: of(sum(counts), sum(remote))[k] for k in ("samples", "local", "remote")}])
# Each event of the log that belongs to this memory: two for the tasks, two for the thread that placed the memory. The
# first of the latter may have come before recording began.
nodes = {}
for text in open(base + ".log"):
    found = re.match(r"\d+ \d+ \d+ access addr=(0x[0-9a-f]+) (node|why)=(\w+)", text)
    if found and memory["start"] <= int(found.group(1), 16) < memory["start"] + memory["bytes"]:
        nodes[found.group(3)] = nodes.get(found.group(3), 0) + 1
# If a page was mapped again before its node was asked for, its node is no longer known.
same("the log has the addresses of the tasks' pages, on that node",
     ([n for n in nodes if n.isdigit()], nodes.get(str(placed[0][1]), 0) >= sum(counts)), ([str(placed[0][1])], True))
same("causes are those of all that is not known", sum(a["unknown"].values()), a["samples"] - a["local"] - a["remote"])
same("constructs have what grains have", sum(d["samples"] for d in a["definitions"]), a["grains"]["samples"])
areas = [(x["kind"], x["name"], x["bytes"], (x.get("accesses") or {}).get("samples", 0))
         for x in numa["pages"].get("areas", [])]
most = max(areas, key=lambda x: x[3], default=(None, None, 0, 0))
if most[3] < sum(counts):
    print("# %s %s" % (numa["pages"].get("why"), str(areas)[:600]))
same("so has the mapping, of which it is said where its pages are", most[3] >= sum(counts), True)
if numa["available"]:
    r = numa["remote"]
    share = 100 * sum(remote) / sum(counts)
    same("the share is of sampled addresses", (r["available"], r["by"]), (True, "addresses"))
    same("between which nodes", abs(sum(sum(row) for row in r["accesses_percent"]) - 100) < 1e-6, True)
    warm = 2 * share / 2
    same("%.0f %% of the teams' accesses are remote (%.1f)" % (warm, r["percent"]), abs(r["percent"] - warm) < 3, True)
else:
    same("one node: the share is 0", (a["teams"]["remote"], a["teams"]["remote_percent"]), (0, 0))
    same("one node: nothing can be remote, which is said", numa["remote"].get("why"),
         "one NUMA node: nothing can be remote")
