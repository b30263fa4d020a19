#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what a construct's program knows (tests/omp/constructs/expect.h) with what was recorded.

usage: construct.py NAME PROGRAM.json TRUTH GRAINS.ndjson SUMMARY.json LOG gcc|clang [FROM_NS TO_NS]

FROM_NS and TO_NS are given for an attach: only the rounds between them are compared. Prints one line, "ok - NAME"
or "not ok - NAME: what differs", with details as "# " lines. matrix.py calls compare().
"""
import bisect
import collections
import functools
import json
import re
import sys

# Facts that the documentation calls unobservable, by their reason.
HIDDEN = "static share, bounds not observable"
WAIT_OF_UNDEFERRED = "dependences of undeferred tasks are those of the wait before them"
TARGET_REGIONS = "clang's code calls target regions on the host as any function"


class Differences:
    def __init__(self):
        self.failed = []
        self.hidden = set()
        self.clocks_ns = 0  # how far the clocks of program and recording may disagree

    def check(self, what, good, *details):
        if not good:
            self.failed.append((what, [str(d)[:400] for d in details[:6]]))

    def same(self, what, got, expected):
        self.check(what, got == expected, "got      %s" % (got,), "expected %s" % (expected,))

    def same_set(self, what, got, expected):
        got, expected = collections.Counter(got), collections.Counter(expected)
        missing, extra = expected - got, got - expected
        self.check(what, not missing and not extra,
                   "%d missing of %d, e.g. %s" % (sum(missing.values()), sum(expected.values()),
                                                  sorted(missing, key=str)[:3]),
                   "%d too many, e.g. %s" % (sum(extra.values()), sorted(extra, key=str)[:3]))


class Truth:
    """The program's file, with the rounds inside the window. `rename` maps its identifiers to the report's."""

    def __init__(self, path, seen=None):
        """`seen`: (first, last ns) of the recording. Iterations half a second or more outside it are left out,
        because there may be many."""
        self.lines = collections.defaultdict(list)
        for line in open(path):
            if seen and line.startswith("iter ") and not seen[0] - 5e8 < int(line.rsplit(None, 2)[1]) < seen[1] + 5e8:
                continue
            kind, *rest = line.split()
            self.lines[kind].append(rest)

    def __getitem__(self, kind):
        return self.lines[kind]


class Log:
    """The exported events, with their sources."""

    def __init__(self, path):
        self.events, self.sources = [], {}
        for line in open(path):
            if line.startswith("@source "):
                self.sources[line.split()[1]] = dict(f.split("=", 1) for f in line.split()[2:] if "=" in f)
            if line[:1] in "@#" or line.startswith("grain-log"):
                continue
            f = line.split()
            self.events.append((int(f[0]), int(f[1]), f[3], dict(x.split("=", 1) for x in f[4:])))

    def count(self, event, *conditions):
        wanted = [c.split("=", 1) for c in conditions]
        return sum(e[2] == event and all(e[3].get(k) == v for k, v in wanted) for e in self.events)

    def line(self, keys):
        return self.sources.get(keys.get("src"), {}).get("line", "?")

    def barriers(self):
        """The number of barriers passed, without the implicit barrier that ends a member."""
        passed, last = 0, {}
        for _, tid, event, keys in self.events:
            if event in ("lost", "sample", "off-cpu", "on-cpu"):
                continue
            previous = last.get(tid)
            if previous and previous[0] == "wait-end" and previous[1].get("kind", "").startswith("barrier"):
                passed += event not in ("member-end", "thread-end")
            last[tid] = (event, keys)
        return passed


def count_threads(log_file):
    with open(log_file) as f:
        return len({line.split(None, 2)[1] for line in f if line[0].isdigit()})


def chunk_values(chunk, letter):
    """The ranges that a chunk's record describes, as (lowest, highest)."""
    lower, upper = sorted((chunk["lower"], chunk["upper"]))
    stride = chunk.get("stride") or 0
    for n in range(chunk.get("chunks") or 1):
        yield lower + n * stride, upper + n * stride


