#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Samples. Functions and lines get the share of the time that they took, within statistical error, in the task that
# they ran in. Stacks follow frame pointers. Samples work for any program, also without tasks. What is not possible is
# reported.
# usage: tests/root/record/test_samples.sh BUILD_DIRECTORY
# FEW=1: a third of the time, and without checks that another kernel cannot change, for machines that are ten times
# slower.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
source=$ROOT/tests/omp/sampled.c

# sampled NAME ARG...: runs the program under `grainctl run ARG...`; leaves its output, summary, log and folded stacks
sampled()
{
	local name=$1 job
	shift
	if ! OMP_NUM_THREADS=2 "$GRAINCTL" run "$@" >"$T/$name.out" 2>"$T/$name.err"; then
		not_ok "$name: runs" "$(tail -3 "$T/$name.err")"
		return 1
	fi
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	"$GRAINCTL" summary "$job" >"$T/$name.text"
	"$GRAINCTL" summary "$job" --json >"$T/$name.summary" &&
		"$GRAINCTL" report "$job" --format folded >"$T/$name.folded" &&
		"$GRAINCTL" export "$job" --format log -o "$T/$name.log"
	if ! [ "${FEW:-}" ]; then
		"$GRAINCTL" summary "$T/$name.log" --json >"$T/$name.again" &&
			"$GRAINCTL" analyze "$T/$name.log" --format folded >"$T/$name.folded-again"
		check "$name: the exported log has the same stacks" cmp "$T/$name.folded" "$T/$name.folded-again"
		is "$name: and says the same of samples" "$(json 'd["sampling"]' <"$T/$name.again")" \
			"$(json 'd["sampling"]' <"$T/$name.summary")"
	fi
	is "$name: nothing lost" "$(json 'd["events"]["lost"], d["sampling"]["lost"]' <"$T/$name.summary")" "(0, 0)"
	is "$name: no address of the kernel in the log" "$(grep -c '0xffffffff[^0]\|0xffff[^f]' "$T/$name.log")" 0
}

# shares NAME: compares the shares with the CPU times that the program printed
shares()
{
	python3 - "$1" "$T/$1" "$source" <<'PY'
import json, math, os, re, sys
name, base, source = sys.argv[1:]
truth = json.load(open(base + ".out"))
s = json.load(open(base + ".summary"))["sampling"]
tasks = any(s[k] for k in ("grains", "members", "runtime"))
lines = [1 + i for i, text in enumerate(open(source)) if "kernel line" in text]
around = [1 + i for i, text in enumerate(open(source)) if "around it" in text]


def check(what, good, detail=""):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        print("# " + str(detail)[:900])


def close(what, got, n, part, whole):
    p = part / whole
    error = 4 * math.sqrt(p * (1 - p) / n) + 0.02
    check("%s has %.1f %% of the samples, took %.1f %% of the time (+- %.1f)"
          % (what, 100 * got / n, 100 * p, 100 * error),
          abs(got / n - p) <= error, json.dumps(s)[:800])


def of(part, function):
    return next((f["self"] for f in part["functions"] if f["function"] == function), 0)


seconds = sum(truth.values())
if os.environ.get("FEW"):
    print("skip - %s: as many samples as there were seconds: what emulates this machine is late with its timers" % name)
else:
    check("about as many samples as there were seconds, %d" % s["samples"],
          0.7 < s["samples"] / s["hz"] / seconds < 1.5, (s["hz"], seconds))
burns = [f for f in ("burn_much", "burn_little")]
total = sum(of(s, f) for f in burns)
close("burn_much of both", of(s, "burn_much"), total, truth["burn_much"], truth["burn_much"] + truth["burn_little"])
# If a timer expires when the kernel, or the host below it, returns to the program, it interrupts the next
# instruction, which is in the loop.
kernels, behind = (sum(x["samples"] for x in s["lines"] if x["line"] in which) for which in (lines, around))
close("all of the kernel's line, and the next", kernels + behind, s["samples"], truth["ask_kernel"], seconds)
check("it is the kernel's, not the next one's (%d and %d)" % (kernels, behind), kernels > 4 * behind, s["lines"])
check("functions of the kernel have names", any(f["file"] == "[kernel]" for f in s["functions"]), s["functions"])
if tasks:
    by_function = {}
    for d in s["definitions"]:
        for f in d["functions"]:
            by_function.setdefault(f["function"], []).append(d)
    burning = by_function.get("burn_much", [])
    where = [(d["source"], d["kind"], d["samples"], of(d, "burn_much"), of(d, "burn_little")) for d in s["definitions"]]
    check("burn_much is hot in one task", len(burning) == 1, where)
    check("and burn_little in the same", by_function.get("burn_little") == burning, where)
    if burning:
        close("burn_much of its task", of(burning[0], "burn_much"), burning[0]["samples"], truth["burn_much"],
              truth["burn_much"] + truth["burn_little"])
    other = [d for d in s["definitions"] if d not in burning]
    check("the other task's hottest line is the kernel's",
          len(other) == 1 and other[0]["lines"][0]["line"] in lines, s["definitions"])
    check("what is sampled is in tasks", s["grains"] > 0.8 * s["samples"], s)
folded = [l.rsplit(" ", 1) for l in open(base + ".folded")]
check("folded stacks have all samples", sum(int(n) for _, n in folded) == s["samples"], folded[:3])
stacks = [(l, int(n)) for l, n in folded if "burn_much" in l]
short = [(l, n) for l, n in stacks if not (";timed;burn_much" in l and l.startswith("sampled;"))]
# With several nodes, the kernel takes pages away now and then to see who uses them. Pages of stacks cannot be read
# then, either.
nodes = len([n for n in os.listdir("/sys/devices/system/node") if re.fullmatch(r"node\d+", n)])
check("stacks lead from burn_much to what called it (%d samples of %d do not)"
      % (sum(n for _, n in short), sum(n for _, n in stacks)),
      stacks and sum(n for _, n in short) <= (0.03 if nodes > 1 else 0) * sum(n for _, n in stacks), short[:5])
PY
}

