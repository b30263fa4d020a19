#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl merge on summaries of several nodes: sums, the slowest rank, what is missing, there twice, or none.
# usage: tests/cli/grainctl/test_grainctl_merge.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

# summary FILE RANK SIZE HOST JOB TASKS REGION_MS [LAUNCH [BATCH]]: in whose regions the tasks take half of the time.
summary()
{
	python3 - "$@" >"$1" <<'PY'
import json, sys
file, rank, size, host, job, tasks, ms = sys.argv[1:8]
launch, batch = (sys.argv[8:] + ["77", ""])[:2] if len(sys.argv) < 10 else sys.argv[8:10]
tasks, ns = int(tasks), int(float(ms) * 1e6)
print(json.dumps({
    "batch": batch, "mpi": {"rank": int(rank), "size": int(size) if size != "?" else None, "launch": launch},
    "job": int(job), "pid": 100 + int(job), "exe": "/opt/app/heat", "cmd": "heat", "host": host, "threads": 4,
    "start_ns": int(job), "wall_ns": 2 * ns + 5000000, "late": False,
    "grains": {"total": tasks + 2, "tasks": tasks, "chunks": 2, "incomplete": 1}, "events": {"seen": 9, "lost": 3},
    "coverage": {"whole": True}, "work_ns": ns, "average_parallelism": 2.0, "overhead": {"percent": 1.0},
    "problems": {"parallel_benefit": {"available": True, "grains": tasks // 2,
                                      "percent": 100 * (tasks // 2) / (tasks + 2)},
                 "work_deviation": {"available": False, "why": "no base"}},
    "definitions": [
        {"source": "heat.c:8", "func": "step", "kind": "task", "instances": tasks, "exec_ns": {"sum": ns // 2},
         "problems": {"parallel_benefit": {"grains": tasks // 2}}},
        {"source": "heat.c:3", "func": "main", "kind": "loop", "instances": 2, "exec_ns": {"sum": 1000},
         "problems": {}}],
    "regions": [{"id": "0.p0", "parent": "0", "wall_ns": ns // 2},
                {"id": "0.p1", "parent": "0", "wall_ns": ns - ns // 2},
                {"id": "0.p0.0.p0", "parent": "0.p0.0", "wall_ns": ns}]}))
PY
}
mkdir job
summary job/n1-0.json 0 4 n1 7 100 10
summary job/n1-1.json 1 4 n1 8 100 10
summary job/n2-2.json 2 4 n2 7 300 30
summary job/n2-3.json 3 4 n2 8 100 10

"$ctl" merge job --json >all.json 2>err
is "a directory" "$? $(wc -c <err)" "0 0"
is "all ranks, of both nodes" \
	"$(json '[(g["size"], g["found"], g["hosts"], g["missing"],
		[(r["rank"], r["host"], r["job"]) for r in g["ranks"]]) for g in d["merged"]]' <all.json)" \
	"[(4, 4, 2, [], [(0, 'n1', 7), (1, 'n1', 8), (2, 'n2', 7), (3, 'n2', 8)])]"
is "sums" \
	"$(json '[d["merged"][0]["totals"][k]
		for k in ("grains", "tasks", "chunks", "incomplete", "lost", "threads", "grain_ns")]' <all.json)" \
	"[608, 600, 8, 4, 12, 16, 30004000]"
is "the slowest by its time in the regions that it started" \
	"$(json '{k: d["merged"][0]["slowest"][k] for k in ("rank", "host", "job", "by", "imbalance", "excess_ns")}' \
		<all.json)" \
	"{'rank': 2, 'host': 'n2', 'job': 7, 'by': 'regions_ns', 'imbalance': 2.0, 'excess_ns': 15000000.0}"
wall='(25000000, 0, 35000000.0, 65000000, 2, 1.85714285714286)'
regions='(10000000, 0, 15000000.0, 30000000, 2, 2.0)'
is "least, mean and most" \
	"$(json '[(s["min"], s["min_rank"], s["mean"], s["max"], s["max_rank"], s["imbalance"])
		for s in (d["merged"][0]["spread"][k] for k in ("wall_ns", "regions_ns", "grains"))]' <all.json)" \
	"[$wall, $regions, (102, 0, 152.0, 302, 2, 1.98684210526316)]"
is "problems: of all grains, and the worst rank" \
	"$(json '{k: (p["grains"], round(p["percent"], 3), p["worst_rank"], round(p["worst_percent"], 3))
		for k, p in d["merged"][0]["problems"].items()}' <all.json)" \
	"{'parallel_benefit': (300, 49.342, 2, 49.669)}"
task="('heat.c:8', 'task', 600, 30000000, 2, 2.0, {'parallel_benefit': 300})"
is "by the source" \
	"$(json '[(x["source"], x["kind"], x["instances"], x["exec_ns"], x["max_rank"], x["imbalance"], x["problems"])
		for x in d["merged"][0]["definitions"]]' <all.json)" \
	"[$task, ('heat.c:3', 'loop', 8, 4000, 0, 1.0, {})]"
COLUMNS=140 "$ctl" merge job >text
slowest='The slowest is rank 2 (job 7 on n2): 2.00 times the mean time in parallel regions;'
is "the verdict" "$(sed -n 1,2p text)" "heat: 4 of 4 ranks on 2 nodes, launch 77
$slowest ranks that are even would save 15.0 ms"
check "the text sums up" \
	grep -qx 'All together: 608 grains (600 tasks, 8 chunks, 4 incomplete), 12 events lost, 30.0 ms in grains' text
check "each rank has a line" grep -qE '^ +2 +n2 +7 +4 +65.0 ms +30.0 ms +15.0 ms +302 +3 +2.00 +benefit 50 %$' text
check "so has each line of the source" grep -qE '^heat.c:8 +step +task +600 +30.0 ms +2.00 +2$' text
is "lines fit" "$(COLUMNS=90 "$ctl" merge job | sed 1,5d | awk 'length > 90' | wc -l)" 0
is "files are as good as their directory" "$("$ctl" merge job/*.json --json | md5sum)" \
	"$("$ctl" merge job --json | md5sum)"

# Missing ones.
"$ctl" merge job/n1-1.json --json >one.json
is "missing: from and to" "$? $(json 'd["merged"][0]["found"], d["merged"][0]["missing"]' <one.json)" \
	"0 (1, [[0, 0], [2, 3]])"
check "missing: said" grep -q '^Missing: ranks 0, 2-3: ' <("$ctl" merge job/n1-1.json)
is "one rank is not compared with itself" "$("$ctl" merge job/n1-1.json | grep -c slowest)" 0
check "one is missing" grep -q '^Missing: rank 3: ' <("$ctl" merge job/n1* job/n2-2.json)
summary huge.json 1 16777216 n1 9 5 1
check "very many are" grep -q '^Missing: ranks 0, 2-16777215: ' <("$ctl" merge huge.json)
summary of.json 1 '?' n1 9 5 1
is "nobody knows of how many" "$("$ctl" merge of.json | head -1)" \
	"heat: 1 rank, of how many is not known, on 1 node, launch 77"

# Even ones.
summary even0.json 0 2 n1 1 100 10
summary even1.json 1 2 n1 2 100 10.1
check "even ranks" grep -q '^The ranks are even: the slowest, rank 1 (job 2 on n1), takes 1.00 times the mean' \
	<("$ctl" merge even?.json)

# Recorded in part.
sed 's/"late": false/"late": true, "recording": {"mode": "windows"}/' job/n1-1.json >windows.json
"$ctl" merge job/n1-0.json windows.json job/n2-* >text
is "windows and late ranks are said" \
	"$(grep -c -e '^Recorded in windows: 1 of the ranks' -e '^Late: 1 of the ranks' text)" 2
is "and the slowest is by what is known of all" \
	"$("$ctl" merge job/n1-0.json windows.json job/n2-* --json |
		json '(d["merged"][0]["slowest"]["by"], d["merged"][0]["slowest"]["rank"],
			d["merged"][0]["ranks"][1]["regions_ns"])')" "('wall_ns', 2, None)"
sed 's/"whole": true/"whole": false/' job/n1-1.json >long.json
is "of a long job not all regions are known" \
	"$("$ctl" merge job/n1-0.json long.json job/n2-* --json |
		json 'd["merged"][0]["slowest"]["by"], d["merged"][0]["slowest"]["rank"]')" "('grain_ns', 2)"

