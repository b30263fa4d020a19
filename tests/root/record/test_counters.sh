#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Counters of grains, exactly. Grains that touch k fresh pages have k page faults, with any number of threads, beside
# other programs that fault on the same CPUs, on libgomp and libomp. Their task clock: test_task_clock.sh.
# usage: tests/root/record/test_counters.sh BUILD_DIRECTORY
# FEW=1: without checks that another kernel cannot change, for machines that are ten times slower.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

how=() # options of run; with --fast the program reads its counters itself

# profile NAME COUNTERS COMMAND...: leaves its output, summary and grains in $T/NAME.*
profile()
{
	local name=$1 counters=$2 job
	shift 2
	if ! "$GRAINCTL" run "${how[@]}" --counters "$counters" -- "$@" >"$T/$name.out" 2>"$T/$name.err"; then
		not_ok "$name: runs" "$(tail -3 "$T/$name.err")"
		return 1
	fi
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	"$GRAINCTL" summary "$job" --json >"$T/$name.summary" &&
		"$GRAINCTL" report "$job" --format json -o "$T/$name.grains"
	if ! [ "${FEW:-}" ]; then
		"$GRAINCTL" export "$job" --format log -o "$T/$name.log" &&
			"$GRAINCTL" analyze "$T/$name.log" --format json >"$T/$name.again"
		check "$name: the exported log gives the same report" cmp "$T/$name.grains" "$T/$name.again"
	fi
	is "$name: nothing lost" "$(json 'd["events"]["lost"], d["conservation"]["violations"]' <"$T/$name.summary")" \
		"(0, 0)"
}

# pages NAME THREADS COMMAND...: checks that task k and chunk k of each round have k page faults. The first round also
# has the faults of the threads' stacks and of the runtime's data.
pages()
{
	local name=$1 threads=$2
	shift 2
	OMP_NUM_THREADS=$threads profile "$name" page-faults,task-clock "$@" 30 6 || return
	python3 - "$name" "$T/$name" <<'PY'
import json, re, sys
name, base = sys.argv[1:]
grains = [json.loads(line) for line in open(base + ".grains")]


def check(what, good, detail=""):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        print("# " + str(detail)[:600])


tasks, chunks, wrong, unknown, still = 0, 0, [], [], []
for g in grains:
    task, round_ = re.fullmatch(r"0\.p(\d+)\.s0\.(\d+)", g["id"]), None
    if task:
        round_, k = int(task.group(1)), int(task.group(2))
        tasks += round_ > 0
    elif g["kind"] == "chunk":
        round_, k = int(re.match(r"0\.p(\d+)", g["id"]).group(1)), g["lower"]
        chunks += round_ > 0
    if not round_:
        continue
    if g["counters"]["page-faults"] != k:
        wrong.append((g["id"], k, g["counters"], g["exec_ns"], g["cpu_ns"]))
    if g["counters"]["task-clock"] is None:
        unknown.append(g["id"])
    elif g["counters"]["task-clock"] <= 0:
        still.append(g["id"])
check("150 tasks and 150 chunks", (tasks, chunks) == (150, 150), (tasks, chunks))
check("task and chunk k have k page faults", not wrong, wrong[:5])
# If the kernel did not show a switch, the clock of the two grains around it is unknown.
check("the task clock is known of all but %d" % len(unknown), len(unknown) <= 6, unknown)
# That it is the time on the CPU: test_task_clock.sh.
check("it goes on in each", not still, still)
PY
}

# own_faults NAME GRAINS SUM: checks that task k and chunk k have k page faults, in two rounds of ten tasks and ten
# chunks. In the first round, a thread's first task and first chunk may have more, from code and data that the runtime
# then uses for the first time. SUM is the summary's sum of all faults.
own_faults()
{
	is "$1: those of each grain are its own" "$(python3 - "$2" "$3" <<'PY'
import json, re, sys
checked, wrong, sum_, begun = 0, [], 0, set()
for g in sorted(map(json.loads, open(sys.argv[1])), key=lambda g: g["start_ns"]):
    task = re.fullmatch(r"0\.p(\d+)\.s0\.(\d+)", g["id"])
    round_, k = (int(task.group(1)), int(task.group(2))) if task else \
        (int(re.match(r"0\.p(\d+)", g["id"]).group(1)), g["lower"]) \
        if g["kind"] == "chunk" else (None, 0)
    if round_ is None:
        continue
    c = g["counters"]
    all_ = c["page-faults"]
    parts = c["minor-faults"] + c["major-faults"] if "minor-faults" in c else all_
    of = g["fragments"][0]["tid"], g["kind"]
    is_first = round_ == 0 and of not in begun
    begun.add(of)
    checked += 1
    sum_ += all_
    if all_ != parts or all_ < k or (all_ > k and not is_first):
        wrong.append((g["id"], k, c))
print(checked, wrong[:3], {sum_} == set(json.loads(sys.argv[2])))
PY
)" "40 [] True"
}

no_numa_balancing
start_graind || exit 1
for threads in $([ "${FEW:-}" ] && echo 1 4 || echo 1 2 4); do
	pages "page faults, $threads threads" "$threads" "$B/tests/omp/pages"
done
pages "page faults, libomp" 2 "$B/tests/omp/pages.clang"
# Two CPUs of an emulated machine are enough, because they share the host's CPUs.
last=$(($(nproc) - 1))
[ "${FEW:-}" ] && last=1
for cpu in $(seq 0 $last); do
	taskset -c "$cpu" "$B/tests/root/programs/faulter" &
	PIDS+=($!)
