#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Open MPI's ranks, each an OpenMP program, as the tree of mpirun and attached to one by one. They are merged into one
# summary whose counts are the program's own.
# usage: tests/root/fleet/test_ranks.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
if ! command -v mpirun >/dev/null || [ ! -x "$B/tests/root/programs/ranks" ]; then
	skip "ranks of MPI" "no Open MPI: make deps installs it"
	exit 0
fi
cd "$T" || exit 1
chmod 755 "$T"
export OMP_NUM_THREADS=2 OMP_DYNAMIC=false OMP_WAIT_POLICY=passive
# Nothing here needs the machine's network, which may be unusual.
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none TMPDIR=$T
mpi=(mpirun --allow-run-as-root --oversubscribe)
ranks=$B/tests/root/programs/ranks
# said FILE: {rank: tasks} and the sum, as the program counted
said() {
	awk '$1 == "rank" { t[$2] = $4 } $1 == "all" { a = $2 }
		END { for (r = 0; r in t; r++) printf "%d:%d ", r, t[r]; print a }' "$1"
}
# merged: the same from a merged summary
merged() {
	json '(" ".join("%d:%d" % (r["rank"], r["tasks"]) for r in d["merged"][0]["ranks"])
		+ " %d" % d["merged"][0]["totals"]["tasks"])'
}

start_graind || exit 1
timeout 60 "$GRAINCTL" run -- "${mpi[@]}" -np 3 "$ranks" 20 >out 2>err
status=$?
first=$(tail -n 1 err | sed -n 's/^job \([0-9]*\)$/\1/p')
is "three ranks of mpirun: run passes on its status and names the job of each rank" \
	"$status $(grep -c 'job [0-9]*: process' err)" "0 3"
"$GRAINCTL" merge "${first:-0}" --json >tree.json 2>err
is "merge of mpirun's job" "$? $(cat err)" "0 "
is "each rank's tasks, and their sum, are those that the program counted" "$(merged <tree.json)" "$(said out)"
is "which are 20, 80 and 180" "$(said out)" "0:20 1:80 2:180 280"
is "of three none is missing" \
	"$(json 'd["merged"][0]["size"], d["merged"][0]["found"], d["merged"][0]["missing"], len(d["merged"])' \
		<tree.json)" "(3, 3, [], 1)"
is "chunks of all" "$(json 'd["merged"][0]["totals"]["chunks"]' <tree.json)" 30
is "nothing lost, nothing incomplete" \
	"$(json 'd["merged"][0]["totals"]["lost"], d["merged"][0]["totals"]["incomplete"]' <tree.json)" "(0, 0)"
is "the processes are the ranks' own" \
	"$(json '" ".join("%d:%d" % (r["rank"], r["pid"]) for r in d["merged"][0]["ranks"])' <tree.json)" \
	"$(awk '$1 == "rank" { print $2 ":" $3 }' out | sort | paste -sd' ')"
is "the slowest is the one with most work" \
	"$(json 'd["merged"][0]["slowest"]["rank"], d["merged"][0]["slowest"]["by"]' <tree.json)" "(2, 'regions_ns')"
is "it has most of the time in grains, too" "$(json 'd["merged"][0]["spread"]["grain_ns"]["max_rank"]' <tree.json)" 2
# 30, 90 and 190 grains.
is "how uneven the ranks are" "$(json 'd["merged"][0]["spread"]["grains"]["imbalance"]' <tree.json)" 1.83870967741935
is "the line of the source" \
	"$(json '[(x["source"].split(":")[0], x["kind"], x["instances"], x["max_rank"])
		for x in d["merged"][0]["definitions"] if x["kind"] == "task"]' <tree.json)" \
	"[('ranks.c', 'task', 280, 2)]"
check "the text names it" \
	grep -qE '^The slowest is rank 2 \(job [0-9]+ on .*\): [12]\.[0-9]+ times the mean time in parallel regions' \
	<("$GRAINCTL" merge "$first")
is "a rank's job says which it is" \
	"$("$GRAINCTL" jobs --all --json |
		json 'sorted((j["mpi"]["rank"], j["mpi"]["size"]) for j in d["jobs"] if j["mpi"])') $(
		json 'len({r["launch"] for r in d["merged"][0]["ranks"]} - {""})' <tree.json)" \
	"[(0, 3), (1, 3), (2, 3)] 1"
"$GRAINCTL" merge $((first + 1)) $((first + 3)) --json >two.json
is "two of the ranks: the third is missing" \
	"$(json 'd["merged"][0]["found"], len(d["merged"][0]["missing"])' <two.json)" "(2, 1)"

# Each rank is attached to by itself.
"${mpi[@]}" -np 3 "$ranks" 30 "$T/go" >out 2>err &
program=$!
PIDS+=("$program")
for i in $(seq 1200); do
	pids=$(pgrep -P "$program" -f 'ranks 30' | paste -sd' ')
	[ "$(wc -w <<<"$pids")" -eq 3 ] && break
	sleep 0.1
done
# In MPI_Init threads come and go, and so do libraries.
sleep 1
jobs=()
for pid in $pids; do jobs+=("$("$GRAINCTL" attach "$pid" 2>>attach.err | sed -n 's/^job //p')"); done
is "three are attached to" "${#jobs[@]} $(cat attach.err)" "3 "
"$GRAINCTL" merge "${jobs[@]}" >/dev/null 2>err2
is "while they run nothing is merged" "$? $(grep -c 'still runs' err2)" "1 3"
touch go
wait "$program"
is "attached: mpirun ends well" "$? $(wc -c <err)" "0 0"
for j in "${jobs[@]}"; do
	for i in $(seq 1200); do
		[ "$("$GRAINCTL" jobs --all --json | json "[j['state'] for j in d['jobs'] if j['job'] == $j]")" = \
			"['finished']" ] && break
		sleep 0.1
	done
done
"$GRAINCTL" merge "${jobs[@]}" --json >attached.json 2>err2
is "attached: merged without a word" "$? $(cat err2)" "0 "
is "attached: each rank's tasks are those that the program counted" "$(merged <attached.json)" "$(said out)"
is "attached: the slowest" "$(json 'd["merged"][0]["slowest"]["rank"], d["merged"][0]["missing"]' <attached.json)" \
	"(2, [])"
is "two starts are two summaries" \
	"$("$GRAINCTL" merge "$first" "${jobs[@]}" --json | json 'sorted(g["totals"]["tasks"] for g in d["merged"])')" \
	"[280, 420]"

stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
is "merge needs no graind" "$("$GRAINCTL" merge "$first" --json | md5sum)" "$(md5sum <tree.json)"
