#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process executes a program after graind has read the kernel's news, and before it reads the rings: on a busy machine
# there is much time between the two. The events belong to the job of the right program all the same.
# usage: tests/root/attach/test_exec_late.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
if ! command -v strace >/dev/null; then
	skip "late news" "no strace: make deps installs it"
	exit
fi
export OMP_NUM_THREADS=2
# Makes 31 tasks, waits until there is the file, and executes itself. Then it makes 47, and waits for the other file.
cat >"$T/twice.c" <<'C'
#include <unistd.h>
int main(int argc, char **argv)
{
	int tasks = argc > 2 ? 31 : 47;
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < tasks; i++)
#pragma omp task
		usleep(100);
	while (access(argv[1], F_OK))
		usleep(1000);
	if (argc > 2)
		execl(argv[0], argv[0], argv[2], (char *)0);
	return 0;
}
C
gcc -O1 -fopenmp -o "$T/twice" "$T/twice.c" || exit 1
start_graind || exit 1
# With this call a thread that records becomes urgent, between the two.
strace -f -q -o "$T/strace" -e trace=sched_setscheduler -e inject=sched_setscheduler:delay_enter=200000 \
	-p "$GRAIND_PID" &
tracer=$!
PIDS+=("$tracer")
until_so "graind is traced" grep -q "^TracerPid:[[:space:]]*$tracer$" "/proc/$GRAIND_PID/status"

# The program has no OpenMP before it executes another one, so one job goes on. It runs for about a second.
for i in 2 3 4 5 6; do
	after="sleep 0.$i" # pace: it only varies the moment
	"$GRAINCTL" run -- sh -c "$after; exec \"\$@\"" sh "$B/tests/omp/fib" 27 5 120 >"$T/out" 2>"$T/err"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -1)
	is "run $i: the job has all tasks" \
		"$("$GRAINCTL" summary "$job" --json |
			json 'd["grains"]["tasks"], d["grains"]["incomplete"], d["events"]["lost"]')" \
		"($(json 'd["tasks"]' <"$T/out"), 0, 0)"
done

# In a session each program of a process has a job of its own. Each waits until graind has read its events.
session=$(curl -s --unix-socket "$GRAIND_SOCKET" -d '{"all":true}' http://graind/v1/jobs | json 'd["job"]')
pids=()
for i in 1 2 3 4 5 6; do
	"$T/twice" "$T/next.$i" "$T/over" &
	pids+=($!)
done
PIDS+=("${pids[@]}")
# grains: how many grains the jobs of these processes have
grains()
{
	"$GRAINCTL" jobs --all --json |
		json "sorted(j['grains'] for j in d['jobs'] if j['pid'] in [$(IFS=,; echo "${pids[*]}")])"
}
have() { [ "$(grains)" = "$1" ]; }
until_so "session: the tasks of each are seen" have "[31, 31, 31, 31, 31, 31]"
for i in 1 2 3 4 5 6; do
	: >"$T/next.$i"
	sleep 0.08 # pace: it only varies the moment
done
until_so "session: those of the next program are seen" have "[31, 31, 31, 31, 31, 31, 47, 47, 47, 47, 47, 47]"
: >"$T/over"
wait "${pids[@]}"
is "session: each program has its own tasks" "$(grains)" "[31, 31, 31, 31, 31, 31, 47, 47, 47, 47, 47, 47]"
"$GRAINCTL" detach "$session" >/dev/null
check "the call was delayed" grep -q DELAYED "$T/strace"
kill "$tracer"
wait "$tracer" 2>/dev/null
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
