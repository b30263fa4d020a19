#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# GraphML and CSV as other programs read them, and MIR profiles from the command line.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

cat >compare_graphml.py <<'PY'
import collections, json, sys
import networkx as nx
reduced, full, grains, summary = sys.argv[1:]
lines = [json.loads(l) for l in open(grains)]
span = json.load(open(summary))["span_ns"]
wrong = []
metrics = ("parallel_benefit load_balance work_deviation instantaneous_parallelism scatter "
           "memory_hierarchy_utilization cache_miss_ratio").split()
for name, of in ((reduced, "grain"), (full, "fragment")):
    g = nx.read_graphml(name, force_multigraph=True)
    if not g.is_directed() or not nx.is_directed_acyclic_graph(g):
        wrong.append(name + ": is no directed graph without cycles")
    if nx.number_weakly_connected_components(g) != 1:
        wrong.append(name + ": falls apart")
    nodes = collections.defaultdict(list)
    for n, d in g.nodes(data=True):
        if d["kind"] == of:
            nodes[d["id"]].append(d)
    for line in lines:
        mine = nodes.pop(line["id"], [])
        if len(mine) != (1 if of == "grain" else len(line["fragments"])):
            wrong.append(f"{name}: {line['id']} has {len(mine)} nodes")
        for d in mine:
            for key in metrics + ["source", "parent", "join", "lower", "upper"]:
                if d.get(key) != line[key]:
                    wrong.append(f"{name}: {line['id']}: {key} is {d.get(key)!r}, not {line[key]!r}")
            for key in ("exec_ns", "create_ns", "wait_ns", "bookkeeping_ns", "depth"):
                if d[key] != line[key]:
                    wrong.append(f"{name}: {line['id']}: {key} is {d[key]!r}, not {line[key]!r}")
        if sum(d["own_ns"] for d in mine) != line["exec_ns"]:
            wrong.append(f"{name}: {line['id']}: own times do not sum to exec_ns")
    if nodes:
        wrong.append(f"{name}: {list(nodes)[:3]} are not in the JSON")
    edges = collections.Counter(d["kind"] for a, b, d in g.edges(data=True))
    depends = sum(len(l["depends_on"]) for l in lines)
    depends += sum(len(w["depends_on"]) for l in lines for w in l.get("depend_waits", ()))
    if edges["dependence"] != depends:
        wrong.append(f"{name}: {edges['dependence']} dependences, not {depends}")
    # Of a task that never ran there is no fragment.
    tasks = sum(l["kind"] == "task" and (of == "grain" or len(l["fragments"]) > 0) for l in lines)
    joined = sum(l["kind"] == "task" and l["join"] is not None for l in lines)
    members = sum(l["kind"] == "implicit" for l in lines)
    if edges["creation"] != tasks + members:
        wrong.append(f"{name}: {edges['creation']} creations, not {tasks + members}")
    if edges["synchronization"] < joined:
        wrong.append(f"{name}: {edges['synchronization']} synchronizations of {joined} tasks")
    if of == "fragment":
        path = nx.DiGraph((a, b) for a, b, d in g.edges(data=True) if d["critical"])
        weight = sum(g.nodes[n]["own_ns"] for n in path if g.nodes[n]["kind"] == "fragment")
        ends = [n for n in path if path.out_degree(n) == 0]
        if max(dict(path.out_degree()).values()) > 1 or len(ends) != 1 or weight != span:
            wrong.append(f"{name}: the critical edges are no path of {span} ns, but of {weight}")
print("\n".join(wrong[:10]))
PY
cat >compare_csv.py <<'PY'
import csv, json, sys
lines = [json.loads(l) for l in open(sys.argv[2])]
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True))
wrong = [] if len(rows) == len(lines) else [f"{len(rows)} rows, {len(lines)} lines"]
for row, line in zip(rows, lines):
    fragments = line.pop("fragments")
    line["fragments"] = len(fragments)
    for key in ("tid", "cpu", "node"):
        line[key] = fragments[0][key] if fragments else None
    for name, value in line.pop("counters").items():
        line["counter_" + name] = value
    line["depends_on"] = " ".join(line["depends_on"]) or None
    line.pop("depend_waits", None)
    line.pop("note", None)
    for key, field in row.items():
        value = line.pop(key, False if key in ("discarded", "runtime") else None)
        same = (field == "" if value is None else field == str(value).lower() if isinstance(value, bool)
                else field == value if isinstance(value, str) else float(field) == value)
        if not same:
            wrong.append(f"{row['id']}: {key} is {field!r}, not {value!r}")
    if line:
        wrong.append(f"{row['id']}: {list(line)} are in no column")
