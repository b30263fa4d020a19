#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The wall clock is set an hour forth and two back while programs are recorded. In a guest: nobody else lives by it.
# usage: tests/vm/test_clock.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../root/root_lib.sh"
export OMP_NUM_THREADS=2
step() { date -s "@$(($(date +%s) + $1))" >/dev/null; }

start_graind || exit 1
"$GRAINCTL" run -- "$B/tests/omp/fib" 14 6 >"$T/before.out" 2>"$T/err"
before=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
"$GRAINCTL" summary "$before" --json >"$T/before"
for shift in 3600 -7200; do
	"$B/tests/omp/loop_forever" 600000 "$T/times" >/dev/null 2>&1 &
	program=$!
	PIDS+=("$program")
	sleep 0.5
	job=$("$GRAINCTL" attach "$program" | sed -n 's/^job \([0-9]*\)$/\1/p')
	sleep 1
	check "the clock is set by $shift s" step $shift
	sleep 1
	check "$shift s: detach" "$GRAINCTL" detach "$job"
	kill "$program"
	wait "$program" 2>/dev/null
	"$GRAINCTL" summary "$job" --json >"$T/summary"
	is "$shift s: nothing is lost, nothing incomplete but what was open" \
		"$(json '[d["events"]["lost"], d["damaged"], d["grains"]["total"] > 0]' <"$T/summary")" \
		"[0, False, True]"
	check "$shift s: it took the seconds that it took" \
		test "$("$GRAINCTL" jobs --all --json |
			json '[1e9 < j["end_ns"] - j["start_ns"] < 300e9 for j in d["jobs"]
				if j["job"] == '"$job"']')" = "[True]"
	OMP_NUM_THREADS=2 "$GRAINCTL" run -- "$B/tests/omp/fib" 14 6 >"$T/out" 2>"$T/err"
	is "$shift s: another program is recorded" \
		"$("$GRAINCTL" summary "$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)" --json |
			json '[d["grains"]["total"], d["grains"]["incomplete"], d["events"]["lost"]]')" \
		"$(json '[d["tasks"], 0, 0]' <"$T/out")"
	"$GRAINCTL" summary "$before" --json >"$T/after"
	check "$shift s: the earlier job is there, and as it was" cmp "$T/before" "$T/after"
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
