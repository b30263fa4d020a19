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
# end PID: ends the program that this grainctl, under timeout, runs
end() { kill "$(pgrep -P "$(pgrep -P "$1")")"; }

start_graind || exit 1
timeout 600 "$GRAINCTL" run --fast -- "$B/tests/root/programs/hostile" >"$T/out" 2>"$T/err" &
hostile=$!
until_so "there is a job" running hostile
until_so "it writes nonsense" grep -q writes "$T/out"
timeout 200 "$GRAINCTL" run --fast --lossless -- "$B/tests/omp/fib" 24 24 >"$T/fib" 2>"$T/fib.err"
job=$(job_of "$T/fib.err")
is "beside it another program is recorded to the last task" \
	"$("$GRAINCTL" summary "$job" --json |
		json '[d["grains"]["tasks"], d["grains"]["incomplete"], d["events"]["losses"]]')" \
	"[$(json 'd["tasks"]' <"$T/fib"), 0, {}]"
end "$hostile"
wait "$hostile"
is "it ends as it would, and its job, too" "$? $(tail -n 1 "$T/out")" "0 done"
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
for program in "$B/tests/root/programs/hostile" "$B/tests/omp/rate 20000 600000"; do
	# shellcheck disable=SC2086
	timeout 600 "$GRAINCTL" run --fast -- $program >"$T/out" 2>"$T/err" &
	runner=$!
	name=${program%% *}
	name=${name##*/}
	until_so "$name: there is a job" running "$name"
	job=$(running "$name")
	if [ "$name" = hostile ]; then
		until_so "$name: it writes" grep -q writes "$T/out"
	else
		becomes "$job" 'j["grains"] > 0' >/dev/null
	fi
	timeout "${PATIENCE:-120}" "$GRAINCTL" detach "$job" >/dev/null 2>"$T/why"
	status=$?
	check "$name detached while it writes (status $status)" \
		test "$status" -ne 124 -a "$(pgrep -P "$(pgrep -P "$runner")" -x "$name" | wc -l)" = 1
	end "$runner"
	wait "$runner"
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
