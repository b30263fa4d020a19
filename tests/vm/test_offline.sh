#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# CPUs that go and come while their events are counted and sampled: what is said of a grain is true or absent.
# usage: tests/vm/test_offline.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../root/root_lib.sh"

CPUS=/sys/devices/system/cpu
if ! [ -w $CPUS/cpu5/online ]; then
	not_ok "CPUs can be taken offline here" "no $CPUS/cpu5/online: is this a guest of guests.sh?"
	exit 1
fi
no_numa_balancing
is "eight CPUs" "$(cat $CPUS/online)" 0-7

# come_and_go PID FILE: while it lives, CPUs 5 to 7 go and come; how often they did.
come_and_go()
{
	local n=0 cpu
	while kill -0 "$1" 2>/dev/null; do
		for cpu in 7 5 6; do
			echo 0 >$CPUS/cpu$cpu/online && n=$((n + 1))
			sleep 0.2
			echo 1 >$CPUS/cpu$cpu/online
		done
		echo $n >"$2"
	done
}

# profile NAME COMMAND...: grainctl run's command line, while CPUs come and go.
profile()
{
	local name=$1 job
	shift
	OMP_NUM_THREADS=8 "$GRAINCTL" run "$@" >"$T/$name.out" 2>"$T/$name.err" &
	come_and_go $! "$T/$name.gone"
	wait $!
	is "$name: runs" "$? $(tail -c 300 "$T/$name.out" | tail -1)" "0 $SAID"
	check "$name: CPUs went $(cat "$T/$name.gone") times meanwhile" [ "$(cat "$T/$name.gone")" -ge 3 ]
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	"$GRAINCTL" summary "$job" --json >"$T/$name.summary" &&
		"$GRAINCTL" report "$job" --format json -o "$T/$name.grains"
	is "$name: nothing lost" "$(json 'd["events"]["lost"], d["conservation"]["violations"]' <"$T/$name.summary")" \
		"(0, 0)"
}

# judge NAME: task and chunk k of each round but the first have k page faults; the
# clock of a CPU is that of the grain, but for what the host of the guest takes in between.
judge()
{
	python3 - "$1" "$T/$1.grains" <<'PY'
import json, re, sys
name, path = sys.argv[1:]
tasks, chunks, wrong, clocks, unknown = 0, 0, [], [], 0
for g in map(json.loads, open(path)):
    task, k = re.fullmatch(r"0\.p(\d+)\.s0\.(\d+)", g["id"]), None
    if task and int(task.group(1)):
        tasks, k = tasks + 1, int(task.group(2))
    elif g["kind"] == "chunk" and int(re.match(r"0\.p(\d+)", g["id"]).group(1)):
        chunks, k = chunks + 1, g["lower"]
    if k is None:
        continue
    if g["counters"]["page-faults"] != k:
        wrong.append((g["id"], k, g["counters"]))
    clock = g["counters"]["cpu-clock"]
    if clock is None:
        unknown += 1
        continue
    clocks.append((clock, g["cpu_ns"]))
    if clock > g["exec_ns"] + 20e6:
        wrong.append((g["id"], g["exec_ns"], g["cpu_ns"], g["counters"], g["fragments"]))


def check(what, good, detail=""):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        print("# " + str(detail)[:600])


check("all tasks and chunks are there", tasks == chunks == 15 * 40, (tasks, chunks))
check("page faults are exact, no clock is too large", not wrong, wrong[:5])
check("the clocks of most grains are known (%d of %d)" % (len(clocks), len(clocks) + unknown), len(clocks) > unknown)
share = sum(c for c, _ in clocks) / sum(cpu for _, cpu in clocks)
check("they are the time on the CPU (%.3f of it)" % share, 0.9 < share < 1.1)
PY
}

start_graind || exit 1
SAID="pages $((2 * 16 * 40 * 39 / 2))"
profile counted --counters page-faults,cpu-clock -- "$B/tests/omp/pages" 40 16
judge counted

# It begins while CPU 6 is offline.
echo 0 >$CPUS/cpu6/online
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
start_graind || exit 1
check "doctor finds nothing that is missing because of a CPU that is offline" "$GRAINCTL" doctor
profile late --counters page-faults,cpu-clock --sample -- "$B/tests/omp/pages" 40 16
judge late
check "late: samples" [ "$(json 'd["sampling"]["samples"]' <"$T/late.summary")" -gt 0 ]
is "all CPUs are there again" "$(cat $CPUS/online)" 0-7
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
