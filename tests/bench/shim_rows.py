# SPDX-License-Identifier: BSD-2-Clause
"""The rows of bench.py that are about libgrainshim: run --fast and attach --fast.

Each takes bench.py as a module: its runs, its rows, its options.
"""
import json
import os
import re
import statistics
import subprocess
import time

RING_WORDS = 1 << 19  # as graind's
EVENT_NS = 30  # as of a chunk, which is two


class RingsOnly:
    """Programs in it have rings as graind gives them; nobody looks at what is taken out."""

    def __init__(self, bench):
        self.socket = bench.T + "/rings.sock"
        self.p = subprocess.Popen([bench.B + "/tests/tools/rings_only", self.socket, "4", str(RING_WORDS)],
                                  stdout=subprocess.PIPE, text=True)
        while not os.path.exists(self.socket) and self.p.poll() is None:
            time.sleep(0.01)
        self.env = {"LD_PRELOAD": bench.B + "/libgrainshim.so", "GRAIND_SHIM_SOCKET": self.socket}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.wait()
        os.unlink(self.socket)

    def run(self, bench, name, *argv, threads):
        """What the program says, and how many words it wrote."""
        own = bench.program(name, *argv, threads=threads, env=self.env)
        said = json.loads(self.p.stdout.readline())
        if said["lost"] or not said["words"]:
            bench.fail("rings: %s" % said)
        return own, said["words"]


def idle_tool(bench):
    return {"OMP_TOOL_LIBRARIES": bench.B + "/tests/tools/libompt_idle.so"}


def phase(own):
    return own.get("phase_ns") or own["ns_per_task"] * own["tasks"]


def pairs_of(bench):
    return 5 if bench.SHORT else 15


def checked(bench, own, summary):
    if summary["events"]["lost"] or summary["grains"]["incomplete"]:
        bench.fail("%d events lost, %d grains incomplete" %
                   (summary["events"]["lost"], summary["grains"]["incomplete"]))
    if summary["source"] != "shim":
        bench.fail("recorded by " + summary["source"])
    return own


def ratio(bench, last, recorded, name, *argv):
    """The median of the ratios of runs that follow one another; recorded() runs the program under graind."""
    plain, measured = [], []
    for _ in range(pairs_of(bench)):
        own = bench.program(name, *argv, threads=2)
        last["tasks"] = own["tasks"]
        plain.append(phase(own))
        measured.append(phase(recorded(name, *argv)))
    last["plain"] = statistics.median(plain)
    return statistics.median(b / a for a, b in zip(plain, measured))


