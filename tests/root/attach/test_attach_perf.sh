#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The same exactness if the kernel has only perf-event uprobes. Their slow detaching delays nobody.
# usage: tests/root/attach/test_attach_perf.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

before=$(bpf_objects)
export GRAIND_ATTACH=perf
start_graind || exit 1
# Detaching takes most of a minute.
for threads in ${EVERY:+1} 2; do
	name=perf-$threads
	OMP_NUM_THREADS=$threads "$GRAINCTL" run -- "$B/tests/omp/fib" 20 7 2 --truth "$T/$name.truth" \
		>"$T/$name.json" 2>"$T/$name.err" </dev/null
	is "$name: exit status is passed on" $? 0
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	if ! [ "$job" ]; then
		not_ok "$name: run ends with 'job N'" "$(tail -5 "$T/$name.err")"
		continue
	fi
	check "$name: it is the perf method" grep -q '"method": *"perf"' "$GRAIND_STATE_DIR/jobs/$job/job.json"
	"$GRAINCTL" report "$job" --format json -o "$T/$name.ndjson"
	"$GRAINCTL" summary "$job" --json >"$T/$name.summary"
	"$GRAINCTL" export "$job" --format log >"$T/$name.log"
	python3 "$HERE/constructs/exact.py" "$name" "$T/$name.json" "$T/$name.truth" "$T/$name.ndjson" \
		"$T/$name.summary" "$T/$name.log"
done
# Meanwhile the kernel detaches the some hundred probes of the earlier run, which takes a tenth of a second each.
start=$SECONDS
OMP_NUM_THREADS=2 "$GRAINCTL" run -- "$B/tests/omp/fib" 16 6 1 >/dev/null 2>&1
is "the next run does not wait for that" "$? $((SECONDS - start < 15))" "0 1"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
wait_gone "nothing is left in the kernel" "$before"
