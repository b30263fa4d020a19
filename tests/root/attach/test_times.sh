#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How long it takes: the end of an attach with a duration, the end of a job whose program writes nonsense or very much,
# and what a program waits for a graind that is dead.
# usage: tests/root/attach/test_times.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
# took NAME MILLISECONDS COMMAND...: checks that the command takes less. TOOK: how long it took
took()
{
	local name=$1 most=$2 start
	shift 2
	start=$(date +%s%N)
	"$@" >"$T/out" 2>"$T/err"
	TOOK=$((($(date +%s%N) - start) / 1000000))
	[ "$most" = - ] || check "$name ($TOOK ms)" test "$TOOK" -lt "$most"
}
newest() { "$GRAINCTL" jobs --all --json | json 'max(j["job"] for j in d["jobs"])'; }

start_graind || exit 1
start_loop "$B/tests/omp/loop_forever" 600000 "$T/times"
job=$("$GRAINCTL" attach "$P" --duration 1 | sed -n 's/^job \([0-9]*\)$/\1/p')
becomes "$job" 'j["state"] == "finished"' >/dev/null
is "attach --duration 1 ends in time" "$(of_job "$job" '(j["end_ns"] - j["start_ns"]) // 500000000')" 2
kill "$P"

for program in "$B/tests/root/programs/hostile" "$B/tests/omp/rate 20000 600000"; do
	# shellcheck disable=SC2086
	timeout 600 "$GRAINCTL" run --fast -- $program >"$T/program" 2>"$T/program.err" &
	runner=$!
	name=${program%% *}
	name=${name##*/}
	has_job() { [ "$("$GRAINCTL" jobs --json | json '"'"$name"'" in d["jobs"][0]["exe"]')" = True ]; }
	until_so "$name has a job" has_job
	sleep 1 # pace: so that there is much that it has written
	took "$name is detached while it writes" 25000 "$GRAINCTL" detach "$(newest)"
	kill "$(pgrep -P "$(pgrep -P "$runner")")"
	wait "$runner"
done

fib=(timeout 120 "$GRAINCTL" run --fast --lossless -- "$B/tests/omp/fib" 25 25 3)
took "" - "${fib[@]}"
alone=$TOOK
export WAITS_FOR=$T/go
"${fib[@]}" >"$T/program" 2>"$T/program.err" &
program=$!
recorded() { [ "$("$GRAINCTL" jobs --json | json 'd["jobs"][0]["events"] > 0')" = True ]; }
until_so "it is recorded" recorded
: >"$T/go"
stop_graind KILL
took "a program waits for a dead graind for three seconds at most" $((3500 + 2 * alone)) wait "$program"
is "and is right" "$(json 'd["correct"]' <"$T/program")" True
start_graind || exit 1
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
