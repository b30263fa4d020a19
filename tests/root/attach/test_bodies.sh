#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A libgomp that does the same as the system's with other instructions. So the places are not recognised where it
# calls the bodies of tasks, of regions, or of both. These bodies are then observed in the program's own functions.
# Recordings are exact inside the window of an attach: of regions and tasks with 2 threads if both are rewritten, of a
# few if one of them is. With EVERY=1 (make check-every): all three libraries, all programs, 1, 2 and 4 threads. Then
# programs whose bodies have no names, and bodies that are known only when they are passed to the runtime.
# usage: tests/root/attach/test_bodies.sh BUILD_DIRECTORY [--only PATTERN] [--runtime PATTERN] [--threads N...]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
library=$(ldd "$B/tests/omp/fib" | sed -n 's/.*libgomp\.so\.1 => \([^ ]*\).*/\1/p')

matrix()
{
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --attached --rewritten "$library" "$@"
}

# late NAME FROM_MS PROGRAM ARGUMENT...: checks that the recording is exact from some time after the attach on
late()
{
	local name=$1 from=$2 pid job
	shift 2
	LD_LIBRARY_PATH=$T/rewritten-both OMP_NUM_THREADS=2 "$@" >"$T/out" &
	pid=$!
	PIDS+=("$pid")
	sleep 0.2
	job=$("$GRAINCTL" attach "$pid" 2>&1 | sed -n 's/^job //p')
	sleep 1.2
	"$GRAINCTL" detach "$job" >/dev/null
	kill -TERM "$pid"
	wait "$pid"
	is "$name: the program's result is right" "$?" 0
	"$GRAINCTL" report "$job" --format json >"$T/late.ndjson" &&
		"$GRAINCTL" summary "$job" --json >"$T/late.summary"
	python3 "$HERE/attach/late_bodies.py" "$name" "$T/late.ndjson" "$T/late.summary" "$from"
	"$GRAINCTL" jobs --all --json >"$T/late.jobs"
}

start_graind || exit 1
if [ "${EVERY:-}" ] || [ $# -gt 1 ]; then
	matrix "${@:2}"
else
	matrix --families --only '[npt]*' --threads 2 --runtime rewritten-both
	matrix --families --only '[nt]*e[sr]*ed' --threads 2 --runtime 'rewritten-[tm]*'
fi
if [ $# -eq 1 ]; then
	check "a program is built" gcc -O1 -o "$T/handed" "$HERE/programs/handed.c" -fopenmp
	late "bodies that are seen when they are handed over" 300 "$T/handed"
	check "the job says so" grep -q "probed only after its first use" "$T/late.jobs" "$T/graind.log"
fi
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