def runtime_rows(bench, end, runtime):
    last = {}

    def drained(name, *argv):
        own, last["summary"] = bench.profiled(name, *argv, threads=2, fast=True)
        return checked(bench, own, last["summary"])

    def ratio_row(what, target, digits, recorded, name, *argv, floor=0):
        """`target` None: for information. floor: the ratio that no recorder in the process comes below here."""
        beyond = "the time cannot be read as often in less than %.2f x" % floor if target and floor > target else ""
        value, note, others = bench.best_of(lambda: ratio(bench, last, recorded, name, *argv),
                                            lambda r: target is None or r <= target)
        each = last["plain"] * 2 / last["tasks"]
        size = "%.1f us a grain" % (each / 1000) if each > 10000 else "%.0f ns a task" % each
        bench.row("--fast, %s, %s" % (what, runtime), "%.*f" % (digits, value), "x", target and "<= %.2f" % target,
                  target is None or value <= target, "; ".join(filter(None, (size, note, beyond))), others, beyond)
        return value

    ratio_row("fib(28) without cutoff, nobody listens", 1.05, 3,
              lambda name, *argv: bench.program(name, *argv, threads=2,
                                                env={"LD_PRELOAD": bench.B + "/libgrainshim.so"}),
              "fib" + end, 28, 28)
    # What no recorder in the process can do without.
    floor = ratio_row("fib(28) without cutoff, nothing but reading the counter", None, 2,
                      lambda name, *argv: bench.program("fib_reads" + end, *argv, threads=2), "fib" + end, 28, 28)
    if end:
        floor = ratio_row("fib(28) without cutoff, and being told by OMPT", None, 2,
                          lambda name, *argv: bench.program("fib_reads" + end, *argv, threads=2, env=idle_tool(bench)),
                          "fib" + end, 28, 28)
    with RingsOnly(bench) as rings:
        def kept(name, *argv):
            own, last["words"] = rings.run(bench, name, *argv, threads=2)
            return own

        ratio_row("fib(28) without cutoff, rings only", 1.15, 2, kept, "fib" + end, 28, 28, floor=floor)
        bench.row("--fast, in its ring, %s" % runtime, "%.1f" % (8 * last["words"] / last["tasks"]),
                  "bytes", None, True, "a task of fib")
    ratio_row("fib(28) without cutoff, to disk", 1.3, 2, drained, "fib" + end, 28, 28, floor=floor)
    size = last["summary"]["trace_bytes"] / last["tasks"]
    bench.row("--fast, on disk, %s" % runtime, "%.1f" % size, "bytes", "<= 32", size <= 32, "a task of fib")
    bench.row("--fast, graind's own CPU, to disk, %s" % runtime, "%.1f" % own_cpu(bench, "fib" + end), "ns", None,
              True, "an event")
    spin = statistics.median(bench.program("grains200")["spin"] for _ in range(3)) // 10
    ratio_row("grains of 20 us", 1.02, 3, drained, "grains200" + end, 20000, spin)

    def chunk():
        """The thread's CPU time at a chunk; libomp gives a team of one thread a single chunk."""
        added, reads, threads = [], [], 2 if end else 1
        for _ in range(pairs_of(bench)):
            plain = bench.program("chunks" + end, 20000, 11, threads=threads)["ns_per_chunk"]
            reads.append(bench.program("chunks_reads" + end, 20000, 11, threads=threads)["ns_per_chunk"] - plain)
            own, summary = bench.profiled("chunks" + end, 20000, 11, threads=threads, fast=True)
            added.append(checked(bench, own, summary)["ns_per_chunk"] - plain)
        return statistics.median(added), statistics.median(reads)

    (added, reads), note, others = bench.best_of(chunk, lambda m: m[0] <= 30)
    note = "; ".join(filter(None, ("reading the counter %.0f ns of it" % reads, note)))
    bench.row("--fast, added per chunk, dynamic,1, %s" % runtime, "%.0f" % added, "ns", "<= 30", added <= 30,
              note, others)


def own_cpu(bench, name):
    """graind's own CPU time for an event that goes to disk, ns: without what every job takes."""
    def of_jobs(*argv):
        before, events = bench.graind_running.user_and_system_ns(), 0
        for _ in range(pairs_of(bench)):
            own, summary = bench.profiled(name, *argv, threads=2, fast=True)
            checked(bench, own, summary)
            events += summary["events"]["seen"]
        return bench.graind_running.user_and_system_ns() - before, events

    large, events = of_jobs(28, 28)
    return (large - of_jobs(5, 5)[0]) / events


def event(bench):
    """What an event costs: with one thread nobody waits for another, so that what is added is its cost and no more."""
    for end, runtime in ("", "libgomp"), (".clang", "libomp"):
        def measure():
            added, reads, tools = [], [], []
            with RingsOnly(bench) as rings:
                for _ in range(pairs_of(bench)):
                    plain = bench.program("fib" + end, 28, 28, threads=1)
                    own, words = rings.run(bench, "fib" + end, 28, 28, threads=1)
                    events = words / own["tasks"]

                    def each(own):
                        return (own["ns_per_task"] - plain["ns_per_task"]) / events

                    added.append(each(own))
                    reads.append(each(bench.program("fib_reads" + end, 28, 28, threads=1)))
                    if end:
                        tools.append(each(bench.program("fib" + end, 28, 28, threads=1, env=idle_tool(bench))))
            return statistics.median(added), statistics.median(reads), statistics.median(tools) if tools else 0

        (added, reads, told), note, others = bench.best_of(measure, lambda m: m[0] <= EVENT_NS)
        note = "; ".join(filter(None, ("reading the counter %.1f ns of it" % reads,
                                       "being told by OMPT %.1f ns" % told if end else "", note)))
        bench.row("--fast, an event, rings only, 1 thread, %s" % runtime, "%.1f" % added, "ns", "<= %d" % EVENT_NS,
                  added <= EVENT_NS, note, others)


