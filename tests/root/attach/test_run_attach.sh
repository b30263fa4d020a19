#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl run and attach with a real graind: how the wrapper behaves, bad processes, other users, a private graind
# that cannot start. Nothing is left behind.
# usage: tests/root/attach/test_run_attach.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
# FEW=1: fewer repetitions, for machines that are ten times slower.
attaches=20 runs=10
[ "${FEW:-}" ] && attaches=3 runs=2
cd "$T" || exit 1
chmod 755 "$T"

fib="$B/tests/omp/fib"
field() { "$GRAINCTL" jobs --all --json | python3 -c '
import json, sys
for job in json.load(sys.stdin)["jobs"]:
    if job["job"] == int(sys.argv[1]):
        print(*[job[key] for key in sys.argv[2:]])' "$@"; }
last_job() { tail -n 1 err | sed -n 's/^job \([0-9]*\)$/\1/p'; }
# wait_state JOB STATE: waits for at most two minutes
wait_state() { [ "$(becomes "$1" "j['state'] == '$2'")" = True ]; }
# loop [COMMAND ARG...]: starts an OpenMP program that runs until it is killed; its PID is in PROGRAM
loop()
{
	OMP_NUM_THREADS=2 start_loop "$@" "$B/tests/omp/loop_forever" 600000 "$T/times"
	PROGRAM=$P
}
end_loop() { kill -TERM "$PROGRAM"; wait "$PROGRAM" 2>/dev/null; }

before=$(bpf_objects)
start_graind || exit 1

# run
OMP_NUM_THREADS=2 "$GRAINCTL" run -- "$fib" 18 6 2 >plain 2>err
is "run: exit status" $? 0
job=$(last_job)
check "run: job N is the last line on stderr" [ -n "$job" ]
is "run: the job is finished when run returns" "$(field "$job" state reason runtime lost)" "finished exit libgomp 0"
check "run: grains were recorded" [ "$(field "$job" grains)" -gt 0 ]
"$GRAINCTL" summary "$job" --json >summary.json
is "run: its summary is whole" "$(python3 -c '
import json
d = json.load(open("summary.json"))
print(d["grains"]["incomplete"], d["late"], d["damaged"], d["job"])')" "0 False False $job"
"$GRAINCTL" jobs --all >table
check "jobs --all shows it" grep -qE "^ *$job +root +.*fib.* finished " table
is "jobs fits 80 columns" "$(awk 'length > 80' table)" ""

"$GRAINCTL" run -- bash -c 'kill -SEGV $$' 2>err
is "run: 128 + signal" "$?" 139
"$GRAINCTL" run -- sh -c 'exit 11' 2>err
is "run: a program without OpenMP runs, and its lines say what was not recorded" \
	"$? $(grep -c 'OpenMP' err)" "11 1"
is "run: arguments" "$("$GRAINCTL" run -- printf '[%s]' 'a b' '' -- 2>/dev/null)" "[a b][][--]"
strip -o stripped "$fib"
OMP_NUM_THREADS=2 "$GRAINCTL" run ./stripped 18 6 2 >/dev/null 2>err
is "run: a stripped program" "$? $(field "$(last_job)" runtime)" "0 libgomp"
printf '#!/bin/sh\nexec "$@"\n' >wrapper
chmod +x wrapper
OMP_NUM_THREADS=2 "$GRAINCTL" run ./wrapper "$fib" 18 6 2 >/dev/null 2>err
is "run: a script that becomes an OpenMP program runs" $? 0

loop "$GRAINCTL" run -- 2>err
wrapper=$P
child=$(pgrep -P $wrapper)
is "run: the program is not traced while it runs" "$(awk '/TracerPid/ { print $2 }' "/proc/$child/status")" 0
kill -TERM $wrapper
wait $wrapper
is "run: SIGTERM is passed on" "$? $(field "$(last_job)" state reason)" "0 finished exit"

LOOP_REGIONS=$T/regions loop "$GRAINCTL" run -- 2>err
wrapper=$P
child=$(pgrep -P $wrapper)
PIDS+=("$child")
kill -KILL $wrapper
{ wait $wrapper; } 2>/dev/null
more_regions "$T/regions" 20
check "run: the program survives grainctl" kill -0 "$child"
job=$("$GRAINCTL" jobs | awk 'NR == 2 { print $1 }')
kill -TERM "$child"
check "run: and its job ends with it" wait_state "$job" finished

# attach
loop
job=$("$GRAINCTL" attach "$PROGRAM" 2>err | sed -n 's/^job \([0-9]*\)$/\1/p')
check "attach prints the job" [ -n "$job" ]
"$GRAINCTL" attach "$PROGRAM" >out 2>err
is "attach: not twice, and the line names the job" "$? $(wc -l <err) $(grep -c "job $job" err)" "1 1 1"
becomes "$job" 'j["grains"] > 0' >/dev/null
"$GRAINCTL" summary "$job" >out 2>err
is "summary of a running job says so" "$? $(grep -c 'still runs' err)" "0 1"
"$GRAINCTL" delete "$job" 2>err
is "delete of a running job is refused" "$? $(wc -l <err)" "1 1"
check "detach" "$GRAINCTL" detach "$job"
is "detach: finished when it returns" "$(field "$job" state reason)" "finished detach"
check "detach: again" "$GRAINCTL" detach "$job"
check "detach: the program runs on" kill -0 "$PROGRAM"
job=$("$GRAINCTL" attach "$PROGRAM" --duration 1 | sed -n 's/^job \([0-9]*\)$/\1/p')
check "attach --duration ends by itself" wait_state "$job" finished
is "attach --duration: why, and not before" \
	"$(field "$job" reason) $(($(field "$job" end_ns) - $(field "$job" start_ns) >= 1000000000))" "duration 1"
check "attach --duration: the program runs on" kill -0 "$PROGRAM"
check "delete" "$GRAINCTL" delete "$job"
"$GRAINCTL" summary "$job" 2>err
is "a deleted job is gone" "$? $(wc -l <err) $(ls "$GRAIND_STATE_DIR/jobs/$job" 2>/dev/null)" "1 1 "
end_loop

# bad processes
pid_max=$(cat /proc/sys/kernel/pid_max)
"$GRAINCTL" attach "$pid_max" 2>err
is "attach: no such process" "$? $(wc -l <err)" "1 1"
sleep 600 &
sleeper=$!
PIDS+=("$sleeper")
"$GRAINCTL" attach "$sleeper" >out 2>err
check "attach: a program without OpenMP is told apart" grep -q "OpenMP" err
job=$(sed -n 's/^job //p' out)
kill "$sleeper"
wait "$sleeper" 2>/dev/null
if [ -n "$job" ]; then
	becomes "$job" 'j["state"] in ("finished", "failed")' >/dev/null
	check "attach: the job of it ends with it" grep -qE '^(finished|failed)$' <(field "$job" state)
fi
"$GRAINCTL" attach "$$" >out 2>err
is "attach: one that has ended since" "$("$GRAINCTL" attach "$sleeper" 2>&1 >/dev/null | wc -l)" "1"
[ -s out ] && "$GRAINCTL" detach "$(sed -n 's/^job //p' out)" >/dev/null 2>&1
bad=
for i in $(seq $attaches); do
	OMP_NUM_THREADS=2 "$fib" 16 6 1 >/dev/null 2>&1 &
	pid=$!
	sleep "0.00$((i % 10))" # pace: it only varies the moment
	timeout "${PATIENCE:-120}" "$GRAINCTL" attach "$pid" >out 2>err
	rc=$?
	wait "$pid" || bad+="program: $?; "
	{ [ $rc = 0 ] && grep -q '^job' out; } || { [ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]; } || bad+="attach: $rc; "
done
is "attach: programs that end meanwhile" "$bad" ""
running() { "$GRAINCTL" jobs --json | json 'd["jobs"]'; }
none_runs() { [ "$(running)" = '[]' ]; }
until_so "all jobs end" none_runs
is "no job is left running" "$(running)" '[]'

# another user
if command -v setpriv >/dev/null; then
	for_all_users "$fib"
	as_nobody() { (cd public && setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
	OMP_NUM_THREADS=2 as_nobody ./grainctl run -- ./fib 18 6 2 >out 2>err
	is "another user: run" "$? $(field "$(last_job)" uid state runtime)" "0 65534 finished libgomp"
	job=$(last_job)
	is "another user: sees own jobs only" "$(as_nobody ./grainctl jobs --all --json | python3 -c '
import json, sys
print(sorted({job["uid"] for job in json.load(sys.stdin)["jobs"]}))')" "[65534]"
	as_nobody ./grainctl summary "$job" --json >out 2>err
	is "another user: summary of the own job" "$? $(cat err)" "0 "
	as_nobody ./grainctl summary 1 2>err
	is "another user: not of root's" "$(($? > 0)) $(wc -l <err)" "1 1"
	loop
	as_nobody ./grainctl attach "$PROGRAM" 2>err
	is "another user: not root's processes" "$? $(wc -l <err)" "3 1"
	end_loop
else
	skip "another user" "no setpriv"
fi

stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
check "without graind the jobs can still be listed" "$GRAINCTL" jobs --all
"$GRAINCTL" summary 1 --json >again.json
is "and summarized, the same" "$? $(cmp summary.json again.json)" "0 "

# A private graind may be gone before grainctl has asked it to end.
bad=
for _ in $(seq $runs); do
	OMP_NUM_THREADS=2 "$GRAINCTL" run -- "$fib" 16 6 1 >/dev/null 2>err
	[ "$? $(wc -l <err) $(grep -c 'private' err) $(last_job | wc -l)" = "0 2 1 1" ] || bad+="$(cat err); "
done
is "private: run says that, the job, and nothing else" "$bad" ""
is "private: each run is a finished job" "$("$GRAINCTL" jobs --all --json | python3 -c '
import json, sys
jobs = sorted(json.load(sys.stdin)["jobs"], key=lambda job: job["job"])[-int(sys.argv[1]):]
print(len(jobs), {job["state"] for job in jobs}, {job["cmd"].split()[-3:][0] for job in jobs})' $runs)" \
	"$runs {'finished'} {'16'}"

# A private graind that has nothing to do, or that cannot run.
"$GRAINCTL" attach "$pid_max" >out 2>err
is "private: attach to no such process" "$? $(wc -c <out)" "1 0"
"$GRAINCTL" run -- /no/such/program 2>err
is "private: run of no such program" "$?" 127
no_private() { ! pgrep -fa -- "^[^ ]*/graind .*$T"; }
until_so "private: it ends" no_private
is "private: none is left" "$(pgrep -fa -- "^[^ ]*/graind .*$T")" ""
mkdir -p alone
cp "$GRAINCTL" alone/
PATH=/usr/bin:/bin alone/grainctl attach "$$" 2>err
is "private: no graind to be found" "$? $(wc -l <err)" "1 1"
: >file
"$GRAINCTL" --state-dir "$T/file" --socket "$T/x.sock" run -- true 2>err
is "private: no directory for the state" "$? $(wc -l <err)" "1 1"
wait_gone "nothing is left in the kernel" "$before"
