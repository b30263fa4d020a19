#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `grainctl run` and `attach` if no graind runs. They start one of their own and say so. It is gone once its last job
# has ended.
# usage: tests/root/constructs/test_exact_private.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

# Lists processes whose command line names our state directory.
private_graind() { pgrep -f -- "^[^ ]*/graind .*$T" | grep -vx $$; }
no_private() { ! private_graind; }
wait_private_end()
{
	until_so "$1: the private graind ends" no_private
	is "$1: the private graind ends with its last job" "$(private_graind)" ""
}

before=$(bpf_objects)
OMP_NUM_THREADS=2 "$GRAINCTL" run -- "$B/tests/omp/fib" 20 9 2 --truth "$T/p.truth" >"$T/p.json" 2>"$T/p.err"
is "run: exit status is passed on" $? 0
check "run: says that it starts a private graind" grep -qi private "$T/p.err"
job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/p.err" | tail -1)
is "run: the first job of a new state directory" "$job" 1
wait_private_end run
"$GRAINCTL" report "$job" --format json -o "$T/p.ndjson"
"$GRAINCTL" summary "$job" --json >"$T/p.summary"
"$GRAINCTL" export "$job" --format log >"$T/p.log"
python3 "$HERE/constructs/exact.py" run "$T/p.json" "$T/p.truth" "$T/p.ndjson" "$T/p.summary" "$T/p.log"
"$GRAINCTL" run -- sh -c 'exit 7' >/dev/null 2>"$T/s.err"
is "run: status 7 of a program without OpenMP is passed on" $? 7
wait_private_end "run of a shell"

OUT=$T/a.json LOOP_REGIONS=$T/regions OMP_NUM_THREADS=2 \
	start_loop "$B/tests/omp/loop_forever" 600000 "$T/a.times"
program=$P
job=$("$GRAINCTL" attach "$program" 2>"$T/a.err" | sed -n 's/^job \([0-9]*\)$/\1/p')
check "attach: says that it starts a private graind" grep -qi private "$T/a.err"
if [ "$job" ]; then
	from=$(python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))')
	more_regions "$T/regions" 200
	to=$(python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))')
	check "attach: detach" "$GRAINCTL" detach "$job"
	wait_private_end attach
	kill -TERM "$program"
	wait "$program"
	"$GRAINCTL" report "$job" --format json -o "$T/a.ndjson"
	"$GRAINCTL" summary "$job" --json >"$T/a.summary"
	python3 "$HERE/attach/attached.py" attach "$T/a.times" "$from" "$to" "$T/a.ndjson" "$T/a.summary" 2 "$T/a.json"
else
	not_ok "attach: prints its job" "$(tail -3 "$T/a.err")"
	kill -TERM "$program"
fi
wait_gone "nothing is left in the kernel" "$before"