def covered(ranges, tid_of, values, what, d, must_cover=True):
    """Whether each of `values` lies in exactly one of the ranges [(lowest, highest, tid, start, end)], on its
    thread."""
    ranges = sorted(ranges)
    lows = [r[0] for r in ranges]
    apart = all(a[1] < b[0] for a, b in zip(ranges, ranges[1:]))
    wrong = []
    for value, tid, begin, end in values:
        at = bisect.bisect_right(lows, value)
        inside = [r for r in (ranges[max(at - 1, 0):at] if apart else ranges) if r[0] <= value <= r[1]]
        if len(inside) != 1:
            wrong.append("%s is in %d ranges %s" % (value, len(inside), inside[:2]))
        elif inside[0][2] is not None and inside[0][2] != tid:
            wrong.append("%s ran on %d, not %s" % (value, tid, inside[0]))
        elif (inside[0][3] is not None and
              not (inside[0][3] - d.clocks_ns <= begin <= end <= inside[0][4] + d.clocks_ns)):
            wrong.append("%s ran at %d-%d, outside of %s" % (value, begin, end, inside[0]))
    known = sorted({v[0] for v in values})
    if must_cover and known:
        for r in ranges:
            at = bisect.bisect_left(known, r[0])
            if at == len(known) or known[at] > r[1]:
                wrong.append("no iteration is in %s" % (r,))
    d.check(what, not wrong, "%d wrong of %d" % (len(wrong), len(values)), *wrong)


def compare_loops(truth, grains, compiler, source, d):
    iterations = collections.defaultdict(list)
    for loop, index, value, tid, times, begin, end in truth["iter"]:
        if int(times):
            iterations[loop].append((int(index), int(value), int(tid), int(begin), int(end)))
    chunks = collections.defaultdict(list)
    for g in grains:
        if g["kind"] == "chunk":
            chunks[g.get("loop") or g["id"].rsplit("[", 1)[0]].append(g)
    known = set()
    for loop, line, schedule, first, step, trip, threads, cancelled in truth["loop"]:
        known.add(loop)
        mine, ran = chunks.get(loop, []), iterations[loop]
        d.check("%s was seen" % loop, bool(mine) or not ran,
                "its chunks are missing, there are %s" % sorted(chunks)[:5])
        hidden = [g for g in mine if g.get("note") == HIDDEN]
        if hidden:
            d.hidden.add(HIDDEN)
            d.same("%s: hidden shares are all of it" % loop, len(hidden), len(mine))
            d.check("%s: bounds are hidden only where they cannot be read" % loop,
                    compiler == "gcc" and schedule in ("static", "auto"), schedule)
            by_thread = collections.defaultdict(list)
            for i in ran:
                by_thread[i[2]].append(i)
            shares = [(g["fragments"][0]["tid"], g["start_ns"], g["end_ns"]) for g in hidden if g["fragments"]]
            for tid, its in by_thread.items():
                d.check("%s: the share of thread %d is there once, around its iterations" % (loop, tid),
                        sum(s[0] == tid and s[1] <= min(i[3] for i in its) and max(i[4] for i in its) <= s[2]
                            for s in shares) == 1, shares, tid, min(i[3] for i in its), max(i[4] for i in its))
            continue
        bad = [g["id"] for g in mine if len({f["tid"] for f in g["fragments"]}) != 1]
        d.check("%s: every chunk was executed by one thread" % loop, not bad, bad[:3])
        ranges = [(low, high, g["fragments"][0]["tid"], g["start_ns"], g["end_ns"])
                  for g in mine if g["fragments"] for low, high in chunk_values(g, loop)]
        # clang numbers iterations from 0, gcc passes the loop's variable to the runtime.
        candidates = [[(i[0],) + i[2:] for i in ran], [(i[1],) + i[2:] for i in ran],
                      [(i[1] % 2**64,) + i[2:] for i in ran]]
        trials = []
        for values in candidates:
            trial = Differences()
            trial.clocks_ns = d.clocks_ns
            covered(ranges, None, values, "%s: each iteration is in the chunk of its thread, once" % loop, trial)
            trials.append(trial)
        best = min(trials, key=lambda t: len(t.failed))
        d.failed += best.failed
        if loop.split("/")[1][0] == "l":
            lines = {g["source"] for g in mine}
            # clang gives the directive's line. gcc gives that line or a loop's line below it, gfortran also a line
            # above it.
            good = {source + str(int(line) + n) for n in
                    ((0,) if compiler == "clang" else (-1, 0, 1) if ".f90" in source else (0, 1, 2))}
            d.check("%s: source lines" % loop, lines <= good, "got %s" % lines, "expected one of %s" % good)
    extra = [k for k in chunks if k not in known]
    d.check("no other loops", not extra, extra[:4], [g["id"] for k in extra for g in chunks[k]][:4])


