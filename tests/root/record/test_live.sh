#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Values of long running jobs that need a graph. Average parallelism follows what the program does, also after events
# are only counted, and for a program that is recorded from inside.
# usage: tests/root/record/test_live.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit 1
export OMP_WAIT_POLICY=passive
parallelism() {
	curl -s --unix-socket "$GRAIND_SOCKET" "http://graind/v1/jobs/$1" | json 'd.get("average_parallelism") or 0'
}
# follow JOB COMPARISON NUMBER: waits until the comparison holds; SEEN is the last value
follow()
{
	for ((wait = 0; wait < 240; wait++)); do
		SEEN=$(parallelism "$1")
		python3 -c "import sys; sys.exit(not ($SEEN and $SEEN $2 $3))" && return
		sleep 0.5
	done
	return 1
}
# begin NAME FAST OPTION...: starts job JOB of a program that begins with FAST regions
begin()
{
	JOB=$((JOB + 1))
	"$GRAINCTL" run "${@:3}" "$B/tests/root/programs/phases" "$2" >"$T/$1.said" 2>"$T/$1.err" &
	PIDS+=("$!")
	RUN[$JOB]=$!
	NAME[$JOB]=$1
	for ((wait = 0; wait < 300; wait++)); do
		PROGRAM[$JOB]=$("$GRAINCTL" jobs --json |
			json "[j['pid'] for j in d['jobs'] if j['job'] == $JOB and j['state'] == 'running'][0]" \
				2>/dev/null) && break
		sleep 0.1
	done
}
JOB=0 RUN=() NAME=() PROGRAM=()
# Half of these bytes is used before the tasks sleep. No trace has what is looked at after that.
begin "by probes" 2500 --max-bytes $((8 << 20))
begin "from inside" 4000 --max-bytes $((8 << 20)) --fast
for ((wait = 0; wait < 600; wait++)); do
	[ "$("$GRAINCTL" jobs --json |
		json '[j["grains"] > n for j in d["jobs"] for n in {1: [500e3], 2: [800e3]}.get(j["job"], [])]')" = \
		"[True, True]" ] && break
	sleep 0.1
done
for job in 1 2; do
	follow "$job" ">" 1.3
	is "${NAME[$job]}: average parallelism while tasks may run at a time: $SEEN" $? 0
done
kill -USR1 "${PROGRAM[@]}"
for job in 1 2; do
	follow "$job" "<" 1.2
	is "${NAME[$job]}: average parallelism when each waits for the one before: $SEEN" $? 0
done
kill -TERM "${PROGRAM[@]}"
for job in 1 2; do
	wait "${RUN[$job]}"
	"$GRAINCTL" summary "$job" --json >"$T/summary"
	is "${NAME[$job]}: all tasks are counted, some are not kept" \
		"$(json '[d["grains"]["tasks"], d["events"]["lost"], not d["coverage"]["whole"]]' <"$T/summary")" \
		"[$(json 'd["tasks"]' <"$T/${NAME[$job]}.said"), 0, True]"
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
