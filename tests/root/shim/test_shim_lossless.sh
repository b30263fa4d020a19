#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `run --fast` while graind is late: every event that does not fit is counted. With --lossless the program waits,
# but it does not wait for a graind that is dead.
# usage: tests/root/shim/test_shim_lossless.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
fib="$B/tests/omp/fib"
summary() { "$GRAINCTL" summary "$job" --json >"$T/summary"; }
field() { json "$1" <"$T/summary"; }

# start ARG...: starts `grainctl run --fast` of a program that waits for $T/go soon, and is recorded by then
start()
{
	rm -f "$T/go"
	WAITS_FOR=$T/go timeout 600 "$GRAINCTL" run --fast "$@" >"$T/out" 2>"$T/err" &
	program=$!
	PIDS+=("$program")
	recorded() { "$GRAINCTL" jobs --json | json 'd["jobs"][0]["events"] > 0' | grep -qx True; }
	until_so "it is recorded: $*" recorded
	observed=$(pgrep -P "$(pgrep -P "$program")")
}
# ended: whether the program has written its last line
ended() { grep -q '"correct"' "$T/out"; }
# waiting: whether one of its threads waits for room in its ring
waiting() { cat "/proc/$observed/task"/*/wchan | grep -q nanosleep; }
# held UNTIL OPTION...: runs the program with these options, and stops graind meanwhile until it is `waiting` or has
# `ended`. Then all that the rings do not hold is lost. It takes no samples: those of other code are in the trace, but
# they are no events of the job. HELD: for how many milliseconds
held()
{
	local length=$1 start
	shift
	start --no-sample "$@" -- "$fib" 25 25 3
	start=$(date +%s%N)
	kill -STOP "$GRAIND_PID"
	: >"$T/go"
	until_so "graind is held until the program is $length" "$length"
	kill -CONT "$GRAIND_PID"
	HELD=$((($(date +%s%N) - start) / 1000000))
	wait "$program"
	is "graind held ($length), ${*:-lossy}: the program is right" \
		"$? $(json 'd["correct"]' <"$T/out")" "0 True"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
	summary
	# These events come from the scheduler, not from the program. Their number differs from run to run.
	outside=$(python3 "$HERE/record/trace_chunks.py" "$GRAIND_STATE_DIR/jobs/$job/trace.grt")
}

# held_briefly UNTIL OPTION...: again, until it was brief. A program takes a graind for dead that reads nothing for
# three seconds.
held_briefly()
{
	for _ in $(seq 20); do
		held "$@"
		[ "$HELD" -lt 3000 ] && return
	done
	not_ok "graind is held for less than three seconds" "$HELD ms"
}

start_graind || exit 1
held_briefly waiting --lossless
is "lossless: each task is a grain" \
	"$(field '[d["grains"]["tasks"], d["grains"]["incomplete"], d["events"]["losses"]]')" \
	"[$(json 'd["tasks"]' <"$T/out"), 0, {}]"
events=$(($(field 'd["events"]["seen"]') - outside))
held_briefly ended
check "lossy: events were lost" test "$(field 'd["events"]["lost"]')" -gt 0
# ring-full counts switches of the scheduler, which the kernel could not hand over meanwhile.
seen=$(field 'd["events"]["seen"] + d["events"]["lost"] - d["events"]["losses"].get("ring-full", 0)')
is "lossy: those seen and those lost are what the program did" "$((seen - outside))" "$events"

# Two threads on one CPU pass a byte back and forth. The kernel tells graind of each switch between them.
start -- "$B/tests/omp/switches" 2000000 1
kill -STOP "$GRAIND_PID"
: >"$T/go"
# There are many more switches than fit into the ring of this CPU, which has room for about 0.1 million events.
switched() { awk '/ctxt_switches/ { n += $2 } END { exit n <= 1500000 }' "/proc/$observed/task"/*/status; }
until_so "there are many switches" switched
kill -CONT "$GRAIND_PID"
wait "$program"
job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
summary
"$GRAINCTL" export "$job" --format log -o "$T/log"
is "lost switches: they have their cause, and what the program did is whole" "$(field '(list(d["events"]["losses"]),
	d["events"]["lost"] > 1000, d["grains"]["incomplete"], [r["incomplete"] for r in d["regions"]])')" \
	"(['ring-full'], True, 0, [False, False])"
is "... where they were lost the log says, and the threads' numbers" \
	"$(field '"\n".join("%d %d" % (t["tid"], t["lost"]) for t in d["scheduler"]["threads"])' | sort -n)" \
	"$(awk '$4 == "lost" && / of=switches/ { sub("count=", "", $5); n[$2] += $5 }
		END { for (t in n) print t, n[t] }' "$T/log" | sort -n)"
held ended --lossless
check "held for longer than a graind that lives: the job says that it is not whole" \
	test "$(field '"shim-stopped" in d["events"]["losses"]')" = True

# A graind that dies.
start --lossless -- "$fib" 25 25 3
: >"$T/go"
stop_graind KILL
wait "$program"
is "killed graind, lossless: the program is right" "$? $(json 'd["correct"]' <"$T/out")" "0 True"
start_graind || exit 1
is "--lossless goes with --fast" \
	"$("$GRAINCTL" run --lossless -- true 2>&1 | grep -c -- '--lossless goes with --fast')" 1
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
