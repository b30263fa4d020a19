#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# attach --fast and detach, again and again, with programs under load. Each time something is recorded, and the
# programs are unharmed and do not grow. The recordings are whole; for two programs they are compared with what the
# program did. With `address` or `thread` the library is built with ASan and UBSan, or with TSan; the growth of the
# programs then comes from the sanitizers. CYCLES: the total number, over seven kinds of programs.
# usage: tests/root/shim/test_shim_cycles.sh BUILD_DIRECTORY [CYCLES [address|thread]]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/shim_lib.sh"
CYCLES=${2:-15}
SANITIZER=${3:-}
R=$B/tests/root/programs
CHECKED=()
if [ "$SANITIZER" ]; then
	sanitized_shim "$SANITIZER" || exit 1
	GRAINCTL=$T/build/grainctl
fi
now_ns() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'; }
resident() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"; }
# start NAME THREADS COMMAND...: its PID is in PROGRAM, once it has its runtime
start()
{
	OMP_NUM_THREADS=$2 OMP_DYNAMIC=false OMP_WAIT_POLICY=passive \
		"${CHECKED[@]}" "${@:3}" >"$T/$1.json" 2>"$T/$1.err" &
	PROGRAM=$!
	PIDS+=("$PROGRAM")
	for ((wait = 0; wait < 200; wait++)); do
		grep -qE '/lib(g|)omp[^/]*\.so' "/proc/$PROGRAM/maps" && break
		sleep 0.05
	done
	sleep 0.3
}
# cycle PID SECONDS [GRAINS]: attaches for this long, and until this many grains are recorded; leaves JOB, or prints a
# "not ok".
cycle()
{
	JOB=$("$GRAINCTL" attach --fast "$1" 2>"$T/attach.err" | sed -n 's/^job \([0-9]*\)$/\1/p')
	if [ -z "$JOB" ]; then
		not_ok "attach" "$(tail -3 "$T/attach.err")"
		return 1
	fi
	FROM=$(now_ns)
	sleep "$2"
	[ $# -lt 3 ] || becomes "$JOB" "j['grains'] >= $3" >/dev/null
	TO=$(now_ns)
	"$GRAINCTL" detach "$JOB" 2>>"$T/attach.err" || not_ok "detach" "$(tail -3 "$T/attach.err")"
}

# sound JOB: whether nothing of the recording is lost, and its times add up; otherwise WRONG says what is wrong
sound()
{
	if ! "$GRAINCTL" summary "$1" --json >"$T/cycle.summary" 2>"$T/cycle.err"; then
		WRONG+="job $1: $(tail -1 "$T/cycle.err"); "
		return 1
	fi
	[ "$(json '[d["events"]["lost"], d["conservation"]["violations"]]' <"$T/cycle.summary")" = "[0, 0]" ] && return
	WRONG+="job $1: $(json 'd["conservation"], d["grains"], d["events"]' <"$T/cycle.summary"); "
	return 1
}

start_graind || exit 1
for name in allocate alarm plain allocate.clang alarm.clang; do
	program=held_now
	[ ${name%.clang} = alarm ] && program=held_lazy
	[ $name = ${name%.clang} ] || program=$program.clang
	start $name 2 "$R/$program" ${name%.clang}
	pid=$PROGRAM
	failed=0
	empty=0
	unsound=0
	WRONG=
	for ((i = 0; i < (CYCLES + 6) / 7; i++)); do
		cycle "$pid" "0.$((i % 2))5" || failed=$((failed + 1))
		[ $i -le 1 ] && before=$(resident "$pid")
		events=$("$GRAINCTL" jobs --all --json |
			json "[j['events'] for j in d['jobs'] if j['job'] == ${JOB:-0}][0]")
		[ "${events:-0}" -gt 0 ] || empty=$((empty + 1))
		sound "$JOB" || unsound=$((unsound + 1))
		"$GRAINCTL" delete "$JOB"
	done
	after=$(resident "$pid")
	is "$name: $i times attached to and detached from" "$failed" 0
	is "$name: each time something was recorded" "$empty" 0
	is "$name: each time nothing was lost, and all times add up $WRONG" "$unsound" 0
	[ "$SANITIZER" ] ||
		check "$name: it does not grow: $before kB at first, $after kB" \
			test "$after" -lt $((before + 1024 + 16 * i))
	kill -TERM "$pid"
	wait "$pid"
	is "$name: unharmed" "$? $(json 'd["correct"]' <"$T/$name.json")" "0 True"
done
# Each window of these programs is compared with what the program did in it.
for compiler in "" .clang; do
	start regions$compiler 3 "$B/tests/omp/loop_forever$compiler" 600000 "$T/times$compiler"
	regions=$PROGRAM
	windows=()
	for ((i = 0; i < (CYCLES + 6) / 7; i++)); do
		# This is more than any 25 regions in a row have.
		cycle "$regions" "${SANITIZER:+1}.$((4 + i % 2 * 2))" 430 || continue
		"$GRAINCTL" report "$JOB" --format json -o "$T/$i.ndjson" &&
			"$GRAINCTL" summary "$JOB" --json >"$T/$i.summary"
		"$GRAINCTL" delete "$JOB"
		windows+=("$i $FROM $TO")
	done
	is "regions$compiler: $i times attached to and detached from" "${#windows[@]}" "$i"
	kill -TERM "$regions"
	wait "$regions"
	for window in "${windows[@]}"; do
		read -r i from to <<<"$window"
		python3 "$HERE/attach/attached.py" "window $i$compiler" "$T/times$compiler" "$from" "$to" \
			"$T/$i.ndjson" "$T/$i.summary" 3 "$T/regions$compiler.json"
		rm "$T/$i.ndjson" "$T/$i.summary"
	done
done
[ "$SANITIZER" = thread ] && no_races "attached and detached"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
