#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The task clock of a grain is its time on the CPU, with any number of threads, beside other programs, on libgomp and
# libomp, by probes and from inside.
# usage: tests/root/record/test_task_clock.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

# clock NAME THREADS PROGRAM OPTION...: records it with these options of grainctl run. The kernel takes interrupts and
# what a host takes from its guest off a thread's clock. On a busy machine these hit many of such short grains, but not
# most: what is judged is the median.
clock()
{
	local job
	OMP_NUM_THREADS=$2 "$GRAINCTL" run --counters task-clock "${@:4}" -- "$3" 30 6 >"$T/out" 2>"$T/err"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -1)
	"$GRAINCTL" report "$job" --format json -o "$T/grains"
	python3 - "$1" "$T/grains" <<'PY'
import json, re, statistics, sys
times = []
for g in map(json.loads, open(sys.argv[2])):
    # The first round also has what the runtime does for the first time.
    round_ = re.match(r"0\.p(\d+)", g["id"])
    if g["kind"] in ("task", "chunk") and int(round_.group(1)) and g["counters"]["task-clock"] is not None:
        times.append((g["counters"]["task-clock"], g["cpu_ns"]))
ratio = statistics.median(clock / cpu for clock, cpu in times) if times else 0
good = len(times) > 200 and 0.97 < ratio < 1.03
print("%s - %s: the task clock is the time on the CPU (%.3f of it)" % ("ok" if good else "not ok", sys.argv[1], ratio))
if not good:
    print("#", len(times), times[-20:])
PY
}

start_graind || exit 1
for threads in 1 2 4; do
	clock "$threads threads" $threads "$B/tests/omp/pages"
	clock "from inside, $threads threads" $threads "$B/tests/omp/pages" --fast
done
clock "libomp" 2 "$B/tests/omp/pages.clang"
clock "from inside, libomp" 2 "$B/tests/omp/pages.clang" --fast
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" "$B/tests/root/programs/faulter" &
	PIDS+=($!)
done
clock "beside a neighbour on every CPU" 2 "$B/tests/omp/pages"
clock "beside a neighbour on every CPU, 4 threads" 4 "$B/tests/omp/pages"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
