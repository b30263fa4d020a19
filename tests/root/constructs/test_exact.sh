#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Compares every task of whole runs with the programs' own account of their tasks.
# usage: tests/root/constructs/test_exact.sh BUILD_DIRECTORY
# FEW=1: two small programs, for machines that are ten times slower.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

# profile NAME THREADS PROGRAM ARG...: profiles the program and writes NAME.{json,truth,ndjson,summary,log}
profile()
{
	local name=$1 threads=$2 program=$3 job
	shift 3
	OMP_NUM_THREADS=$threads OMP_DYNAMIC=false "$GRAINCTL" run -- "$program" "$@" --truth "$T/$name.truth" \
		>"$T/$name.json" 2>"$T/$name.err"
	if ! is "$name: exit status is passed on" "$?" 0 || ! [ -s "$T/$name.json" ]; then
		not_ok "$name: runs" "$(tail -5 "$T/$name.err")"
		return 1
	fi
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	if ! [ "$job" ]; then
		not_ok "$name: run ends with 'job N'" "$(tail -5 "$T/$name.err")"
		return 1
	fi
	echo "$job" >"$T/$name.job"
	"$GRAINCTL" report "$job" --format json -o "$T/$name.ndjson" 2>"$T/$name.err" &&
		"$GRAINCTL" summary "$job" --json >"$T/$name.summary" 2>>"$T/$name.err" &&
		"$GRAINCTL" export "$job" --format log >"$T/$name.log" 2>>"$T/$name.err" && return 0
	not_ok "$name: report, summary, export" "$(tail -5 "$T/$name.err")"
	return 1
}

# again NAME: checks that the exported log gives the same reports as the trace, byte for byte
again()
{
	"$GRAINCTL" analyze "$T/$1.log" --format json -o "$T/$1.again" 2>"$T/$1.err"
	check "$1: the exported log gives the identical JSON" cmp "$T/$1.ndjson" "$T/$1.again"
	"$GRAINCTL" summary "$T/$1.log" --json >"$T/$1.again" 2>"$T/$1.err"
	check "$1: and the identical summary" python3 - "$T/$1.summary" "$T/$1.again" <<'PY'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for d in a, b:
    d.pop("job", None), d.pop("source", None)
assert a == b, "differs in: %s" % [(k, a.get(k), b.get(k)) for k in {**a, **b} if a.get(k) != b.get(k)]
PY
}

programs=('fib 20 9 3' 'mergesort 200000 400' 'nqueens 8 4' 'mixed 2') more_threads='2 4'
[ "${FEW:-}" ] && programs=('fib 16 6 2' 'mixed 1') more_threads=4
start_graind || exit 1
for line in "${programs[@]}"; do
	read -r program args <<<"$line"
	for threads in 1 $more_threads; do
		name=$program-$threads
		profile "$name" $threads "$B/tests/omp/$program" $args || continue
		python3 "$HERE/constructs/exact.py" "$name" "$T/$name.json" "$T/$name.truth" "$T/$name.ndjson" \
			"$T/$name.summary" "$T/$name.log"
		again "$name"
		sed -n 's/.*"id":"\([^"]*\)".*"kind":"task".*/\1/p' "$T/$name.ndjson" | sort >"$T/$name.ids"
	done
	for threads in $more_threads; do
		check "$program: identifiers with $threads threads are those with 1" \
			cmp "$T/$program-1.ids" "$T/$program-$threads.ids"
	done
	strip -s -o "$T/$program" "$B/tests/omp/$program"
	name=$program-stripped
	profile "$name" 2 "$T/$program" $args || continue
	python3 "$HERE/constructs/exact.py" "$name" "$T/$name.json" "$T/$name.truth" "$T/$name.ndjson" \
		"$T/$name.summary" "$T/$name.log" stripped
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
