#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs construct x runtime x threads and compares each run with what the program knows. Prints one line for each
cell.

usage: matrix.py BUILD_DIRECTORY SCRATCH_DIRECTORY [--versions | --all] [--fast]
                 [--ompt | --attached [--rewritten LIBGOMP] [--under COMMAND]]
                 [--markdown] [--only PATTERN,...] [--runtime PATTERN] [--threads N...]

Needs a graind, named by GRAIND_SOCKET. The runtimes are the system's two (1, 2 and 4 threads). With --versions
they are those that tests/runtimes.sh has fetched (4 threads); with --all both. With --ompt only programs on libomp
run, and are compared with what libomp itself reports through tests/tools/ompt_truth.c. With --attached, graind
attaches while the programs repeat themselves; from inside this leaves out runtimes that are linked into programs.
--under gives a command that executes the programs. With --rewritten the runtimes are those that
tests/tools/rewrite_libgomp.py makes from LIBGOMP. --markdown prints only the table.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import construct
import matrix_runtimes
import ompt_compare

# Reasons why a program cannot run on a runtime. The table shows the reason.
CANNOT_RUN = [(r"version `\S+' not found", "the runtime is older than the construct"),
              (r"unknown omp_depend_t dependence type", "the runtime is older than the construct"),
              # This occurs with any tool that gives data to implicit tasks, even without our probes. It never occurs
              # without a tool.
              (r"taskwait_task_data->ptr == NULL", "libomp fails by itself when an OMPT tool watches"),
              (r"undefined symbol", "the runtime is older than the construct")]

# The same for some constructs with one thread: libomp 14 then fails by itself, also without a recording.
CANNOT_RUN_ALONE = {name: [(r"Assertion failure at kmp_runtime\.cpp\(\d+\): master_th->th\.th_task_team ==",
                            "libomp fails by itself in a program with one thread")]
                    for name in ("target_depend", "target_nowait")}

DIES = "the program dies by a signal where it is repeated and nobody records it, too"

# These hang now and then if they are repeated, also without a recording.
HANGS = [("cancel_for", "clang")]

# What takes longer hangs, also on a busy machine.
PATIENCE_S = 120

# How many rounds programs are watched when attached, those with long rounds for fewer.
ROUNDS = collections.defaultdict(lambda: 40, taskloop_large=6, many_tasks_throttle=6, critical=10, critical_unnamed=10,
                                 fortran_names=10, nest_lock=10, omp_lock=10, ordered_lock=10)


def reasons(name, threads):
    """Exits of a program that are not our fault."""
    return CANNOT_RUN + (CANNOT_RUN_ALONE.get(name, []) if threads == 1 else [])


def rounds_over(path):
    """How many rounds a program of the constructs has done, as it says (tests/omp/constructs/expect.h)."""
    try:
        with open(path, "rb") as f:
            return int.from_bytes(f.read(8), sys.byteorder)
    except FileNotFoundError:
        return 0


def wait_for_rounds(process, path, wanted):
    """Waits until the program has done so many rounds or has ended; not for one that hangs."""
    until = time.monotonic() + PATIENCE_S
    while rounds_over(path) < wanted and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)


def dies_by_itself(command, env):
    """Whether a repeating program ends by a signal also without a recording: within ten seconds, in one of three
    runs."""
    for _ in range(3):
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        try:
            if p.wait(timeout=10) < 0:
                return True
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
    return False


class Result:
    def __init__(self, status, why="", details=()):
        self.status, self.why, self.details = status, why, details