def compare_taskloops(truth, tasks, d):
    """Returns the tasks that do not belong to a taskloop."""
    iterations = collections.defaultdict(list)
    for loop, index, value, tid, times, begin, end in truth["iter"]:
        if "/t" in loop:
            iterations[loop].append((int(value), int(tid), int(begin), int(end)))
    taken = set()
    children = collections.defaultdict(list)
    for g in tasks:
        if g["parent"] is not None and g["id"].rpartition(".")[2].isdecimal():
            children[g["id"].rpartition(".")[0]].append(g)
    for parent, line, first, step, trip, count, ordinal in truth["taskloop"]:
        name = "taskloop %s/t%s" % (parent, ordinal)
        mine = [g for g in children[parent] if (g["source"] or "").endswith(":" + line)]
        taken.update(g["id"] for g in mine)
        d.check("%s was seen" % name, bool(mine), [(g["id"], g["source"]) for g in tasks[:4]])
        if int(count):
            d.same("%s: its tasks" % name, len(mine), int(count))
        numbers = sorted(int(g["id"].rsplit(".", 1)[1]) for g in mine)
        d.same("%s: their identifiers are consecutive" % name, numbers,
               list(range(int(ordinal), int(ordinal) + len(mine))))
        bounds = [g for g in mine if g["lower"] is not None]
        d.same("%s: tasks with bounds" % name, len(bounds), len(mine))
        ranges = [tuple(sorted((g["lower"], g["upper"]))) + (g["fragments"][0]["tid"] if g["fragments"] else None,
                                                             g["start_ns"], g["end_ns"]) for g in bounds]
        covered(ranges, None, iterations["%s/t%s" % (parent, ordinal)],
                "%s: each iteration is in the task that ran it, once" % name, d)
        joins = {g["join"] for g in mine}
        d.check("%s: all are joined by the same" % name, len(joins) <= 1, joins)
    return [g for g in tasks if g["id"] not in taken]


def compare_tasks(truth, tasks, grains, log, source, d):
    """A window has no log."""
    discarded = {t[0] for t in truth["discarded"]}
    want = truth["task"]
    d.same_set("identifiers, parents and lines of tasks", [(g["id"], g["parent"], g["source"]) for g in tasks],
               [(t[0], t[1], source + t[2]) for t in want])
    d.same_set("joins of tasks", [(g["id"], g["join"]) for g in tasks if not g.get("discarded")],
               [(t[0], t[4] if t[4] != "-" else None) for t in want if t[0] not in discarded])
    d.same_set("discarded tasks", [g["id"] for g in tasks if g.get("discarded")], discarded)
    by_id = {g["id"]: g for g in tasks}
    wrong = []
    for t in want:
        g = by_id.get(t[0])
        if g is None or t[0] in discarded:
            continue
        # An untied task may begin on another thread than its body.
        e = d.clocks_ns
        if not g["start_ns"] - e <= int(t[5]) <= int(t[6]) <= g["end_ns"] + e or not any(
                f["tid"] == int(t[7]) and f["start_ns"] - e <= int(t[5]) <= f["end_ns"] + e for f in g["fragments"]):
            wrong.append((t, g["start_ns"], g["end_ns"], g["fragments"][:1]))
    d.check("each body lies where the program says it ran, by time and thread", not wrong, "%d do not" % len(wrong),
            *wrong)
    if log and not truth["taskloop"]:
        undeferred = collections.Counter()
        for _, _, event, keys in log.events:
            if event == "create-begin":
                undeferred[(log.line(keys), "undeferred" in keys.get("flags", "").split(","))] += 1
        d.same_set("undeferred tasks per line", undeferred.elements(), [(t[2], t[3] == "1") for t in want])


