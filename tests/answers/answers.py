#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the first advice is right: the table of the programs beside this file.

usage: answers.py BUILD_DIRECTORY [--short] [--rounds N] [--compiler NAME] [--advice] [PROGRAM...]

Each program has one problem, and with -DCURED it has none. Its comment says what to expect:
    first: KIND...  the kind of the first advice, one of these, which is about a line with HERE; "none": there is
                    no advice. Compilers have different lines for the same construct: clang that of the body,
                    gcc for many a call of its runtime that of the statement before ("HERE for gcc").
    threads: N      the number of threads (2)
    env: NAME=VALUE
    only: COMPILER
Needs a running graind (GRAIND_SOCKET), as tests/root/answers/test_answers.sh starts one. With --short, no time is
compared, so other programs may run meanwhile. Prints one line for each program, for tests/runner.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
COMPILERS = {"gcc": "gcc", "clang": "clang"}
# For make check: one program of each kind of advice that needs no exact times.
SHORT = ("triangle", "second_loop", "serial_between", "critical_long", "fib", "tiny_chunks", "wait_each",
         "small_regions", "clean_tasks")
# A prediction is right if it is wrong by at most this part of it.
TOLERANCE = 1 / 3
# Differences below this part of the wall time cannot be told from noise.
NOISE = 0.03
# A recording is repeated so often while others took more than this part of its threads' time.
TRIES = 4
DISTURBED = 0.03
# What others on the machine cause is no problem of the program.
OF_OTHERS = ("other_programs", "oversubscription")


class Program:
    def __init__(self, path):
        self.name = path.stem
        self.path = path
        text = path.read_text()
        said = dict(re.findall(r"^ \* (first|threads|env|only): (.*)$", text, re.M))
        self.kinds = said["first"].split()
        self.threads = int(said.get("threads", 2))
        self.env = dict(e.split("=", 1) for e in said.get("env", "").split())
        self.compilers = said.get("only", "gcc clang").split()
        lines = text.splitlines()
        self.lines = [i + 1 for i, line in enumerate(lines) if "/* HERE" in line]
        self.curable = "CURED" in text

    def environment(self):
        return {**os.environ, "OMP_NUM_THREADS": str(self.threads), "OMP_PROC_BIND": "true", **self.env}

    def build(self, compiler, cured, folder):
        out = folder / (f"{self.name}.{compiler}" + (".cured" if cured else ""))
        subprocess.run([COMPILERS[compiler], "-std=gnu11", "-O2", "-g", "-fopenmp", *(["-DCURED"] if cured else []),
                        "-o", out, self.path], check=True)
        return out


def ahead():
    """Called in a new process: it comes before others on this machine, which also has groups of sessions."""
    try:
        os.setsid()
        os.nice(-20)
        pathlib.Path("/proc/self/autogroup").write_text("-20")
    except OSError:
        pass


def disturbance(summary):
    causes = summary["account"]["causes_ns"]
    return (causes["preempted"] + causes["oversubscribed"]) / max(summary["account"]["capacity_ns"], 1)


def wall_ns(summary):
    return summary["account"]["capacity_ns"] / max(summary["account"]["threads"] or 1, 1)


def record(build, program, binary):
    """The summary of the least disturbed of some runs."""
    best = None
    for _ in range(TRIES):
        summary = record_once(build, program, binary)
        if best is None or disturbance(summary) < disturbance(best):
            best = summary
        if disturbance(best) < DISTURBED or "oversubscription" in program.kinds:
            break
    return best


def record_once(build, program, binary):
    """The summary of a run that is recorded from inside."""
    grainctl = f"{build}/grainctl"
    run = subprocess.run([grainctl, "run", "--fast", "--", binary], env=program.environment(), preexec_fn=ahead,
                         stderr=subprocess.PIPE, text=True, check=True)
    job = run.stderr.split()[-1]
    said = subprocess.run([grainctl, "summary", "--json", job], preexec_fn=ahead, stdout=subprocess.PIPE,
                          text=True, check=True)
    return json.loads(said.stdout)


def seconds(program, binary):
    start = time.monotonic()
    subprocess.run([binary], env=program.environment(), preexec_fn=ahead, check=True)
    return time.monotonic() - start


def real_saving(program, problem, cured, rounds):
    """Median seconds with the problem, and without."""
    times = [[], []]
    for _ in range(rounds):
        for which, binary in enumerate((problem, cured)):
            times[which].append(seconds(program, binary))
    return tuple(map(statistics.median, times))


def judge(program, summary):
    """What is wrong with the first advice; None: nothing is. And that advice."""
    noise = disturbance(summary) * wall_ns(summary)
    advice = [a for a in summary["advice"] if a["kind"] in program.kinds or a["kind"] not in OF_OTHERS]
    if program.kinds == ["none"]:
        advice = [a for a in advice if a["saves_ns"] > noise]
    if program.kinds == ["none"]:
        return (f"advice: {advice[0]['kind']}" if advice else None), None
    if not advice:
        return "no advice", None
    first = advice[0]
    if first["kind"] not in program.kinds:
        return f"kind {first['kind']}", first
    if not program.lines:
        return None, first
    source = first.get("source") or ""
    if source not in (f"{program.path.name}:{line}" for line in program.lines):
        return f"line {source or '-'}", first
    return None, first


def compare(predicted, real):
    """Whether the prediction came true. Both are parts of the wall time."""
    return None if abs(predicted - real) <= max(TOLERANCE * predicted, NOISE) else "prediction"


def examine(options, program, compiler, folder):
    problem = program.build(compiler, False, folder)
    summary = record(options.build, program, problem)
    wrong, first = judge(program, summary)
    row = [program.name, compiler, str(program.threads), first["kind"] if first else "-",
           first.get("source") or "-" if first else "-"]
    if options.short or not program.curable:
        return wrong, [*row, "", "", ""], summary
    before, after = real_saving(program, problem, program.build(compiler, True, folder), options.rounds)
    predicted = first["saves_ns"] / max(wall_ns(summary), 1) if first else 0
    real = 1 - after / before
    wrong = wrong or compare(predicted, real)
    return wrong, [*row, f"{100 * predicted:.0f} %", f"{100 * real:.0f} %", f"{1e3 * before:.0f}"], summary


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2])
    parser.add_argument("build")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiler")
    parser.add_argument("--advice", action="store_true", help="print all advice")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_intermixed_args()
    names = options.programs or (SHORT if options.short else ())
    programs = [Program(path) for path in sorted(HERE.glob("*.c")) if not names or path.stem in names]
    # graind is of this session and has to keep up.
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("-20")
    form = "{:16} {:6} {:>3}  {:20} {:24} {:>9} {:>7} {:>7}  {}"
    print("= " + form.format("program", "by", "thr", "first advice", "line", "predicted", "real", "of ms", ""))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            for compiler in program.compilers:
                if options.compiler and compiler != options.compiler:
                    continue
                wrong, row, summary = examine(options, program, compiler, pathlib.Path(folder))
                print("= " + form.format(*row, wrong or "right"))
                if options.advice:
                    for a in summary["advice"]:
                        print("=    ", a["kind"], a.get("source"), f"{a['saves_ns'] / 1e6:.0f} ms", a["finding"], "|",
                              a["text"])
                    account = summary["account"]
                    print("=    ", {k: round(v / 1e6, 1) for k, v in account["causes_ns"].items() if v})
                about = f"the first advice for {program.name} by {compiler}"
                print(f"not ok - {about}: {wrong}" if wrong else f"ok - {about}", flush=True)
                failed += bool(wrong)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
