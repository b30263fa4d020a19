#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl fleet: three graind in their own namespaces, the real Prometheus, real jobs. Also what it says about
# servers that are not Prometheus.
# usage: tests/root/fleet/test_fleet.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
# The loops pause, to leave the CPUs to the tests beside this one.
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
. "$(dirname "$0")/three_nodes.sh"

read -r PORT ODD < <(free_ports 2)
URL=http://127.0.0.1:$PORT

# --- servers that answer something else ----------------------------------
/usr/bin/python3 -B "$HERE/fleet/odd_prometheus.py" "$ODD" & PIDS+=($!)
# Waits for an answer, not for a connection: a client that connects to a port of its own range may reach itself.
for _ in $(seq 2400); do
	[ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$ODD/missing")" = 404 ] && break
	sleep 0.05
done
# fails NAME STATUS WORD PATH: checks for one line on stderr that contains the word
fails()
{
	timeout 60 "$GRAINCTL" fleet --prometheus "http://user:secret@127.0.0.1:$ODD/$4" >"$T/out" 2>"$T/err"
	is "$1" "$? $(wc -l <"$T/err") $(grep -c -- "$3" "$T/err") $(grep -c secret "$T/err") $(wc -c <"$T/out")" \
		"$2 1 1 0 0"
}
fails "an answer that is no JSON" 1 "does not speak as Prometheus" text
fails "JSON of something else" 1 "does not speak as Prometheus" other
fails "a matrix" 1 "does not speak as Prometheus" matrix
fails "a page that is not there" 1 "HTTP status 404" missing
fails "an error of Prometheus" 1 "too many samples" error
fails "who asks is not known" 3 "PASSWORD" denied
fails "an endless answer" 1 "too long" endless
fails "no node" 1 "scrapes no graind" empty
fails "a redirect is not followed" 1 "HTTP status 302" redirect
"$GRAINCTL" fleet --prometheus "http://127.0.0.1:$ODD/hostile" >"$T/out" 2>"$T/err"
is "hostile labels and numbers do no harm" \
	"$? $(LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$T/out") $(cat "$T/err")" \
	"0 0 "
"$GRAINCTL" fleet --json --prometheus "http://127.0.0.1:$ODD/hostile" >"$T/out"
is "as JSON, too" "$? $(json 'len(d["nodes"])' <"$T/out")" "0 2"
"$GRAINCTL" fleet --prometheus "http://127.0.0.1:1" 2>"$T/err"
is "nobody listens: one line says what to do" \
	"$? $(wc -l <"$T/err") $(grep -c -- 'name it by --prometheus' "$T/err")" "1 1 1"

# --- the real one ----------------------------------------------------------
start_nodes "a fleet of three" fleet 10.214 "$PORT"
fleet() { "$GRAINCTL" fleet --prometheus "$URL" "$@"; }
# until_fleet EXPRESSION: waits for at most two minutes
until_fleet()
{
	local i
	for i in $(seq 240); do
		fleet --json >"$T/fleet" 2>/dev/null && [ "$(json "$1" <"$T/fleet" 2>/dev/null)" = True ] && return 0
		sleep 0.5
	done
	cat "$T/fleet"
	return 1
}
check "three nodes are up" until_fleet 'len(d["nodes"]) == 3 and all(n["up"] for n in d["nodes"])'
check "a job on the second node" on 2 run -- "$B/tests/omp/demo"
OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 500000 /dev/null >/dev/null & P=$!; PIDS+=("$P")
started=$(date +%s)
check "one that goes on, on the first" on 1 attach "$P"
check "both are seen, the worst first" \
	until_fleet '((lambda worst: worst == sorted(worst, reverse=True))(
			[max(p["share"] for p in j["problems"]) for j in d["jobs"]])
		and {(j["node"], j["job"], j["command"], j["running"]) for j in d["jobs"]} ==
			{("10.214.2.2:9464", "1", "demo", False), ("10.214.1.2:9464", "1", "loop_forever", True)}
		and all(j["seen_since"] is not None and (j["grains_per_s"] or 0) > 10
			for j in d["jobs"] if j["running"]))'
cp "$T/fleet" "$T/both"
on 2 summary 1 --json >"$T/summary"
/usr/bin/python3 - "$T/both" "$T/summary" "$started" "$(id -un)" <<'PY'
import json, sys
fleet, summary = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
started, user = int(sys.argv[3]), sys.argv[4]


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:1500])


ended, runs = sorted(fleet["jobs"], key=lambda j: j["running"])
check("whose they are", ended["user"] == runs["user"] == user and ended["runtime"] == "libgomp", fleet["jobs"])
expected = {n: p["percent"] / 100 for n, p in summary["problems"].items() if p["available"] and p["percent"] >= 1}
got = {p["name"]: p["share"] for p in ended["problems"] if p["name"] in summary["problems"]}
check("the problems are those of the summary", set(expected) == set(got) and got and
      all(abs(expected[n] - got[n]) < 1e-6 for n in got), (expected, got))
check("the largest first", [p["share"] for p in ended["problems"]] ==
      sorted((p["share"] for p in ended["problems"]), reverse=True), ended)
check("average parallelism and threads", abs(ended["average_parallelism"] - summary["average_parallelism"]) < 1e-6 and
      ended["threads"] == summary["threads"], (ended, summary["threads"]))
check("since when", started - 2 <= runs["seen_since"] <= started + 20, (runs, started))
check("what it does", runs["events_per_s"] > 10 and runs["grains_per_s"] > 10 and 0 < runs["overhead_ratio"] < 1, runs)
nodes = {n["node"]: n for n in fleet["nodes"]}
check("jobs and memory of the nodes", nodes["10.214.1.2:9464"]["jobs"] == 1
      and nodes["10.214.3.2:9464"]["jobs"] == 0 and
      all(n["memory_bytes"] > 1e6 and n["down_since"] is None for n in nodes.values()), nodes)
PY
for columns in 80 140; do
	COLUMNS=$columns fleet >"$T/out"
	is "as tables in $columns columns" \
		"$? $(awk -v w=$columns 'length > w' "$T/out") $(grep -c '^10.214.*demo.*ended' "$T/out") $(
			grep -c '^10.214.3.*up' "$T/out")" "0  1 1"
done
sed 's/^/# /' "$T/out"
kill -KILL "${NODE[3]}"
killed=$(date +%s)
check "a node that is gone comes first, with since when" \
	until_fleet "(d['nodes'][0]['node'] == '10.214.3.2:9464' and not d['nodes'][0]['up']
		and [n['up'] for n in d['nodes'][1:]] == [True, True])"
check "and since when, within seconds" \
	until_fleet "d['nodes'][0]['down_since'] is not None and abs(d['nodes'][0]['down_since'] - $killed) < 12"
is "GRAIND_PROMETHEUS is asked" "$(GRAIND_PROMETHEUS=$URL "$GRAINCTL" fleet | head -1 | cut -d';' -f1)" \
	"3 nodes, 1 down"
