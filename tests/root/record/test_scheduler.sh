#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the scheduler did to grains. A grain that slept and a grain that lost its CPU are told apart. Moves are counted
# one by one, and the time on the CPU is what the kernel itself says.
# usage: tests/root/record/test_scheduler.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
SCHEDULED=$B/tests/omp/scheduled

# profile NAME COMMAND...: leaves its output, summary and grains in $T/NAME.*
profile()
{
	local name=$1 job
	shift
	if ! "$GRAINCTL" run -- "$@" >"$T/$name.out" 2>"$T/$name.err"; then
		not_ok "$name: runs" "$(tail -3 "$T/$name.err")"
		return 1
	fi
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	"$GRAINCTL" summary "$job" --json >"$T/$name.summary" &&
		"$GRAINCTL" report "$job" --format json -o "$T/$name.grains" &&
		"$GRAINCTL" export "$job" --format log -o "$T/$name.log"
}

# beside_taker NAME COMMAND...: the same while another program computes on the first CPU
beside_taker()
{
	local taker
	taskset -c "$first" "$T/taker" /dev/zero >/dev/null &
	taker=$!
	PIDS+=("$taker")
	profile "$@"
	kill "$taker"
	wait "$taker" 2>/dev/null
}

# judge NAME PYTHON: runs PYTHON with s (summary), grains (a list), said (what the program printed), check(what, good,
# detail)
judge()
{
	python3 - "$1" "$T/$1" <<PY
import json, os, sys
name, base = sys.argv[1:]
# An emulated CPU stands still now and then, and its kernel has much to do.
few = bool(os.environ.get("FEW"))
s = json.load(open(base + ".summary"))
grains = [json.loads(line) for line in open(base + ".grains")]
said = [line.split() for line in open(base + ".out")]
none = dict.fromkeys(("off_ns", "ready_ns", "preempted_ns", "switches", "preemptions", "migrations"), 0)


def of(grain):
    return grain.get("scheduled", none)


def check(what, good, detail=""):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        print("# " + str(detail)[:500])


check("the scheduler was followed", s["scheduler"]["available"], s["scheduler"])
check("nothing lost, conservation holds", s["events"]["lost"] == 0 and s["conservation"]["violations"] == 0,
      (s["events"], s["conservation"]))
$2
PY
}

start_graind || exit 1
cpus=$(taskset -pc $$ | sed 's/.*: //')
first=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

# A task that sleeps three times for 50 ms, and one that computes.
profile sleeps env OMP_NUM_THREADS=2 "$SCHEDULED" 0 50 && judge sleeps '
tasks = [g for g in grains if g["kind"] == "task"]
slept = max(tasks, key=lambda g: of(g)["off_ns"] - of(g)["ready_ns"])
computed = [g for g in tasks if g is not slept][0]
o = of(slept)
blocked = o["off_ns"] - o["ready_ns"]
check("two tasks", len(tasks) == 2, len(tasks))
on = slept["cpu_ns"]
slept = int(said[0][2])
# An emulated CPU may stand still after the timer is set and before the thread leaves the CPU.
check("the sleeper was blocked for 3 x 50 ms (%.1f), while it slept (%.1f)" % (blocked / 1e6, slept / 1e6),
      150e6 <= blocked + (on if few else 0) and blocked <= slept and (few or slept <= blocked + 10e6), (o, on, slept))
check("it left its CPU by itself three times", o["switches"] - o["preemptions"] == 3, o)
check("the other one was not blocked", of(computed)["off_ns"] == of(computed)["ready_ns"], of(computed))
check("on-CPU time and off-CPU time are the execution time",
      all(g["cpu_ns"] + of(g)["off_ns"] == g["exec_ns"] for g in tasks), tasks)
'

# The program and a spinner share a CPU: the spinner takes half of the time.
cp "$(command -v sha256sum)" "$T/taker"
beside_taker taken env OMP_NUM_THREADS=1 taskset -c "$first" "$SCHEDULED" 0 100
judge taken '
tasks = [g for g in grains if g["kind"] == "task"]
o = max((of(g) for g in tasks), key=lambda o: o["preempted_ns"])
taker = [n for n in s["scheduler"]["neighbours"] if n["command"] == "taker"]
check("the grain that computes was preempted (%d times, %.1f ms)" % (o["preemptions"], o["preempted_ns"] / 1e6),
      o["preemptions"] >= 3 and o["preempted_ns"] >= 40e6, o)
check("it was never blocked", o["ready_ns"] == o["off_ns"], o)
# On a busy machine others are among those that took it.
check("it is told who took that time, the spinner among them", taker and taker[0]["preemptions"] and
      sum(n["taken_ns"] for n in s["scheduler"]["neighbours"]) >= 0.8 * o["preempted_ns"],
      s["scheduler"]["neighbours"])