def compare_depends(truth, grains, compiler, d):
    got = {(g["id"], p) for g in grains for p in g["depends_on"]}
    want = {tuple(t) for t in truth["depends"]}
    hidden = {t[0] for t in truth["undeferred"]} if compiler == "clang" else set()
    parents = {t[0]: t[1] for t in truth["task"]}
    if hidden:
        # With clang, the thread waits for the dependences before it begins the task. libomp does not see these
        # dependences.
        d.hidden.add(WAIT_OF_UNDEFERRED)

        def before(task):
            return {q for t, p in want if t == task for q in (before(p) if p in hidden else {p})}

        waits = collections.Counter((parents[t], tuple(sorted(before(t)))) for t in hidden)
        seen = collections.Counter((g["id"], tuple(sorted(w["depends_on"])))
                                   for g in grains for w in g.get("depend_waits") or [])
        d.same("waits for dependences before undeferred tasks", seen & waits, waits)
        want = {(t, p) for t, _ in want if t not in hidden for p in before(t)}
    d.same_set("dependences", got, want)


def compare_events(truth, log, compiler, d):
    for n, event, *conditions in truth["count"]:
        d.same(" ".join([event] + conditions), log.count(event, *conditions),
               sum(int(t[0]) for t in truth["count"] if t[1:] == [event] + conditions))
    for n, event, *conditions in truth["atleast"]:
        need = sum(int(t[0]) for t in truth["atleast"] if t[1:] == [event] + conditions)
        got = log.count(event, *conditions)
        d.check("at least %d %s" % (need, " ".join([event] + conditions)), got >= need, "got %d" % got)
    waits = {t[0]: int(t[1]) for t in truth["waits"]}
    d.same("barriers passed", log.barriers(), waits["barrier"])
    d.same("taskwaits", log.count("wait-end", "kind=taskwait"), waits["taskwait"])
    d.same("taskgroups", log.count("wait-end", "kind=taskgroup"), waits["taskgroup"])
    if truth["single"]:
        # gcc gives the call no line of its own.
        d.same_set("singles: winner, and line with clang",
                   [(compiler == "clang" and log.line(e[3]), e[1]) for e in log.events
                    if e[2] == "single-begin" and e[3].get("won") == "1"],
                   [(compiler == "clang" and t[0], int(t[1])) for t in truth["single"]])


def compare_truthfulness(summary, grains, allowed, d):
    events = summary["events"]
    for key in ("lost", "unmatched_begins", "unmatched_ends", "never_begun", "never_ended", "unclosed_waits",
                "read_faults"):
        if key not in allowed:
            d.same("events " + key, events[key], 0)
    d.same("losses of all causes", sum(events["losses"].values()), 0)
    d.same("conservation", (summary["conservation"]["violations"], summary["conservation"]["first"]), (0, None))
    if "unclosed_waits" not in allowed:
        d.same("nothing incomplete",
               (summary["grains"]["incomplete"], [g["id"] for g in grains if g["incomplete"]][:5]), (0, []))
        d.same("incomplete regions", summary["incomplete_regions"], 0)
    compare_threads(grains, d)


