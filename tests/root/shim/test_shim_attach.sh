#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# attach --fast: libgrainshim.so in programs that already run. It is exact inside the window as with probes, and
# honest at its edges. The programs are unharmed: signals, sleeps, blocking calls, allocators, loaders. Each runs with
# few numbers of threads; with EVERY=1 (make check-every) with more, and twice.
# usage: tests/root/shim/test_shim_attach.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
R=$B/tests/root/programs
# The pause between the regions of loop_forever.
export LOOP_PAUSE_US=2000
now_ns() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'; }
# start NAME THREADS COMMAND...: its PID is in PROGRAM
start()
{
	OMP_NUM_THREADS=$2 OMP_DYNAMIC=false OMP_WAIT_POLICY=passive "${@:3}" >"$T/$1.json" 2>"$T/$1.err" &
	PROGRAM=$!
	PIDS+=("$PROGRAM")
	# The program may wait for its input first.
	for _ in $(seq 2400); do grep -qsE '/lib(g|)omp[^/]*\.so' "/proc/$PROGRAM/maps" && break; sleep 0.05; done
	sleep 0.3
}
# attach NAME PID OPTION...: leaves JOB, or prints a "not ok"
attach()
{
	JOB=$("$GRAINCTL" attach --fast "${@:3}" "$2" 2>"$T/attach.err" | sed -n 's/^job \([0-9]*\)$/\1/p')
	[ "$JOB" ] && return 0
	not_ok "$1: attach" "$(tail -3 "$T/attach.err")"
	return 1
}
# jobs_of PID: the number of jobs that it has had
jobs_of()
{
	"$GRAINCTL" jobs --all --json | python3 -c '
import json, sys
jobs = json.load(sys.stdin)
print(sum(j["pid"] == int(sys.argv[1]) for j in (jobs["jobs"] if isinstance(jobs, dict) else jobs)))' "$1"
}
# end NAME: ends the program, which says that everything was right
end()
{
	kill -TERM "$PROGRAM"
	# A program that hangs is harmed, too.
	for _ in $(seq 1200); do
		grep -q '^State:[[:space:]]*[^Z]' "/proc/$PROGRAM/status" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$PROGRAM" 2>/dev/null
	wait "$PROGRAM"
	is "$1: the program is unharmed" "$? $(json 'd["correct"]' <"$T/$1.json")" "0 True"
}
# verify NAME THREADS FROM TO JOB
verify()
{
	if "$GRAINCTL" report "$5" --format json -o "$T/$1.ndjson" 2>"$T/$1.err" &&
		"$GRAINCTL" summary "$5" --json >"$T/$1.summary" 2>>"$T/$1.err"; then
		python3 "$HERE/attach/attached.py" "$1" "$T/$1.times" "$3" "$4" "$T/$1.ndjson" "$T/$1.summary" \
			"$2" "$T/$1.json"
		is "$1: recorded from inside" "$(json 'd["source"]' <"$T/$1.summary")" shim
	else
		not_ok "$1: report" "$(tail -3 "$T/$1.err")"
	fi
}

start_graind || exit 1
numbers=(2) held=(3) times=(1)
[ "${EVERY:-}" ] && numbers=(1 2 4) held=(1 3) times=(1 2)
# On libgomp, and on libomp.
for compiler in "" .clang; do
	for threads in "${numbers[@]}"; do
		name=fast-$threads$compiler
		start $name $threads "$B/tests/omp/loop_forever$compiler" 60000 "$T/$name.times"
		attach $name "$PROGRAM" || continue
		from=$(now_ns)
		records "$JOB" 0.7
		to=$(now_ns)
		check "$name: detach while it runs" "$GRAINCTL" detach "$JOB"
		sleep 0.1
		end $name
		verify $name $threads "$from" "$to" "$JOB"
	done

	# Again in the same process: the library is already there.
	name=again$compiler
	start $name 2 "$B/tests/omp/loop_forever$compiler" 60000 "$T/$name.times"
	attach $name "$PROGRAM" && "$GRAINCTL" detach "$JOB"
	attach $name "$PROGRAM"
	is "$name: who is recorded is not twice" \
		"$("$GRAINCTL" attach --fast "$PROGRAM" 2>&1 >/dev/null | grep -c 'is already profiled by job')" 1
	from=$(now_ns)
	records "$JOB" 0.7
	to=$(now_ns)
	"$GRAINCTL" detach "$JOB"
	end $name
	verify $name 2 "$from" "$to" "$JOB"
	is "$name: no job is left of what was refused" "$(jobs_of "$PROGRAM")" 2
