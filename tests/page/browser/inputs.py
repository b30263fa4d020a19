# SPDX-License-Identifier: BSD-2-Clause
"""What the browser opens, and the same facts from grainctl's JSON, which the page is compared with."""
import functools
import glob
import json
import os
import re
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
PROBLEMS = ["parallel_benefit", "load_balance", "work_deviation", "instantaneous_parallelism", "scatter",
            "memory_hierarchy_utilization", "cache_miss_ratio"]
LOW_IS_BAD = {"parallel_benefit", "instantaneous_parallelism", "memory_hierarchy_utilization"}


class Input:
    """A recording, and its report in `folder`. The documents are made when they are asked for."""

    def __init__(self, build, folder, name, recording, *options):
        self.name, self.recording, self.options = name, recording, list(options)
        self.ctl = build + "/grainctl"
        self.html = os.path.join(folder, name + ".html")
        self.run("report", "--format", "html", "-o", self.html)

    def run(self, verb, *options):
        p = subprocess.run([self.ctl, verb, self.recording, *self.options, *options], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True)
        if p.returncode:
            raise RuntimeError("%s: %s" % (" ".join(p.args), p.stderr.strip()[-300:]))
        return p.stdout

    @functools.cached_property
    def summary(self):
        return json.loads(self.run("summary", "--json"))

    @functools.cached_property
    def contexts(self):
        """In the order of the analysis, which is the page's."""
        return [json.loads(line) for line in self.run("report", "--format", "json").splitlines()]

    @functools.cached_property
    def groups(self):
        return [json.loads(line) for line in self.run("report", "--format", "groups").splitlines()]

    @functools.cached_property
    def index(self):
        return {c["id"]: i for i, c in enumerate(self.contexts)}

    @functools.cached_property
    def region_ends(self):
        """The joins that are the end of a region, which the lines of the JSON do not tell from other barriers."""
        return set(re.findall(r'<data key="d0">([^<]*/b\d+)</data>[^\n]*>region-end<',
                              self.run("report", "--format", "graphml")))

    def team_of(self, context):
        """The members of the innermost region that a context is in."""
        regions = {r["id"]: r["threads"] for r in self.summary["regions"]}
        name = context["id"]
        while name and name not in regions:
            name = name[:max(name.rfind("."), name.rfind("/"), name.rfind("["))] if re.search(r"[./\[]", name) else ""
        return regions.get(name)

    def is_grain(self, context):
        return context["kind"] == "chunk" or context["kind"] == "task" and not context.get("runtime")

    def is_complete(self, context):
        return self.is_grain(context) and not context["incomplete"] and not context.get("discarded")

    def has_problem(self, context, problem):
        """By the metric and its threshold, METRICS in analysis/README.md; not from any flag."""
        known, value = self.summary["problems"][problem], context[problem]
        if not known["available"] or value is None or not self.is_complete(context):
            return False
        threshold = known["threshold"]
        if problem == "instantaneous_parallelism" and "instantaneous_parallelism=" not in " ".join(self.options):
            threshold = self.team_of(context) or threshold
        return value < threshold if problem in LOW_IS_BAD else value > threshold


