#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs construct x runtime x threads and compares each run with what the program knows; prints a line a cell.

usage: matrix.py BUILD_DIRECTORY SCRATCH_DIRECTORY [--markdown] [--only PATTERN] [--runtime NAME] [--ompt | --attached]

Needs a graind that GRAIND_SOCKET names. Runtimes are the system's two (1, 2 and 4 threads) and those that
tests/runtimes.sh has fetched (4 threads). With --ompt only programs on libomp, compared with what libomp itself reports
through tests/tools/ompt_truth.c. With --attached only the system's two, attached while the programs repeat themselves.
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
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import construct
import ompt_compare

HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEM = {"gcc": "libgomp", "clang": "libomp"}
# Why a program cannot run on a runtime: the reason is said in the table.
CANNOT_RUN = [(r"version `\S+' not found", "the runtime is older than the construct"),
              (r"unknown omp_depend_t dependence type", "the runtime is older than the construct"),
              # With any tool that gives implicit tasks data, and without our probes; never without a tool.
              (r"taskwait_task_data->ptr == NULL", "libomp fails by itself when an OMPT tool watches"),
              (r"undefined symbol", "the runtime is older than the construct")]


class Result:
    def __init__(self, status, why="", details=()):
        self.status, self.why, self.details = status, why, details


class Runtime:
    """Where a runtime is; `loader`: it needs programs with another C library."""

    def __init__(self, name, compiler, directory=None, why=None):
        self.name, self.compiler, self.directory, self.why = name, compiler, directory, why
        loaders = [f for f in os.listdir(directory) if f.startswith("ld-linux")] if directory else []
        self.loader = os.path.join(directory, loaders[0]) if loaders else None

    def program(self, path, scratch):
        if not self.loader:
            return path
        copy = os.path.join(scratch, self.name, os.path.basename(path))
        if not os.path.exists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(path, copy)
            subprocess.run(["patchelf", "--set-interpreter", self.loader, "--force-rpath", "--set-rpath",
                            self.directory, copy], check=True)
        return copy

    def environment(self, threads):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false", OMP_CANCELLATION="true",
                   OMP_SCHEDULE="dynamic,3", OMP_WAIT_POLICY="passive")
        if self.directory and not self.loader:
            env["LD_LIBRARY_PATH"] = self.directory
        return env


class Matrix:
    def __init__(self, build, scratch):
        self.build, self.scratch = os.path.abspath(build), scratch
        self.grainctl = os.path.join(self.build, "grainctl")
        self.programs = os.path.join(self.build, "tests/omp/constructs")

    def ctl(self, *args, **kwargs):
        return subprocess.run([self.grainctl, *args], capture_output=True, text=True, timeout=60, **kwargs)

    def runtimes(self):
        found = [Runtime(SYSTEM[c], c) for c in ("gcc", "clang")]
        out = subprocess.run([os.path.join(HERE, "../runtimes.sh"), self.build], capture_output=True, text=True).stdout
        for line in out.splitlines():
            name, where, *why = line.split(None, 2)
            compiler = "gcc" if name.startswith("gomp") else "clang"
            found.append(Runtime(name, compiler, None if where == "-" else where, why[0] if why else None))
        return found

    def constructs(self):
        names = collections.defaultdict(set)
        for f in os.listdir(self.programs):
            m = re.fullmatch(r"(\w+)\.(gcc|clang)", f)
            if m:
                names[m.group(1)].add(m.group(2))
        return names

    def report(self, job, base):
        """Report, summary and log of a job; the log must say the same as the trace."""
        for args, to in ((["report", job, "--format", "json"], ".ndjson"), (["summary", job, "--json"], ".summary"),
                         (["export", job, "--format", "log"], ".log"),
                         (["analyze", base + ".log", "--format", "json"], ".again"),
                         (["summary", base + ".log", "--json"], ".again-summary")):
            r = self.ctl(*args)
            open(base + to, "w").write(r.stdout)
            if r.returncode or not r.stdout:
                return "%s: %s" % (" ".join(args[:2]), r.stderr.strip()[-300:])
        if open(base + ".ndjson").read() != open(base + ".again").read():
            return "the exported log gives another report"
        one, two = (json.load(open(base + to)) for to in (".summary", ".again-summary"))
        differs = [k for k in one if k not in ("job", "source") and one[k] != two.get(k)]
        return "the exported log gives another summary: %s" % differs if differs else None

    def judge(self, base, compiler, limits=None, ompt=False):
        try:
            if ompt:
                d = ompt_compare.compare(base + ".ompt", base + ".ndjson", base + ".summary", base + ".log")
            else:
                d = construct.compare(base + ".json", base + ".truth", base + ".ndjson", base + ".summary",
                                      base + ".log", compiler, limits)
        except Exception as error:
            return Result("FAIL", "the comparison ended with %s: %s" % (type(error).__name__, error))
        if d.failed:
            lines = [text for what, details in d.failed for text in [what] + ["    " + x for x in details]]
            return Result("FAIL", "; ".join(what for what, _ in d.failed)[:200], lines[:30])
        return Result("n.o.", ", ".join(sorted(d.hidden))) if d.hidden else Result("pass")

    def done(self, job, base, result):
        self.ctl("delete", job)
        if result.status != "FAIL":
            for to in (".json", ".truth", ".ndjson", ".summary", ".log", ".again", ".again-summary", ".ompt", ".stderr"):
                if os.path.exists(base + to):
                    os.unlink(base + to)
        return result

    def start_cell(self, name, runtime, threads, ompt):
        """A whole run under grainctl run."""
        base = os.path.join(self.scratch, "%s-%s-%d" % (name, runtime.name, threads))
        program = runtime.program(os.path.join(self.programs, "%s.%s" % (name, runtime.compiler)), self.scratch)
        env = runtime.environment(threads)
        if ompt:
            env.update(OMP_TOOL_LIBRARIES=os.path.join(self.build, "tests/tools/libompt_truth.so"),
                       GRAIN_OMPT_TRUTH=base + ".ompt")
        try:
            r = self.ctl("run", "--", program, "--truth", base + ".truth", env=env)
        except subprocess.TimeoutExpired:
            return Result("FAIL", "the run did not end in a minute")
        open(base + ".json", "w").write(r.stdout)
        if r.returncode:
            for pattern, why in CANNOT_RUN:
                if re.search(pattern, r.stderr):
                    return Result("n.o.", why)
            return Result("FAIL", "exit status %d" % r.returncode, r.stderr.splitlines()[-9:])
        job = re.findall(r"^job (\d+)$", r.stderr, re.M)
        if not job:
            return Result("FAIL", "run does not end with 'job N'", r.stderr.splitlines()[-9:])
        error = self.report(job[-1], base)
        result = Result("FAIL", error) if error else self.judge(base, runtime.compiler, None, ompt)
        return self.done(job[-1], base, result)

    def attach_cell(self, name, runtime, threads):
        """Attached while the program repeats the construct."""
        base = os.path.join(self.scratch, "%s-%s-%d-attached" % (name, runtime.name, threads))
        program = os.path.join(self.programs, "%s.%s" % (name, runtime.compiler))
        with open(base + ".json", "w") as out, open(base + ".stderr", "w") as err:
            p = subprocess.Popen([program, "--forever", "--truth", base + ".truth"], stdout=out, stderr=err,
                                 env=runtime.environment(threads))
        try:
            time.sleep(0.15)
            r = self.ctl("attach", str(p.pid))
            start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            job = re.findall(r"^job (\d+)$", r.stdout, re.M)
            if r.returncode or not job:
                for pattern, why in CANNOT_RUN:
                    if re.search(pattern, open(base + ".stderr").read()):
                        return Result("n.o.", why)
                return Result("FAIL", "attach: %s" % r.stderr.strip()[-200:])
            time.sleep(0.3)
            end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            r = self.ctl("detach", job[-1])
            if r.returncode:
                return Result("FAIL", "detach: %s" % r.stderr.strip()[-200:])
        finally:
            p.send_signal(signal.SIGTERM)
            try:
                status = p.wait(timeout=20)
            except subprocess.TimeoutExpired:
                p.kill()
                status = p.wait()
        if status:
            return Result("FAIL", "the program ended with %d" % status)
        error = self.report(job[-1], base)
        result = Result("FAIL", error) if error else self.judge(base, runtime.compiler, (start, end))
        result.details = ["recorded from %d to %d" % (start, end)] + list(result.details)
        return self.done(job[-1], base, result)


