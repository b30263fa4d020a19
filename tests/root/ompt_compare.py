#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what libomp itself reports of a run (tests/tools/ompt_truth.c) with what was reconstructed, event for event.

usage: ompt_compare.py NAME OMPT_FILE GRAINS.ndjson SUMMARY.json LOG

Prints one line, "ok - NAME" or "not ok - NAME: what differs", with details as "# " lines.
"""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import construct

INITIAL, UNDEFERRED = 0x1, 0x08000000
BARRIERS = {1, 2, 3, 4, 8, 9, 10}
TASKWAIT, TASKGROUP = 5, 6
SINGLE_WON, SINGLE_OTHER, LOOP, SECTIONS = 3, 4, {1, 10, 11, 12, 13, 14, 6}, 2
YIELDED = 2
DISCARDED = 0x40  # in the flags of a cancel
LEAGUE = 0x40000000
LOOP_CHUNK = 3


class Task:
    def __init__(self, number, kind, parent):
        self.number, self.kind, self.parent = number, kind, parent
        self.path = self.region_number = None
        self.home = None         # what its number is counted in
        self.maker = None        # the task in which it was created, if one was seen to begin on its thread
        self.splits = False      # made by the runtime to make a taskloop's tasks
        self.children = self.regions = self.singles = self.loops = 0
        self.single = None       # the one that it is inside of
        self.single_children = 0
        self.loop = None
        self.begun_on, self.team = None, 0
        self.in_team = False
        self.undeferred = self.discarded = False


class Ompt:
    """The run as OMPT tells it: tasks with their paths by METRICS' naming."""

    def __init__(self, path):
        self.tasks, self.regions, self.chunks, self.depends, self.waits = {}, {}, [], [], collections.Counter()
        self.events = []
        for line in open(path):
            ns, tid, kind, *rest = line.split()
            self.events.append((int(ns), int(tid), kind, list(map(int, rest))))
        self.events.sort(key=lambda e: e[0])
        self.initials = 0
        self.running = {}        # on each thread
        self.leagues, self.team_of = set(), {}
        followers = {}
        for e in reversed(self.events):
            followers[id(e)] = followers.get(e[1])
            followers[e[1]] = e
        for e in self.events:
            handler = getattr(self, "on_" + e[2].replace("-", "_"), None)
            if handler:
                handler(e, followers[id(e)])

    def on_parallel_begin(self, e, _):
        number, task, _, flags = e[3]
        parent = self.tasks[task]
        if flags & LEAGUE:
            self.leagues.add(number)
        elif parent.region_number in self.leagues and not parent.in_team:
            # The runtime's own region of one that executes a team: its member is the team's.
            self.regions[number] = None
            self.team_of[number] = parent
            parent.in_team = True
            return
        if parent.single is not None:
            path = "%s.p%d" % (parent.single, self.singles[parent.single]["regions"])
            self.singles[parent.single]["regions"] += 1
        else:
            path = "%s.p%d" % (parent.path, parent.regions)
            parent.regions += 1
        self.regions[number] = path

    singles = None

    def on_implicit_begin(self, e, _):
        region, number, team, index, flags = e[3]
        if region in self.team_of:
            self.tasks[number] = self.team_of[region]
            return
        t = self.tasks[number] = Task(number, "initial" if flags & INITIAL and region not in self.regions else "implicit", None)
        if t.kind == "initial":
            t.path = str(self.initials)
            self.initials += 1
            # Every initial task of a league's teams is its region's member.
        else:
            t.path = "%s.%d" % (self.regions[region], index)
        t.region, t.region_number = self.regions.get(region), region
        t.begun_on, t.team = e[1], team
        if self.singles is None:
            self.singles = collections.defaultdict(lambda: {"children": 0, "regions": 0})

    def on_create(self, e, follower):
        number, parent, flags, _ = e[3]
        p = self.tasks[parent]
        t = self.tasks[number] = Task(number, "task", p)
        if p.single is not None:
            t.home, ordinal = p.single, self.singles[p.single]["children"]
            self.singles[p.single]["children"] += 1
        else:
            t.home, ordinal = "%s[chunk]" % p.loop if p.loop is not None else p.path, p.children
            p.children += 1
        t.path = "%s.%d" % (t.home, ordinal)
        t.maker = self.running.get(e[1])
        # OMPT does not flag one that runs in the creating call because too many wait: its body
        # begins before its parent does anything else, be it to yield or to wait.
        t.undeferred = bool(flags & UNDEFERRED) or bool(
            follower and follower[2] == "schedule" and follower[3][0] == parent and follower[3][1] != YIELDED and
            follower[3][2] == number)

    def on_schedule(self, e, _):
        t = self.running[e[1]] = self.tasks.get(e[3][2])
        if t and t.begun_on is None:
            t.begun_on = e[1]

    def on_cancel(self, e, _):
        task, flags = e[3]
        if flags & DISCARDED:
            self.tasks[task].discarded = True

    def name_splits(self):
        """OMPT calls tasks that split a taskloop its tasks, but what they make is not their child."""
        created = sorted((t for t in set(self.tasks.values()) if t.kind == "task"), key=lambda t: t.number)
        for t in created:
            if t.maker and t.maker.kind == "task" and t.maker is not t.parent:
                t.maker.splits = True
        count = collections.Counter()
        for t in created:
            t.path = "%s.%s%d" % (t.home, "t" if t.splits else "", count[t.home, t.splits])
            count[t.home, t.splits] += 1

    def on_work_begin(self, e, _):
        kind, _, task, _ = e[3]
        t = self.tasks[task]
        if kind in (SINGLE_WON, SINGLE_OTHER):
            if kind == SINGLE_WON and t.kind == "implicit":
                t.single = "%s.s%d" % (t.region, t.singles)
            t.singles += 1
            if kind == SINGLE_WON:
                self.waits["single won"] += 1
        elif kind in LOOP or kind == SECTIONS:
            t.loop = "%s/%s%d" % (t.region or "0", "x" if kind == SECTIONS else "l", t.loops)
            t.loops += 1

    def on_work_end(self, e, _):
        kind, _, task, _ = e[3]
        if kind == SINGLE_WON:
            self.tasks[task].single = None
        elif kind in LOOP or kind == SECTIONS:
            self.tasks[task].loop = None

    def on_dispatch(self, e, _):
        kind, _, task, start, iterations = e[3]
        if kind == LOOP_CHUNK and iterations:
            self.chunks.append((self.tasks[task].loop, start, start + iterations - 1, e[1]))

    def on_depends(self, e, _):
        task, kind, address = e[3]
        if kind in DEPEND_KINDS.values():
            self.depends.append((kind, address))

    def on_sync_begin(self, e, _):
        kind, _, task = e[3]
        if kind == TASKWAIT:
            self.waits["taskwait", e[1]] += 1
        elif kind == TASKGROUP:
            self.waits["taskgroup", e[1]] += 1

    def on_sync_end(self, e, follower):
        task = self.tasks.get(e[3][2])
        # A team of one has no barrier at its end.
        last = follower and follower[2] in ("implicit-end", "parallel-end") and task and task.team > 1
        if e[3][0] in BARRIERS and not last:
            self.waits["barrier", e[1]] += 1


