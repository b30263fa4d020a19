#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The account in the summary: of a program that is mostly serial, it is the verdict; nothing is left over in JSON.
# usage: tests/cli/analysis/test_account.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
GRAINCTL=$B/grainctl
# A loop of two members that takes 100 of 1,000.
cat >"$T/serial.log" <<'END'
grain-log 1
@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=2
@source 1 file=a.c line=10 func=main kind=parallel
@source 2 file=a.c line=12 func=main kind=loop
0 1 0 thread-begin
500000 1 0 region-begin region=1 src=1 threads=2
500000 1 0 member-begin region=1 num=0
500000 2 1 member-begin region=1 num=1
500000 1 0 loop-begin loop=1 src=2 sched=static lower=0 upper=9 step=1
500000 2 1 loop-begin loop=1 src=2 sched=static lower=0 upper=9 step=1
500000 1 0 chunk-begin loop=1 lower=0 upper=4
500000 2 1 chunk-begin loop=1 lower=5 upper=9
600000 1 0 chunk-end loop=1
600000 2 1 chunk-end loop=1
600000 1 0 loop-end loop=1
600000 2 1 loop-end loop=1
600000 1 0 member-end region=1 num=0
600000 2 1 member-end region=1 num=1
600000 1 0 region-end region=1
1000000 1 0 thread-end
END
"$GRAINCTL" analyze "$T/serial.log" --json >"$T/json"
is "serial code: what is lost to it" \
	"$(json '[{k: v for k, v in d["account"]["causes_ns"].items() if v},
		d["account"]["efficiencies"]["parallel"]]' <"$T/json")" \
	"[{'useful': 200000, 'serial_work': 900000, 'serial': 900000}, 0.55]"
"$GRAINCTL" summary "$T/serial.log" >"$T/text"
is "the verdict is serial code" "$(head -1 "$T/text")" \
	"the whole program: serial code, costs up to 450 us (45 % of wall)"
check "the losses are said in one line" grep -qx "  lost   45 % of thread time: serial code 45 %" "$T/text"
is "JSON has the same verdict" \
	"$(json '[d["verdict"], d["advice"][0]["kind"], d["advice"][0]["saves_ns"]]' <"$T/json")" \
	"['advice', 'serial_code', 450000]"
check "the text has the account" grep -q "^work of one thread alone  *900 us *45 " "$T/text"
check "and where it is lost" grep -qE "^outside of regions +- +900 us +45 +serial code" "$T/text"
check "no line is longer than the terminal" test "$(COLUMNS=80 "$GRAINCTL" summary "$T/serial.log" | wc -L)" -le 80
sed 's/^500000/1000/; s/^600000/1000000/; s/^1000000 1 0 thread-end/1001000 1 0 thread-end/' \
	"$T/serial.log" >"$T/busy.log"
"$GRAINCTL" summary "$T/busy.log" >"$T/text"
is "nothing is said of a program that loses next to nothing" "$(head -1 "$T/text")" \
	"No problem found that costs noticeable time."
sed '/^@process/a @capture times=derived' "$T/serial.log" >"$T/derived.log"
check "without an account the text says why" \
	grep -qx "not known where the threads' time went: only durations were measured" \
	<("$GRAINCTL" summary "$T/derived.log")
for n in 1 2; do "$GRAINCTL" report "$T/serial.log" --format svg -o "$T/$n.svg"; done
check "a picture has the same bytes each time" cmp -s "$T/1.svg" "$T/2.svg"
is "a picture has the account as a bar: a part for each cause" \
	"$(grep -o '<g class="account">.*</g>' "$T/1.svg" | grep -o '<rect[^>]*>' |
		sed 's/.* width="\([0-9.]*\)".* fill="\(.*\)".*/\2 \1/' |
		awk '{ n = n " " $1; w[NR] = $2 } END { printf "%s %.1f %.1f", n, w[2] / w[1], w[3] / w[1] }')" \
	" #4C78C4 #AFC7EA #BF1B2C 4.5 4.5"
check "and in words" grep -q "45 % of the threads' time is lost" <(sed "s/&apos;\|&#39;/'/g" "$T/1.svg")
"$GRAINCTL" report "$T/derived.log" --format svg -o "$T/none.svg"
is "without an account a picture has no bar" "$(grep -c 'class="account"' "$T/none.svg")" 0
# All logs and traces at hand.
left=0
for file in "$ROOT"/tests/data/*.log; do
	"$GRAINCTL" analyze "$file" --keep-going --json >"$T/json" 2>/dev/null || continue
	[ "$(json 'd["account"]["why"] is not None or (sum(d["account"]["causes_ns"].values()) ==
		d["account"]["capacity_ns"] == sum(p["capacity_ns"] for p in d["account"]["parts"]))' \
		<"$T/json")" = True ] ||
		left=$((left + 1))
done
is "nothing is left over" $left 0

# The same program with samples: the serial code has a name.
{
	sed -n '1,4p' "$T/serial.log"
	echo '@sampling hz=49 clock=cycles'
	echo '@address 0x10 func=solve_alone file=solver.c line=61'
	echo '@address 0x20 func=main file=a.c line=5'
	echo '@source 3 file=a.c line=30 func=main kind=parallel'
	echo '0 1 0 thread-begin'
	for i in $(seq 20); do echo "$((i * 20000)) 1 0 sample ip=0x10 stack=0x10,0x20"; done
	for i in 1 2 3; do echo "$((430000 + i)) 1 0 sample ip=0x20 stack=0x20"; done
	sed -n '/^500000/,$p' "$T/serial.log"
} >"$T/sampled.log"
"$GRAINCTL" summary "$T/sampled.log" >"$T/text"
"$GRAINCTL" summary "$T/sampled.log" --json >"$T/json"
check "the first advice names function and line" \
	grep -q '^  do     make solve_alone (solver.c:61) parallel' "$T/text"
check "and how much of the serial code it is" grep -q "87 % of it in solve_alone" <(tr -s "\n " "  " <"$T/text")
check "the account has a table of serial code" grep -qE '^solve_alone +783 us +87 .*solver.c:61$' "$T/text"
check "and of what is around it" grep -qE '^the begin +a.c:10 +1 +500 us +56 +solve_alone$' "$T/text"
is "JSON has the functions" \
	"$(json '[(f["function"], f["source"], f["samples"]) for f in d["account"]["serial_functions"]]' \
		<"$T/json")" \
	"[('solve_alone', 'solver.c:61', 20), ('main', 'a.c:5', 3)]"
is "and the regions around it" \
	"$(json '[(b["before"], b["after"], b["ns"], b["function"]) for b in d["account"]["serial_between"]]' \
		<"$T/json")" \
	"[(None, 'a.c:10', 500000, 'solve_alone'), ('a.c:10', None, 400000, None)]"
is "the advice's evidence says so, too" \
	"$(json '[d["advice"][0]["evidence"][k] for k in ("function", "function_source")]' <"$T/json")" \
	"['solve_alone', 'solver.c:61']"
check "no line is longer than the terminal" test "$(COLUMNS=80 "$GRAINCTL" summary "$T/sampled.log" | wc -L)" -le 80
"$GRAINCTL" summary "$T/serial.log" --json >"$T/json"
is "without samples nothing is said of it" \
	"$(json '[k for k in d["account"] if k.startswith("serial_")]' <"$T/json")" "[]"
