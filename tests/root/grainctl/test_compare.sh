#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs of one program on 1, 2 and 4 threads. If the number of threads makes no grains, every grain finds the grain of
# the same name.
# usage: tests/root/grainctl/test_compare.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
constructs=$B/tests/omp/constructs

# profile THREADS PROGRAM ARG...: prints its job's number
profile()
{
	OMP_NUM_THREADS=$1 OMP_DYNAMIC=false "$GRAINCTL" run -- "${@:2}" 2>&1 >/dev/null |
		sed -n 's/^job \([0-9]*\)$/\1/p'
}

# say EXPRESSION BASE JOB: the value of the expression for the comparison's JSON, d
say()
{
	"$GRAINCTL" compare "$2" "$3" --json |
		python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# Each grain of the report has a deviation: exec here / exec of the grain of the same name there.
every_deviation()
{
	"$GRAINCTL" report "$1" --format json -o "$T/base.ndjson" &&
		"$GRAINCTL" report "$2" --baseline "$1" --format json -o "$T/run.ndjson" &&
		python3 - "$T/base.ndjson" "$T/run.ndjson" <<'PY'
import json, sys
base, run = ({g["id"]: g for g in map(json.loads, open(f)) if g["kind"] in ("task", "chunk")} for f in sys.argv[1:])
assert base.keys() == run.keys() and len(run) > 10, (len(base), len(run))
for i, g in run.items():
    expected = g["exec_ns"] / base[i]["exec_ns"] if base[i]["exec_ns"] else None
    got = g["work_deviation"]
    assert got == expected or abs(got - expected) <= 1e-8 * expected, (i, got, expected)
PY
}

start_graind || exit 1
while read -r program args <&3; do
	name=${program##*/}
	# shellcheck disable=SC2086
	one=$(profile 1 "$B/tests/omp/$program" $args)
	for threads in 2 4; do
		# shellcheck disable=SC2086
		job=$(profile $threads "$B/tests/omp/$program" $args)
		is "$name: $threads threads against 1: every grain matches, and the shape" \
			"$(say '(d["matched_percent"], d["same_shape"], d["matched"] > 10, d["base"]["threads"],
				d["run"]["threads"])' "$one" "$job")" \
			"(100, True, True, 1, $threads)"
	done
	check "$name: every grain's deviation is what the two reports say" every_deviation "$one" "$job"
done 3<<'EOP'
fib 18 7 2
constructs/for_dynamic_chunk.gcc
constructs/taskloop_grainsize.gcc
constructs/sections.gcc
EOP

# With another number of threads, the shares of a static loop are different work. They must not get a work deviation.
one=$(profile 1 "$constructs/for_static.gcc")
two=$(profile 2 "$constructs/for_static.gcc")
again=$(profile 2 "$constructs/for_static.gcc")
is "static shares on 1 and on 2 threads do not match" \
	"$(say '(d["matched"], d["same_shape"], d["work_deviation"]["grains"])' "$one" "$two")" "(0, False, 0)"
is "static shares on 2 and again on 2 threads match" \
	"$(say '(d["matched_percent"], d["same_shape"])' "$two" "$again")" "(100, True)"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
