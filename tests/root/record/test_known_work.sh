#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Hardware counters of grains against known work. Task k of a round executes k times the same number of instructions,
# and has k times the cycles. If the machine counts instructions, the numbers are exact. With one thread and with two,
# they are compared with what the kernel's counters of the thread itself count in the same task. By probes, and from
# inside, where the program reads its counters itself.
# usage: tests/root/record/test_known_work.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

UNIT=500000 ROUNDS=8 TASKS=8
start_graind || exit 1
if ! "$GRAINCTL" doctor 2>/dev/null | grep -q "a cycle counter can be read"; then
	skip "cycles of known work" "this machine has no counter of cycles (the arm64 guest of tests/vm has one)"
	exit 0
fi
for way in 1 2 "1 --fast" "2 --fast"; do
	read -r threads fast <<<"$way"
	name=worked-${way// --/-}
	if ! OMP_NUM_THREADS=$threads "$GRAINCTL" run $fast --counters cycles,instructions -- "$B/tests/omp/worked" \
		$ROUNDS $TASKS $UNIT \
		>"$T/$name.out" 2>"$T/$name.err"; then
		not_ok "$name: runs" "$(tail -3 "$T/$name.err")"
		continue
	fi
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	"$GRAINCTL" report "$job" --format json -o "$T/$name.grains"
	python3 - "$name" "$T/$name.grains" "$T/$name.out" $UNIT $ROUNDS $TASKS $threads <<'PY'
import json, re, statistics, sys
name, path, said = sys.argv[1:4]
unit, rounds, tasks, threads = map(int, sys.argv[4:])


def check(what, good, detail=""):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        print("# " + str(detail)[:600])


grains = []
for line in open(path):
    g = json.loads(line)
    found = re.fullmatch(r"0\.p(\d+)\.s0\.(\d+)", g["id"])
    if found:
        grains.append((int(found.group(1)), int(found.group(2)) + 1, g["counters"]))
check("%d tasks" % (rounds * tasks), len(grains) == rounds * tasks, len(grains))
own = {}
for line in open(said):
    if line.startswith("own "):
        r, k, *counts = map(int, line.split()[1:])
        own[r, k] = dict(zip(("cycles", "instructions"), counts))
check("the program counted in each task itself", len(own) == rounds * tasks, len(own))


# Interrupts count for the code that they interrupt. So the work is the minimum over all rounds.
def least(name):
    known = {n: [c[name] for r, k, c in grains if k == n and c.get(name)] for n in range(1, tasks + 1)}
    return {n: min(values) for n, values in known.items() if values}


# A grain also counts the program's own readings and the ends of the probes: some thousands, and no more with more
# work. With one thread this holds in every round. QEMU runs CPUs in turns, and the counters of stopped CPUs go on. If
# a turn ends between the kernel's reading of a counter at a switch and graind's, it counts in only one of the two. So
# with two threads the median of the rounds is checked, and one grain may have less.
def beside_own(name):
    more = [(c[name] - own[r, k][name], k) for r, k, c in grains
            if c.get(name) and own.get((r, k), {}).get(name, -1) > 0]
    usual = {n: (min if threads == 1 else statistics.median)([d for d, k in more if k == n])
             for n in {k for _, k in more}}
    worst = max(d / (2 * unit * k) for k, d in usual.items()) if usual else 0
    less = sum(d < 0 for d, _ in more)
    check("%s are those that the kernel counts for the thread (at most %.2f %% more, %d of %d less)"
          % (name, 100 * worst, less, len(more)),
          len(usual) == tasks and min(usual.values()) >= 0 and less <= (threads > 1) and worst < 0.01,
          (usual, sorted(more)[:3]))


cycles = least("cycles")
check("the cycles of every task are known", len(cycles) == tasks, grains[:3])
if len(cycles) == tasks:
    beside_own("cycles")
counted = least("instructions")
if counted:
    beside_own("instructions")
else:
    print("skip - %s instructions: this machine does not count them (QEMU does with -icount)" % name)
# With several threads, QEMU's counters of a CPU go on while other CPUs work. Then only the kernel's counts can be
# compared.
if threads == 1 and len(cycles) == tasks:
    mean_k, mean_c = (tasks + 1) / 2, sum(cycles.values()) / tasks
    slope = sum((k - mean_k) * (c - mean_c) for k, c in cycles.items()) / sum((k - mean_k) ** 2 for k in cycles)
    off = max(abs(c - (mean_c + slope * (k - mean_k))) / c for k, c in cycles.items())
    check("cycles are proportional to the work (%.3f a loop, at most %.1f %% off)" % (slope / unit, 100 * off),
          slope > 0 and off < 0.05 and abs(mean_c - slope * mean_k) < 0.05 * mean_c, cycles)
if threads == 1 and counted:
    over = {k: (i - 2 * unit * k) / (2 * unit * k) for k, i in counted.items()}
    check("instructions are those of the loop, and of entering it (at most %.2f %% more)" % (100 * max(over.values())),
          len(counted) == tasks and min(over.values()) >= 0 and max(over.values()) < 0.01, counted)
PY
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
