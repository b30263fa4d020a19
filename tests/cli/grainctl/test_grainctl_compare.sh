#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl compare and --baseline on files: text that fits, JSON, wrong usage, damage.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

# log FILE THREADS LINE FIRST SECOND: two tasks that take so long; the second's line in the source.
log()
{
	local first=$4 second=$5
	{
		cat <<LOG
grain-log 1
@process pid=10 uid=1000 exe=/opt/app/two cmd="two 1" runtime=libgomp threads=$2
@source 0 file=two.c line=5 func=main kind=parallel
@source 1 file=two.c line=9 func=first kind=task
@source 2 file=two.c line=$3 func=second kind=task
1000 10 0 region-begin region=1 src=0 threads=$2
1100 10 0 member-begin region=1 num=0
1100 10 0 single-begin src=0 won=1
1200 10 0 create-begin task=1 src=1 flags=deferred
1300 10 0 create-end task=1
1400 10 0 create-begin task=2 src=2 flags=deferred
1500 10 0 create-end task=2
1600 10 0 wait-begin kind=taskwait
2000 10 0 task-begin task=1
$((2000 + first)) 10 0 task-end task=1
$((2000 + first)) 10 0 task-begin task=2
$((2000 + first + second)) 10 0 task-end task=2
90000 10 0 wait-end kind=taskwait
90000 10 0 single-end src=0 won=1
90100 10 0 wait-begin kind=barrier-implicit
90200 10 0 wait-end kind=barrier-implicit
90210 10 0 member-end region=1 num=0
90300 10 0 region-end region=1
LOG
		[ "$2" = 2 ] && cat <<LOG
1050 11 1 member-begin region=1 num=1
1060 11 1 single-begin src=0 won=0
1060 11 1 single-end src=0 won=0
1070 11 1 wait-begin kind=barrier-implicit
90200 11 1 wait-end kind=barrier-implicit
90205 11 1 member-end region=1 num=1
LOG
	} >"$1"
}
log one.log 1 12 1000 2000
log two.log 2 12 1000 7000
log moved.log 2 14 1000 7000
printf '%s\n' 'grain-log 1' '5 1 0 thread-begin' '9 1 0 thread-end' >none.log

"$ctl" compare one.log two.log --json >compare.json
is "compare --json succeeds" $? 0
is "all grains match" "$(json 'd["matched"], d["matched_percent"], d["same_shape"]' <compare.json)" "(2, 100, True)"
is "one is inflated" "$(json 'd["work_deviation"]["grains"], d["work_deviation"]["excess_ns"]' <compare.json)" \
	"(1, 5000)"
is "it is named" "$(json '[(g["id"], g["source"], g["work_deviation"]) for g in d["inflated"]]' <compare.json)" \
	"[('0.p0.s0.1', 'two.c:12', 3.5)]"
is "by definition" \
	"$(json '[(x["source"], x["base"]["exec_ns"]["sum"], x["run"]["exec_ns"]["sum"], x["median_deviation"])
		for x in d["definitions"]]' <compare.json)" \
	"[('two.c:12', 2000, 7000, 3.5), ('two.c:9', 1000, 1000, 1)]"
is "threads of both" "$(json 'd["base"]["threads"], d["run"]["threads"]' <compare.json)" "(1, 2)"
is "the account before and after" \
	"$(json '[(sum(x["causes_ns"].values()) == x["capacity_ns"], x["threads"], x["why"], x["lost_ns"]) for x in
		(d["base"]["account"], d["run"]["account"])]' <compare.json)" \
	"[(True, 1, None, 85890), (True, 2, None, 170165)]"
is "the change of the account is the difference" \
	"$(json '(lambda b, r, c: [c["causes_ns"] == {k: r["causes_ns"][k] - v for k, v in b["causes_ns"].items()},
		c["capacity_ns"] == r["capacity_ns"] - b["capacity_ns"], c["lost_ns"] == r["lost_ns"] - b["lost_ns"]])(
		d["base"]["account"], d["run"]["account"], d["account_change"])' <compare.json)" \
	"[True, True, True]"
sed '/^@process/a @capture times=derived' one.log >derived.log
is "a run without an account: no change" \
	"$("$ctl" compare derived.log two.log --json |
		json 'd["account_change"], bool(d["base"]["account"]["why"]), d["run"]["account"]["why"]')" \
	"(None, True, None)"
is "an identical run" \
	"$("$ctl" compare two.log two.log --json |
		json 'd["matched_percent"], d["ratio"], [x["median_deviation"] for x in d["definitions"]]')" \
	"(100, {'wall': 1, 'work': 1, 'span': 1}, [1, 1])"
is "a threshold" \
	"$("$ctl" compare one.log two.log --set work_deviation=3.5 --json | json 'd["work_deviation"]["grains"]')" "0"
is "nothing in common" \
	"$("$ctl" compare none.log two.log --json |
		json 'd["matched"], d["matched_percent"], d["same_shape"], d["run_only"]')" \
	"(0, 0, False, 2)"
is "no grains at all" "$("$ctl" compare none.log none.log --json | json 'd["matched"], d["matched_percent"]')" \
	"(0, None)"
is "a moved line" \
	"$("$ctl" compare one.log moved.log --json |
		json '[(x["base_source"], x["source"], x["matched"]) for x in d["definitions"]]')" \
	"[('two.c:12', 'two.c:14', 1), ('two.c:9', 'two.c:9', 1)]"

