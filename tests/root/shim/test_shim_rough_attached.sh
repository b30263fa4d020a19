#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# attach --fast to programs that are difficult for a library inside them: forks, also in the middle of a task; threads
# that come, go and are cancelled; descriptors that are closed; ends and new programs from inside tasks.
# usage: tests/root/shim/test_shim_rough_attached.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2 ROUGH_WAITS=$T/go ROUGH_ENDS=$T/ends
# start NAME MODE: starts a program that waits to be attached to; leaves JOB, or prints a "not ok"
start()
{
	local program=$B/tests/root/programs/rough
	[ "${1%.clang}" = "$1" ] || program=$program.clang
	rm -f "$T/go" "$T/ends"
	timeout 60 "$program" "$2" >"$T/out" 2>"$T/err" &
	WAITING=$!
	PIDS+=("$WAITING")
	for _ in $(seq 2400); do
		PROGRAM=$(pgrep -P "$WAITING") && grep -q 'lib[gi]*omp[^/]*\.so' "/proc/$PROGRAM/maps" && break
		sleep 0.05
	done
	sleep 0.2
	# One of its threads may do nothing but regions during the whole run.
	JOB=$("$GRAINCTL" attach --fast --lossless "$PROGRAM" 2>"$T/attach.err" | sed -n 's/^job \([0-9]*\)$/\1/p')
	[ "$JOB" ] && return
	not_ok "$1: attach" "$(tail -3 "$T/attach.err")"
	kill "$WAITING"
	return 1
}
# finish NAME: waits until the program ends by itself
finish()
{
	wait "$WAITING"
	is "$1: the program's own account" "$? $(tail -1 "$T/out" | json 'd["correct"]' 2>&1)" "0 True"
}
# ended JOB: waits until the job has ended
ended() { for _ in $(seq 1200); do "$GRAINCTL" jobs --json | grep -q "\"job\":$1," || return; sleep 0.1; done; }
field() { "$GRAINCTL" summary "$1" --json 2>/dev/null | json "$2" 2>&1; }

start_graind || exit 1
# The parent's number of tasks, if it is the same each time. libomp 14 fails by itself when threads that had teams
# come and go.
declare -A total=([within]=408 [threads]=60000 [closes]=900 [within.clang]=408 [closes.clang]=459)
for name in fork fork.clang within within.clang threads cancel cancel.clang pending pending.clang closes closes.clang \
	exit exit.clang exec exec.clang; do
	mode=${name%.clang}
	start "$name" "$mode" || continue
	touch "$T/go"
	finish "$name"
	ended "$JOB"
	[[ $mode =~ ^ex ]] && continue
	is "$name: recorded from inside, nothing lost or wrong" \
		"$(field "$JOB" '(d["source"], d["events"]["lost"], d["conservation"]["violations"],
			d["grains"]["incomplete"], d["events"]["unmatched_ends"], d["grains"]["total"] > 0)')" \
		"('shim', 0, 0, 0, 0, True)"
	[ "${total[$name]:-}" ] && is "$name: each grain" "$(field "$JOB" 'd["grains"]["total"]')" "${total[$name]}"
	[ "$mode" = fork ] && is "$name: each grain of the children" \
		"$(for child in $(seq $((JOB + 1)) $((JOB + 8))); do
			field "$child" 'd["grains"]["total"]'
		done | sort | uniq -c | awk '{ print $1, $2 }')" "8 100"
done

# A child has a recording of its own, and after its end the child is as before. If nobody can record it, it has none.
for name in heir heir.clang; do
	start "$name" heir || continue
	touch "$T/go"
	child=
	for _ in $(seq 2400); do
		child=$("$GRAINCTL" jobs --json |
			json '[j["job"] for j in d["jobs"] if j["job"] > '"$JOB"' and j["events"] > 0][0]' \
				2>/dev/null) && break
		sleep 0.05
	done
	pid=$(pgrep -P "$PROGRAM")
	"$GRAINCTL" detach "$child"
	for _ in $(seq 6000); do grep -q 'graind-shim (deleted)' "/proc/$pid/maps" || break; sleep 0.02; done
	is "$name: the child has given back its rings" "$(grep -c 'graind-shim (deleted)' "/proc/$pid/maps")" 0
	check "$name: they were its own" test "$(field "$child" 'd["grains"]["total"]')" -gt 0
	touch "$T/ends"
	finish "$name: its calls go where they went"
	ended "$JOB"
	start "$name" heir || continue
	stop_graind KILL
	touch "$T/go" "$T/ends"
	finish "$name: a child that nobody records"
	start_graind || exit 1
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