done
[ "${FEW:-}" ] || pages "page faults beside a neighbour on every CPU" 2 taskset -c 0-$last "$B/tests/omp/pages"
pages "page faults beside a neighbour, 4 threads" 4 taskset -c 0-$last "$B/tests/omp/pages"
for pid in "${PIDS[@]}"; do
	[ "$pid" != "${GRAIND_PID:-}" ] && [ "$(cat /proc/"$pid"/comm)" = faulter ] && kill "$pid"
done

if ! [ "${FEW:-}" ]; then
	"$GRAINCTL" run --counters page-fualts -- "$B/tests/omp/pages" >"$T/unknown.out" 2>"$T/unknown.err"
	is "an unknown name: exit status" "$?" 2
	is "an unknown name: the program is not started" "$(cat "$T/unknown.out")" ""
	check "an unknown name: the nearest one is named" \
		grep -q "no counter is called 'page-fualts' here; the nearest name is 'page-faults'" "$T/unknown.err"
	many=page-faults,cycles,instructions,task-clock,cpu-clock,context-switches,cpu-migrations
	many+=,minor-faults,major-faults
	for names in page-faults,page-faults '' 'a b' $'\xff' $many; do
		"$GRAINCTL" run --counters "$names" -- "$B/tests/omp/pages" >/dev/null 2>"$T/bad.err"
		is "--counters '$names': refused" "$?" 2
		is "--counters '$names': one line" "$(wc -l <"$T/bad.err")" 1
	done
fi
# From inside: the same numbers, from what the kernel tells a thread about itself.
how=(--fast)
for threads in $([ "${FEW:-}" ] && echo 4 || echo 1 2 4); do
	pages "from inside, $threads threads" "$threads" "$B/tests/omp/pages"
done
pages "from inside, libomp" 2 "$B/tests/omp/pages.clang"
if profile "from inside, more" page-faults,minor-faults,major-faults,context-switches,task-clock,cpu-migrations,cycles \
	"$B/tests/omp/pages" 10 2; then
	own_faults "from inside, more" "$T/from inside, more.grains" \
		"$(json '[sum(c["sum"] for c in d["counters"] if c["name"] in n)
			for n in (("page-faults",), ("minor-faults", "major-faults"))]' \
			<"$T/from inside, more.summary")"
	is "from inside: what cannot be had has its reason" \
		"$(json '[(c["name"], "--fast" in c["why"]) for c in d["counters"] if c["name"] == "cpu-migrations"]' \
			<"$T/from inside, more.summary")" "[('cpu-migrations', True)]"
	is "from inside: hardware is counted, or has its reason" \
		"$(json '[c["available"] or len(c["why"]) > 10 for c in d["counters"] if c["name"] == "cycles"]' \
			<"$T/from inside, more.summary")" "[True]"
fi
# A program that already runs: its threads have the faults of the pages that they touch between two readings.
start_program env OMP_NUM_THREADS=2 "$B/tests/root/programs/held_now" plain; running=$P
job=$(attach_fast --counters page-faults,task-clock "$running")
becomes "$job" 'j["grains"] > 1000' >/dev/null
"$GRAINCTL" detach "$job"
is "from inside, attached: counted" "$("$GRAINCTL" summary "$job" --json | json \
	'[(c["name"], c["available"], c["unknown"] <= d["grains"]["incomplete"], c["grains"] > 10)
	for c in d["counters"]], d["conservation"]["violations"]')" \
	"([('page-faults', True, True, True), ('task-clock', True, True, True)], 0)"
kill "$running"
# Another user's permission for perf events is not graind's.
for_all_users "$B/tests/omp/pages"
setpriv --reuid=65534 --regid=65534 --clear-groups "$T/public/grainctl" run --fast --counters page-faults,cpu-clock \
	-- "$T/public/pages" 10 2 >/dev/null 2>"$T/err"
job=$(sed -n 's/^job //p' "$T/err" | tail -1)
"$GRAINCTL" report "$job" --format json -o "$T/user.grains"
own_faults "from inside, an ordinary user" "$T/user.grains" \
	"$("$GRAINCTL" summary "$job" --json | json '[c["sum"] for c in d["counters"] if c["name"] == "page-faults"]')"
# A libomp without a tool gets probes, and nothing in it is counted.
if OMP_TOOL=disabled profile "probed after all" page-faults "$B/tests/omp/pages.clang" 10 2; then
	is "probed after all: why there are none" \
		"$(json '"without --fast" in d["counters"][0]["why"]' <"$T/probed after all.summary")" True
fi
how=()
# A counter that this machine's processor does not have is absent, with the reason. The others are there.
if profile "hardware" cycles,page-faults,PAPI_TOT_INS "$B/tests/omp/pages" 10 2; then
	is "page-faults are there all the same" \
		"$(json '[c["name"] for c in d["counters"] if c["available"] and c["name"] == "page-faults"]' \
			<"$T/hardware.summary")" "['page-faults']"
	json '"\n".join("%s %s" % (c["name"], c.get("why", "counted")) for c in d["counters"])' <"$T/hardware.summary" \
		>"$T/hardware.said"
	is "every counter is counted or has its reason" "$(grep -c . "$T/hardware.said")" 3
fi
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
