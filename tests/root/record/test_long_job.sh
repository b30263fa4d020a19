#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Jobs with more events than their files may hold. They have statistics of the whole run, and a graph of its first
# part and of some parallel regions after it.
# usage: tests/root/record/test_long_job.sh BUILD_DIRECTORY [TASKS]
# Without EVERY=1: few tasks, and from inside only on libgomp. EVERY=1 (make check-every): all. With TASKS: only one
# job, with at least this many tasks, in 32 MiB.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit 1
export OMP_NUM_THREADS=2
TASKS=${2:-0}
EVERY=${EVERY:-0}
MAX=$(((TASKS ? 32 : 8) << 20))

# bytes_of JOB: what its files take now. Files without a name, which only graind has open, count as well. Each file
# counts once.
bytes_of()
{
	local fd total file seen=" "
	total=$(du -sb "$GRAIND_STATE_DIR/jobs/$1" 2>/dev/null | cut -f1)
	for fd in /proc/"$GRAIND_PID"/fd/*; do
		file=$(stat -L -c %d:%i "$fd" 2>/dev/null)
		[[ $seen = *" $file "* ]] && continue
		seen+="$file "
		case $(readlink "$fd" 2>/dev/null) in
		*/jobs/"$1"/events.new*) total=$((total + $(stat -L -c %s "$fd" 2>/dev/null || echo 0))) ;;
		# What is copied from this file is removed from it, so it has holes.
		*/jobs/"$1"/regions.new*) total=$((total + $(stat -L -c '%b * 512' "$fd" 2>/dev/null || echo 0))) ;;
		esac
	done
	echo "${total:-0}"
}

# Up to this number of tasks, graind is stopped now and then.
STOPS=0
# record NAME JOB OPTIONS -- PROGRAM ARG...: leaves its summary in $T/summary, its output in $T/said, and in PEAK what
# its files took
record()
{
	local name=$1 job=$2 now
	shift 2
	PEAK=0
	"$GRAINCTL" run --max-bytes "$MAX" "$@" >"$T/said" 2>"$T/err" &
	local pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		now=$(bytes_of "$job")
		[ "$now" -gt "$PEAK" ] && PEAK=$now
		# The rings of the program fill, and their content is then read at once.
		[ "$STOPS" -gt 0 ] && [ "$(of_job "$job" "j['grains'] < $STOPS")" = True ] &&
			kill -STOP "$GRAIND_PID" && sleep 0.1 && kill -CONT "$GRAIND_PID"
		sleep 0.2
	done
	wait "$pid"
	is "$name: job" "$(tail -1 "$T/err")" "job $job"
	"$GRAINCTL" summary "$job" --json >"$T/summary"
	now=$(bytes_of "$job")
	[ "$now" -gt "$PEAK" ] && PEAK=$now
	check "$name: at most $PEAK bytes in files" test "$PEAK" -le "$MAX"
	check "$name: and more than a quarter of the ceiling" test "$PEAK" -gt $((MAX / 4))
	is "$name: nothing is left but what a job has" "$(ls "$GRAIND_STATE_DIR/jobs/$job" | tr '\n' ' ')" \
		"job.json summary.json trace.grt "
}

# long NAME JOB OPTIONS -- PROGRAM ARG...: checks that the program's own count is that of the statistics, and no file
# was too large
long()
{
	local name=$1
	record "$@"
	is "$name: tasks as the program counts them, none lost, none incomplete" \
		"$(python3 - "$T/summary" "$T/said" <<'PY'
import json, sys
s, said = (json.load(open(f)) for f in sys.argv[1:])
rows = [d for d in s["definitions"] if d["kind"] == "task"]
half = said["tasks"] // 2
assert [d["instances"] for d in rows] == [half, half], rows
for d in rows:
    assert sum(n for _, n in d["exec_histogram"]) == half, d["exec_histogram"]
    assert d["exec_ns"]["min"] <= d["exec_ns"]["mean"] <= d["exec_ns"]["max"]
assert sum(d["exec_ns"]["sum"] for d in rows) <= s["work_ns"]
c = s["coverage"]
assert not c["whole"] and c["why"] is None, c
assert 0 < c["graph_grains"] < said["tasks"] and c["graph_wall_ns"] < s["wall_ns"], c
assert c["run_regions"] == said["rounds"], c
# The scheduler does not wait. In a job from inside, the kernel's ring is only for its switches.
e, inside = s["events"], s["source"] == "shim"
lost = e["lost"] - (e["losses"].get("ring-full", 0) if inside else 0)
print(s["grains"]["tasks"] == said["tasks"], (lost, e["losses"]) if lost else 0, s["grains"]["incomplete"])
PY
)" "True 0 0"
	printf '= %s: %s\n' "$name" "$(python3 - "$T/summary" "$PEAK" <<'PY'
