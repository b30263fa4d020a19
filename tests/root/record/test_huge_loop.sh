#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Counts that are larger than signed numbers can hold, from the daemon's account of a job to every form of its report.
# usage: tests/root/record/test_huge_loop.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit 1
export OMP_CANCELLATION=true
for c in gcc clang; do
	check "$c: the program is built" "$c" -w -O1 -g -fopenmp -o "$T/huge_loop.$c" "$HERE/programs/huge_loop.c"
	job=$("$GRAINCTL" run -- "$T/huge_loop.$c" 2>&1 >"$T/begun" | sed -n 's/^job //p')
	is "$c: the daemon reads its own summary" \
		"$("$GRAINCTL" jobs --all --json | python3 -c "
import json, sys
print(*[(j['state'], j['error']) for j in json.load(sys.stdin)['jobs'] if j['job'] == ${job:-0}])")" "('finished', '')"
	"$GRAINCTL" summary "$job" --json >"$T/summary"
	is "$c: all iterations are counted, and the chunks that were begun" \
		"$(python3 -c "
import json, sys
print(*[(l['iterations'], l['chunks']) for l in json.load(sys.stdin)['loops']])" <"$T/summary")" \
		"(18446744073709551605, $(cat "$T/begun"))"
	check "$c: the log" "$GRAINCTL" export "$job" --format log -o "$T/$c.log"
	"$GRAINCTL" report "$job" --format json >"$T/grains"
	"$GRAINCTL" analyze "$T/$c.log" --format json >"$T/again"
	check "$c: the log gives the same report" cmp "$T/grains" "$T/again"
	check "$c: the picture" "$GRAINCTL" report "$job" --format svg -o "$T/$c.svg"
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
