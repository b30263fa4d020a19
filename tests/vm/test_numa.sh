#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Scatter on a machine with several NUMA nodes: siblings that run on chosen CPUs have the median of the
# pairwise distances in the machine's own table, here worked out by hand.
# usage: tests/vm/test_numa.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../root/root_lib.sh"

# What the pairs below are worked out from; CPUs 2n and 2n+1 are on node n.
is "the distances are those that guests.sh gives" "$(cat /sys/devices/system/node/node[0-9]*/distance 2>&1)" \
	"$(printf '%s\n' '10 16 22 28' '16 10 28 22' '22 28 10 16' '28 22 16 10')"
is "so are the nodes of the CPUs" "$(cat /sys/devices/system/node/node[0-9]*/cpulist 2>&1 | paste -sd ' ')" \
	"0-1 2-3 4-5 6-7"

# The median, whether it is a problem (more than the largest distance inside a socket, 10), the CPUs,
# the distances of the pairs.
cat >"$T/expected" <<'EOP'
10 no 0,1 on one node
16 yes 2,0 of nodes 1 and 0
22 yes 1,4 of nodes 0 and 2
28 yes 3,5 of nodes 1 and 2
16 yes 4,7 of nodes 2 and 3
16 yes 0,1,2 10 16 16
19 yes 0,1,2,6 10 16 16 22 28 28
22 yes 0,2,4,5 10 16 22 22 28 28
22 yes 0,1,2,3,4,5,6,7 4 x 10, 8 x 16, 8 x 22, 8 x 28
EOP

start_graind || exit 1
check "every thread got its CPU" "$GRAINCTL" run -- "$B/tests/omp/placed" $(cut -d' ' -f3 "$T/expected")
job=$("$GRAINCTL" jobs --all --json | json 'd["jobs"][0]["job"]')
"$GRAINCTL" summary "$job" --json >"$T/summary" && "$GRAINCTL" report "$job" --format json -o "$T/grains"
python3 - "$T" <<'PY'
import json, re, sys
base = sys.argv[1]
s = json.load(open(base + "/summary"))
grains = [json.loads(line) for line in open(base + "/grains")]


def same(what, got, expected):
    print("%s - %s" % ("ok" if got == expected else "not ok", what))
    if got != expected:
        print("# got      %s\n# expected %s" % (got, expected))


flagged = 0
for region, line in enumerate(open(base + "/expected")):
    scatter, problem, cpus, pairs = line.strip().split(" ", 3)
    numbers = [int(c) for c in cpus.split(",")]
    for kind in "task", "chunk":
        mine = [g for g in grains if g["kind"] == kind and re.match(r"0\.p%d\b" % region, g["id"])]
        same("CPUs %s: %ss ran there" % (cpus, kind), sorted(g["fragments"][0]["cpu"] for g in mine), sorted(numbers))
        same("CPUs %s: %ss have scatter %s (%s)" % (cpus, kind, scatter, pairs), [g["scatter"] for g in mine],
             [float(scatter)] * len(numbers))
        flagged += len(numbers) if problem == "yes" else 0
p = s["problems"]["scatter"]
same("scatter is a problem of %d grains" % flagged, (p["available"], p["grains"]), (True, flagged))
PY
# With counters, the BPF programs need more stack, which kernels limit differently.
for program in pages pages.clang; do
	check "$program with counters" "$GRAINCTL" run --counters page-faults,cycles -- "$B/tests/omp/$program" 10 2
	is "$program: the page faults are counted" \
		"$("$GRAINCTL" summary "$("$GRAINCTL" jobs --all --json | json 'max(j["job"] for j in d["jobs"])')" \
			--json |
		json '[c["available"] for c in d["counters"] if c["name"] == "page-faults"]')" "[True]"
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
