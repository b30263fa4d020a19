#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what libomp itself reports of a run (tests/tools/ompt_truth.c) with what was reconstructed, event by
event.

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
# What LIBOMP_NUM_HIDDEN_HELPER_THREADS is by itself. No program has as many threads in a second initial task.
HELPERS = 8
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
        self.home = None         # the task or region that its number counts in
        self.maker = None        # the task that created it, if that task began on its thread
        self.splits = False      # the runtime made it to make a taskloop's tasks
        self.children = self.regions = self.singles = self.loops = 0
        self.single = None       # the single construct that it is inside
        self.single_children = 0
        self.loop = None
        self.begun_on, self.team = None, 0
        self.in_team = False
        self.undeferred = self.discarded = False


class Ompt:
    """The run as OMPT reports it: tasks with their paths, named as in METRICS."""

    def __init__(self, path):
        self.tasks, self.regions, self.chunks, self.depends, self.waits = {}, {}, [], [], collections.Counter()
        self.events = []
        for line in open(path):
            ns, tid, kind, *rest = line.split()
            self.events.append((int(ns), int(tid), kind, list(map(int, rest))))
        self.events.sort(key=lambda e: e[0])
        self.initials = 0
        self.running = {}        # by thread
        self.leagues, self.team_of = set(), {}
        # The regions of libomp's own threads for target tasks, which nobody begins, or an initial task of one of these,
        # and their implicit tasks.
        self.helpers, self.helper_tasks = set(), set()
        followers = {}
        for e in reversed(self.events):
            followers[id(e)] = followers.get(e[1])
            followers[e[1]] = e
        for e in self.events:
            handler = getattr(self, "on_" + e[2].replace("-", "_"), None)
            if handler:
                handler(e, followers[id(e)])

    def on_parallel_begin(self, e, _):
        number, task, requested, flags = e[3]
        if task not in self.tasks:
            self.helpers.add(number)
            return
        parent = self.tasks[task]
        if parent.kind == "initial" and parent.path != "0" and requested == HELPERS:
            self.helpers.add(number)
            self.helper_tasks.add(task)
            del self.tasks[task]
            self.initials -= 1
            return
        if flags & LEAGUE:
            self.leagues.add(number)
        elif parent.region_number in self.leagues and not parent.in_team:
            # The runtime's own region of one thread that executes a team. Its member is the member of the team.
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
        if region in self.helpers:
            self.helper_tasks.add(number)
            return
        if region in self.team_of:
            self.tasks[number] = self.team_of[region]
            return
        t = self.tasks[number] = Task(number,
                                      "initial" if flags & INITIAL and region not in self.regions else "implicit", None)
        if t.kind == "initial":
            t.path = str(self.initials)
            self.initials += 1
            # Every initial task of a league's teams is a member of the league's region.
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
        # OMPT does not flag a task that runs in the creating call because too many tasks wait. Its body begins before
        # its parent does anything else, including a yield or a wait.
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
        """OMPT calls tasks that split a taskloop children of the taskloop. But the tasks that these make are not
        their children."""
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
        # A team of one thread has no barrier at its end.
        last = follower and follower[2] in ("implicit-end", "parallel-end") and task and task.team > 1
        if e[3][0] in BARRIERS and not last and e[3][2] not in self.helper_tasks:
            self.waits["barrier", e[1]] += 1


# OMPT's numbers for the log's kinds of dependence.
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
    # Tasks of a taskloop are numbered by their bounds, which OMPT does not report.
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
               collections.Counter({k: n for k, n in ompt.waits.items() if k[0] in ("taskwait", "taskgroup")})
               .elements())
    d.same("barriers", log.barriers(), sum(n for k, n in ompt.waits.items() if k[0] == "barrier"))
    d.same("singles", log.count("single-begin", "won=1"), ompt.waits["single won"])
    d.same_set("dependences as given", [(DEPEND_KINDS.get(e[3].get("kind")), int(e[3]["addr"], 0)) for e in log.events
                                        if e[2] == "depend"], ompt.depends)
    if ompt.chunks:
        # OMPT reports only the first of a thread's static chunks.
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