def fast(bench):
    for end, runtime in ("", "libgomp"), (".clang", "libomp"):
        runtime_rows(bench, end, runtime)


def attach_fast(bench):
    for end, runtime in ("", "libgomp"), (".clang", "libomp"):
        attach_rows(bench, "loop_forever" + end, runtime)


def attach_rows(bench, name, runtime):
    """How long attach --fast stops a thread of a program that runs."""
    process = subprocess.Popen([bench.B + "/tests/omp/" + name, "6000000", bench.T + "/attached"],
                               env=dict(bench.ENV, OMP_NUM_THREADS="2"), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    try:
        def measure():
            stopped = []
            for _ in range(15 if bench.SHORT else 100):
                p = bench.command([bench.B + "/grainctl", "attach", "--fast", str(process.pid)])
                job = re.search(r"^job (\d+)$", p.stdout + p.stderr, re.M).group(1)
                stopped.append(float(re.search(r"stopped for ([0-9.]+) ms", p.stdout + p.stderr).group(1)))
                bench.command([bench.B + "/grainctl", "detach", job])
                bench.command([bench.B + "/grainctl", "delete", job])
            return statistics.median(stopped), max(stopped), len(stopped)

        (median, worst, count), note, others = bench.best_of(measure, lambda m: m[0] <= 1 and m[1] <= 10)
        bench.row("attach --fast stops a thread, median, %s" % runtime, "%.2f" % median, "ms", "<= 1", median <= 1,
                  note, others)
        bench.row("attach --fast stops a thread, worst of %d, %s" % (count, runtime), "%.2f" % worst, "ms", "<= 10",
                  worst <= 10, note, others)
    finally:
        process.kill()
        process.wait()


def beside(bench):
    """Probes beside the library, for each program of the benchmark: times of its phase, over those without."""
    programs = [("fib, tasks of 0.3 us and more", "fib", (22, 10, 21)), ("fib without cutoff", "fib", (22, 22)),
                ("chunks of nothing", "chunks", (20000, 11)), ("grains of 20 us", "grains200", None),
                ("grains of 200 us", "grains200", 200), ("100,000 tasks a second", "rate", (100000, 1000)),
                ("threads that wake each other", "switches", (20000, 1))]
    spin = statistics.median(bench.program("grains200")["spin"] for _ in range(3))
    for end, runtime in ("", "libgomp"), (".clang", "libomp"):
        for what, name, argv in programs:
            if not os.path.exists(bench.B + "/tests/omp/" + name + end):
                continue  # without a compiler's part in what it measures
            if name == "grains200":
                argv = (2000, spin) if argv else (20000, spin // 10)
            plain, probed, shimmed = [], [], []

            def time_of(own):
                return own.get("ns_per_chunk") or own.get("ns_per_switch") or phase(own)

            for _ in range(3 if bench.SHORT else 9):
                plain.append(time_of(bench.program(name + end, *argv, threads=2)))
                probed.append(time_of(bench.profiled(name + end, *argv, threads=2)[0]))
                shimmed.append(time_of(bench.profiled(name + end, *argv, threads=2, fast=True)[0]))
            by_probes = statistics.median(b / a for a, b in zip(plain, probed))
            by_shim = statistics.median(b / a for a, b in zip(plain, shimmed))
            bench.row("%s, %s: probes" % (what, runtime), "%.2f" % by_probes, "x", None, True,
                      "--fast %.2f x" % by_shim)
