#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `run --fast` while graind is late: every event that does not fit is counted. With --lossless the program waits,
# but it does not wait for a graind that is dead.
# usage: tests/root/shim/test_shim_lossless.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
fib="$B/tests/omp/fib"
summary() { "$GRAINCTL" summary "$job" --json >"$T/summary"; }
traces() { find "$GRAIND_STATE_DIR" -name trace.grt | wc -l; }
field() { json "$1" <"$T/summary"; }

# held LENGTH OPTION...: runs the program with these options, and stops graind meanwhile: for LENGTH seconds, or until
# the program has ended (LENGTH "whole"). Then all that the rings do not hold is lost. It takes no samples: those of
# other code are in the trace, but they are no events of the job.
held()
{
	local length=$1 before
	shift
	before=$(traces)
	timeout 120 "$GRAINCTL" run --fast --no-sample "$@" -- "$fib" 25 25 6 >"$T/out" 2>"$T/err" &
	program=$!
	until [ "$(traces)" -gt "$before" ]; do sleep 0.005; done
	sleep 0.03
	kill -STOP "$GRAIND_PID"
	if [ "$length" = whole ]; then
		for _ in $(seq 6000); do running || break; sleep 0.02; done
	else
		sleep "$length"
	fi
	kill -CONT "$GRAIND_PID"
	wait "$program"
	is "graind held ($length), ${*:-lossy}: the program is right" \
		"$? $(json 'd["correct"]' <"$T/out")" "0 True"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
	summary
	# These events come from the scheduler, not from the program. Their number differs from run to run.
	outside=$(python3 "$HERE/record/trace_chunks.py" "$GRAIND_STATE_DIR/jobs/$job/trace.grt")
}

# running: fails as soon as the program has written its last line
running() { ! grep -q '"correct"' "$T/out"; }

start_graind || exit 1
held 1 --lossless
is "lossless: each task is a grain" \
	"$(field '[d["grains"]["tasks"], d["grains"]["incomplete"], d["events"]["losses"]]')" \
	"[$(json 'd["tasks"]' <"$T/out"), 0, {}]"
events=$(($(field 'd["events"]["seen"]') - outside))
held whole
check "lossy: events were lost" test "$(field 'd["events"]["lost"]')" -gt 0
# ring-full counts switches of the scheduler, which the kernel could not hand over meanwhile.
seen=$(field 'd["events"]["seen"] + d["events"]["lost"] - d["events"]["losses"].get("ring-full", 0)')
is "lossy: those seen and those lost are what the program did" "$((seen - outside))" "$events"

# Two threads on one CPU pass a byte back and forth. The kernel tells graind of each switch between them.
before=$(traces)
timeout 120 "$GRAINCTL" run --fast -- "$B/tests/omp/switches" 2000000 1 >"$T/out" 2>"$T/err" &
program=$!
until [ "$(traces)" -gt "$before" ]; do sleep 0.005; done
sleep 0.3
kill -STOP "$GRAIND_PID"
# There are many more switches than fit into the ring of this CPU, which has room for about 0.1 million events.
until [ "$(awk '/ctxt_switches/ { n += $2 } END { print n + 0 }' \
	/proc/"$(pgrep -n -x switches)"/task/*/status 2>/dev/null)" -gt 1500000 ]; do
	kill -0 "$program" 2>/dev/null || break
	sleep 0.05
done
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
held 5 --lossless
check "held for longer than a graind that lives: the job says that it is not whole" \
	test "$(field '"shim-stopped" in d["events"]["losses"]')" = True

# A graind that dies.
start=$(date +%s%N)
"$GRAINCTL" run --fast --lossless -- "$fib" 25 25 6 >"$T/out" 2>"$T/err"
alone=$((($(date +%s%N) - start) / 1000000))
before=$(traces)
timeout 120 "$GRAINCTL" run --fast --lossless -- "$fib" 25 25 6 >"$T/out" 2>"$T/err" &
program=$!
until [ "$(traces)" -gt "$before" ]; do sleep 0.005; done
sleep 0.03
start=$(date +%s%N)
stop_graind KILL
wait "$program"
status=$?
took=$((($(date +%s%N) - start) / 1000000))
is "killed graind, lossless: the program is right" "$status $(json 'd["correct"]' <"$T/out")" "0 True"
check "and waits for three seconds at most ($took ms, otherwise $alone)" test "$took" -lt $((3500 + 2 * alone))
start_graind || exit 1
is "--lossless goes with --fast" \
	"$("$GRAINCTL" run --lossless -- true 2>&1 | grep -c -- '--lossless goes with --fast')" 1
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
