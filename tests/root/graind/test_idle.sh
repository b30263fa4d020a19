#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A graind that has nothing to do takes little memory and no CPU time.
# usage: tests/root/graind/test_idle.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit 1
ticks() { awk '{print $14 + $15}' "/proc/$GRAIND_PID/stat"; }
switches() { cat "/proc/$GRAIND_PID/task"/*/status | awk '/ctxt_switches/ {n += $2} END {print n}'; }
kept_files() { find "/proc/$GRAIND_PID/fd" -mindepth 1 -lname 'anon_inode:b[pt]*' | wc -l; }

# The next capture is loaded in advance. It is there when its files are as many again for a while.
before=0 last=-1
for _ in $(seq 240); do
	before=$(kept_files)
	[ "$before" -gt 0 ] && [ "$before" = "$last" ] && break
	last=$before
	sleep 0.5
done

# A job of each kind.
OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 600000 /dev/null >/dev/null &
program=$!
PIDS+=("$program")
"$GRAINCTL" run -- "$B/tests/omp/fib" 20 10 40 >/dev/null 2>&1
"$GRAINCTL" run --fast -- "$B/tests/omp/fib" 20 10 40 >/dev/null 2>&1
"$GRAINCTL" attach "$program" --duration 1 >/dev/null 2>&1
curl -s --unix-socket "$GRAIND_SOCKET" -d '{"all":true}' http://graind/v1/jobs >"$T/session"
"$B/tests/omp/fib" 20 10 40 >/dev/null
"$GRAINCTL" detach "$(json 'd["job"]' <"$T/session")" >/dev/null
kill "$program"

# The last job's rings are released after its end, the next capture is loaded, and workers end.
for _ in $(seq 1200); do
	[ "$(kept_files)" -le "$before" ] && [ -z "$(pgrep -P "$GRAIND_PID")" ] && break
	sleep 0.1
done
case $B in
*san*) skip "idle memory" "sanitizers take more" ;;
*)
	rss=$(awk '/VmRSS/ {print $2}' "/proc/$GRAIND_PID/status")
	if [ "$rss" -lt 30000 ]; then
		ok "idle: $rss kB of memory after these jobs"
	else
		not_ok "idle memory" "$(grep -E '^(VmRSS|Rss)' "/proc/$GRAIND_PID/status")"
	fi
	;;
esac
sleep 1
was=$(ticks) woken=$(switches)
sleep 3
is "idle: CPU ticks in 3 s, and wake-ups" "$(($(ticks) - was)) $(($(switches) - woken))" "0 0"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
