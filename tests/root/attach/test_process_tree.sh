#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Processes that fork, execute other programs, stop or are killed, and whose library is replaced. Checks what each job
# has, task for task.
# usage: tests/root/attach/test_process_tree.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
cd "$T" || exit 1
chmod 755 "$T"
export OMP_NUM_THREADS=2 OMP_DYNAMIC=false

gcc -O2 -g -fopenmp -o family "$HERE/programs/family.c" || not_ok "the test program is built"
gcc -O2 -g -fopenmp -static -o family_static "$HERE/programs/family.c" 2>/dev/null ||
	not_ok "the static test program is built"

# tree FIRST: one line for each job from job FIRST on: number and parent relative to FIRST, reason, tasks, events
# lost. The lines are sorted, because children run at the same time.
tree()
{
	"$GRAINCTL" jobs --all --json | python3 -c '
import json, sys
first = int(sys.argv[1])
jobs = sorted(json.load(sys.stdin)["jobs"], key=lambda j: j["job"])
rank = {}
for j in jobs:
    if j["job"] >= first:
        rank[j["job"]] = len(rank)
for j in jobs:
    if j["job"] in rank:
        print(rank[j["job"]], rank.get(j["parent_job"], "-"), j["reason"], j["grains"], j["lost"])' "$1"
}
# run NAME STEP...: leaves the number of the first job in FIRST
run()
{
	local name=$1
	shift
	timeout -k 5 60 "$GRAINCTL" run -- "$@" >out 2>err
	STATUS=$?
	FIRST=$(tail -n 1 err | sed -n 's/^job \([0-9]*\)$/\1/p')
	[ -n "$FIRST" ] || not_ok "$name: run ends with 'job N'" "$(tail -5 err)"
}
# whole NAME JOB: checks that nothing is incomplete and nothing came late
whole()
{
	is "$1" "$("$GRAINCTL" summary "$2" --json 2>&1 | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["grains"]["incomplete"], d["late"], d["damaged"])')" "0 False False"
}
wait_field() # JOB FIELD VALUE
{
	local i
	for i in $(seq 1200); do
		[ "$("$GRAINCTL" jobs --all --json | python3 -c '
import json, sys
print(*[j[sys.argv[2]] for j in json.load(sys.stdin)["jobs"] if j["job"] == int(sys.argv[1])])' "$1" "$2")" = "$3" ] &&
			return 0
		sleep 0.1
	done
	return 1
}

before=$(bpf_objects)
start_graind || exit 1

# One process, several programs.
run exec ./family exec:sleep.30,tasks.20
is "exec before any OpenMP keeps the job" "$(tree "$FIRST")" "0 - exit 20 0"
whole "exec before any OpenMP: complete from the first event" "$FIRST"
run exec ./family tasks:10 exec:sleep.30,tasks.20
is "exec after OpenMP: each program has its tasks in a job of its own" "$(tree "$FIRST")" "0 - exec 10 0
1 0 exit 20 0"
whole "exec: the first program is complete" "$FIRST"
whole "exec: the second program is complete from its first event" $((FIRST + 1))
is "exec: run names the second job" "$(grep -c "job $((FIRST + 1)): process" err)" 1
"$GRAINCTL" export "$FIRST" --format log >log 2>&1
is "exec: the first program's sources are found after it is gone" \
	"$(grep -c 'family.c' log | awk '{ print ($1 > 0) }')" 1
run exec ./family_static tasks:10 exec:sleep.30,tasks.20,exec.sleep:30
is "exec of a static program, and again" "$(tree "$FIRST" | head -2)" "0 - exec 10 0
1 0 exec 20 0"
run thread ./family tasks:4 thread-exec:sleep.500,tasks.20
is "exec from another thread than the first" "$(tree "$FIRST")" "0 - exec 4 0
1 0 exit 20 0"

# Children.
run spawn ./family spawn:sleep.200,tasks.7 wait
is "a child that executes a program has its own job" "$(tree "$FIRST" | tail -1)" "1 0 exit 7 0"
is "spawn: nothing incomplete" "$("$GRAINCTL" summary $((FIRST + 1)) --json 2>&1 | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["grains"]["incomplete"], d["damaged"])')" "0 False"
is "run names the child's job, and its own last" "$(grep -c "job $((FIRST + 1)): process" err) $(tail -n 1 err)" \
	"1 job $FIRST"
run fork ./family fork:sleep.300,tasks.5 wait tasks:3
is "a child without exec has its own job" "$(tree "$FIRST")" "0 - exit 3 0
1 0 exit 5 0"
whole "fork: the parent's trace is not disturbed" "$FIRST"
run both ./family tasks:30 spawn:sleep.200,tasks.7 spawn:sleep.200,tasks.8 tasks:40 wait
# Either of the two may get its job first.
is "two children at a time" "$(tree "$FIRST" | sort -k4n | cut -d' ' -f2-)" "0 exit 7 0
0 exit 8 0
- exit 70 0"
run script sh -c './family sleep:200 tasks:11; ./family sleep:200 tasks:12; exit 5'
is "a script's programs are jobs that come from the script's; its exit status is passed on" \
	"$STATUS $(tree "$FIRST" | awk '{ print $2, $4 }' | paste -sd' ')" "5 - 0 0 11 0 12"
run many sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; ./family sleep:200 tasks:9'
is "children without OpenMP leave no jobs" "$(tree "$FIRST" | awk '{ print $4 }' | paste -sd' ')" "0 9"
run grandchild sh -c "sh -c './family spawn:sleep.200,tasks.6 wait; true'; true"
is "a grandchild" "$(tree "$FIRST" | awk '$4 == 6' | wc -l)" 1

# Processes that die or stop.
run die ./family tasks:10 die
is "killed in the middle: status, and what was recorded is kept" \
	"$STATUS $(tree "$FIRST" | awk '{ print $3, ($4 >= 100), $5 }')" "137 exit 1 0"
check "killed in the middle: there is a summary" "$GRAINCTL" summary "$FIRST"
./family tasks:5 sleep:700 stop tasks:6 >out &
program=$!
PIDS+=("$program")
sleep 0.3
FIRST=$("$GRAINCTL" attach "$program" 2>err | sed -n 's/^job //p')
for i in $(seq 1200); do grep -q '^State:.*T' "/proc/$program/status" && break; sleep 0.1; done
check "a stopped process: its job runs on" wait_field "$FIRST" state running
kill -CONT "$program"
wait "$program"
check "a stopped process: its job ends with it" wait_field "$FIRST" state finished
is "a stopped process: what it does when it is continued" "$(tree "$FIRST")" "0 - exit 6 0"
./family stop tasks:6 >out &
program=$!
PIDS+=("$program")
for i in $(seq 1200); do grep -q '^State:.*T' "/proc/$program/status" && break; sleep 0.1; done
FIRST=$("$GRAINCTL" attach "$program" 2>err | sed -n 's/^job //p')
kill -CONT "$program"
wait "$program"
check "attached to while it is stopped" wait_field "$FIRST" state finished
is "attached to while it is stopped: all of it" "$(tree "$FIRST")" "0 - exit 6 0"

# Detaching the first process ends the jobs of its descendants.
./family tasks:3 sleep:1000 spawn:tasks.2,sleep.9000 sleep:9000 >out &
program=$!
PIDS+=("$program")
FIRST=$("$GRAINCTL" attach "$program" 2>err | sed -n 's/^job //p')
check "a child has a job while it runs" wait_field $((FIRST + 1)) state running
check "detach" "$GRAINCTL" detach "$FIRST"
check "detach of the first process ends its children's jobs" wait_field $((FIRST + 1)) reason detach
kill "$program" 2>/dev/null
wait "$program" 2>/dev/null

# The library is replaced while it is in use.
mkdir lib
cp "$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')" lib/libgomp.so.1
LD_LIBRARY_PATH=$T/lib ./family sleep:3000 tasks:9 >out &
program=$!
PIDS+=("$program")
sleep 0.3
FIRST=$("$GRAINCTL" attach "$program" 2>err | sed -n 's/^job //p')
cp lib/libgomp.so.1 lib/new
printf 'x' | dd of=lib/new bs=1 seek=4096 conv=notrunc status=none
mv lib/new lib/libgomp.so.1
wait "$program"
is "a library that is replaced while attached: the program is not disturbed" "$?" 0
check "replaced library: the job ends" wait_field "$FIRST" state finished
is "replaced library: the mapped one is probed" "$(tree "$FIRST")" "0 - exit 9 0"
LD_LIBRARY_PATH=$T/lib ./family sleep:3000 tasks:9 >out &
program=$!
PIDS+=("$program")
sleep 0.3
cp "$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')" lib/third
mv lib/third lib/libgomp.so.1
FIRST=$("$GRAINCTL" attach "$program" 2>err | sed -n 's/^job //p')
wait "$program"
[ -n "$FIRST" ] && wait_field "$FIRST" state finished
is "replaced before the attach: the mapped one is probed, which has no name any more" \
	"$(tree "${FIRST:-999999}")" "0 - exit 9 0"

stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
is "graind said nothing of errors" "$(grep -ci 'sanitizer\|cannot' "$T/graind.log")" 0
wait_gone "nothing is left in the kernel" "$before"