rounds=300 turns=200000
[ "${FEW:-}" ] && rounds=100 turns=50000
start_graind || exit 1
sampled tasks --sample=997 -- "$B/tests/omp/sampled" $rounds && shares tasks
sampled only --sample-only=997 -- "$B/tests/omp/sampled" $rounds && shares only
is "without tasks there are none" "$(json 'd["grains"]["total"], d["source"]' <"$T/only.summary")" "(0, 'samples')"
check "the verdict is about functions" grep -q '^Sampled: .* % of .* samples were in ' "$T/only.text"
check "the text has hot functions" grep -q '^HOT FUNCTION ' "$T/tasks.text"
check "and hot lines by task" grep -q '^HOT LINES OF ' "$T/tasks.text"
is "in 80 columns" \
	"$(python3 -c 'import sys; [print(l) for f in sys.argv[1:] for l in open(f) if len(l) > 81]' "$T/tasks.text" \
		"$T/only.text")" ""

sampled shell --sample-only=997 -- bash -c "for ((i = 0; i < $turns; i++)); do :; done"
check "any program is sampled" [ "$(json 'd["sampling"]["samples"]' <"$T/shell.summary")" -gt 20 ]

# A program that already runs, sampled from outside.
OMP_NUM_THREADS=2 "$B/tests/omp/sampled" 2000 >/dev/null &
pid=$!
PIDS+=("$pid")
sleep 0.3
job=$("$GRAINCTL" attach "$pid" --sample=499 --duration 1 2>"$T/attach.err" | sed -n 's/^job //p')
for _ in $(seq 1200); do
	[ "$("$GRAINCTL" jobs --all --json | json '[j["state"] for j in d["jobs"] if j["job"] == '"${job:-0}"']')" = \
		"['finished']" ] && break
	sleep 0.1
done
kill "$pid" 2>/dev/null
check "attached: samples in tasks" [ "$("$GRAINCTL" summary "$job" --json | json 'd["sampling"]["grains"]')" -gt 100 ]

if ! [ "${FEW:-}" ]; then
	for hz in 0 -1 often 20000; do
		"$GRAINCTL" run --sample=$hz -- true >/dev/null 2>"$T/bad.err"
		is "--sample=$hz: refused" "$?" 2
		is "--sample=$hz: one line says what is possible" \
			"$(grep -c "1 to 10000 times a second" "$T/bad.err")" 1
	done
	for body in '{"pid":1,"sample_hz":20000}' '{"pid":1,"sample_hz":-1}' '{"pid":1,"tasks":false}' \
		'{"all":true,"tasks":false,"sample_hz":99}'; do
		is "$body: refused" \
			"$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$GRAIND_SOCKET" -X POST -d "$body" \
				http://localhost/v1/jobs)" 400
	done
fi
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
