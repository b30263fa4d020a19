#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process that writes nonsense into the memory that it shares with graind damages only its own trace. If a job's
# process goes on writing, the job still ends when it is told to.
# usage: tests/root/shim/test_shim_hostile.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
job_of() { sed -n 's/^job \([0-9]*\)$/\1/p' "$1" | tail -n 1; }
running() {
	"$GRAINCTL" jobs --json |
		json '[j["job"] for j in d["jobs"] if "'"$1"'" in j["exe"] and j["state"] == "running"][0]' 2>/dev/null
}

start_graind || exit 1
timeout 200 "$GRAINCTL" run --fast -- "$B/tests/root/programs/hostile" 4 >"$T/out" 2>"$T/err" &
hostile=$!
until [ -n "$(running hostile)" ] || ! kill -0 "$hostile" 2>/dev/null; do sleep 0.05; done
timeout 200 "$GRAINCTL" run --fast --lossless -- "$B/tests/omp/fib" 24 24 >"$T/fib" 2>"$T/fib.err"
job=$(job_of "$T/fib.err")
is "beside it another program is recorded to the last task" \
	"$("$GRAINCTL" summary "$job" --json |
		json '[d["grains"]["tasks"], d["grains"]["incomplete"], d["events"]["losses"]]')" \
	"[$(json 'd["tasks"]' <"$T/fib"), 0, {}]"
wait "$hostile"
is "it ends as it would, and its job, too" "$? $(cat "$T/out")" "0 done"
job=$(job_of "$T/err")
state=$("$GRAINCTL" jobs --all --json | json '[j["state"] for j in d["jobs"] if j["job"] == '"$job"'][0]')
check "its job is over ($state)" test "$state" = finished -o "$state" = failed
"$GRAINCTL" summary "$job" --json >"$T/summary" 2>"$T/why"
case $? in
0) check "there is a summary of what it wrote" python3 -m json.tool "$T/summary" ;;
*) is "or one line says why there is none" "$(wc -l <"$T/why")" 1 ;;
esac
is "graind lives" "$("$GRAINCTL" status --json | json 'd["jobs_running"]')" 0

# These are detached while they write as fast as they can.
for program in "$B/tests/root/programs/hostile 30" "$B/tests/omp/rate 20000 30000"; do
	# shellcheck disable=SC2086
	timeout 100 "$GRAINCTL" run --fast -- $program >"$T/out" 2>"$T/err" &
	runner=$!
	name=${program%% *}
	until job=$(running "${name##*/}") && [ -n "$job" ] || ! kill -0 "$runner" 2>/dev/null; do sleep 0.05; done
	sleep 0.5
	start=$(date +%s%N)
	timeout 100 "$GRAINCTL" detach "$job" >/dev/null 2>"$T/why"
	status=$?
	took=$((($(date +%s%N) - start) / 1000000))
	check "${name##*/} detached while it writes (status $status, $took ms)" \
		test "$status" -ne 124 -a "$took" -lt 25000
	kill "$runner" 2>/dev/null
	wait "$runner"
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
