#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl --what-if, and the advice's evidence in the JSON.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
log="$ROOT/tests/data/fib_two_threads.log"
cd "$T" || exit 1

# Tasks: 370 ns of 510, 240 of them on the span of 360; 120 of these go at half the time, and 65 of what is beside.
"$ctl" analyze "$log" --json >plain.json
is "unasked: twice as fast, of what the critical path runs through" \
	"$(json '[(w["source"], w["factor"], w["cores"]) for w in d["what_if"]]' <plain.json)" "[('fib.c:8', 2, 2)]"
is "unasked: work, span and bounds" \
	"$(json '[d["what_if"][0][k]
		for k in ("work_ns", "span_ns", "least_ns", "most_ns", "before_least_ns", "before_most_ns")]' \
		<plain.json)" \
	"[325, 240, 240, 283, 360, 435]"
"$ctl" summary "$log" --json --what-if fib.c:8=4 --what-if fib.c:8=1 >asked.json
is "asked: the answers come first" "$(json '[w["factor"] for w in d["what_if"]]' <asked.json)" "[4, 1, 2]"
is "asked: once as fast changes nothing" \
	"$(json '[d["what_if"][1][k] for k in ("work_ns", "span_ns", "saves_ns")]' <asked.json)" "[510, 360, 0]"
is "the rest of the summary is the same" \
	"$(json '{k: v for k, v in d.items() if k != "what_if"}' <asked.json | md5sum)" \
	"$(json '{k: v for k, v in d.items() if k != "what_if"}' <plain.json | md5sum)"
"$ctl" analyze "$log" --what-if fib.c:8=4 >text
is "text: as it is, as asked, as usual" \
	"$(sed -n '/^WHAT IF/,/^$/p' text | awk 'NR > 1 && NF { print $1, $(NF - 1), $NF }' | tr '\n' ';')" \
	"as ns -;fib.c:8 276 ns;fib.c:8 185 ns;"

# 510 / 2 + 360 / 2 is 435; 650 * (1 - 207.5 / 435) and 650 * (1 - 282.5 / 435) are more than the work that goes.
is "what it saves" "$(json '[d["what_if"][i]["saves_ns"] for i in (0, 2)]' <asked.json)" "[276, 185]"

while read -r bad; do
	"$ctl" analyze "$log" --what-if "$bad" >out 2>err
	is "--what-if '$bad': one line" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
done <<'BAD'
fib.c:8
fib.c:8=
fib.c:8=0
fib.c:8=-2
fib.c:8=fast
fib.c:20=2
none.c:1=2
=2
BAD
"$ctl" analyze "$log" --what-if fib.c:8=2 -o out.svg 2>err
is "it is the summary's" "$? $(wc -l <err) $(ls out.svg 2>/dev/null)" "2 1 "

# Advice
evidence="'grains', 'idle_percent', 'median_cost_ns', 'median_exec_ns', 'of', 'threads', 'worst'"
is "advice: kind, place and evidence" \
	"$(json '[(a["kind"], a["problem"], a["source"], sorted(a["evidence"])) for a in d["advice"]]' <plain.json)" \
	"[('little_parallelism', 'instantaneous_parallelism', 'fib.c:20', [$evidence])]"
is "advice: the worst grain is named" "$(json 'd["advice"][0]["evidence"]["worst"]' <plain.json)" "0.p0.s0.0.1"
cat >locks.log <<'LOG'
grain-log 1
@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=2
@source 1 file=a.c line=10 func=main kind=parallel
@source 2 file=a.c line=12 func=main kind=critical
0 1 0 region-begin region=1 src=1 threads=2
0 1 0 member-begin region=1 num=0
0 1 0 lock-begin kind=critical addr=1 src=2
0 1 0 lock-got kind=critical addr=1 src=2
1000 1 0 lock-end kind=critical addr=1 src=2
1000 1 0 wait-begin kind=barrier-implicit
2000 1 0 wait-end kind=barrier-implicit
2000 1 0 member-end region=1 num=0
2000 1 0 region-end region=1
0 2 1 member-begin region=1 num=1
0 2 1 lock-begin kind=critical addr=1 src=2
1000 2 1 lock-got kind=critical addr=1 src=2
2000 2 1 lock-end kind=critical addr=1 src=2
2000 2 1 wait-begin kind=barrier-implicit
2000 2 1 wait-end kind=barrier-implicit
2000 2 1 member-end region=1 num=1
LOG
"$ctl" analyze locks.log --json >locks.json
is "advice about locks belongs to no metric" \
	"$(json '[(a["problem"], a["evidence"]["wait_ns"]) for a in d["advice"] if a["kind"] == "lock_waiting"]' \
		<locks.json)" "[(None, 1000)]"
check "the text says what it is" grep -q '^a.c:12 main: lock waiting, costs up to' <("$ctl" analyze locks.log)