def table(rows, columns, results, markdown):
    """A line a construct, a column a runtime: the worst of its cells."""
    rank = {"pass": 0, "n.o.": 1, "skip": 2, "FAIL": 3}
    width = max(len(r) for r in rows) + 1
    if markdown:
        print("| construct | %s |\n|---|%s" % (" | ".join(columns), "---|" * len(columns)))
    else:
        print("# %-*s%s" % (width, "", "".join("%-10s" % c for c in columns)))
    for row in rows:
        cells = []
        for column in columns:
            mine = [r for (n, c, _), r in results.items() if n == row and c == column]
            cells.append(max(mine, key=lambda r: rank[r.status]).status if mine else "-")
        print("| %s | %s |" % (row, " | ".join(cells)) if markdown else
              "# %-*s%s" % (width, row, "".join("%-10s" % c for c in cells)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("scratch")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--runtime", default="*")
    parser.add_argument("--ompt", action="store_true")
    parser.add_argument("--attached", action="store_true")
    parser.add_argument("--threads", type=int, nargs="*")
    args = parser.parse_args()
    matrix = Matrix(args.build, args.scratch)
    runtimes = [r for r in matrix.runtimes() if fnmatch.fnmatch(r.name, args.runtime)]
    constructs = {n: c for n, c in matrix.constructs().items() if fnmatch.fnmatch(n, args.only)}
    say = (lambda *_: None) if args.markdown else print
    results, cells = {}, []
    for runtime in runtimes:
        if args.ompt and runtime.compiler != "clang":
            continue
        if runtime.why:
            say("skip - runtime %s: %s" % (runtime.name, runtime.why))
        for name in sorted(constructs):
            if runtime.compiler not in constructs[name]:
                continue
            if runtime.why:
                results[(name, runtime.name, "")] = Result("skip", runtime.why)
                continue
            system = runtime.directory is None
            if args.attached and not system:
                continue
            for threads in args.threads or ((1, 2, 4) if system or args.ompt else (4,)):
                cells.append((name, runtime.name, "%d%s" % (threads, " attached" * args.attached)) + (
                    (matrix.attach_cell, (name, runtime, threads)) if args.attached else
                    (matrix.start_cell, (name, runtime, threads, args.ompt))))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        waiting = [(cell, pool.submit(cell[3], *cell[4])) for cell in cells]
        for (name, runtime, how, _, _), future in waiting:
            result = results[(name, runtime, how)] = future.result()
            label = "%s %s %s" % (name, runtime, how)
            if result.status == "FAIL":
                say("not ok - %s: %s" % (label, result.why))
                for line in result.details:
                    say("# " + line)
            else:
                say("ok - %s%s" % (label, " (not observable: %s)" % result.why if result.status == "n.o." else ""))
    columns = [r.name for r in runtimes if any(c == r.name for _, c, _ in results)]
    table(sorted(constructs), columns, results, args.markdown)
    return any(r.status == "FAIL" for r in results.values())


if __name__ == "__main__":
    sys.exit(main())