# There twice.
"$ctl" merge job job/n1-0.json --json >again.json 2>err
is "the same file twice counts once, which is said" \
	"$? $(json 'd["merged"][0]["totals"]["tasks"], len(d["left_out"]), d["left_out"][0]["again"]' <again.json) $(
		grep -c 'left out: job/n1-0.json: the same job as job/n1-0.json' err)" \
	"0 (600, 1, True) 1"
summary second.json 2 4 n3 9 7 5
"$ctl" merge job second.json --json >twice.json 2>err
is "another job of the same rank: the longer counts, which is said" \
	"$? $(json 'd["merged"][0]["totals"]["tasks"]' <twice.json) $(cat err)" \
	"0 600 grainctl: merge: left out: second.json: rank 2 once more; job/n2-2.json, which took longer, counts"

# Several starts.
mkdir several
summary several/a0.json 0 2 n1 1 10 1 5.1 slurm:4711.batch
summary several/a1.json 1 2 n2 1 20 1 5.1 slurm:4711.0
summary several/b0.json 0 2 n1 2 30 1 5.2 slurm:4711.batch
summary several/c0.json 0 1 n1 3 40 1 5.1 slurm:4712.0
summary several/d0.json 0 2 n1 4 50 1 "" slurm:4711.1
summary several/d1.json 1 2 n1 5 60 1 "" slurm:4711.1
step="('slurm:4711', '5.2', 30, [[1, 1]])"
is "one summary for each start, of whatever steps" \
	"$("$ctl" merge several --json |
		json 'sorted((g["cluster_job"], g["launch"], g["totals"]["tasks"], g["missing"])
			for g in d["merged"])')" \
	"[('slurm:4711', '', 110, []), ('slurm:4711', '5.1', 30, []), $step, ('slurm:4712', '5.1', 40, [])]"