done

# Libraries that come and go, one at the address of an earlier one. Each has its own table of functions, and
# afterwards it is as before.
for compiler in "" _clang; do
	name=reload$compiler
	start $name 2 "$R/reload${compiler/_/.}" "$T/$name.times" "$R/reload_1$compiler.so" "$R/reload_2$compiler.so"
	for seconds in 0.05 0.1 0.15 0.2 1; do
		attach $name "$PROGRAM" || break
		from=$(now_ns)
		sleep $seconds
		to=$(now_ns)
		"$GRAINCTL" detach "$JOB"
		sleep 0.2
	done
	end $name
	check "$name: they were at the same place" test "$(json 'd["again"]' <"$T/$name.json")" -gt 10
	verify $name 2 "$from" "$to" "$JOB"
done

# --duration ends the recording, too.
name=duration
start $name 2 "$B/tests/omp/loop_forever" 60000 "$T/$name.times"
"$GRAINCTL" attach --fast --duration 1 "$PROGRAM" >"$T/out" 2>"$T/err"
for _ in $(seq 1200); do
	running=$("$GRAINCTL" jobs --json | json 'len(d["jobs"])')
	[ "$running" = 0 ] && break
	sleep 0.1
done
is "$name: the recording has ended by itself" "$running" 0
end $name

# Operations that a stop could disturb, on the thread that does them and on others.
for mode in allocate sleep alarm load plain allocate.clang alarm.clang plain.clang; do
	for threads in "${held[@]}"; do
		program=held_now
		[ ${mode%.clang} = plain ] && program=held_lazy
		[ $mode = ${mode%.clang} ] || program=$program.clang
		name=$mode-$threads
		start $name $threads "$R/$program" ${mode%.clang}
		for _ in "${times[@]}"; do
			# Some programs make more events than a busy machine reads from the rings.
			attach $name "$PROGRAM" --lossless || continue
			sleep 0.2
			# If the program shares its CPUs, it may not have run yet.
			for _ in $(seq 1200); do
				[ "$("$GRAINCTL" jobs --json |
					json "[j['grains'] > 20 for j in d['jobs'] if j['job'] == $JOB]")" = \
					"[False]" ] || break
				sleep 0.1
			done
			"$GRAINCTL" detach "$JOB"
		done
		end $name
		is "$name: recorded, nothing lost" \
			"$("$GRAINCTL" summary "$JOB" --json |
				json '[d["grains"]["tasks"] > 0, d["events"]["lost"]]')" "[True, 0]"
	done
done
# The program gets an alarm each millisecond. While one thread is stopped, another one gets it.
check "signals came all the time" test "$(json 'd["alarms"]' <"$T/alarm-3.json")" -gt 500
name=read
mkfifo "$T/input"
start $name 1 sh -c 'exec "$0" read <"$1"' "$R/held_now" "$T/input"
exec 3>"$T/input"
sleep 0.2
attach $name "$PROGRAM"
printf 'abcdefgh' >&3
sleep 0.2
"$GRAINCTL" detach "$JOB"
attach $name "$PROGRAM"
printf 'abcdefgh' >&3
sleep 0.2
"$GRAINCTL" detach "$JOB"
end $name
exec 3>&-

stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