class Inputs:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def log(self, name, path=None, *options):
        return Input(self.build, self.folder, name, path or "%s/tests/data/%s.log" % (ROOT, name), *options)

    def logs(self):
        """Every event log of the repository's examples."""
        return [self.log(os.path.basename(path)[:-4]) for path in sorted(glob.glob(ROOT + "/tests/data/*.log"))]

    def made(self, grains, threads=8, *options):
        """An invented task program of so many grains (tools/make_trace)."""
        trace = "%s/made%d.grt" % (self.folder, grains)
        subprocess.run([self.build + "/tests/tools/make_trace", trace, str(grains), str(threads)], check=True,
                       stdout=subprocess.DEVNULL)
        return Input(self.build, self.folder, "made%d" % grains, trace, *options)

    def kept(self):
        """The windows of a long job: its first part and two regions after it."""
        return self.windowed("kept", (" kept=first", " kept=every every=4", " kept=slowest,last"))

    def windowed(self, name="windowed", why=("", "", "")):
        """The same region in three windows of a longer time, as a ceiling has it recorded."""
        with open(ROOT + "/tests/data/fib_two_threads.log") as log:
            text = log.read().splitlines()
        heads, events = [l for l in text if not l[0].isdigit()], [l.split(" ", 1) for l in text if l[0].isdigit()]
        # Each window has a beginning and an end of both threads.
        for tid, cpu in ("101", "0"), ("102", "1"):
            own = [i for i, (_, rest) in enumerate(events) if rest.startswith(tid + " ")]
            events.insert(own[-1] + 1, [events[own[-1]][0], "%s %s thread-end" % (tid, cpu)])
            events.insert(own[0], [events[own[0]][0], "%s %s thread-begin" % (tid, cpu)])
        first, last = int(events[0][0]), int(events[-1][0])
        windows, lines, step = [], [], 10 * (last - first)
        for n in range(3):
            windows.append("@window begin_ns=%d end_ns=%d cost_ns=7%s" % (first + n * step, last + n * step, why[n]))
            # Numbers of regions and tasks are used once.
            lines += ["%d %s" % (int(at) + n * step, re.sub(r"\b(region|task|loop|parent)=(\d+)", lambda m: "%s=%d" % (
                m.group(1), int(m.group(2)) + 100 * n), rest)) for at, rest in events]
        return self.written(name, "\n".join(heads + windows + lines) + "\n")

    def partial(self):
        """The first 500 grains of a job of a million, of which the rest is sums."""
        trace = self.folder + "/partial.grt"
        folded = "@folded events=9000000 lost=0 tasks=1000000 chunks=0 regions=3 shares=0 incomplete=0 " \
            "work_ns=80000000000 first_ns=1000 last_ns=10000001000"
        subprocess.run([self.build + "/tests/tools/make_trace", trace, "500", "4", "0", folded], check=True,
                       stdout=subprocess.DEVNULL)
        return Input(self.build, self.folder, "partial", trace)

    def written(self, name, text, *options):
        path = "%s/%s.log" % (self.folder, name)
        with open(path, "w") as log:
            log.write(text)
        return Input(self.build, self.folder, name, path, *options)

    def sourced(self):
        """The constructs' log with a source file that is there: its excerpts are in the report."""
        # Of root's file it has what everybody may read.
        os.chmod(self.folder, 0o711)
        source = self.folder + "/a.c"
        with open(source, "w") as out:
            out.writelines("\tline_%d(\"<b>&amp;\"); /* of a.c */\n" % n for n in range(1, 201))
        with open(ROOT + "/tests/data/constructs_two_threads.log") as log:
            return self.written("sourced", re.sub(r"file=a\.c", "file=a.c path=" + source, log.read()))

    def damaged(self):
        """Lines in the middle of it were lost, as the summary says."""
        with open(ROOT + "/tests/data/constructs_two_threads.log") as log:
            text = log.read().splitlines(True)
        events = [line for line in text if line[0].isdigit()]
        gone = set(events[len(events) // 3:len(events) // 2])
        return self.written("damaged", "".join(line for line in text if line not in gone), "--keep-going")

    def chain(self, tasks):
        """Each task makes the next and waits for it."""
        lines, at = ["grain-log 1", "@machine host=n cores=2 sockets=1 kernel=6.1.0",
                     '@process pid=10 uid=1000 exe=/opt/app/chain cmd="chain" runtime=libgomp threads=2',
                     "@source 0 file=c.c line=9 func=main kind=task",
                     "@source 1 file=c.c line=12 func=main kind=taskwait", "100 10 0 thread-begin"], 200
        for task in range(1, tasks + 1):
            lines += ["%d 10 0 create-begin task=%d src=0 flags=deferred" % (at, task),
                      "%d 10 0 create-end task=%d" % (at + 20, task),
                      "%d 10 0 wait-begin kind=taskwait src=1" % (at + 40),
                      "%d 10 0 task-begin task=%d" % (at + 50, task)]
            at += 100
        for task in range(tasks, 0, -1):
            at += 100
            lines += ["%d 10 0 task-end task=%d" % (at, task), "%d 10 0 wait-end kind=taskwait" % (at + 10)]
        return self.written("chain%d" % tasks, "\n".join(lines + ["%d 10 0 thread-end" % (at + 100)]) + "\n")

    def stepped(self, step):
        """The constructs' log, the first loop of which counts in steps: 80 iterations, 10 a chunk."""
        def stretched(m):
            return m.group(1) + re.sub(r"(lower|upper)=(\d+)", lambda n: "%s=%d" % (n.group(1), int(n.group(2)) * step),
                                       m.group(2))
        with open(ROOT + "/tests/data/constructs_two_threads.log") as log:
            text = re.sub(r"(?m)^(\d+ \d+ \d+ (?:loop|chunk)-begin loop=1 )(.*)$", stretched, log.read())
        return self.written("stepped", text.replace(" step=1 chunk=10 ", " step=%d chunk=10 " % step))

    def dependent(self):
        """A region of two threads; the tasks 1 to 4 are a diamond, 5 depends on nothing, a taskwait waits for all."""
        lines = ["grain-log 1", "@machine host=n cores=2 sockets=1 kernel=6.1.0",
                 '@process pid=10 uid=1000 exe=/opt/app/diamond cmd="diamond" runtime=libgomp threads=2',
                 "@source 0 file=d.c line=5 func=main kind=parallel", "@source 1 file=d.c line=9 func=main kind=task",
                 "@source 2 file=d.c line=12 func=main kind=taskwait"]
        main, other = ["100 10 0 thread-begin", "1000 10 0 region-begin region=1 src=0 threads=2",
                       "1100 10 0 member-begin region=1 num=0"], \
            ["1050 11 1 thread-begin", "1150 11 1 member-begin region=1 num=1",
             "1250 11 1 wait-begin kind=barrier-implicit"]
        accesses = {1: "out:a", 2: "in:a,out:b", 3: "in:a,out:c", 4: "in:b,in:c"}
        for task in range(1, 6):
            at = 1100 + 200 * task
            main.append("%d 10 0 create-begin task=%d src=1 flags=deferred" % (at, task))
            if task in accesses:
                main += ["%d 10 0 depend task=%d kind=%s addr=0x%s" % (at, task, *a.split(":"))
                         for a in accesses[task].split(",")]
            main.append("%d 10 0 create-end task=%d" % (at + 50, task))
        main.append("2300 10 0 wait-begin kind=taskwait src=2")
        for task, (begin, end, where) in {1: (2400, 2900, main), 2: (3000, 3500, main), 3: (3000, 3700, other),
                                          4: (3800, 4300, other), 5: (3800, 4200, main)}.items():
            where += ["%d %s task-begin task=%d" % (begin, "10 0" if where is main else "11 1", task),
                      "%d %s task-end task=%d" % (end, "10 0" if where is main else "11 1", task)]
        main += ["4400 10 0 wait-end kind=taskwait", "4500 10 0 wait-begin kind=barrier-implicit",
                 "4600 10 0 wait-end kind=barrier-implicit",
                 "4610 10 0 member-end region=1 num=0", "4700 10 0 region-end region=1", "4800 10 0 thread-end"]
        other += ["4600 11 1 wait-end kind=barrier-implicit", "4605 11 1 member-end region=1 num=1",
                  "4650 11 1 thread-end"]
        return self.written("diamond", "\n".join(lines + main + other) + "\n")
