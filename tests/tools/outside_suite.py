#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Records the programs of somebody else's suite by probes and from inside, and prints what is not flawless.

usage: outside_suite.py BUILD_DIRECTORY SUITE_DIRECTORY [--include DIR]... [--only PATTERN,...]
                        [--compiler gcc,clang] [--flags FLAGS] [--threads N] [--bare N] [--limit SECONDS]
                        [--results FILE [--again]] [--keep DIR]

Each C or C++ file below SUITE_DIRECTORY is a program: OpenMP_VV (--include .../ompvv), openmp/runtime/test of LLVM
(--include .../openmp/runtime/test) or testsuite of libgomp. PATTERN is a part of a path, or a pattern for all of it.
Each is built with each compiler and runs several times by itself. Those that do not build, need a device, take longer
than the limit, die by a signal or end now in one way and now in another are counted and left out. All others are
recorded both ways.
They print a line for each of: an event lost or without its partner, a grain or region incomplete, time that does not
add up, another exit status, a recording that is not of the way that was asked for, and numbers of grains or regions
that differ between both ways. For the last the program is recorded twice more each way: such numbers may depend on the
schedule, so they differ only where no two recordings agree.

With --results each program is written to FILE as soon as it is done, and what FILE has is not run again, unless it was
not flawless and --again is given. --keep has the event log of each recording that is not flawless, and its program.
Without GRAIND_SOCKET a graind of its own is started, which needs root. Exit status: 1 if anything was not flawless.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMPILERS = {"gcc": {".c": "gcc", ".cc": "g++", ".cpp": "g++"},
             "clang": {".c": "clang", ".cc": "clang++", ".cpp": "clang++"}}
WAYS = {"probes": [], "inside": ["--fast"]}
SOURCES = {"probes": "uprobes", "inside": "shim"}
UNMATCHED = ["unmatched_begins", "unmatched_ends", "never_begun", "never_ended", "unclosed_waits", "read_faults"]
NUMBERS = ["tasks", "chunks", "regions"]
# What programs say that end with a failure because there is no device.
NEEDS_DEVICE = re.compile(r"no (\w+ )?devices?\b|devices? (is|are|was) not|device not available|offload|"
                          r"(requires?|needs?|at least)[^\n]{0,30} devices?", re.I)


class Ended(collections.namedtuple("Ended", "status out err")):
    """`status` is None for what took longer than the limit."""


