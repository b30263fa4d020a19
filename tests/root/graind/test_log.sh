#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What graind writes to the journal in an ordinary life: each thing once, nothing else.
# usage: tests/root/graind/test_log.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

export JOURNAL_STREAM=1:2
start_graind || exit 1
version=$(sed -n 's/^#define GRAIND_VERSION "\(.*\)"/\1/p' "$ROOT/daemon/common/programs/version.h")
user=$(id -un)
has_lines() { tail -n +$((seen + 1)) "$T/graind.log"; [ "$(wc -l <"$T/graind.log")" -ge "$1" ]; }
# said NAME LINES...: checks what was added to the log since the last call. LINES are patterns, one for each line.
seen=0
said()
{
	local name=$1 wrong=''
	shift
	until_so "$name: so many lines" has_lines $((seen + $#))
	tail -n +$((seen + 1)) "$T/graind.log" >"$T/new"
	seen=$(wc -l <"$T/graind.log")
	printf '%s\n' "$@" | grep -v '^$' >"$T/expected"
	[ "$(wc -l <"$T/new")" = "$(wc -l <"$T/expected")" ] || wrong=lines
	while IFS= read -r -u 3 line && IFS= read -r -u 4 pattern; do
		[[ $line =~ ^$pattern$ ]] || wrong+=" $line"
	done 3<"$T/new" 4<"$T/expected"
	if [ -z "$wrong" ]; then ok "$name"; else not_ok "$name" "$wrong" "$(cat "$T/new")"; fi
}
said "it starts" "<6>version $version listens at $GRAIND_SOCKET, jobs in $GRAIND_STATE_DIR"
"$GRAINCTL" status >/dev/null
"$GRAINCTL" jobs --all >/dev/null
curl -s --unix-socket "$GRAIND_SOCKET" http://graind/metrics >/dev/null
"$GRAINCTL" attach 999999999 2>/dev/null
kill -HUP "$GRAIND_PID"
said "questions, and what a user does wrong, are nothing for it: a later line is the next one" \
	"<6>the settings have been read again"
check "a job" "$GRAINCTL" run -- "$B/tests/omp/demo"
said "a job has two lines" "<6>job 1 of $user: process [0-9]+, .*" \
	"<[46]>job 1 of $user: finished \(exit\) after [0-9.]+ s, 4600 grains, [0-9]+ events, [0-9]+ lost"
start_loop env OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 3600000 /dev/null
check "one that is detached" "$GRAINCTL" attach "$P"
becomes 2 'j["grains"] > 0' >/dev/null
check "detach" "$GRAINCTL" detach 2
said "and why it ended" "<6>job 2 of $user: process $P, $B/tests/omp/loop_forever" \
	"<[46]>job 2 of $user: finished \(detach\) after [0-9.]+ s, [0-9]+ grains, [0-9]+ events, [0-9]+ lost"
"$GRAINCTL" run -- true 2>/dev/null
said "a job that recorded nothing says why" "<6>job 3 of $user: process [0-9]+, .*" \
	"<4>job 3 of $user: failed \(exit\) after [0-9.]+ s, 0 grains, 0 events, 0 lost; .*OpenMP runtime.*"
begin=$SECONDS
for _ in 1 2 3; do
	curl -s --unix-socket "$GRAIND_SOCKET" -H 'Content-Type: application/json' -d "{\"pid\":$GRAIND_PID}" \
		http://graind/v1/jobs >/dev/null
done
# On a busy machine these may have taken longer. Then there may be a line for each ten seconds.
lines=$(($(wc -l <"$T/graind.log") - seen)) most=$((1 + (SECONDS - begin) / 10))
[ "$lines" -gt 1 ] && [ "$lines" -le $most ] || lines=1
refusal="<6>user 0: no job for process $GRAIND_PID: graind cannot profile itself"
mapfile -t refusals < <(yes "$refusal" | head -n $lines)
said "what cannot be profiled is said once in ten seconds" "${refusals[@]}"
kill -HUP "$GRAIND_PID"
said "it reads its settings again" "<6>the settings have been read again"
check "a job that runs on" "$GRAINCTL" attach "$P"
stop_graind
said "it ends, and its jobs with it" "<6>job 4 of $user: process $P, .*" "<6>ends; jobs that are closed now: 1" \
	"<[46]>job 4 of $user: finished \(shutdown\) after [0-9.]+ s, [0-9]+ grains, [0-9]+ events, [0-9]+ lost"
is "graind ends cleanly" "$GRAIND_STATUS" 0
