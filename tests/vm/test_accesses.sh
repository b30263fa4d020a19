#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sampled addresses of memory on a machine with several NUMA nodes: shared memory that was placed on node 0 and is
# used by tasks on chosen CPUs is remote as worked out by hand.
# usage: tests/vm/test_accesses.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../root/root_lib.sh"
. "$(dirname "$0")/../root/record/accesses_lib.sh"
all=page-faults:period=1
source=$ROOT/tests/omp/shared_pages.c

start_graind || exit 1
# It rests so long because on such a slow machine memory is looked at some seconds apart.
# CPUs 2n and 2n+1 are on node n. Tasks have 100, 200, 300, 400 pages: 800 of 1000 are remote,
# those on nodes 3, 1 and 3.
if accessed four "--sample=99 --memory-event $all" "$B/tests/omp/shared_pages" 5000 100 0 6 1 2 7; then
	python3 "$HERE/record/accesses.py" four "$T/four" 100 "$source" 3:0 0:0 1:0 3:0
	is "80 % of the construct's accesses are remote" \
		"$(json '[(x["samples"], x["remote_percent"]) for x in d["numa"]["addresses"]["definitions"]
			if x["samples"] == 1000]' <"$T/four.summary" | tr -d '[]')" "(1000, 80), (1000, 80)"
	is "from nodes 0, 1 and 3 to node 0" \
		"$(json '[round(row[0] / 10) * 10 for row in d["numa"]["remote"]["accesses_percent"]]' \
			<"$T/four.summary")" "[20, 30, 0, 50]"
	check "the summary says it" \
		grep -q 'addresses are sampled (page-faults:period=1): 80 % of the teams.* accesses are remote' \
		<(tr -s '\n ' ' ' <"$T/four.text")
	check "and of each construct" grep -q '^SAMPLED ACCESSES OF' "$T/four.text"
fi
# The other way round: placed on node 3, used there and on node 0.
accessed back "--sample=99 --memory-event $all" "$B/tests/omp/shared_pages" 5000 100 6 7 0 &&
	python3 "$HERE/record/accesses.py" back "$T/back" 100 "$source" 3:3 0:3
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