# OMPT's numbers of the log's kinds of dependence.
DEPEND_KINDS = {"in": 1, "out": 2, "inout": 3, "mutexinoutset": 4, "inoutset": 7}


def compare(ompt_file, grains_file, summary_file, log_file):
    d = construct.Differences()
    ompt, log = Ompt(ompt_file), construct.Log(log_file)
    summary = json.load(open(summary_file))
    grains = [json.loads(line) for line in open(grains_file)]
    tasks = [g for g in grains if g["kind"] == "task"]
    d.same("events lost", summary["events"]["lost"], 0)
    d.same("conservation", (summary["conservation"]["violations"], summary["conservation"]["first"]), (0, None))
    theirs = [t for t in set(ompt.tasks.values()) if t.path]
    created = [t for t in theirs if t.kind == "task"]
    split = any(g.get("runtime") for g in tasks)
    if split:
        ompt.name_splits()
    d.same_set("paths and kinds", [(g["id"], g["kind"]) for g in grains if g["kind"] != "chunk"],
               [(t.path, t.kind) for t in theirs])
    # Tasks of a taskloop are numbered by their bounds, which OMPT does not tell.
    named = (lambda path: re.sub(r"\d+$", "#", path)) if split else (lambda path: path)
    d.same_set("discarded tasks", [named(g["id"]) for g in tasks if g.get("discarded")],
               [named(t.path) for t in created if t.discarded])
    d.same_set("threads that begin them", [(named(g["id"]), g["fragments"][0]["tid"]) for g in tasks if g["fragments"]],
               [(named(t.path), t.begun_on) for t in created if t.begun_on and not t.discarded])
    creations = [e[3].get("flags", "").split(",") for e in log.events if e[2] == "create-begin"]
    d.same("creations", len(creations), len(tasks))
    # Grains are in the order of their creation.
    d.same_set("undeferred tasks", [named(g["id"]) for g, flags in zip(tasks, creations) if "undeferred" in flags],
               [named(t.path) for t in created if t.undeferred and not t.discarded])
    d.same_set("regions", [r["id"] for r in summary["regions"]], [r for r in ompt.regions.values() if r])
    got = collections.Counter()
    for _, tid, event, keys in log.events:
        if event == "wait-end" and keys.get("kind") in ("taskwait", "taskgroup"):
            got[keys["kind"], tid] += 1
    d.same_set("taskwaits and taskgroups per thread", got.elements(),
               collections.Counter({k: n for k, n in ompt.waits.items() if k[0] in ("taskwait", "taskgroup")}).elements())
    d.same("barriers", log.barriers(), sum(n for k, n in ompt.waits.items() if k[0] == "barrier"))
    d.same("singles", log.count("single-begin", "won=1"), ompt.waits["single won"])
    d.same_set("dependences as given", [(DEPEND_KINDS.get(e[3].get("kind")), int(e[3]["addr"], 0)) for e in log.events
                                        if e[2] == "depend"], ompt.depends)
    if ompt.chunks:
        # OMPT tells the first of a thread's static chunks only.
        static = {l["id"] for l in summary["loops"] if (l["schedule"] or "").startswith("static")}
        mine = []
        for g in grains:
            if g["kind"] == "chunk" and g["fragments"] and "/l" in g["id"]:
                for low, high in construct.chunk_values(g, "l"):
                    mine.append((g["loop"], low, high, g["fragments"][0]["tid"]))
        d.same_set("chunks with their threads", [c for c in mine if c[0] not in static],
                   [c for c in ompt.chunks if c[0] not in static])
        missing = [c for c in ompt.chunks if c[0] in static and c not in mine]
        d.check("static chunks with their threads", not missing, *missing)
    return d


def main():
    name = sys.argv[1]
    d = compare(*sys.argv[2:6])
    print("%s - %s%s" % ("not ok" if d.failed else "ok", name, "".join(": " + f[0] for f in d.failed[:1])))
    for what, details in d.failed:
        print("# %s" % what)
        for line in details:
            print("#     " + line)


if __name__ == "__main__":
    main()
