#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Pictures and summaries through the command line, from a log with hostile names.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh" "$1"

python3 - "$T/small.log" "$T/large.log" <<'PY'
import sys

def log(path, tasks):
    t = 1000
    with open(path, "w", encoding="utf-8") as out:
        def say(text, ns=100):
            nonlocal t
            t += ns
            out.write(f"{t} 9 0 {text}\n")
        out.write('grain-log 1\n@process pid=4711 uid=1000 exe="/tmp/<b>&\\"\'" cmd="x <y>"'
                  ' runtime=libgomp threads=1\n')
        out.write("@source 0 file=m.c line=3 func=main kind=parallel\n")
        out.write('@source 1 file="<i>&.c" line=8 func="f<&>" kind=task\n')
        say("region-begin region=0 src=0 threads=1")
        say("member-begin region=0 num=0")
        for i in range(tasks):
            say(f"create-begin task={i} src=1 flags=deferred")
            say(f"create-end task={i}", 2000)
        say("wait-begin kind=taskwait")
        for i in range(tasks):
            say(f"task-begin task={i}")
            say(f"task-end task={i}", 50)
        say("wait-end kind=taskwait")
        say("wait-begin kind=barrier-implicit")
        say("wait-end kind=barrier-implicit")
        say("member-end region=0 num=0")
        say("region-end region=0")
        say("thread-end")

log(sys.argv[1], 20)
log(sys.argv[2], 30000)
PY

parses() { python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"; }
nodes() { grep -c 'class="node ' "$1"; }

for view in problem parallel_benefit load_balance instantaneous_parallelism definition thread time; do
	check "view $view is drawn" "$B/grainctl" analyze "$T/small.log" --format svg --view "$view" -o "$T/$view.svg"
	check "view $view is well-formed XML" parses "$T/$view.svg"
done
sed '1a@cpu 0 node=0\n@cpu 1 node=5' "$T/small.log" >"$T/nodes.log"
check "view node is drawn where there are several" \
	"$B/grainctl" analyze "$T/nodes.log" --format svg --view node -o "$T/node.svg"
check "its legend has them" grep -q "NUMA node 5" "$T/node.svg"
"$B/grainctl" analyze "$T/small.log" --format svg --view node -o "$T/none.svg" 2>"$T/err"
is "without nodes it says why" "$? $(grep -c "no view of NUMA nodes: .*; choose another view" "$T/err")" "1 1"
check "a large program is drawn" timeout 60 "$B/grainctl" analyze "$T/large.log" --format svg -o "$T/large.svg"
check "as well-formed XML" parses "$T/large.svg"
n=$(nodes "$T/large.svg")
check "with at most 2000 nodes ($n)" test "$n" -le 2000 -a "$n" -gt 3
check "and says what it stands for" grep -q 'stand for 9' "$T/large.svg"
check "as large as it is allowed to be" \
	timeout 60 "$B/grainctl" report "$T/large.log" --max-nodes 100000 -o "$T/all.svg"
check "well-formed XML again" parses "$T/all.svg"
n=$(nodes "$T/all.svg")
check "every task is in it ($n nodes)" test "$n" -gt 30000

check "all views in one file" "$B/grainctl" report "$T/small.log" --view all -o "$T/views.svg"
check "is well-formed XML" parses "$T/views.svg"
n=$(grep -c '<g id="view-' "$T/views.svg")
check "with $n views" test "$n" -ge 6
check "two views in one file" "$B/grainctl" report "$T/small.log" --view thread,time -o "$T/two.svg"
is "in the order of the list" "$(grep -o '<g id="view-[a-z]*" class="view default"' "$T/two.svg")" \
	'<g id="view-thread" class="view default"'
"$B/grainctl" report "$T/small.log" --view definition,scatter -o "$T/absent.svg" 2>"$T/err"
is "a view of what is absent in a list fails" "$?" 1
check "and says why" grep -q 'no view of scatter' "$T/err"

for depth in 0 2 9; do
	check "aggregated, $depth levels open" \
		"$B/grainctl" report "$T/small.log" --open-depth "$depth" -o "$T/groups.svg"
	check "is well-formed XML" parses "$T/groups.svg"
done
check "says how many levels" grep -q 'levels of groups open' "$T/groups.svg"
check "filtered" "$B/grainctl" report "$T/small.log" --view parallel_benefit --open-depth 9 \
	--filter -o "$T/filtered.svg"
check "is well-formed XML" parses "$T/filtered.svg"
check "shows fewer" test "$(nodes "$T/filtered.svg")" -le "$(nodes "$T/groups.svg")"

# Every context of the JSON is in the picture once, by its identifier.
"$B/grainctl" report "$T/small.log" --format json >"$T/grains.json"
"$B/grainctl" report "$T/small.log" --view definition -o "$T/full.svg"
check "every grain of the JSON is in the SVG once" python3 - "$T/grains.json" "$T/full.svg" <<'XML'
import json
import sys
import xml.etree.ElementTree as tree

ids = [json.loads(line)["id"] for line in open(sys.argv[1], encoding="utf-8")]
elements = [e.get("id") for e in tree.parse(sys.argv[2]).iter() if e.get("id")]
assert len(ids) > 20 and len(elements) == len(set(elements))
assert all(elements.count(i) == 1 for i in ids)
XML

if command -v rsvg-convert >/dev/null; then
	check "another program can draw it" rsvg-convert -o "$T/small.png" "$T/problem.svg"
	check "and the views" rsvg-convert -o "$T/views.png" "$T/views.svg"
	check "and groups" rsvg-convert -o "$T/groups.png" "$T/filtered.svg"
else
	skip "another program can draw it" "no rsvg-convert"
fi
if command -v dot >/dev/null; then
	check "DOT is written" "$B/grainctl" analyze "$T/small.log" --format dot -o "$T/small.dot"
	check "and read by Graphviz" dot -Knop2 -Tsvg -o "$T/dot.svg" "$T/small.dot"
else
	skip "DOT is read by Graphviz" "no dot"
fi
LC_ALL=C "$B/grainctl" analyze "$T/small.log" >"$T/summary" 2>"$T/stderr"
check "the first five lines of the summary name the worst line" sh -c "head -5 '$T/summary' | grep -qF '<i>&.c:8'"
is "the summary fits 80 columns" "$(awk 'length > 80' "$T/summary")" ""
is "nothing on stderr" "$(cat "$T/stderr")" ""