check("and is not called one of its own threads", taker and not taker[0]["own"], taker)
check("it never yielded", " reason=yielded" not in open(base + ".log").read())
check("who took the CPU is told in the summary of the definition",
      any(d["preemption_share"] > 0.2 for d in s["definitions"]), s["definitions"])
'

# More threads than CPUs: the threads take the CPU from each other.
profile crowd env OMP_NUM_THREADS=6 taskset -c "$first" "$SCHEDULED" 1 60 && judge crowd '
own = [n for n in s["scheduler"]["neighbours"] if n["own"]]
check("its own threads took its CPU", own and own[0]["taken_ns"] > 60e6, s["scheduler"]["neighbours"])
'

# Virtual machines do not show switches from some of their own threads to any tracer. If such threads worked beside a
# run, the run is repeated.
all_shown()
{
	python3 - "$1" <<'PY'
import json, sys
sys.exit(any(t["unseen"] for t in json.load(open(sys.argv[1] + ".summary"))["scheduler"]["threads"]))
PY
}

# The kernel's own clock of each thread leaves out what a hypervisor takes. It is compared from the thread's begin in
# the first region to its begin in the second one, where it asks for the clock.
judge_clock()
{
	judge clock '
tick = 1e9 / os.sysconf("SC_CLK_TCK")
unseen = {t["tid"]: t["unseen"] for t in s["scheduler"]["threads"]}
clock = {int(tid): int(ns) for name, tid, ns in said if name == "cpu"}
stolen = {int(tid): int(ns) + tick for name, tid, ns in said if name == "stolen" and int(ns)}
events = [line.split() for line in open(base + ".log") if line[0].isdigit()]
for tid, ns in clock.items():
    own = [(int(e[0]), e[3]) for e in events if int(e[1]) == tid]
    begin, end = [i for i, e in enumerate(own) if e[1] == "member-begin"]
    span, since, on = own[begin:end + 1], None, own[end][0] - own[begin][0]
    for time, kind in span:
        if kind == "off-cpu":
            since = time
        elif kind == "on-cpu" and since:
            on, since = on - (time - since), None
    off, others = on - ns, stolen.get(tid, 0)
    if unseen[tid] and off > 0.01 * ns:
        print("skip - clock: time on the CPU of a thread: in no run did the kernel tell all switches "
              "(%+.2f %%, %d not told)" % (100 * off / ns, unseen[tid]))
        continue
    check("time on the CPU of a thread is the kernel%ss "
          "(%+.2f %%, the hypervisor took up to %.2f %%, %d switches not told)" %
          (chr(39), 100 * off / ns, 100 * others / ns, unseen[tid]), -0.01 * ns <= off <= 0.01 * ns + others, span[:20])
check("every thread was asked", len(clock) == 2, said)
'
}

# QEMU runs emulated CPUs in turns. If a CPU stands between the kernel's time of a switch and the report of the
# switch, that time is counted. So such runs are repeated, too.
for _ in $([ "${FEW:-}" ] && echo 1 2 3 || echo 1 2 3 4 5); do
	profile clock env OMP_NUM_THREADS=2 "$SCHEDULED" 1 1500 && judge_clock >"$T/clock.said" &&
		all_shown "$T/clock" || continue
	[ "${FEW:-}" ] && grep -q '^not ok' "$T/clock.said" || break
done
cat "$T/clock.said"

# Every move to another CPU. Runs are repeated for the same reasons.
all_seen()
{
	python3 - "$T/moves" <<'PY'
import json, sys
said = open(sys.argv[1] + ".out").read().split()
threads = json.load(open(sys.argv[1] + ".summary"))["scheduler"]["threads"]
sys.exit([t["migrations"] for t in threads if t["tid"] == int(said[1])] != [int(said[2])])
PY
}
if [ "$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')" -gt 1 ]; then
	for _ in 1 2 3; do
		profile moves env OMP_NUM_THREADS=1 "$SCHEDULED" 2 200 && all_seen && break
	done
	judge moves '
(_, tid, moves), = said
thread, = [t for t in s["scheduler"]["threads"] if t["tid"] == int(tid)]
check("all %s moves were made" % moves, int(moves) == 200, moves)
check("and each was seen (%d)" % thread["migrations"], thread["migrations"] == int(moves), thread)
'
else
	skip "moves between CPUs" "this process may use one CPU only ($cpus)"
fi

# A thread that gives its CPU to another one is told from a thread that lost it.
beside_taker yields env OMP_NUM_THREADS=1 taskset -c "$first" "$SCHEDULED" 3 300
judge yields '
reasons = [line.split("reason=")[1].split()[0] for line in open(base + ".log") if " off-cpu " in line]
check("yields are told apart (%s)" % {r: reasons.count(r) for r in sorted(set(reasons))},
      reasons.count("yielded") >= 3 and reasons.count("preempted"), reasons)
'

stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