import json, sys
s = json.load(open(sys.argv[1]))
print(f"{s['grains']['tasks']:,} tasks in {s['wall_ns'] / 1e9:.1f} s, {s['events']['seen']:,} events, "
      f"{s['events']['lost']} lost, files {int(sys.argv[2]) / (1 << 20):.1f} MiB at most, "
      f"graph of {s['coverage']['graph_grains']:,} tasks")
PY
)"
}

# regions NAME JOB OPTIONS -- PROGRAM ARG...: checks that some of slow_round's rounds after the first part are kept,
# each of them whole, among them the slow one and the last one
regions()
{
	local name=$1 job=$2
	record "$@"
	local right='nothing lost, incomplete, unmatched or in violation of conservation'
	is "$name: statistics as the program counts, $right" \
		"$(python3 - "$T/summary" "$T/said" <<'PY'
import json, sys
s, said = (json.load(open(f)) for f in sys.argv[1:])
print(s["grains"]["tasks"] == said["tasks"],
      sum(d["instances"] for d in s["definitions"] if d["kind"] == "task") == said["tasks"],
      s["coverage"]["run_regions"] == said["rounds"], s["grains"]["incomplete"], s["conservation"]["violations"],
      [v for k, v in s["events"].items() if k not in ("seen", "lost", "losses") and v],
      s["events"]["lost"] - (s["events"]["losses"].get("ring-full", 0) if s["source"] == "shim" else 0),
      s["recording"]["mode"], s["coverage"]["why"])
PY
)" "True True True 0 0 [] 0 all None"
	local kept="each whole, the slowest is the program's, and the last one its last"
	is "$name: regions are kept after the first part, $kept" \
		"$(python3 - "$T/summary" "$T/said" "$STOPS" <<'PY'
import json, sys
s, said = (json.load(open(f)) for f in sys.argv[1:3])
said["stopped"] = int(sys.argv[3])
c = s["coverage"]
kept, at = c["kept_regions"], {r["start_ns"]: r for r in s["regions"]}
assert not c["whole"] and c["not_kept_why"] is None, c
assert 0 < c["graph_first_ns"] < c["graph_wall_ns"] < s["wall_ns"], c
assert c["graph_wall_ns"] == c["graph_first_ns"] + sum(k["wall_ns"] for k in kept), c
assert 4 <= len(kept) <= 18 and c["regions_after_first"] > 20 * len(kept), c
# If graind did not run for a while, it read more at once than it looks at.
n = c["regions_not_considered"]
large, edge = n.pop("large"), n.pop("edge")
assert not any(n.values()) and large + edge < c["regions_after_first"] / (2 if said["stopped"] else 4), (large, edge, n)
first = [r for r in s["regions"] if r["start_ns"] <= s["start_ns"] + c["graph_first_ns"]]
assert len(first) == c["graph_regions"] - len(kept) and len(first) + c["regions_after_first"] + large + edge == \
    said["rounds"], (len(first), len(kept), c)
