#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Random programs with static loops, compiled by GCC with random options. Each says which thread executed which
iteration, and the recording must say the same.

usage: static_loops.py BUILD_DIRECTORY SCRATCH_DIRECTORY [--loops N] [--each N] [--seed N] [--least N] [--fast]
                       [--steps] [--narrow] [--keep] [--make --compiler "COMMAND" | --made]

With --make the programs are only compiled into SCRATCH_DIRECTORY, for a machine without a compiler, which uses
them with --made. Otherwise this needs a graind, named by GRAIND_SOCKET. Prints "ok" or "not ok" for each program,
with the seed that makes it again, and how many of the executed loops were recorded.
"""
import argparse
import collections
import os
import platform
import random
import re
import subprocess
import sys

OPTIONS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-Og", "-O2 -fno-plt", "-O2 -fPIE -pie", "-O2 -static",
           "-O3 -march=native", "-O2 -flto", "-O2 -fno-pie -no-pie", "-O3 -funroll-loops", "-O2 -fomit-frame-pointer",
           "-O1 -g",
           "-O2 -fcf-protection=none", "-O2 -fno-tree-vrp", "-O2 -mno-red-zone -fno-omit-frame-pointer", "-O3 -s"]
# The options to use in place of those that only x86-64 has.
OPTIONS_AARCH64 = {"-march=native": "-march=armv8.2-a", "-mno-red-zone": "-mstrict-align",
                   "-fcf-protection=none": "-mbranch-protection=standard"}
TYPES = {"int": (-300, 300), "long": (-300, 300), "unsigned": (0, 600), "unsigned long": (0, 600),
         "long long": (-300, 300),
         "unsigned long long": (0, 600)}
# In these, the compiler's own numbers overflow if chunks end behind what such a number can be.
NARROW = {"short": (-300, 300, 32767), "unsigned short": (0, 600, 65535), "signed char": (-55, 55, 127),
          "char": (-55, 55, 127), "unsigned char": (6, 200, 255)}

PRELUDE = """
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
#define MOST 4096
static int *who[%d];
static long counts[%d];
static int tids[64];
static double a[MOST], b[MOST];
volatile long sink;
void ran(int loop, long i);
__attribute__((noinline)) static long more(long x) { sink += x; return x + 1; }
"""
AFTER = """
__attribute__((noinline)) void ran(int loop, long i) { who[loop][i] = 1 + omp_get_thread_num(); }
static void say(int region, int first, int end)
{
	printf("region %d", region);
	for (int t = 0; t < 64; t++)
		if (tids[t])
			printf(" %d:%d", t, tids[t]);
	putchar('\\n');
	for (int l = first; l < end; l++) {
		printf("loop %ld", counts[l]);
		for (long i = 0; i < counts[l];) {
			long k = i;
			while (k < counts[l] && who[l][k] == who[l][i])
				k++;
			printf(" %d:%ld-%ld", who[l][i] - 1, i, k - 1);
			i = k;
		}
		putchar('\\n');
	}
	for (int t = 0; t < 64; t++)
		tids[t] = 0;
}
"""


class Program:
    """The text of a random program. Loops are numbered in the order of their execution."""

    def __init__(self, rng, loops, steps=False, narrow=False):
        self.steps_too, self.narrow_too = steps, narrow
        self.rng, self.instances, self.regions, self.functions = rng, 0, 0, []
        self.source = 0
        while self.source < loops:
            self.function()

    def schedule(self):
        kind = self.rng.choice(["", "schedule(static)", "schedule(auto)", "chunk", "chunk"])
        if kind != "chunk":
            return kind, None
        if self.rng.random() < 0.25:
            return "schedule(static, k)", "k"
        k = self.rng.choice([1, 2, 3, 4, 7, 16, 100])
        return "schedule(static, %d)" % k, k

    def header(self, variable, k):
        """A loop's header, the normalised number of the iteration as an expression, and the number of iterations."""
        r = self.rng
        kind = r.choice(list(TYPES))
        low, high = TYPES[kind]
        most = None
        step = r.choice([1, 1, 1, 2, 3, 5])
        if self.narrow_too and r.random() < 0.4:
            kind = r.choice(list(NARROW))
            low, high, most = NARROW[kind]
        if r.random() < 0.15 and kind in ("int", "long"):
            begin, end = 0, 0
        else:
            begin, end = sorted(r.randint(low, high) for _ in range(2))
        constant = r.random() < 0.4
        down = r.random() < 0.3
        if down and "unsigned" in kind:
            begin += step
            end += step
            if end > high:
                down = False
        if most and (end - begin) + 6 * (3 if k == "k" else k or 1) > most:
            end = begin + 1
        count = max(0, (end - begin + step - 1) // step)
        # The compiler then knows which threads get nothing, and makes separate code for the others.
        constant = constant and count > 4 * (k if isinstance(k, int) else 4)
        x, y = (str(n) if constant else "(%s)(%d + zero)" % (kind, n) for n in (begin, end))
        if down:
            text = "for (%s %s = %s; %s > %s; %s -= %d)" % (kind, variable, y, variable, x, variable, step)
            index = "((long)(%d) - (long)%s) / %d" % (end, variable, step)
        else:
            text = "for (%s %s = %s; %s < %s; %s += %d)" % (kind, variable, x, variable, y, variable, step)
            index = "((long)%s - (long)(%d)) / %d" % (variable, begin, step)
        return text, index, count

    def body(self, number, index):
        r = self.rng
        lines = []
        what = r.choice(["call", "store", "store", "both"])
        if what != "store":
            lines.append("ran(%s, %s);" % (number, index))
        else:
            lines.append("w[%s] = me;" % index)
        for _ in range(r.randint(0, 2)):
            lines.append(r.choice([
                "a[(%s) %% MOST] = b[(%s) %% MOST] * 2 + 1;" % (index, index),
                "for (int z = 0; z < 9; z++) b[z + (%s) %% 1000] += a[z];" % index,
                "more(%s);" % index,
                "switch ((%s) %% 7) { case 0: more(1); break; case 1: a[3] = 1; break; case 2: more(2); break;"
                " case 3: more(7); break; case 4: b[1] += 2; break; case 5: more(9); break; }" % index,
                "if ((%s) %% 3 == 0) more(2);" % index]))
        return " ".join(lines)

    def loop(self, depth):
        r = self.rng
        schedule, k = self.schedule()
        clauses = [schedule]
        nowait = r.random() < 0.4
        simd = r.random() < 0.15 and k is None
        repeat = r.randint(2, 3) if r.random() < 0.15 else 1
        text, index, count = self.header("i", k)
        number = "base + %d" % self.in_region
        collapse = r.random() < 0.15
        if collapse:
            inner = r.randint(1, 5)
            text += " for (int j = 0; j < %d; j++)" % inner
            index = "(%s) * %d + j" % (index, inner)
            count *= inner
            clauses.append("collapse(2)")
        reduction = r.random() < 0.15
        if reduction:
            clauses.append("reduction(+: total)")
        if nowait:
            clauses.append("nowait")
        out = []
        if repeat > 1:
            out.append("for (int again = 0; again < %d; again++) {" % repeat)
            number = "base + %d + again" % self.in_region
        out.append("{ int *w = who[%s];" % number)
        out.append("#pragma omp for%s %s" % (" simd" if simd else "", " ".join(clauses)))
        body = self.body(number, index) if not simd else "w[%s] = me;" % index
        out.append("%s { %s%s }" % (text, body, " total += 1;" if reduction else ""))
        out.append("}")
        if nowait and r.random() < 0.5:
            out.append("more(me);")
        if repeat > 1:
            if nowait:
                out.append("if (me > 100) more(again);")
            out.append("}")
        self.counts += [count] * repeat
        self.in_region += repeat
        self.source += 1
        return out

    def steps(self):
        """Loops with the same bounds, one after another, again and again. Their shares are computed once."""
        r = self.rng
        schedule, k = self.schedule()
        text, index, count = self.header("i", k)
        loops, repeat = r.randint(1, 3), r.randint(2, 4)
        out = ["for (int again = 0; again < %d; again++) {" % repeat]
        for n in range(loops):
            number = "base + %d + %d * again" % (self.in_region + n, loops)
            out.append("{ int *w = who[%s];" % number)
            out.append("#pragma omp for %s" % schedule)
            out.append("%s { %s }" % (text, self.body(number, index)))
            out.append("}")
        if r.random() < 0.5:
            out.append("if (me == 1) more(again);")
        out.append("}")
        self.counts += [count] * (loops * repeat)
        self.in_region += loops * repeat
        self.source += loops
        return out

    def function(self):
        r = self.rng
        self.in_region, self.counts = 0, []
        lines = []
        combined = r.random() < 0.25
        first = self.instances
        name = "f%d" % len(self.functions)
        head = "__attribute__((noinline)) static void %s(long zero, int base, int k)" % name
        if combined:
            schedule, k = self.schedule()
            text, index, count = self.header("i", k)
            self.counts, self.in_region = [count], 1
            self.source += 1
            lines = ["#pragma omp parallel for %s" % schedule,
                     "%s { tids[omp_get_thread_num()] = (int)syscall(SYS_gettid); %s }" %
                     (text, "ran(base, %s); a[(%s) %% MOST] += 1;" % (index, index))]
        else:
            lines.append("double total = 0;")
            lines.append("#pragma omp parallel")
            lines.append("{ int me = 1 + omp_get_thread_num(); tids[me - 1] = (int)syscall(SYS_gettid);")
            if self.steps_too and r.random() < 0.2:
                lines.append("if (me == 1) more(4);")
            for _ in range(r.randint(1, 5)):
                lines += self.steps() if self.steps_too and r.random() < 0.2 else self.loop(0)
                if r.random() < 0.2:
                    lines.append(r.choice(["#pragma omp barrier", "more(3);", "#pragma omp single\nmore(5);",
                                           "#pragma omp critical\nmore(5);"]))
            lines.append("}")
            lines.append("sink += (long)total;")
        self.functions.append((name, head, lines, first, list(self.counts)))
        self.instances += len(self.counts)
        self.regions += 1

    def text(self):
        out = [PRELUDE % (self.instances + 1, self.instances + 1)]
        for name, head, lines, first, counts in self.functions:
            out += [head, "{"] + lines + ["}"]
        out.append(AFTER)
        out.append("int main(int argc, char **argv) { (void)argv; long zero = argc - 1; int k = argc + 2;")
        out.append("for (int l = 0; l < %d; l++) who[l] = calloc(MOST, sizeof(int));" % (self.instances + 1))
        for n, (name, head, lines, first, counts) in enumerate(self.functions):
            for i, c in enumerate(counts):
                out.append("counts[%d] = %d;" % (first + i, c))
            out.append("%s(zero, %d, k); say(%d, %d, %d);" % (name, first, n, first, first + len(counts)))
        out.append("return 0; }")
        return "\n".join(out) + "\n"


def ranges(numbers):
    """A set of ranges as a sorted list, with neighbours joined."""
    out = []
    for low, high in sorted(numbers):
        if out and out[-1][1] + 1 == low:
            out[-1] = (out[-1][0], high)
        else:
            out.append((low, high))
    return out


def told(text):
    """What the program says: a list of regions, each a list of loops, each {tid: ranges}."""
    regions = []
    for line in text.splitlines():
        words = line.split()
        if words[0] == "region":
            tids = dict(map(int, w.split(":")) for w in words[2:])
            regions.append([])
        else:
            loop = collections.defaultdict(list)
            for w in words[2:]:
                thread, low, high = map(int, re.match(r"(-?\d+):(\d+)-(\d+)", w).groups())
                loop[tids.get(thread, thread)].append((low, high))
            regions[-1].append({t: ranges(r) for t, r in loop.items()})
    return regions


def recorded(log):
    """The same from a log, and what is wrong in the log itself."""
    regions, where, wrong = collections.OrderedDict(), collections.defaultdict(list), []
    stride, last = {}, {}
    for line in log.splitlines():
        if line.startswith("@truth"):
            wrong += [w for w in line.split()[1:] if not w.startswith("events=") and not w.endswith("=0")]
        if line.startswith(("@", "grain-log")):
            continue
        time, tid, task, what, *rest = line.split()
        values = dict(w.split("=", 1) for w in rest if "=" in w)
        tid = int(tid)
        if what == "region-begin":
            regions[values["region"]] = collections.OrderedDict()
        elif what == "member-begin":
            where[tid].append(values["region"])
        elif what == "member-end":
            where[tid].pop()
        elif what == "loop-begin":
            regions[where[tid][-1]].setdefault(int(values["loop"]), collections.defaultdict(list))
            stride[int(values["loop"])] = int(values.get("stride", 0))
            last[int(values["loop"])] = int(values.get("upper", -1))
        elif what == "chunk-begin":
            loop = regions[where[tid][-1]].get(int(values["loop"]))
            if loop is None:
                wrong.append("chunk of no loop: " + line)
            elif "lower" in values: # else it is a share whose bounds are unknown
                low, high = int(values["lower"]), int(values["upper"])
                # The thread's other chunks, if only the first was seen.
                step, most = stride[int(values["loop"])], last[int(values["loop"])]
                for n in range(int(values.get("count", 1))):
                    loop[tid].append((low + n * step, min(high + n * step, most) if n else high))
    return [[{t: ranges(r) for t, r in regions[g][l].items()} for l in sorted(regions[g])] for g in regions], wrong


# How many loops are in the source, were executed with iterations, and were recorded among these, with the exact
# iterations of each thread. Also what is wrong: a loop with other iterations than executed, or something lost.
Result = collections.namedtuple("Result", "loops options executed seen wrong")


def target(compiler):
    """The processor that the compiler compiles for."""
    named = re.match(r"(x86_64|aarch64)-", compiler)
    return named.group(1) if named else platform.machine()


def compiled(scratch, seed, options, program, compiler):
    """Compiles the program of a seed. Returns the compiler's error messages."""
    source, binary = "%s/%d.c" % (scratch, seed), "%s/%d" % (scratch, seed)
    with open(source, "w") as f:
        f.write(program.text())
    if target(compiler) == "aarch64":
        options = " ".join(OPTIONS_AARCH64.get(o, o) for o in options.split())
    command = [*compiler.split(), "-w", "-fopenmp", *options.split(), "-o", binary, source]
    made = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    return made.stderr[-300:] if made.returncode else None


def run_one(asked, seed):
    """Records the program of a seed and compares it."""
    rng = random.Random(seed)
    program = Program(rng, asked.each, asked.steps, asked.narrow)
    options = rng.choice(OPTIONS)
    threads = rng.choice([1, 2, 3, 4])
    build, binary, fast = os.path.abspath(asked.build), "%s/%d" % (asked.scratch, seed), asked.fast
    # There, nothing is recorded from inside. On aarch64, neither is a runtime that is a part of the program.
    if "-static" in options and (fast or target(asked.compiler) == "aarch64"):
        return Result(program.source, options, 0, 0, None)
    failed = None if asked.made else compiled(asked.scratch, seed, options, program, asked.compiler)
    if failed:
        return Result(program.source, options, 0, 0, "cannot be compiled: " + failed)
    if asked.make:
        return Result(program.source, options, 0, 0, None)
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false")
    ran = subprocess.run([build + "/grainctl", "run"] + (["--fast"] if fast else []) + ["--", binary], env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job = re.search(r"^job (\d+)$", ran.stdout + "\n" + ran.stderr, re.M)
    if ran.returncode or not job:
        return Result(program.source, options, 0, 0, "exit %d: %s" % (ran.returncode, ran.stderr[-300:]))
    log = subprocess.run([build + "/grainctl", "export", "--format", "log", job.group(1)], stdout=subprocess.PIPE,
                         text=True)
    truth = told("\n".join(l for l in ran.stdout.splitlines() if l.startswith(("region", "loop"))))
    mine, wrong = recorded(log.stdout)
    subprocess.run([build + "/grainctl", "delete", job.group(1)], stdout=subprocess.DEVNULL)
    if len(mine) != len(truth):
        return Result(program.source, options, 0, 0, "%d regions, recorded %d" % (len(truth), len(mine)))
    seen = executed = 0
    why = wrong[0] if wrong else None
    for n, (want, got) in enumerate(zip(truth, mine)):
        # A loop without iterations may have no code.
        want, got = [l for l in want if l], [l for l in got if l]
        at = 0
        for loop in got:
            while at < len(want) and want[at] != loop:
                at += 1
            if at == len(want):
                why = why or "function f%d: loops %s, recorded %s" % (n, want, got)
                break
            at += 1
            seen += 1
        executed += len(want)
    return Result(program.source, options, executed, seen, why)


def say(asked, seed, result):
    print("%sok - what is recorded of static loops of seed %d%s was executed: %d of %d loops, gcc %s" %
          ("not " if result.wrong else "", seed, " from inside" if asked.fast else "", result.seen, result.executed,
           result.options))
    if result.wrong:
        print("# " + result.wrong[:20000])
    sys.stdout.flush()


def remove(asked, seed):
    for end in ("", ".c"):
        try:
            os.unlink("%s/%d%s" % (asked.scratch, seed, end))
        except FileNotFoundError:
            pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("scratch")
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--each", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--steps", action="store_true",
                        help="also loops with the same bounds, and code for one thread only")
    parser.add_argument("--narrow", action="store_true", help="also variables of 8 and 16 bits")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--made", action="store_true")
    parser.add_argument("--least", type=int, default=0, help="how many of a hundred loops have to be understood")
    asked = parser.parse_args()
    done, failed, executed, seen, seed = 0, 0, 0, 0, asked.seed
    while done < asked.loops:
        result = run_one(asked, seed)
        if result.wrong or not asked.make:
            say(asked, seed, result)
        if not (result.wrong or asked.keep or asked.make or asked.made):
            remove(asked, seed)
        failed += result.wrong is not None
        done += result.loops
        executed += result.executed
        seen += result.seen
        seed += 1
    if asked.make:
        return failed > 0
    enough = seen >= executed * asked.least // 100
    print("%sok - %d %% of %d executed loops were understood, wanted %d %%" %
          ("" if enough else "not ", 100 * seen // max(executed, 1), executed, asked.least))
    return failed > 0 or not enough


if __name__ == "__main__":
    sys.exit(main())
