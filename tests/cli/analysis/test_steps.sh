#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Time steps in the summary: as text in few lines and as JSON, with the odd step, its line and its time.
# usage: tests/cli/analysis/test_steps.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
GRAINCTL=$B/grainctl
# Forty steps of two regions and a solver of 3 to 5 turns. Step 30 takes 2 ms longer at a.c:10.
/usr/bin/python3 -SE - >"$T/steps.log" <<'END_OF_PROGRAM'
print("""grain-log 1
@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=1
@source 1 file=a.c line=10 func=forces kind=parallel
@source 2 file=a.c line=20 func=solve kind=parallel
@source 3 file=a.c line=30 func=update kind=parallel""")
now = regions = 0
def region(source, length):
    global now, regions
    regions += 1
    print("%d 1 0 region-begin region=%d src=%d threads=1" % (now, regions, source))
    print("%d 1 0 member-begin region=%d num=0" % (now, regions))
    now += length
    print("%d 1 0 member-end region=%d num=0" % (now, regions))
    print("%d 1 0 region-end region=%d" % (now, regions))
    now += 10000
for step in range(1, 41):
    region(1, 2400000 if step == 30 else 400000)
    for turn in range(3 + step % 3):
        region(2, 50000)
    region(3, 100000)
END_OF_PROGRAM
"$GRAINCTL" analyze "$T/steps.log" --json >"$T/json"
is "JSON: the steps, and the solver inside them" \
	"$(json '[[r[k] for k in ("parent", "count", "runs", "least", "most", "length", "odd")]
		for r in d["sequences"]["repeats"]]' <"$T/json")" \
	"[[None, 40, 1, 40, 40, 3, 1], [0, 160, 40, 3, 5, 1, 0]]"
is "JSON: the odd step" \
	"$(json '[[o[k] for k in ("number", "source", "after", "element_longer_ns")]
		for o in d["sequences"]["repeats"][0]["odd_repetitions"]]' <"$T/json")" \
	"[[30, 'a.c:10', False, 2000000]]"
is "JSON: the body" \
	"$(json '[[e["kind"], e["source"], e["repeat"], e["least"], e["most"]]
		for e in d["sequences"]["repeats"][0]["body"]]' <"$T/json")" \
	"[['parallel', 'a.c:10', None, 1, 1], ['repeat', None, 1, 3, 5], ['parallel', 'a.c:30', None, 1, 1]]"
"$GRAINCTL" summary "$T/steps.log" >"$T/text"
sed -n '/^STEPS/,/^$/p' "$T/text" >"$T/section"
check "text: the steps" grep -qx " 40 x \[6 regions, a.c:10 to a.c:30\]" "$T/section"
check "text: the odd step" grep -q "odd: number 30, at .*2.00 ms in a.c:10" "$T/section"
is "text: few lines, none too long" \
	"$(awk 'length > 80 { long++ } END { print (NR <= 13), long + 0 }' "$T/section")" "1 0"
grep -v "region=\(2\|3\|4\|5\|6\|7\|8\|9\|[1-9][0-9]*\)\( \|$\)" "$T/steps.log" >"$T/one.log"
"$GRAINCTL" summary "$T/one.log" >"$T/text"
check "one region: no steps" bash -c "! grep -q STEPS '$T/text'"