# The first part ends for all threads at the same time, in one region at most.
odd = [r for r in first if r["threads"] != 2 or r["tasks"] != said["tasks_per_round"]]
assert len(odd) <= 1 and all(r["incomplete"] for r in odd), odd
slow = [k for k in kept if k["slowest"]]
last = [k for k in kept if k["last"]]
every = {k["every"] for k in kept if k["every"]}
assert len(slow) == len(last) == len(every) == 1, kept
assert last[0] is kept[-1] and last[0]["start_ns"] + last[0]["wall_ns"] > s["start_ns"] + 0.97 * s["wall_ns"], (
    kept, s["start_ns"], s["wall_ns"])
assert all(a["start_ns"] + a["wall_ns"] < b["start_ns"] for a, b in zip(kept, kept[1:])), kept
assert 0.9 * said["slow_ns"] < slow[0]["wall_ns"] < 1.1 * said["slow_ns"], (slow, said)
for k in kept:
    r = at[k["start_ns"]]
    tasks = said["slow_tasks"] if k["slowest"] else said["tasks_per_round"]
    assert r["tasks"] == tasks and r["threads"] == 2 and not r["incomplete"] and r["wall_ns"] == k["wall_ns"], (k, r)
assert abs(s["average_parallelism"] * s["span_ns"] / c["graph_work_ns"] - 1) < 1e-6, (
    s["span_ns"], s["average_parallelism"], c)
print("yes")
PY
)" yes
	"$GRAINCTL" summary "$job" >"$T/text"
	check "$name: the text says which" grep -q "parallel regions after it" "$T/text"
	is "$name: and lists them" "$(sed -n '/^KEPT REGION/,/^$/p' "$T/text" | grep -c 'the slowest\|the last')" 2
	"$GRAINCTL" export "$job" --format log -o "$T/log"
	is "$name: the log has the windows" "$(grep -ac '^@window .*kept=' "$T/log")" \
		"$(python3 -c 'import json, sys; print(1 + len(json.load(sys.stdin)["coverage"]["kept_regions"]))' \
			<"$T/summary")"
	"$GRAINCTL" analyze "$T/log" --json >"$T/again"
	is "$name: and its graph is the same" "$(python3 - "$T/summary" "$T/again" <<'PY'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
print([k for k in ("span_ns", "burdened_span_ns", "average_parallelism", "regions") if a[k] != b[k]],
      [k for k in ("graph_grains", "graph_wall_ns", "graph_work_ns", "kept_regions")
       if a["coverage"][k] != b["coverage"][k]])
PY
)" "[] []"
	rm "$T/log"
	printf '= %s: %s regions kept\n' "$name" \
		"$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["coverage"]["kept_regions"]))' \
			<"$T/summary")"
}

if [ "$TASKS" -gt 0 ]; then
	long "libgomp, from inside" 1 --fast --lossless -- "$B/tests/omp/fib" 30 25 $((TASKS / 2686522 + 1))
	stop_graind
	is "graind ends cleanly" "$GRAIND_STATUS" 0
	exit 0
fi

long "libgomp, from inside" 1 --fast --lossless -- "$B/tests/omp/fib" 25 18 $((EVERY ? 12 : 6))
"$GRAINCTL" summary 1 >"$T/text"
check "the text says what is of the whole run" grep -q "of the whole" "$T/text"
"$GRAINCTL" analyze "$GRAIND_STATE_DIR/jobs/1/trace.grt" --format json >"$T/grains"
check "the trace can be analysed without graind" test -s "$T/grains"
check "a report of the first part" "$GRAINCTL" report 1 --format html -o "$T/report.html"
long "libgomp, by probes" 2 -- "$B/tests/omp/fib" 25 15 $((EVERY ? 8 : 6))
regions "rounds, libgomp, by probes" 3 -- "$B/tests/omp/slow_round" 5500 200 8000
# Not in the slow round, which comes after nine tenths of 3.5 million. Then there might be more than graind looks at.
STOPS=2000000
regions "rounds, libgomp, from inside, graind is stopped" 4 --fast --lossless -- "$B/tests/omp/slow_round" 7000 500 4000
STOPS=0
if [ "$EVERY" -gt 0 ]; then
	long "libomp, from inside" 5 --fast --lossless -- "$B/tests/omp/fib.clang" 25 18 10
	regions "rounds, libgomp, from inside" 6 --fast --lossless -- "$B/tests/omp/slow_round" 7000 500 4000
	regions "rounds, libomp, from inside" 7 --fast --lossless -- "$B/tests/omp/slow_round.clang" 6000 500 4000