# Text
"$ctl" compare one.log two.log >text
is "the text succeeds" $? 0
check "the verdict comes first" grep -q 'wall time' <(head -1 text)
check "it says how much matched" grep -q '2 of 2 grains (100 %)' text
check "it says that the shapes are equal" grep -q 'same shape' text
check "it names the inflated grain and its source" grep -q '0\.p0\.s0\.1.*two\.c:12.*3\.50' text
"$ctl" compare none.log two.log >text
check "nothing in common is said" grep -q '0 of 2 grains' text
"$ctl" compare none.log none.log >text
is "no grains at all: text" "$? $(grep -c 'no grain' text)" "0 1"
cat >deep.py <<'PY'
import sys
t, n, out = 10, 60, []
print('grain-log 1\n@source 2 file=%s.c line=8 func=%s kind=task' % ("very_long_name" * 8, "function" * 12))
scale = int(sys.argv[1])
for i in range(n):
    out += ["%d 1 0 create-begin task=%d src=2 flags=deferred" % (t, i), "%d 1 0 create-end task=%d" % (t + 1, i),
            "%d 1 0 wait-begin kind=taskwait" % (t + 2), "%d 1 0 task-begin task=%d" % (t + 3, i)]
    t += 4 + scale
for i in reversed(range(n)):
    out += ["%d 1 0 task-end task=%d" % (t, i), "%d 1 0 wait-end kind=taskwait" % (t + 1)]
    t += 2 + scale
print("\n".join(out))
PY
python3 deep.py 10 >deep-before.log
python3 deep.py 100000000 >deep-after.log
for columns in 60 80 100 132; do
	for pair in "one.log two.log" "one.log moved.log" "none.log two.log" "deep-before.log deep-after.log" \
		"deep-after.log deep-before.log" "deep-before.log two.log" \
		"$ROOT/tests/data/fib_two_threads.log $ROOT/tests/data/constructs_two_threads.log"; do
		# shellcheck disable=SC2086
		COLUMNS=$columns "$ctl" compare $pair >text
		is "fits $columns columns: ${pair//"$ROOT/tests/data/"/}" \
			"$? $(python3 -c 'import sys; print(*[l for l in open(sys.argv[1])
				if len(l.rstrip("\n")) > int(sys.argv[2])])' text $columns)" "0 "
	done
done
is "no colours in a pipe" "$("$ctl" compare one.log two.log 2>&1 | grep -c $'\033')" "0"
check "colours when asked for" grep -q $'\033\[' <("$ctl" --color=always compare one.log two.log)

# --baseline
is "without a baseline the deviation is absent, with a reason" \
	"$("$ctl" analyze two.log --json |
		json '(d["problems"]["work_deviation"]["available"], bool(d["problems"]["work_deviation"]["why"]),
			d["baseline_matched_percent"])')" \
	"(False, True, None)"
for verb in analyze summary; do
	is "$verb --baseline: flagged" \
		"$("$ctl" $verb two.log --baseline one.log --json |
			json 'd["problems"]["work_deviation"]["grains"], d["baseline_matched_percent"]')" "(1, 100)"
done
is "report --baseline: per grain" \
	"$("$ctl" report two.log --baseline one.log --format json |
		python3 -c 'import json,sys; print({g["id"]: g["work_deviation"] for g in map(json.loads, sys.stdin)
			if g["kind"] == "task"})')" \
	"{'0.p0.s0.0': 1, '0.p0.s0.1': 3.5}"
check "the text summary shows the problem" grep -q '^work deviation ' <("$ctl" summary two.log --baseline one.log)
check "and how many grains matched" grep -q '100 % of the' <("$ctl" summary two.log --baseline one.log)
"$ctl" summary two.log --baseline nofile 2>err >out
is "--baseline of a missing file: one line" "$? $(wc -l <err) $(wc -c <out) $(grep -c nofile err)" "1 1 0 1"

# Wrong usage and damage
for args in "compare" "compare one.log" "compare one.log two.log two.log" "compare one.log two.log --frobnicate"; do
	# shellcheck disable=SC2086
	"$ctl" $args >out 2>err
	is "wrong usage: $args" "$? $(wc -c <out) $(grep -c '^grainctl' err)" "2 0 1"
done
"$ctl" compare "" two.log >out 2>err
is "an empty name" "$?" "2"
sed '8s/create-begin/create-bogus/;9s/create-begin/create-bogus/;10s/create/create-bogus/' two.log >damaged.log
: >empty.log
for pair in "nofile one.log" "one.log nofile" "damaged.log one.log" "one.log damaged.log" "empty.log one.log" \
	"one.log empty.log" "1 one.log" "one.log 1" "$T one.log"; do
	# shellcheck disable=SC2086
	"$ctl" compare $pair >out 2>err
	is "fails with one line: compare ${pair/"$T"/DIRECTORY}" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
done
"$ctl" compare one.log damaged.log 2>err
check "the line names the damaged file" grep -q 'damaged\.log' err
"$ctl" compare one.log damaged.log --keep-going --json >out 2>err
is "--keep-going compares what is sound" "$? $(json 'd["run"]["damaged"], d["base"]["damaged"]' <out)" "0 (True, False)"
"$ctl" compare one.log two.log >/dev/full 2>err
is "full disk" "$? $(wc -l <err) $(grep -c 'No space left' err)" "1 1 1"
"$ctl" compare one.log two.log --json >/dev/full 2>err
is "full disk, JSON" "$? $(wc -l <err) $(grep -c 'No space left' err)" "1 1 1"
printf '%s\n' 'grain-log 1' '@source 2 file="\033[31mred" line=1 func="\033[2J" kind=task' \
	'1 1 0 create-begin task=1 src=2 flags=deferred' '2 1 0 create-end task=1' '3 1 0 task-begin task=1' \
	'9 1 0 task-end task=1' |
	sed 's/\\033/\x1b/g' >escape.log
"$ctl" compare escape.log escape.log >out 2>err
is "control characters of a file do not reach the terminal" "$(cat out err | grep -c $'\033')" "0"