def compare_threads(grains, d):
    spans = collections.defaultdict(list)
    for g in grains:
        for f in g["fragments"]:
            if f["end_ns"] > f["start_ns"]:
                spans[f["tid"]].append((f["start_ns"], f["end_ns"], g["id"]))
    overlaps = [(a, b) for s in spans.values() for a, b in zip(sorted(s), sorted(s)[1:]) if b[0] < a[1]]
    d.check("a thread executes one thing at a time", not overlaps, *overlaps)


# The shim reads the processor's counter, the programs CLOCK_MONOTONIC.
CLOCKS_AGREE_NS = 50

# The things that are numbered in the initial task: its regions, tasks, loops, sections constructs and joins.
TOP = re.compile(r"0(\.p|\.|/l|/x|/j)(\d+)(?=[./[]|$)")


class Window:
    """The rounds inside an attach, and how the recording numbers the things of the initial task."""

    def __init__(self, rounds, t_from, t_to):
        self.rounds = sorted(r for r in rounds if t_from <= r[0] and r[1] <= t_to)
        self.starts = [r[0] for r in self.rounds]
        self.shift, self.numbers = {}, collections.defaultdict(set)

    def has(self, ns):
        i = bisect.bisect_right(self.starts, ns) - 1
        return i >= 0 and ns <= self.rounds[i][1]

    def align(self, kind, program, recorded, d):
        """program: [(ns, number)], recorded: {number: (from, to)}. Returns the difference that is the same for all
        numbers."""
        inside = [(ns, n) for ns, n in program if self.has(ns)]
        spans = sorted((a, b, n) for n, (a, b) in recorded.items())
        shifts = set()
        for ns, n in inside:
            i = bisect.bisect_right(spans, (ns, 1 << 70)) - 1
            shifts.add(spans[i][2] - n if i >= 0 and ns <= spans[i][1] else "%s is absent" % n)
        d.check("what the initial task has is numbered without gaps: '0%s'" % kind, len(shifts) <= 1, *shifts)
        if inside and len(shifts) == 1 and isinstance(next(iter(shifts)), int):
            self.shift[kind] = shifts.pop()
            self.numbers[kind] = set(range(min(n for _, n in inside), max(n for _, n in inside) + 1))

    def renamed(self, text):
        """The number as the recording has it. None: it is not inside the window."""
        m = TOP.match(text)
        if not m or m.group(1) not in self.shift or int(m.group(2)) not in self.numbers[m.group(1)]:
            return None
        return "0%s%d%s" % (m.group(1), int(m.group(2)) + self.shift[m.group(1)], text[m.end():])

    def holds(self, recorded_name):
        m = TOP.match(recorded_name)
        return bool(m) and int(m.group(2)) - self.shift.get(m.group(1), 0) in self.numbers[m.group(1)]


def top_spans(kind, names):
    """{number: (first, last ns)} of those (name, first, last) that begin with '0' and `kind`."""
    spans = {}
    for name, first, last in names:
        m = TOP.match(name)
        if m and m.group(1) == kind:
            old = spans.get(int(m.group(2)), (first, last))
            spans[int(m.group(2))] = (min(old[0], first), max(old[1], last))
    return spans


def align_joins(w, truth, grains):
    """Joins have no times. The first join that both sides know gives the difference."""
    ours = {g["id"]: g["join"] for g in grains if g.get("join")}
    for t in truth["task"]:
        m, name = TOP.match(t[4]), w.renamed(t[0])
        other = TOP.match(ours.get(name, ""))
        if name and m and m.group(1) == "/j" and other:
            w.shift.setdefault("/j", int(other.group(2)) - int(m.group(2)))
            w.numbers["/j"].add(int(m.group(2)))


def add_edges(w, truth, grains, summary):
    """Regions at the edges that are not marked incomplete must be as exact as those inside."""
    marked, seen = set(), set()
    for name, incomplete in [(g["id"], g["incomplete"]) for g in grains] + \
            [(r["id"], r["incomplete"]) for r in summary["regions"]]:
        m = TOP.match(name)
        if m and m.group(1) == ".p":
            (marked if incomplete else seen).add(int(m.group(2)) - w.shift[".p"])
    w.numbers[".p"] |= seen - marked