# What is none.
mkdir odd empty
cp job/n1-0.json odd/good.json
echo '{"job":1}' >odd/other.json
echo 'nothing' >odd/text.json
printf '' >odd/nothing.json
head -c 300 job/n1-1.json >odd/cut.json
python3 -c 'print("[" * 100000)' >odd/deep.json
ln -s "$T/job/n1-1.json" odd/link.json
mkfifo odd/pipe.json
mkdir odd/directory.json
sed 's/"mpi": {[^}]*}/"mpi": null/' job/n1-1.json >odd/alone.json
sed 's/"rank": 1,/"rank": 4,/' job/n1-1.json >odd/beyond.json
sed 's/"rank": 1,/"rank": -1,/' job/n1-1.json >odd/negative.json
sed 's/"rank": 1,/"rank": 1e300,/' job/n1-1.json >odd/large.json
sed 's/"total": 102/"total": -5/' job/n1-1.json >odd/minus.json
sed 's/"total": 102/"total": [1]/' job/n1-1.json >odd/list.json
printf 'GRAINTRC and more' >odd/trace.json
truncate -s 65M odd/long.json
timeout 20 "$ctl" merge odd --json >odd.out 2>err
is "what is none is left out, the rest is merged, and the status says so" \
	"$? $(json 'd["merged"][0]["totals"]["tasks"], len(d["left_out"])' <odd.out)" "1 (100, 16)"
is "with one line each" "$(grep -c '^grainctl: merge: left out: odd/' err) $(wc -l <err)" "16 16"
for line in "other.json: no summary that graind wrote" "text.json: no JSON object" "cut.json: no JSON object" \
	"link.json: " "pipe.json: no regular file" "directory.json: no regular file" \
	"alone.json: no rank of an MPI job" "beyond.json: its MPI rank cannot be" \
	"negative.json: its MPI rank cannot be" "large.json: its MPI rank cannot be" "minus.json: no summary" \
	"trace.json: a trace; give its job" "long.json: larger than any summary"; do
	check "the reason: $line" grep -qF "left out: odd/$line" err