fi

# same NAME OPTION...: checks that the statistics that were summed up are those of a graph of the whole run
same()
{
	local job
	job=$("$GRAINCTL" run "${@:2}" 2>&1 >"$T/out" | sed -n 's/^job //p')
	"$B/tests/tools/check_fold" "$GRAIND_STATE_DIR/jobs/$job/trace.grt" >"$T/fold"
	is "$1: statistics are those of the graph" "$(python3 -c "
import json, sys
d = json.load(sys.stdin)
print({k: v for k, v in d.items() if isinstance(v, list) and v[0] != v[1]})" <"$T/fold")" "{}"
}
same "fib, libgomp, from inside" --fast --lossless -- "$B/tests/omp/fib" 20 12 3
same "fib, libgomp, by probes" -- "$B/tests/omp/fib" 18 8 3
same "fib, libomp, from inside" --fast --lossless -- "$B/tests/omp/fib.clang" 20 10 3
same "fib, libomp, by probes" -- "$B/tests/omp/fib.clang" 18 8 3
same "chunks, libgomp, from inside" --fast --lossless -- "$B/tests/omp/chunks"
same "chunks, libgomp, by probes" -- "$B/tests/omp/chunks"
same "chunks, libomp, by probes" -- "$B/tests/omp/chunks.clang"
same "all kinds of tasks, from inside" --fast --lossless -- "$B/tests/omp/mixed"
same "all kinds of tasks, by probes" -- "$B/tests/omp/mixed"

# What graind had written when it was killed can be read.
"$GRAINCTL" run --fast --max-bytes 8M -- "$B/tests/omp/fib" 25 18 60 >/dev/null 2>&1 &
killed=$!
last=$(ls "$GRAIND_STATE_DIR/jobs" | sort -n | tail -1)
for i in $(seq 1200); do
	job=$(ls "$GRAIND_STATE_DIR/jobs" | sort -n | tail -1)
	[ "$job" != "$last" ] &&
		[ "$(stat -c %s "$GRAIND_STATE_DIR/jobs/$job/trace.grt" 2>/dev/null || echo 0)" -ge $((MAX / 2)) ] &&
		break
	sleep 0.1
done
stop_graind KILL
wait "$killed"
check "a killed graind's trace can be read up to the last whole chunk" "$GRAINCTL" analyze \
	"$GRAIND_STATE_DIR/jobs/$job/trace.grt" --keep-going --format csv -o "$T/killed.csv"
is "and it left no other files" "$(ls "$GRAIND_STATE_DIR/jobs/$job" | tr '\n' ' ')" "job.json trace.grt "
start_graind
"$GRAINCTL" run --max-bytes 4M -- "$B/tests/omp/fib" 10 2 1 >/dev/null 2>"$T/err"
is "a ceiling that is too low is refused" "$?" 2
# GCC gives a call in the region the location of the function that is inlined after it. So the region is where its
# body is written.
for how in "--" "--fast --"; do
	for threads in 1 2; do
		# shellcheck disable=SC2086
		OMP_NUM_THREADS=$threads "$GRAINCTL" run $how "$B/tests/omp/slow_round" 5 5 5 >"$T/said" 2>"$T/err"
		"$GRAINCTL" export "$(sed -n 's/^job //p' "$T/err")" --format log -o "$T/log"
		is "regions of ${threads} threads, run $how: the line of the construct" \
			"$(awk '$1 == "@source" { split($0, w, /(file|line)=/); at[$2] = w[2] w[3] }
			$4 == "region-begin" { sub(/.*src=/, ""); print at[$1 + 0] }' "$T/log" |
			sed 's/ func.*//; s/["]//g' | sort | uniq -c | sed 's/^ *//')" "5 slow_round.c 30"
	done
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