def window(truth, grains, summary, t_from, t_to, d):
    """Keeps the rounds inside the window and all else that is marked complete. Numbers are changed to those of the
    recording."""
    w = Window([tuple(map(int, r)) for r in truth["round"]], t_from, t_to)
    d.check("the window holds at least 2 rounds", len(w.rounds) >= 2, len(w.rounds), len(truth["round"]))
    regions = top_spans(".p", [(r["id"], r["start_ns"], r["start_ns"]) for r in summary["regions"]])
    names = sorted((span[0], n) for n, span in regions.items())
    aligned = []
    for start, end, first, past in w.rounds:
        lo, hi = bisect.bisect_left(names, (start, -1)), bisect.bisect_right(names, (end, 1 << 70))
        d.check("the regions of every round inside the window are there", hi - lo == past - first,
                "round %d-%d: %d of %d" % (start, end, hi - lo, past - first))
        aligned += [(ns, n) for (ns, _), n in zip(names[lo:hi], range(first, past))]
    w.align(".p", aligned, regions, d)
    w.align(".", [(int(t[5]), int(TOP.match(t[0]).group(2))) for t in truth["task"] if re.fullmatch(r"0\.\d+", t[0])],
            top_spans(".", [(g["id"], g["start_ns"], g["end_ns"]) for g in grains
                            if re.fullmatch(r"0\.\d+", g["id"])]), d)
    chunks = [(g["id"], g["start_ns"], g["end_ns"]) for g in grains if g["kind"] == "chunk"]
    for kind in ("/l", "/x"):
        w.align(kind, [(int(t[5]), int(TOP.match(t[0]).group(2))) for t in truth["iter"]
                       if t[0].startswith("0" + kind) and int(t[4])], top_spans(kind, chunks), d)
    align_joins(w, truth, grains)
    strays = [g for g in grains if g["id"] != "0" and w.has(g["start_ns"]) and not w.holds(g["id"])]
    d.check("nothing inside the window is without its place", not strays, *[(g["id"], g["kind"]) for g in strays])
    if ".p" in w.shift:
        add_edges(w, truth, grains, summary)

    kept, renamed = Truth("/dev/null"), functools.lru_cache(None)(w.renamed)
    columns = {"task": (0, 1, 4), "implicit": (0,), "region": (0,), "loop": (0,), "iter": (0,), "taskloop": (0,),
               "depends": (0, 1), "discarded": (0,), "undeferred": (0,)}
    for kind, where in columns.items():
        for line in truth[kind]:
            if renamed(line[0]) is None:
                continue
            new = list(line)
            for c in where:
                new[c] = renamed(line[c]) or line[c]
            kept[kind].append(new)
    d.check("the window holds what the program does", kept["region"] or kept["task"] or kept["loop"])
    grains = [g for g in grains if w.holds(g["id"])]
    d.check("nothing incomplete inside the window", not [g for g in grains if g["incomplete"]],
            [g["id"] for g in grains if g["incomplete"]][:5])
    summary["regions"] = [r for r in summary["regions"] if w.holds(r["id"])]
    d.check("no region inside the window is incomplete", not [r for r in summary["regions"] if r["incomplete"]],
            [r["id"] for r in summary["regions"] if r["incomplete"]][:5])
    return kept, grains