def execute(command, limit, env, cwd):
    """In a session of its own, all of which is killed at the limit: programs may leave children."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=cwd,
                             start_new_session=True)
        try:
            status = p.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        texts = []
        for f in (out, err):
            f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - 100000))
            texts.append(f.read().decode(errors="replace"))
    return Ended(status, *texts)


class Suite:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        self.grainctl = os.path.join(os.path.abspath(args.build), "grainctl")
        self.env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), OMP_DYNAMIC="false")

    def sources(self):
        found = []
        for directory, _, files in os.walk(self.args.suite):
            paths = (os.path.relpath(os.path.join(directory, f), self.args.suite) for f in files)
            found += [p for p in paths if os.path.splitext(p)[1] in COMPILERS["gcc"] and self.wanted(p)]
        return sorted(found)

    def wanted(self, path):
        return any(p in path or fnmatch.fnmatch(path, p) for p in self.args.only.split(","))

    def build(self, source, compiler, program):
        path = os.path.join(self.args.suite, source)
        command = [COMPILERS[compiler][os.path.splitext(source)[1]], "-fopenmp", *self.args.flags.split(), "-w"]
        for directory in [os.path.dirname(path)] + self.args.include:
            command += ["-I", directory]
        # They may need much memory or time on code that nobody tried them on.
        return execute(command + [path, "-o", program, "-lm", "-lpthread"], 120, self.env, self.scratch).status == 0

    def record(self, way, program, cwd, bare):
        """What is not flawless in a recording, its numbers and its log."""
        run = execute([self.grainctl, "run", *WAYS[way], "--", program], self.args.limit * 4 + 20, self.env, cwd)
        if run.status is None:
            return ["did not end in %d s" % (self.args.limit * 4 + 20)], None, None
        wrong = [] if run.status == bare else ["exit status %s instead of %s" % (run.status, bare)]
        job = re.findall(r"^job (\d+)$", run.err, re.M)
        if not job:
            said = [line for line in run.err.splitlines() if line.startswith("grainctl")]
            return wrong + ["not recorded: %s" % (said or ["grainctl said nothing"])[-1]], None, None
        got = subprocess.run([self.grainctl, "summary", job[-1], "--json"], capture_output=True, text=True)
        if "without having used an OpenMP runtime" in got.stderr:
            return wrong, dict.fromkeys(NUMBERS, 0), job[-1]
        try:
            summary = json.loads(got.stdout)
        except ValueError:
            return wrong + ["no summary: %s" % got.stderr.strip()[-200:]], None, job[-1]
        wrong += self.faults(summary)
        if summary["grains"]["total"] and summary["source"] != SOURCES[way]:
            wrong.append("recorded by %s" % summary["source"])
        numbers = dict(summary["grains"], regions=summary["coverage"]["graph_regions"])
        return wrong, {k: numbers[k] for k in NUMBERS}, job[-1]

    @staticmethod
    def faults(summary):
        e, wrong = summary["events"], []
        if e["lost"] or sum(e["losses"].values()):
            wrong.append("lost %d %s" % (e["lost"], e["losses"]))
        odd = {k: e[k] for k in UNMATCHED if e[k]}
        if odd:
            wrong.append("unmatched %s" % odd)
        if summary["grains"]["incomplete"]:
            where = ["%s %s" % (d["kind"], d["source"]) for d in summary["definitions"] if d["incomplete"]]
            wrong.append("incomplete %d grains: %s" % (summary["grains"]["incomplete"], ", ".join(where[:4])))
        if summary["incomplete_regions"]:
            where = ["%s %s" % (r["kind"], r["source"]) for r in summary["regions"] if r["incomplete"]]
            wrong.append("incomplete %d regions: %s" % (summary["incomplete_regions"],
                                                        ", ".join(sorted(set(where))[:4])))
        if summary["conservation"]["violations"]:
            wrong.append("time does not add up: %s" % summary["conservation"])
        return wrong

    def keep(self, name, way, job, program):
        if self.args.keep and job:
            base = os.path.join(self.args.keep, name.replace("/", "_"))
            log = subprocess.run([self.grainctl, "export", job, "--format", "log"], capture_output=True).stdout
            open("%s.%s.log" % (base, way), "wb").write(log)
            shutil.copy(program, base)

    def program(self, source, compiler):
        """The whole of a program: {"state": ..., "wrong": {way: [text]}, "counts": {way: numbers}}."""
        name = "%s.%s" % (source, compiler)
        cwd = tempfile.mkdtemp(dir=self.scratch)
        program = os.path.join(cwd, os.path.basename(source) + "." + compiler)
        try:
            return self.both_ways(name, program, cwd, self.build(source, compiler, program))
        finally:
            shutil.rmtree(cwd, ignore_errors=True)

    def alone(self, program, cwd):
        """How it ends by itself each time, or why it is left out."""
        bare = [execute([program], self.args.limit, self.env, cwd) for _ in range(self.args.bare)]
        statuses = {b.status for b in bare}
        if None in statuses:
            return None, {"state": "takes too long"}
        if len(statuses) > 1:
            return None, {"state": "varies", "why": "ends with %s" % sorted(statuses)}
        status = statuses.pop()
        if status and NEEDS_DEVICE.search(bare[0].out + bare[0].err):
            return None, {"state": "needs a device"}
        # A program that a signal ends is left out: what was open then has no end.
        return status, {"state": "dies by a signal"} if status < 0 else None

    def both_ways(self, name, program, cwd, built):
        if not built:
            return {"state": "does not build"}
        status, left_out = self.alone(program, cwd)
        if left_out:
            return left_out
        wrong, counts, jobs = {}, collections.defaultdict(list), {}
        for way in WAYS:
            wrong[way], numbers, jobs[way] = self.record(way, program, cwd, status)
            counts[way].append(numbers)
        if any(line.startswith("exit status") for lines in wrong.values() for line in lines):
            again, left_out = self.alone(program, cwd)
            if left_out or again != status:
                return left_out or {"state": "varies", "why": "ends with %d, too" % again}
        if all(counts[way][0] for way in WAYS) and counts["probes"] != counts["inside"]:
            for way in 2 * list(WAYS):
                _, numbers, job = self.record(way, program, cwd, status)
                counts[way].append(numbers)
                self.delete(job)
        first = {way: counts[way][0] for way in WAYS}
        differ = all(first.values()) and not any(c in counts["inside"] for c in counts["probes"])
        for way, job in jobs.items():
            if wrong[way] or differ:
                self.keep(name, way, job, program)
            self.delete(job)
        done = {"state": "flawless", "wrong": wrong, "counts": first}
        if differ:
            done["differ"] = "by probes %s, from inside %s" % (words(first["probes"]), words(first["inside"]))
        if differ or any(wrong.values()):
            done["state"] = "not flawless"
        return done

    def delete(self, job):
        if job:
            subprocess.run([self.grainctl, "delete", job], capture_output=True)


def words(counts):
    return ", ".join("%d %s" % (n, what) for what, n in counts.items())


def show(name, done):
    if done["state"] in ("varies", "takes too long"):
        print("%s: %s%s" % (name, done["state"], ", " + done["why"] if "why" in done else ""))
    for way, lines in done.get("wrong", {}).items():
        for line in lines:
            print("%s %s: %s" % (name, way, line))
    if "differ" in done:
        print("%s: %s" % (name, done["differ"]))
    sys.stdout.flush()


def table(results):
    """A line for each compiler and way, and one for what is not recorded."""
    print("\n%-16s%10s%10s%10s%10s%12s%8s" % ("", "recorded", "flawless", "lost", "unmatched", "incomplete", "other"))
    for compiler in COMPILERS:
        mine = [d for name, d in results.items() if name.endswith("." + compiler)]
        for way in WAYS:
            wrong = [d["wrong"][way] for d in mine if "wrong" in d]
            kinds = collections.Counter()
            for lines in wrong:
                for kind in {line.split()[0] for line in lines}:
                    kinds[kind if kind in ("lost", "unmatched", "incomplete") else "other"] += 1
            print("%-16s%10d%10d%10d%10d%12d%8d" % (
                "%s, %s" % (compiler, way), len(wrong), sum(not w for w in wrong), kinds["lost"], kinds["unmatched"],
                kinds["incomplete"], kinds["other"]))
        print("%-16s%s" % ("", ", ".join("%d %s" % (n, state) for state, n in sorted(
            collections.Counter(d["state"] for d in mine).items()))))
        print("%-16s%d with other numbers from inside than by probes" % ("", sum("differ" in d for d in mine)))


def private_graind(build, scratch):
    """Its process; GRAIND_SOCKET is its socket."""
    os.environ.update(GRAIND_SOCKET=os.path.join(scratch, "graind.sock"), GRAIND_CONFIG="/dev/null",
                      GRAIND_STATE_DIR=os.path.join(scratch, "state"))
    os.mkdir(os.environ["GRAIND_STATE_DIR"])
    with open(os.path.join(scratch, "graind.log"), "w") as log:
        p = subprocess.Popen([os.path.join(build, "graind"), "--foreground", "--state-dir",
                              os.environ["GRAIND_STATE_DIR"], "--socket", os.environ["GRAIND_SOCKET"]],
                             stdout=log, stderr=log)
    for _ in range(200):
        if os.path.exists(os.environ["GRAIND_SOCKET"]) or p.poll() is not None:
            break
        time.sleep(0.05)
    return p


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("build")
    parser.add_argument("suite")
    parser.add_argument("--include", action="append", default=[], type=os.path.abspath)
    parser.add_argument("--only", default="*")
    parser.add_argument("--compiler", default="gcc,clang")
    parser.add_argument("--flags", default="-g -O2")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--bare", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--results")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--keep")
    args = parser.parse_args()
    args.suite = os.path.abspath(args.suite)
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    known = {}
    if args.results and os.path.exists(args.results):
        known = {d["name"]: d for d in map(json.loads, open(args.results))}
    scratch = tempfile.mkdtemp(prefix="graind-suite.")
    graind = None if os.environ.get("GRAIND_SOCKET") else private_graind(args.build, scratch)
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=max(1, (os.cpu_count() or 1)))
    try:
        suite, waiting, results = Suite(args, scratch), {}, {}
        for source in suite.sources():
            for compiler in args.compiler.split(","):
                name = "%s.%s" % (source, compiler)
                if name in known and not (args.again and known[name]["state"] == "not flawless"):
                    results[name] = known[name]
                else:
                    waiting[pool.submit(suite.program, source, compiler)] = name
        for future in concurrent.futures.as_completed(waiting):
            name = waiting[future]
            done = results[name] = dict(future.result(), name=name)
            show(name, done)
            if args.results:
                with open(args.results, "a") as f:
                    print(json.dumps(done), file=f)
        table(results)
        return any(d["state"] == "not flawless" for d in results.values())
    finally:
        pool.shutdown(cancel_futures=True)
        if graind:
            graind.terminate()
            graind.wait()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
