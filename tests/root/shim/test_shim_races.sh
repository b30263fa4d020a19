#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# libgrainshim built with ThreadSanitizer, which is told what the OpenMP runtimes pass from thread to thread. Runs
# some constructs with 4 threads, and threads that come and go, are cancelled, end and execute programs from inside
# tasks. No race is reported. Without the hand-overs, races would be reported. Forks are not tested: ThreadSanitizer
# does not support a child with threads. With EVERY=1 (make check-every) one program of each family.
# usage: tests/root/shim/test_shim_races.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/shim_lib.sh"
few=nested,parallel_for,for_ordered,single_copyprivate,task_depend,task_detach,task_untied
few+=,taskloop_num_tasks,cancel_taskgroup
which=(--families)
[ "${EVERY:-}" ] || which=(--only "$few")

sanitized_shim thread || exit 1
start_graind || exit 1
timeout 300 python3 "$HERE/constructs/matrix.py" "$T/build" "$T" --fast "${which[@]}" --threads 4 >"$T/matrix" 2>&1
grep -E '^(not ok|#)' "$T/matrix"
check "the constructs are recorded exactly: $(grep -c '^ok' "$T/matrix")" [ "$(grep -c '^ok' "$T/matrix")" -ge 18 ]
no_races "constructs on libgomp and libomp"
for mode in threads cancel exit exec; do
	timeout 100 "$T/build/grainctl" run --fast -- "$B/tests/root/programs/rough" $mode >"$T/out" 2>"$T/err"
	is "$mode: the program's own account" "$? $(tail -1 "$T/out" | json 'd["correct"]' 2>&1)" "0 True"
	no_races "$mode"
done
# This shows that the test can fail.
rm -f "$T"/races.*
sanitized_shim thread UNSAID || exit 1
OMP_NUM_THREADS=4 timeout 100 "$T/build/grainctl" run --fast -- "$B/tests/omp/fib" 20 12 >"$T/out" 2>"$T/err"
check "what is handed over without TSan being told is a race: $(races)" test "$(races)" -gt 0
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