def compare(program_file, truth_file, grains_file, summary_file, log_file, compiler, limits=None):
    d = Differences()
    program = json.load(open(program_file))
    summary, grains = open(summary_file).read(), open(grains_file).read()
    # An attach and a detach take as long as the machine needs.
    seen = [int(ns) for ns in re.findall(r'"(?:start|end)_ns":(\d+)', grains)] if limits else []
    truth, log = Truth(truth_file, (min(seen), max(seen)) if seen else None), None if limits else Log(log_file)
    if limits and any(t[0].startswith("0/") for t in truth["loop"]):
        # If the program is attached to in a loop of the initial task, the thread may be a member from its first
        # barrier on. The name says so until a region shows otherwise. Most of the loops have one name or the other.
        for name, _ in collections.Counter(re.findall(r'"id":"(0|\?\d+)/', grains)).most_common(1):
            since = re.search(r'"id":"%s.*?"start_ns":(\d+)' % ("0/" if name == "0" else re.escape(name) + '",'),
                              grains)
            limits = max(limits[0], int(since.group(1))), limits[1]
            if name != "0":
                summary, grains = (re.sub(r'"%s(?=["./])' % re.escape(name), '"0', text.replace('"0/', '"?/'))
                                   for text in (summary, grains))
    summary, grains = json.loads(summary), [json.loads(line) for line in grains.splitlines()]
    d.clocks_ns = CLOCKS_AGREE_NS if summary["source"] == "shim" else 0
    d.check("the program's result is right", program["correct"] is True, program)
    allowed = {t[0] for t in truth["allow"]}
    if "target_regions" in allowed:
        d.hidden.add(TARGET_REGIONS)
    if limits:
        for key in ("lost", "read_faults"):
            d.same("events " + key, summary["events"][key], 0)
        # At the edges of the window, the begin or end of some things is not seen. At the first edge these are a
        # team's start, its beginning and the members of all other threads; at the last edge, a loop or creation of
        # each thread. There can be many bodies of tasks that were created before.
        losses = dict(summary["events"]["losses"])
        losses.pop("unknown-bodies", 0)
        threads = count_threads(log_file)
        # Some tasks run while they are created: there is no other thread or no queue, or their if clause says so.
        # Then creations nest as waits do.
        if threads == 1 or allowed & {"unclosed_waits", "nested_creations"}:
            losses.pop("unclosed-creations", 0)
        d.check("nothing lost but the edges", all(re.match("unmatched-|unclosed-", k) for k in losses) and
                sum(losses.values()) <= 2 * threads + 1, losses)
        compare_threads(grains, d)
        d.same("conservation", (summary["conservation"]["violations"], summary["conservation"]["first"]), (0, None))
        truth, grains = window(truth, grains, summary, limits[0], limits[1], d)
    else:
        compare_truthfulness(summary, grains, allowed, d)
        compare_events(truth, log, compiler, d)
        d.same("one initial task", [g["id"] for g in grains if g["kind"] == "initial"], ["0"])
    base = re.sub(r"\.(gcc|clang)$", "", program["program"])
    sources = {g["source"].rsplit(":", 1)[0] for g in grains if g["source"] and ":" in g["source"]}
    named = [s for s in sources if s.rsplit(".", 1)[0] == base]
    source = (named[0] if named else base + ".c") + ":"
    tasks = [g for g in grains if g["kind"] == "task" and not g.get("runtime")]
    tasks = compare_taskloops(truth, tasks, d)
    compare_tasks(truth, tasks, grains, log, source, d)
    d.same_set("members", [g["id"] for g in grains if g["kind"] == "implicit"], [t[0] for t in truth["implicit"]])
    d.same_set("regions, lines, threads", [(r["id"], r["source"], r["threads"]) for r in summary["regions"]],
               [(t[0], source + t[2], int(t[3])) for t in truth["region"]])
    compare_loops(truth, grains, compiler, source, d)
    compare_depends(truth, grains, compiler, d)
    return d


def main():
    name, *files = sys.argv[1:7]
    limits = tuple(map(int, sys.argv[8:10])) if len(sys.argv) > 9 else None
    d = compare(*files, sys.argv[7], limits)
    if not d.failed:
        print("ok - %s%s" % (name, " (%s)" % ", ".join(d.hidden) if d.hidden else ""))
        return
    print("not ok - %s: %s" % (name, "; ".join(f[0] for f in d.failed)[:300]))
    for what, details in d.failed:
        print("# %s" % what)
        for line in details:
            print("#     " + line)


if __name__ == "__main__":
    main()
