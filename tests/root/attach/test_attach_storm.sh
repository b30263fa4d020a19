#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Many attaches at the same time, to programs that end at any moment of an attach. Each attach gets an answer, and
# neither graind nor the programs are harmed.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

before=$(bpf_objects)
start_graind || exit 1
one()
{
	local pid rc i
	for i in $(seq 80); do
		"$B/tests/omp/loop_forever" $((RANDOM % 60 + 1)) /dev/null >/dev/null &
		pid=$!
		sleep "0.00$((RANDOM % 10))"
		timeout 60 "$GRAINCTL" attach "$pid" >"$T/out.$1" 2>"$T/err.$1"
		rc=$?
		wait "$pid" || echo "program: $?"
		if [ $rc -eq 0 ]; then
			grep -q '^job [0-9]*$' "$T/out.$1" || echo "no job: $(cat "$T/out.$1")"
		elif [ $rc -ne 1 ] || [ "$(wc -l <"$T/err.$1")" -ne 1 ]; then
			echo "attach: $rc $(cat "$T/err.$1")"
		fi
	done
}
export OMP_NUM_THREADS=2
loops=()
for n in 1 2 3; do
	one $n >"$T/bad.$n" 2>&1 &
	loops+=($!)
done
wait "${loops[@]}"
is "every attach has an answer, every program its result" "$(cat "$T"/bad.*)" ""
for _ in $(seq 1200); do
	[ "$("$GRAINCTL" jobs --json | json 'd["jobs"]')" = '[]' ] && break
	sleep 0.1
done
is "no job is left running" "$("$GRAINCTL" jobs --json | json 'd["jobs"]')" '[]'
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
wait_gone "nothing is left attached" "$before"