done
"$ctl" merge empty 2>err >out
is "an empty directory" "$? $(wc -l <err) $(wc -c <out) $(grep -c 'empty: no summaries' err)" "1 1 0 1"
"$ctl" merge nofile job >out 2>err
is "no such file: the rest is merged" "$? $(wc -l <err) $(head -1 out)" "1 1 heat: 4 of 4 ranks on 2 nodes, launch 77"
"$ctl" merge 7 >out 2>err
is "no such job" "$? $(cat err)" "1 grainctl: merge: left out: job 7: not there; grainctl jobs --all lists yours"
"$ctl" merge --batch slurm:4711 2>err
is "no such batch job" "$? $(grep -c 'slurm:4711: no ranks among the jobs here' err)" "1 1"
for args in "" "--batch 4711 1" "--batch slurm:" "--nothing"; do
	# shellcheck disable=SC2086
	"$ctl" merge $args >/dev/null 2>&1
	is "wrong usage: merge $args" $? 2
done

# What names do to a terminal.
sed 's|/opt/app/heat|/opt/\\u001b[2Jheat\\n|; s|"n1"|"n\\u001b]0;x\\u0007"|; s|heat.c:8|a\\u009bb|' \
	job/n1-0.json >escapes.json
"$ctl" merge escapes.json >out 2>&1
is "control characters do nothing" "$(LC_ALL=C grep -c $'[\001-\010\013-\037\177]' out)" 0

# Jobs of this node, without a graind.
for n in 1 2 3 4; do
	mkdir -p "state/jobs/$n"
	chmod 700 "state/jobs/$n"
done
job()
{
	local ended='"start_ns":1,"end_ns":2,"reason":"exit"' process
	process="\"error\":\"\",\"pid\":9,\"uid\":$(id -u),\"cmd\":\"heat\""
	echo "{\"job\":$1,\"parent_job\":$2,\"state\":\"$3\",$process,$ended,\"batch\":\"$4\",\"mpi\":$5}" \
		>"state/jobs/$1/job.json"
}
job 1 0 finished slurm:4711.batch null
job 2 1 finished slurm:4711.batch '{"rank":0,"size":4,"launch":"77"}'
job 3 1 finished slurm:4711.batch '{"rank":1,"size":4,"launch":"77"}'
job 4 0 finished slurm:471.0 null
cp job/n1-0.json state/jobs/2/summary.json
cp job/n1-1.json state/jobs/3/summary.json
is "what started the ranks" \
	"$("$ctl" merge 1 --json |
		json '(d["merged"][0]["found"], d["merged"][0]["missing"],
			[r["from"] for r in d["merged"][0]["ranks"]])')" \
	"(2, [[2, 3]], ['job 2', 'job 3'])"
is "ranks by their jobs, with a file of another node" \
	"$("$ctl" merge 3 2 job/n2-2.json --json | json 'd["merged"][0]["found"], d["merged"][0]["totals"]["tasks"]')" \
	"(3, 500)"
is "a rank alone is itself" "$("$ctl" merge 3 --json | json '[r["rank"] for r in d["merged"][0]["ranks"]]')" "[1]"
is "by the batch job" \
	"$("$ctl" merge --batch slurm:4711 --json | json 'd["merged"][0]["found"]') $(
		"$ctl" merge --batch slurm:4711.batch --json | json 'd["merged"][0]["found"]')" "2 2"
"$ctl" merge --batch slurm:47 2>err
is "not by a part of its number" "$? $(wc -l <err)" "1 1"
"$ctl" merge 4 2>err
is "a job that is no rank" "$? $(cat err)" \
	"1 grainctl: merge: left out: job 4: no rank of an MPI job, nor is what it started"
rm state/jobs/3/summary.json
"$ctl" merge 1 --json >out 2>err
is "a rank without a summary" "$? $(json 'd["merged"][0]["found"]' <out) $(wc -l <err)" "1 1 1"
