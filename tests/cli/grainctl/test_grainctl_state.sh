#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl on a state directory without any graind: listing, summary, abandoned
# and damaged jobs, delete.
. "$(dirname "$0")/../../lib.sh"
cd "$T" || exit 1
export GRAIND_STATE_DIR=$T/state
unset GRAIND_SOCKET
ctl="$B/grainctl"
me=$(id -u)

# put NUMBER STATE: a job with a trace (an event log will do)
put()
{
	mkdir -p "state/jobs/$1"
	local program='"user":"me","exe":"/opt/fib","cmd":"./fib"' counts='"grains":3,"events":9,"events_per_s":4.5'
	printf '{"job":%d,"state":"%s","error":"","pid":4711,"uid":%d,%s,"runtime":"libgomp",
"method":"uprobe_multi","threads":2,"start_ns":1000,"end_ns":2000001000,%s,"lost":0,
"overhead_percent":0.1,"ns_per_event":900.0,"problems":[],"reason":"exit","socket":"%s"}' \
		"$1" "$2" "$me" "$program" "$counts" "$T/gone.sock" \
		>"state/jobs/$1/job.json"
	printf 'grain-log 1\n@process pid=4711 uid=%d exe=/opt/fib cmd=./fib\n%s\n' "$me" \
		$'1 10 0 thread-begin\n9 10 0 thread-end' \
		>"state/jobs/$1/trace.grt"
	chmod 700 "state/jobs/$1"
}
put 1 finished
put 2 running
put 10 finished
mkdir -p state/jobs/3 state/jobs/x state/jobs/04
echo '{"job":4' >state/jobs/3/job.json
chmod 700 state/jobs/3

"$ctl" jobs --all >out 2>err
is "jobs --all lists them by number" "$? $(awk 'NR > 1 { print $1 }' out | tr '\n' ' ')$(cat err)" "0 1 2 10 "
is "a job whose graind is gone has failed" "$("$ctl" jobs --all --json | python3 -c '
import json, sys
print([(j["job"], j["state"]) for j in json.load(sys.stdin)["jobs"]])')" \
	"[(1, 'finished'), (2, 'failed'), (10, 'finished')]"
is "and does not run" "$("$ctl" jobs --json | json 'd["jobs"], d["store"]["state_dir"]')" "([], '$T/state')"
is "summary --json names the job" \
	"$("$ctl" summary 10 --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["job"])')" 10
"$ctl" summary 2 --json >out 2>err
is "summary of an abandoned job says so" "$? $(grep -c 'ended before' err)" "0 1"
is "report names the picture after the job" "$("$ctl" report 1)" "job-1.svg"
check "export of a job" grep -q 'thread-begin' <("$ctl" export 1)
check "detach of a finished job" "$ctl" detach 1

for job in 3 4 11 99999999999; do
	"$ctl" summary $job >out 2>err
	is "summary of damaged or missing job $job" "$? $(wc -l <err)" "1 1"
done
echo secret >secret
ln -sf "$T/secret" state/jobs/10/trace.grt
"$ctl" summary 10 >out 2>err
is "a link in place of a trace is not followed" "$? $(wc -l <err) $(cat out err | grep -c secret)" "1 1 0"
rm state/jobs/10/trace.grt
mkfifo state/jobs/10/trace.grt
timeout 20 "$ctl" summary 10 >out 2>err
is "a pipe in place of a trace does not hang" "$? $(wc -l <err)" "1 1"
"$ctl" jobs --all >out
is "no column for batch jobs without any" "$(head -1 out | tr -s ' ')" \
	"JOB USER PID COMMAND STATE TIME THR GRAINS EV/S OVERH PROBLEMS"
sed -i -e 's/"problems":\[\]/"problems":["parallel_benefit","scatter"],"batch":"slurm:1234567.0"/' \
	-e 's/"user":"me"/"user":"somebody"/; s/"grains":3/"grains":123456/' state/jobs/1/job.json
"$ctl" jobs --all >out
is "jobs --all has one when one is of a batch job" "$(head -1 out | tr -s ' ')" \
	"JOB USER COMMAND BATCH STATE TIME GRAINS OVERH PROBLEMS"
is "which is named" "$(awk '$1 < 10 { print $4 }' out | tr '\n' ' ')" "slurm:1234567.0 - "
is "in 80 columns" "$(awk 'length > 80' out)" ""
COLUMNS=140 "$ctl" jobs --all >out
is "in more of them nothing is left out" "$(head -1 out | tr -s ' ')" \
	"JOB USER PID COMMAND BATCH STATE TIME THR GRAINS EV/S OVERH PROBLEMS"
is "and --json names it" \
	"$("$ctl" jobs --all --json |
		/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["jobs"][0]["batch"])')" \
	"slurm:1234567.0"
head -c 2000000 /dev/zero | tr '\0' ' ' >>state/jobs/10/job.json
"$ctl" jobs --all >out 2>err
is "an enormous job.json is left out" "$? $(awk 'NR > 1 { print $1 }' out | tr '\n' ' ')" "0 1 2 "

"$ctl" delete 1 2>err
is "delete without a graind" "$? $(ls state/jobs/1 2>/dev/null) $(cat err)" "0  "
"$ctl" delete 1 2>err
is "delete of a deleted job" "$? $(wc -l <err)" "1 1"
if [ "$me" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T" state state/jobs
	cp "$ctl" "$ctl-full" .
	setpriv --reuid 65534 --regid 65534 --clear-groups ./grainctl summary 2 >out 2>err
	is "a job of someone else" "$? $(wc -l <err)" "3 1"
	setpriv --reuid 65534 --regid 65534 --clear-groups ./grainctl jobs --all >out 2>err
	is "is not listed" "$? $(cat out)" "0 no jobs"
	chmod 700 state
	setpriv --reuid 65534 --regid 65534 --clear-groups ./grainctl jobs >out 2>err
	is "a state directory that cannot be read" "$? $(wc -l <err)" "3 1"
else
	skip "a job of someone else" "needs root and setpriv to be someone else"
fi
