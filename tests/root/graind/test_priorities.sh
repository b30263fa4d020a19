#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Only the copying of rings has real-time priority in graind. Its other work for a recording has ordinary priority.
# The kernel's own record of who has a CPU, and with which priority, shows this.
# usage: tests/root/graind/test_priorities.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
EVENTS=/sys/kernel/tracing/events
chrt -r 1 true 2>/dev/null || { skip "priorities" "real time is not permitted here"; exit; }
[ -e $EVENTS/syscalls/sys_enter_sched_setscheduler ] || {
	skip "priorities" "this kernel does not trace system calls"
	exit
}
start_graind || exit
OMP_NUM_THREADS=2 "$GRAINCTL" run -- "$B/tests/omp/fib" 24 24 1000 >/dev/null 2>&1 & PIDS+=($!)
for _ in $(seq 1200); do
	[ "$(of_job 1 'j["grains"] > 10000')" = True ] && break
	sleep 0.1
done
/usr/bin/python3 -B "$HERE/graind/priorities.py" "$GRAIND_PID"
"$GRAINCTL" detach 1 >/dev/null
stop_graind
is "graind ends properly" "$GRAIND_STATUS" 0