class Matrix:
    def __init__(self, build, scratch):
        self.build, self.scratch = os.path.abspath(build), scratch
        self.grainctl = os.path.join(self.build, "grainctl")
        self.programs = os.path.join(self.build, "tests/omp/constructs")

    def ctl(self, *args, **kwargs):
        return subprocess.run([self.grainctl, *args], capture_output=True, text=True, timeout=PATIENCE_S, **kwargs)

    def constructs(self):
        names = collections.defaultdict(set)
        for f in os.listdir(self.programs):
            m = re.fullmatch(r"(\w+)\.(gcc|clang)", f)
            if m:
                names[m.group(1)].add(m.group(2))
        return names

    def report(self, job, base, again=True):
        """Writes report, summary and log of a job. `again`: the log must give the same as the trace."""
        for args, to in ((["report", job, "--format", "json"], ".ndjson"), (["summary", job, "--json"], ".summary"),
                         (["export", job, "--format", "log"], ".log"),
                         (["analyze", base + ".log", "--format", "json"], ".again"),
                         (["summary", base + ".log", "--json"], ".again-summary")):
            r = self.ctl(*args)
            open(base + to, "w").write(r.stdout)
            if r.returncode or not r.stdout:
                return "%s: %s" % (" ".join(args[:2]), r.stderr.strip()[-300:])
            if to == ".log" and not again:
                return None
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

    def wrong_source(self, base, runtime):
        # A runtime that is linked into the program (an archive) cannot be recorded from inside, so it gets probes.
        source, expected = json.load(open(base + ".summary"))["source"], "uprobes" if runtime.archive else "shim"
        return None if source == expected else "recorded by %s" % source

    def done(self, job, base, result):
        self.ctl("delete", job)
        if result.status != "FAIL":
            for to in (".json", ".truth", ".ndjson", ".summary", ".log", ".again", ".again-summary",
                       ".ompt", ".stderr"):
                if os.path.exists(base + to):
                    os.unlink(base + to)
        return result

    def start_cell(self, name, runtime, threads, ompt):
        """A whole run under grainctl run."""
        base = os.path.join(self.scratch, "%s-%s-%d" % (name, runtime.name, threads))
        try:
            program = runtime.program(os.path.join(self.programs, "%s.%s" % (name, runtime.compiler)), self.scratch)
        except matrix_runtimes.Older:
            return Result("n.o.", "the runtime is older than the construct")
        except RuntimeError as error:
            return Result("FAIL", "the program could not be linked", str(error).splitlines()[-9:])
        env, command = runtime.environment(threads), [program, "--truth", base + ".truth"]
        if ompt:
            tool = os.path.join(self.build, "tests/tools/libompt_truth.so")
            env.update(GRAIN_OMPT_TRUTH=base + ".ompt", **({} if self.fast else {"OMP_TOOL_LIBRARIES": tool}))
            if self.fast:
                # This comes before libgrainshim, which makes itself libomp's tool.
                command = ["sh", "-c", 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"', tool] + command
        try:
            r = self.ctl("run", *self.how, "--", *command, env=env)
        except subprocess.TimeoutExpired:
            return Result("FAIL", "the run did not end in %d s" % PATIENCE_S)
        open(base + ".json", "w").write(r.stdout)
        if r.returncode:
            for pattern, why in reasons(name, threads):
                if re.search(pattern, r.stderr):
                    return Result("n.o.", why)
            return Result("FAIL", "exit status %d" % r.returncode, r.stderr.splitlines()[-9:])
        job = re.findall(r"^job (\d+)$", r.stderr, re.M)
        if not job:
            return Result("FAIL", "run does not end with 'job N'", r.stderr.splitlines()[-9:])
        error = self.report(job[-1], base, runtime.directory is None and threads == 2) or (
            self.fast and self.wrong_source(base, runtime))
        result = Result("FAIL", error) if error else self.judge(base, runtime.compiler, None, ompt)
        return self.done(job[-1], base, result)

    def attach_cell(self, name, runtime, threads):
        """Attaches while the program repeats the construct."""
        base = os.path.join(self.scratch, "%s-%s-%d-attached" % (name, runtime.name, threads))
        try:
            program = runtime.program(os.path.join(self.programs, "%s.%s" % (name, runtime.compiler)), self.scratch)
        except matrix_runtimes.Older:
            return Result("n.o.", "the runtime is older than the construct")
        command = self.under + ["sh", "-c", 'ulimit -t 300; exec "$0" "$@"', program, "--forever", "--truth",
                                base + ".truth", "--progress", base + ".progress"]
        with open(base + ".json", "w") as out, open(base + ".stderr", "w") as err:
            # The program must end if the test is killed.
            p = subprocess.Popen(command, stdout=out, stderr=err, env=runtime.environment(threads))
        try:
            wait_for_rounds(p, base + ".progress", 2)
            # A busy machine may not run the program's threads soon.
            patience = ["--patience", str(PATIENCE_S)] if self.how else []
            r = self.ctl("attach", *self.how, *patience, str(p.pid))
            start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            job = re.findall(r"^job (\d+)$", r.stdout, re.M)
            if r.returncode or not job:
                for pattern, why in reasons(name, threads):
                    if re.search(pattern, open(base + ".stderr").read()):
                        return Result("n.o.", why)
                if p.poll() is not None and p.returncode < 0 and dies_by_itself(command, runtime.environment(threads)):
                    return Result("n.o.", DIES)
                return Result("FAIL", "attach: %s" % r.stderr.strip()[-200:])
            wait_for_rounds(p, base + ".progress", rounds_over(base + ".progress") + ROUNDS[name])
            end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            r = self.ctl("detach", job[-1])
            if r.returncode:
                return Result("FAIL", "detach: %s" % r.stderr.strip()[-200:])
        finally:
            p.send_signal(signal.SIGTERM)
            try:
                status = p.wait(timeout=20 if (name, runtime.compiler) in HANGS else PATIENCE_S)
            except subprocess.TimeoutExpired:
                p.kill()
                status = p.wait()
        if status == -signal.SIGKILL and (name, runtime.compiler) in HANGS:
            return Result("n.o.", "libomp hangs by itself where it cancels a loop again and again")
        if status < 0 and dies_by_itself(command, runtime.environment(threads)):
            return Result("n.o.", DIES)
        if status:
            return Result("FAIL", "the program ended with %d" % status)
        error = self.report(job[-1], base, threads == 2)
        result = Result("FAIL", error) if error else self.judge(base, runtime.compiler, (start, end))
        result.details = ["recorded from %d to %d" % (start, end)] + list(result.details)
        return self.done(job[-1], base, result)


def table(rows, runtimes, results, markdown):
    """One line for each construct, one column for each runtime. An entry is the worst of its cells. The reasons
    follow."""
    rank = {"pass": 0, "n.o.": 1, "skip": 2, "FAIL": 3}
    width, labels = max(len(r) for r in rows) + 1, [r.label() for r in runtimes]
    reasons = collections.defaultdict(set)
    if markdown:
        print("| construct | %s |\n|---|%s" % (" | ".join(labels), "---|" * len(labels)))
    else:
        print("= %-*s%s" % (width, "", "".join("%-7s" % c.replace("lib", "").replace(" ", "") for c in labels)))
    for row in rows:
        cells = []
        for runtime in runtimes:
            mine = [r for (n, c, _), r in results.items() if n == row and c == runtime.name]
            worst = max(mine, key=lambda r: rank[r.status]) if mine else Result("-")
            cells.append(worst.status)
            if worst.status == "n.o.":
                reasons[worst.why].add(row)
        print("| %s | %s |" % (row, " | ".join(cells)) if markdown else
              "= %-*s%s" % (width, row, "".join("%-7s" % c for c in cells)))
    if reasons:
        print("\nNot observable:\n" if markdown else "= n.o.: not observable")
    for why, programs in sorted(reasons.items()):
        print("%s %s: %s" % ("-" if markdown else "=  ", why, ", ".join(sorted(programs))))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("scratch")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--runtime", default="*")
    parser.add_argument("--fast", action="store_true", help="observed by libgrainshim from inside")
    parser.add_argument("--ompt", action="store_true")
    parser.add_argument("--attached", action="store_true")
    parser.add_argument("--rewritten")
    parser.add_argument("--under", default="", help="what the programs are started with")
    parser.add_argument("--versions", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--families", action="store_true", help="one program of each family only")
    parser.add_argument("--threads", type=int, nargs="*")
    return parser.parse_args()


def choose_runtimes(args):
    runtimes = [] if args.versions else matrix_runtimes.system()
    if args.rewritten:
        runtimes = matrix_runtimes.rewritten(args.build, args.scratch, args.rewritten)
    if args.versions or args.all:
        runtimes += matrix_runtimes.fetched(args.build)
    return [r for r in runtimes if fnmatch.fnmatch(r.name, args.runtime) and not (
        args.ompt and (r.compiler != "clang" or r.directory and r.name not in matrix_runtimes.WHOLE))]


def choose_constructs(args, constructs, runtime):
    """The names of the programs that can run on the runtime."""
    return [name for name in sorted(constructs)
            if any(fnmatch.fnmatch(name, p) for p in args.only.split(",")) and
            runtime.compiler in constructs[name] and runtime.wants(name) and
            (not args.families or name in matrix_runtimes.FAMILIES)]


def cells_of(args, matrix, name, runtime):
    """(construct, runtime, how, function, its arguments) of each cell of the table."""
    if args.attached and args.fast and runtime.archive:
        return
    for threads in args.threads or ((1, 2, 4) if runtime.directory is None or args.ompt else (4,)):
        if args.attached:
            yield name, runtime.name, "%d attached" % threads, matrix.attach_cell, (name, runtime, threads)
        else:
            yield name, runtime.name, "%d" % threads, matrix.start_cell, (name, runtime, threads, args.ompt)


def tell(say, label, result):
    if result.status == "FAIL":
        say("not ok - %s: %s" % (label, result.why))
        for line in result.details:
            say("# " + line)
    else:
        say("ok - %s%s" % (label, " (not observable: %s)" % result.why if result.status == "n.o." else ""))


def main():
    args = arguments()
    matrix = Matrix(args.build, args.scratch)
    matrix.fast, matrix.under = args.fast, shlex.split(args.under)
    # On a busy machine graind may come late to the rings.
    matrix.how = ["--fast", "--lossless"] if args.fast else []
    runtimes, constructs = choose_runtimes(args), matrix.constructs()
    say = (lambda *_: None) if args.markdown else print
    results, cells = {}, []
    for runtime in runtimes:
        if runtime.why:
            say("skip - runtime %s: %s" % (runtime.name, runtime.why))
        for name in choose_constructs(args, constructs, runtime):
            if runtime.why:
                results[(name, runtime.name, "")] = Result("skip", runtime.why)
            else:
                cells += cells_of(args, matrix, name, runtime)
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        waiting = [(cell, pool.submit(cell[3], *cell[4])) for cell in cells]
        for (name, runtime, how, _, _), future in waiting:
            result = results[(name, runtime, how)] = future.result()
            tell(say, "%s %s %s" % (name, runtime, how), result)
    ran = [r for r in runtimes if any(c == r.name for _, c, _ in results)]
    table(sorted({n for n, _, _ in results}), ran, results, args.markdown)
    return any(r.status == "FAIL" for r in results.values())


if __name__ == "__main__":
    sys.exit(main())
