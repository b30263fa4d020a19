#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Rings in separate maps, as on a machine with several NUMA nodes, deliver the same as rings in one map: every task of
# whole runs, compared with the program's own account, on both runtimes.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' 2>/dev/null | wc -l)

# maps NAME: how many maps with that name graind holds
maps()
{
	sed -n 's/^map_id:[[:space:]]*//p' /proc/"$GRAIND_PID"/fdinfo/* 2>/dev/null | sort -un |
		xargs -r -n 1 bpftool map show id 2>/dev/null | grep -c " name $1 "
}
# rings_apart NAME NUMBER: graind's captures have this many rings each, in maps of their own. There may be two captures,
# the job's and the next job's. Each has one map of counters, and the second may just be made.
rings_apart()
{
	until_so "$1" are_apart "$2" && ok "$1"
}
are_apart()
{
	local captures rings
	captures=$(maps ring_ctl) rings=$(maps node_ring)
	echo "$captures captures, $rings rings"
	[ "$captures" -gt 0 ] && [ "$rings" -eq $((captures * $1)) ] && [ "$captures" = "$(maps ring_ctl)" ]
}
# recorded COMMAND ARG...: starts it under grainctl, and waits until a region of it has been recorded
recorded() { start_loop env OMP_NUM_THREADS=2 "$@" "$GRAINCTL" run -- "$B/tests/omp/loop_forever" 3600000 /dev/null; }

# run_exact WHAT PROGRAM ARG...: checks that a run with two threads is complete and exact
run_exact()
{
	local what=$1 program=$2 job
	shift 2
	OMP_NUM_THREADS=2 OMP_DYNAMIC=false "$GRAINCTL" run -- "$program" "$@" \
		--truth "$T/truth" >"$T/out.json" 2>"$T/err"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -1)
	"$GRAINCTL" report "$job" --format json -o "$T/ndjson" 2>>"$T/err" &&
		"$GRAINCTL" summary "$job" --json >"$T/summary" 2>>"$T/err" &&
		"$GRAINCTL" export "$job" --format log >"$T/log" 2>>"$T/err" ||
		not_ok "$what: report" "$(tail -3 "$T/err")"
	python3 "$HERE/constructs/exact.py" "$what" "$T/out.json" "$T/truth" "$T/ndjson" "$T/summary" "$T/log"
	is "$what: nothing is lost" "$(json 'd["events"]["lost"]' <"$T/summary")" 0
}

for rings in one apart; do
	export GRAIND_RINGS=$rings
	start_graind || exit 1
	run_exact "rings $rings, libgomp" "$B/tests/omp/fib" 22 6
	[ "${FEW:-}" ] || run_exact "rings $rings, libomp" "$B/tests/omp/fib.clang" 22 6
	recorded 2>/dev/null
	wanted=0
	[ $rings = apart ] && wanted=$(getconf _NPROCESSORS_CONF)
	rings_apart "rings $rings: maps of their own, $wanted for each capture" "$wanted"
	kill $(pgrep -P "$P"); wait "$P"
	stop_graind
done
unset GRAIND_RINGS

if [ "$nodes" -lt 2 ]; then
	skip "rings by node" "this machine has one NUMA node; make check-vm has a guest with four"
	exit 0
fi
start_graind || exit 1
last=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' -printf '%f\n' | sort -V | tail -1)
cpus=$(cat "/sys/devices/system/node/$last/cpulist")
recorded taskset -c "$cpus" 2>/dev/null
at_home() { grep -shx "Cpus_allowed_list:[[:space:]]*$cpus" /proc/"$GRAIND_PID"/task/*/status; }
home="the thread that empties them goes to the node of the program"
until_so "$home" at_home && ok "$home"
rings_apart "a map of rings for each node" "$nodes"
kill $(pgrep -P "$P"); wait "$P"
stop_graind