print("\n".join(wrong[:10]))
PY

for file in fib_two_threads.log constructs_two_threads.log untied_counters.log mir_fib.csv mir_loop.csv; do
	in=$ROOT/tests/data/$file
	"$ctl" analyze "$in" --format graphml -o reduced.graphml >out 2>err
	is "$file: GraphML" "$? $(cat out err)" "0 "
	"$ctl" analyze "$in" --format graphml --full >full.graphml
	is "$file: GraphML with every node, on stdout" $? 0
	"$ctl" analyze "$in" --format json >grains.json
	"$ctl" analyze "$in" --json >summary.json
	check "$file: well-formed XML" \
		python3 -c 'import xml.dom.minidom as m; m.parse("reduced.graphml"); m.parse("full.graphml")'
	if python3 -c 'import networkx' 2>/dev/null; then
		is "$file: networkx reads what the JSON says" \
			"$(python3 compare_graphml.py reduced.graphml full.graphml grains.json summary.json 2>&1)" ""
		for graph in reduced full; do
			is "$file: no two nodes of the $graph graph overlap, edges lead downwards" \
				"$(python3 "$ROOT/tests/tools/check_graphml.py" $graph.graphml 2>&1)" ""
		done
	else
		skip "$file: networkx" "python3-networkx is not installed"
	fi
	"$ctl" report "$in" --format csv -o grains.csv >out 2>err
	is "$file: CSV" "$? $(cat out err)" "0 "
	is "$file: a column for each counter" "$(head -1 grains.csv | grep -o counter_ | wc -l)" \
		"$(grep -c '^@counter' "$in")"
	is "$file: the CSV is the JSON" "$(python3 compare_csv.py grains.csv grains.json 2>&1)" ""
done
# What was only seen in part has places, too.
if python3 -c 'import networkx' 2>/dev/null; then
	for file in everything late untied; do
		"$ctl" analyze "$ROOT/tests/fuzz/corpus-log/$file" --keep-going --format graphml -o reduced.graphml
		"$ctl" analyze "$ROOT/tests/fuzz/corpus-log/$file" --keep-going --format graphml --full -o full.graphml
		for graph in reduced full; do
			is "$file: no two nodes of the $graph graph overlap" \
				"$(python3 "$ROOT/tests/tools/check_graphml.py" $graph.graphml 2>&1)" ""
		done
	done
fi
"$ctl" report "$ROOT/tests/data/fib_two_threads.log" --full -o x.svg 2>err
is "--full without GraphML is wrong usage" "$? $(wc -l <err) $(ls x.svg 2>/dev/null)" "2 1 "
for format in graphml csv; do
	"$ctl" analyze "$ROOT/tests/data/fib_two_threads.log" --format $format >/dev/full 2>err
	is "full disk: $format" "$? $(wc -l <err) $(grep -c 'No space left' err)" "1 1 1"
done

# MIR profiles
profile=$ROOT/tests/data/mir_fib.csv
"$ctl" analyze "$profile" >text
is "a MIR profile has a summary" $? 0
check "it says that times are cycles" grep -q cycles text
check "and why instantaneous parallelism is absent" grep -q 'absent: instantaneous' text
"$ctl" report "$profile" -o profile.svg
check "and a picture" python3 -c 'import xml.dom.minidom as m; m.parse("profile.svg")'
"$ctl" export "$profile" >profile.log
"$ctl" analyze "$profile" --json >a.json
"$ctl" analyze profile.log --json >b.json
check "the event log that it gives has the same summary" cmp a.json b.json
sed '4s/^4,2,/4,77,/' "$profile" >orphan.csv
"$ctl" analyze orphan.csv >out 2>err
is "an unknown parent: one line" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
check "it names the line" grep -q 'orphan.csv: line 4: parent 77' err
"$ctl" analyze orphan.csv --keep-going --json >out 2>err
is "--keep-going counts the damage" \
	"$? $(python3 -c 'import json; d=json.load(open("out"))
print(d["damaged"], d["grains"]["incomplete"] > 0, d["events"]["dropped"])')" \
	"0 True True 2"
cut -d, -f1-9 "$profile" >columns.csv
"$ctl" analyze columns.csv 2>err
is "a column is missing: one line that says which" "$? $(wc -l <err) $(grep -c create_instant err)" "1 1 1"
