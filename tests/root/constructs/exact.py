#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what a program says about its own tasks with what was recorded.

usage: exact.py NAME PROGRAM.json TRUTH GRAINS.ndjson SUMMARY.json LOG [stripped]

PROGRAM.json is the program's output, TRUTH its --truth file (tests/omp/truth.h). Prints "ok - " and "not ok - "
lines that begin with NAME.
"""
import collections
import json
import re
import sys

name, program_file, truth_file, grains_file, summary_file, log_file = sys.argv[1:7]
stripped = "stripped" in sys.argv[7:]


def check(what, good, *details):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        for d in details[:8]:
            print("#   " + str(d)[:300])


def same(what, got, expected):
    check(what, got == expected, "got      %s" % (got,), "expected %s" % (expected,))


def same_set(what, got, expected):
    got, expected = collections.Counter(got), collections.Counter(expected)
    missing, extra = expected - got, got - expected
    check("%s (%d)" % (what, sum(expected.values())), not missing and not extra and bool(expected),
          "%d missing, e.g. %s" % (sum(missing.values()), sorted(missing)[:3]),
          "%d too many, e.g. %s" % (sum(extra.values()), sorted(extra)[:3]))


program = json.load(open(program_file))
summary = json.load(open(summary_file))
grains = [json.loads(line) for line in open(grains_file)]
truth = collections.defaultdict(list)
for line in open(truth_file):
    kind, *rest = line.split()
    truth[kind].append(rest)

tasks = [g for g in grains if g["kind"] == "task"]
implicit = [g for g in grains if g["kind"] == "implicit"]
want = program["tasks"]

# The program itself.
check("the program's result is right", program["correct"] is True, program)
same("the program's own count is the algorithm's", len(truth["task"]), want)

# Counts from the event log: they come before any graph is made.
events = collections.Counter()
undeferred_by_source = collections.Counter()
created = collections.Counter()
begun = collections.Counter()
ended = collections.Counter()
sources = {}
last_time = {}
for line in open(log_file):
    if line.startswith("@source "):
        fields = dict(f.split("=", 1) for f in line.split()[2:] if "=" in f)
        sources[line.split()[1]] = fields
    if line[:1] in "@#" or line.startswith("grain-log"):
        continue
    f = line.split()
    events[f[3]] += 1
    key = dict(x.split("=", 1) for x in f[4:])
    if f[3] == "create-begin":
        created[key["task"]] += 1
        flags = key.get("flags", "").split(",")
        undeferred_by_source[(sources[key["src"]].get("line", "?"), "undeferred" in flags)] += 1
    elif f[3] == "task-begin":
        begun[key["task"]] += 1
    elif f[3] == "task-end":
        ended[key["task"]] += 1
    check_time = last_time.get(f[1], 0)
    if int(f[0]) < check_time:
        check("the log is in time order per thread", False, line)
    last_time[f[1]] = int(f[0])
same("creations = begins = ends = the algorithm's number",
     (events["create-begin"], events["create-end"], events["task-begin"], events["task-end"]), (want,) * 4)
check("each task is created, begun and ended once",
      created == begun == ended and set(created.values()) <= {1},
      "created and not begun: %s" % list((created - begun).items())[:5],
      "begun and not ended: %s" % list((begun - ended).items())[:5])

# Structure.
same("tasks in the report", len(tasks), want)
same_set("identifiers and parents", [(g["id"], g["parent"]) for g in tasks],
         [(t[0], t[1]) for t in truth["task"]])
same_set("members and their parents", [(g["id"], g["parent"]) for g in implicit],
         [(t[0], t[1]) for t in truth["implicit"]])
same_set("joins", [(g["id"], g["join"]) for g in tasks if g["join"] or True],
         [(t[0], t[4] if t[4] != "-" else None) for t in truth["task"]])
same("one initial task", [g["id"] for g in grains if g["kind"] == "initial"], ["0"])
same("no other kinds", sorted({g["kind"] for g in grains}),
     sorted({"initial", "task"} | ({"implicit"} if truth["implicit"] else set())))
regions = {r["id"]: r for r in summary["regions"]}
same_set("regions, their threads and tasks", [(r["id"], r["threads"], r["tasks"]) for r in summary["regions"]],
         [(t[0], int(t[3]), int(t[4])) for t in truth["region"]])
if stripped:
    shape = re.compile(r"^[^ :]+\+0x[0-9a-f]+$")
    bad = [g["source"] for g in tasks if not shape.match(g["source"] or "")]
    check("stripped: every source is module+offset", not bad, bad[:3])
    definitions = collections.Counter(g["source"] for g in tasks)
    lines = collections.Counter(t[2] for t in truth["task"])
    check("stripped: as many tasks per definition as per line, or finer",
          len(definitions) >= len(lines) and sum(definitions.values()) == sum(lines.values()),
          definitions, lines)
else:
    source = program["program"] + ".c:"
    same_set("source lines", [(g["id"], g["source"]) for g in tasks],
             [(t[0], source + t[2]) for t in truth["task"]])
    same_set("undeferred tasks per line", undeferred_by_source.elements(),
             [(t[2], t[3] == "1") for t in truth["task"]])
    same("undeferred tasks in the summary", sum(d["undeferred"] for d in summary["definitions"]),
         sum(t[3] == "1" for t in truth["task"]))
    same_set("source lines of regions", [(r["id"], r["source"]) for r in summary["regions"]],
             [(t[0], source + t[2]) for t in truth["region"]])

# Truthfulness.
same("nothing lost", summary["events"]["lost"], 0)
same("nothing incomplete",
     (summary["grains"]["incomplete"], [g["id"] for g in grains if g["incomplete"]][:5]), (0, []))
for key in ("unmatched_begins", "unmatched_ends", "never_begun", "never_ended", "unclosed_waits", "read_faults"):
    same(key, summary["events"][key], 0)
same("losses of all causes", sum(summary["events"]["losses"].values()), 0)
same("conservation holds", (summary["conservation"]["violations"], summary["conservation"]["first"]), (0, None))
same("incomplete regions", summary["incomplete_regions"], 0)

# Times.
by_id = {g["id"]: g for g in grains}
per_thread = collections.defaultdict(list)
for g in grains:
    for f in g["fragments"]:
        per_thread[f["tid"]].append((f["start_ns"], f["end_ns"], g["id"]))
overlaps = []
for spans in per_thread.values():
    spans = sorted(s for s in spans if s[1] > s[0])
    overlaps += [(a, b) for a, b in zip(spans, spans[1:]) if b[0] < a[1]]
check("a thread executes one thing at a time", not overlaps, *overlaps[:4])
bad = [g["id"] for g in grains if g["exec_ns"] != sum(f["end_ns"] - f["start_ns"] for f in g["fragments"])]
check("execution time = its fragments", not bad, bad[:5])
bad = [g["id"] for g in grains if not g["start_ns"] <= g["end_ns"] or any(
    not g["start_ns"] <= f["start_ns"] <= f["end_ns"] <= g["end_ns"] for f in g["fragments"])]
check("fragments lie inside their task", not bad, bad[:5])
bad = [g["id"] for g in tasks + implicit
       if g["parent"] not in by_id or g["start_ns"] < by_id[g["parent"]]["start_ns"]]
check("no task begins before its parent", not bad, bad[:5])
bad = []
for t in truth["task"]:
    g = by_id.get(t[0])
    if g is None or not g["start_ns"] <= int(t[5]) <= int(t[6]) <= g["end_ns"] \
            or not g["fragments"] or g["fragments"][0]["tid"] != int(t[7]):
        bad.append((t, g and (g["start_ns"], g["end_ns"], g["fragments"][:1])))
# If siblings were mixed up, they would have each other's times.
check("each body lies where the program says it ran, by time and thread (%d)" % want, not bad and want > 0,
      "%d do not" % len(bad), *bad)
same("work = all fragments", summary["work_ns"], sum(g["exec_ns"] for g in grains))
check("span <= work, both positive", 0 < summary["span_ns"] <= summary["work_ns"],
      summary["span_ns"], summary["work_ns"])

# The summary adds up.
same("summary's grains", (summary["grains"]["total"], summary["grains"]["tasks"], summary["grains"]["chunks"]),
     (want, want, 0))
same("summary's definitions add up", sum(d["instances"] for d in summary["definitions"] if d["kind"] == "task"),
     want)
same("summary's execution time adds up",
     sum(d["exec_ns"]["sum"] for d in summary["definitions"] if d["kind"] == "task"),
     sum(g["exec_ns"] for g in tasks))
same("summary's creation time adds up",
     sum(d["create_ns"]["sum"] for d in summary["definitions"] if d["kind"] == "task"),
     sum(g["create_ns"] for g in tasks))
same("summary's depths add up", sorted((d["depth"], d["grains"]) for d in summary["depths"]),
     sorted(collections.Counter(g["depth"] for g in tasks).items()))
for p, v in sorted(summary["problems"].items()):
    if not v["available"]:
        check("%s is absent with a reason" % p, bool(v.get("why")), v)
if summary["problems"]["parallel_benefit"]["available"]:
    below = [g for g in tasks if g["parallel_benefit"] is not None and g["parallel_benefit"] < 1]
    same("grains below benefit 1", summary["problems"]["parallel_benefit"]["grains"], len(below))
