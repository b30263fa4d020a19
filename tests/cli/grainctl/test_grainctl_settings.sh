#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --set: thresholds and choices of the metrics on the command line.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

# Two tasks of 1000 and 1550 ns side by side, creations of 100 ns, a wait of 1400 - 1000 of its own.
cat >two.log <<'LOG'
grain-log 1
@process pid=10 uid=1000 exe=/opt/app/two cmd="two 1" runtime=libgomp threads=2
@source 0 file=two.c line=5 func=main kind=parallel
@source 1 file=two.c line=9 func=main kind=task
1000 10 0 region-begin region=1 src=0 threads=2
1100 10 0 member-begin region=1 num=0
1200 10 0 create-begin task=1 src=1 flags=deferred
1300 10 0 create-end task=1
1400 10 0 create-begin task=2 src=1 flags=deferred
1500 10 0 create-end task=2
1600 10 0 wait-begin kind=taskwait
1700 10 0 task-begin task=2
2700 10 0 task-end task=2
3000 10 0 wait-end kind=taskwait
3100 10 0 wait-begin kind=barrier-implicit
3200 10 0 wait-end kind=barrier-implicit
3210 10 0 member-end region=1 num=0
3300 10 0 region-end region=1
1150 11 1 member-begin region=1 num=1
1250 11 1 wait-begin kind=barrier-implicit
1350 11 1 task-begin task=1
2900 11 1 task-end task=1
3200 11 1 wait-end kind=barrier-implicit
3205 11 1 member-end region=1 num=1
LOG
# problem NAME ARG...: its threshold and how many grains have it
problem()
{
	local name=$1
	shift
	"$ctl" analyze two.log --json "$@" |
		json "d['problems']['$name']['threshold'], d['problems']['$name']['grains']"
}

# Benefits are 1000 / (100 + 400 / 2) = 3.33 and 1550 / 300 = 5.17.
is "the default threshold" "$(problem parallel_benefit)" "(1, 0)"
is "--set moves it" "$(problem parallel_benefit --set parallel_benefit=4)" "(4, 1)"
is "the last --set of a name counts" \
	"$(problem parallel_benefit --set parallel_benefit=4 --set=parallel_benefit=6)" "(6, 2)"
# 1550 / 1275
is "several --set" "$(problem load_balance --set parallel_benefit=4 --set load_balance=1.3)" "(1.3, 0)"
is "summary takes it" "$("$ctl" summary two.log --json --set parallel_benefit=4 |
	json 'd["problems"]["parallel_benefit"]["grains"]')" "1"
is "parallelism and its intervals" "$("$ctl" analyze two.log --json --set parallelism=optimistic --set interval=1us |
	json '[d["problems"]["instantaneous_parallelism"][k] for k in ("parallelism", "interval_ns")]')" \
	"['optimistic', 1000]"
check "report takes it" "$ctl" report two.log --view parallel_benefit --set parallel_benefit=4 -o two.svg
check "and draws by it" grep -q "below 4" two.svg
"$ctl" analyze two.log --set parallel_benefit=4 >text
check "the text names the threshold" grep -q '< 4' text

"$ctl" analyze --set=help >help
is "--set=help" "$?" "0"
for name in parallel_benefit load_balance work_deviation instantaneous_parallelism scatter \
	memory_hierarchy_utilization cache_miss_ratio parallelism interval topology cycle_counter stall_counter \
	miss_counter reference_counter memory; do
	check "--set=help has $name" grep -q "$name" help
	check "the manual has $name" grep -q "$name" "$ROOT/systemd/man/grainctl.1"
	check "completion has $name" grep -q "$name" "$ROOT/systemd/completion/grainctl"
done
is "--set=help fits 80 columns" "$(awk 'length > 80' help)" ""

# refused ARG SAYS: wrong usage, and the choices are named.
refused()
{
	"$ctl" analyze two.log --set "$1" >out 2>err
	is "--set $1 is wrong usage" "$? $(wc -c <out)" "2 0"
	check "--set $1: says $2" grep -q -- "$2" err
}
refused "benefit=1" "parallel_benefit, load_balance"
refused "parallel_benefit" "NAME=VALUE"
refused "parallel_benefit=x" "number"
refused "parallelism=fast" "exact, optimistic or conservative"
refused "interval=5h" "median, minimum, gap"
refused "topology=" "topology=FILE"
refused "memory=much" "16G"
is "memory that is enough" "$(problem parallel_benefit --set parallel_benefit=4 --set memory=64M)" "(4, 1)"
"$ctl" analyze two.log --set memory=1K >out 2>err
is "too little memory: one line" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
check "which says what to do" grep -q 'two.log: needs more than 1 KiB of memory: .*--set memory=SIZE' err

"$ctl" analyze two.log --set topology=nofile.xml >out 2>err
is "no such topology: one line" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
check "which names the file" grep -q 'topology: nofile.xml: No such file' err
"$ctl" analyze two.log --set topology=two.log >out 2>err
is "a topology that is none: one line" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
check "which says how to make one" grep -q 'lstopo' err
is "a topology" "$("$ctl" analyze two.log --json --set topology="$ROOT/tests/data/hwloc_one_node.xml" |
	json 'd["problems"]["scatter"]')" \
	"{'available': True, 'threshold': 3, 'grains': 0, 'percent': 0, 'distance': 'cores'}"
