#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Attach to programs that already run: exact inside the window, honest at its edges, and nothing is left behind,
# whoever dies first.
# usage: tests/root/attach/test_attach.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

now_ns() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'; }
# start NAME THREADS: starts a program with this number of threads; its PID is in PROGRAM
start()
{
	OUT=$T/$1.json LOOP_REGIONS=$T/$1.regions OMP_NUM_THREADS=$2 OMP_DYNAMIC=false OMP_WAIT_POLICY=passive \
		start_loop "$B/tests/omp/loop_forever" 600000 "$T/$1.times"
	PROGRAM=$P
}
# attach PID: leaves JOB, or prints a "not ok"
attach()
{
	if JOB=$("$GRAINCTL" attach "$1" 2>"$T/attach.err"); then
		JOB=$(sed -n 's/^job \([0-9]*\)$/\1/p' <<<"$JOB")
		[ "$JOB" ] && return 0
	fi
	not_ok "attach" "$(tail -3 "$T/attach.err")" "$JOB" "$(tail -3 "$T/graind.log")"
	return 1
}
# verify NAME THREADS FROM TO JOB
verify()
{
	if "$GRAINCTL" report "$5" --format json -o "$T/$1.ndjson" 2>"$T/$1.err" &&
		"$GRAINCTL" summary "$5" --json >"$T/$1.summary" 2>>"$T/$1.err"; then
		python3 "$HERE/attach/attached.py" "$1" "$T/$1.times" "$3" "$4" "$T/$1.ndjson" "$T/$1.summary" "$2" \
			"$T/$1.json"
	else
		not_ok "$1: report" "$(tail -3 "$T/$1.err")"
	fi
}

before=$(bpf_objects)
start_graind || exit 1
for threads in 1 2 4; do
	for round in 1 2 3; do
		name=attach-$threads-$round
		start "$name" $threads
		attach "$PROGRAM" || continue
		from=$(now_ns)
		more_regions "$T/$name.regions" 200
		to=$(now_ns)
		check "$name: detach while it runs" "$GRAINCTL" detach "$JOB"
		more_regions "$T/$name.regions" 20
		check "$name: the program still runs" kill -0 "$PROGRAM"
		kill -TERM "$PROGRAM"
		wait "$PROGRAM"
		is "$name: its exit status" $? 0
		verify "$name" $threads "$from" "$to" "$JOB"
	done
done

# The program ends first. The job ends by itself.
start end 2
if attach "$PROGRAM"; then
	from=$(now_ns)
	more_regions "$T/end.regions" 200
	kill -TERM "$PROGRAM"
	wait "$PROGRAM"
	to=$(now_ns)
	is "the job ends with the program" "$(becomes "$JOB" 'j["state"] == "finished"')" True
	verify end 2 "$from" "$to" "$JOB"
fi

# Two programs at once, one of them attached to twice.
start two-a 2
a=$PROGRAM
start two-b 1
b=$PROGRAM
if attach "$a" && job_a=$JOB && attach "$b"; then
	job_b=$JOB
	from=$(now_ns)
	out=$("$GRAINCTL" attach "$a" 2>&1)
	is "attaching twice fails" $? 1
	check "and names the job that has it" grep -q "job $job_a" <<<"$out"
	more_regions "$T/two-a.regions" 200
	to=$(now_ns)
	check "detach the first" "$GRAINCTL" detach "$job_a"
	more_regions "$T/two-b.regions" 200
	to_b=$(now_ns)
	check "detach the second" "$GRAINCTL" detach "$job_b"
	kill -TERM "$a" "$b"
	wait "$a" "$b"
	verify two-a 2 "$from" "$to" "$job_a"
	verify two-b 1 "$from" "$to_b" "$job_b"
fi
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
wait_gone "nothing is left in the kernel" "$before"

# kill -9 of graind while it records
start_graind || exit 1
start killed 2
# kept: whether the job's trace holds tasks by now
kept()
{
	"$GRAINCTL" analyze "$GRAIND_STATE_DIR/jobs/$JOB/trace.grt" --keep-going --format json -o "$T/killed.ndjson" &&
		grep -q '"kind":"task"' "$T/killed.ndjson"
}
if attach "$PROGRAM"; then
	until_so "a part of the trace is on disk" kept
	check "while it records, the kernel shows our programs" test "$(bpf_objects)" != "$before"
	stop_graind KILL
	wait_gone "after kill -9 nothing is left in the kernel" "$before"
	check "after kill -9 the program runs on" kill -0 "$PROGRAM"
	kill -TERM "$PROGRAM"
	wait "$PROGRAM"
	is "after kill -9: its exit status" $? 0
	check "after kill -9: its result is right" grep -q '"correct":true' "$T/killed.json"
	start_graind || exit 1
	check "after kill -9: the trace is readable with --keep-going" \
		"$GRAINCTL" analyze "$GRAIND_STATE_DIR/jobs/$JOB/trace.grt" --keep-going --format json \
		-o "$T/killed.ndjson"
	check "after kill -9: it holds tasks" grep -q '"kind":"task"' "$T/killed.ndjson"
	stop_graind
fi
