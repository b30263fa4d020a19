#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind.conf(5): who is profiled, reloading, and what grainctl status shows.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
chmod 755 "$T"
# The loops pause, to leave the CPUs to the tests beside this one.
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
export GRAIND_CONFIG=$T/graind.conf OMP_NUM_THREADS=2
# The same json as in lib.sh, with an interpreter that starts fast, because it is called often here.
json() { /usr/bin/python3 -c 'import json,sys; d=json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
cp "$B/tests/omp/loop_forever" "$T/allowed"
cp "$B/tests/omp/loop_forever" "$T/forbidden"
chmod 755 "$T/allowed" "$T/forbidden"
touch "$T/nobody"; chown 65534 "$T/nobody"
NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# nobody_runs PROGRAM: starts it as that user; its process is in P
nobody_runs() { start_loop "${NOBODY[@]}" "$T/$1" 3600000 /dev/null; }
# nobody_asks METHOD PATH [BODY]: asks as that user; CODE and BODY have the answer
nobody_asks() {
	CODE=$("${NOBODY[@]}" curl -s -o "$T/nobody" -w '%{http_code}' --unix-socket "$GRAIND_SOCKET" -X "$1" \
		${3:+-d "$3"} "http://graind$2") BODY=$(cat "$T/nobody")
}
root_asks() {
	CODE=$(curl -s -o "$T/body" -w '%{http_code}' --unix-socket "$GRAIND_SOCKET" -X "$1" ${3:+-d "$3"} \
		"http://graind$2") BODY=$(cat "$T/body")
}
policy() { root_asks GET /v1/status; json "d['policy']$1" <<<"$BODY"; }

settings "keep-days = 30" "rule {" "  exe = \"$T/forbidden\"" "  profile = off" "}"
start_graind || exit
is "what is read at the start" "$(policy "['keep_s'], d['policy']['rules'][0]['profile'], d['policy']['error']")" \
	"(2592000, 'off', '')"
nobody_runs forbidden; F=$P
nobody_runs allowed; A=$P
nobody_asks POST /v1/jobs "{\"pid\":$F}"
is "off: the owner is refused" "$CODE $(grep -c 'administrator has turned that off' <<<"$BODY")" "403 1"
nobody_asks POST /v1/jobs "{\"pid\":$A}"
is "others are not" "$CODE" 201
J=$(json "d['job']" <<<"$BODY")
root_asks POST /v1/jobs "{\"pid\":$F}"
is "root is not bound" "$CODE" 201
root_asks POST "/v1/jobs/$(json "d['job']" <<<"$BODY")/detach"

"$GRAINCTL" status >"$T/status"
is "grainctl status shows the rules" "$(sed -n 's/^  off: *//p' "$T/status")" "exe $T/forbidden"
is "and what is kept" "$(sed -n 's/^  kept: //p' "$T/status")" "30 days"
check "and the file" grep -q "settings: $GRAIND_CONFIG, read 20" "$T/status"

settings "keep-days = 31" "rule {" "  profile = sometimes" "}"
reload
is "a wrong file is refused as a whole" "$(policy "['keep_s'], d['policy']['rules'][0]['profile']")" "(2592000, 'off')"
is "and the line is told" "$(policy "['error']")" "$GRAIND_CONFIG:3: profile is off, on-request or always"
check "in the log, too" grep -q "graind.conf:3: profile is off.*stay as they were" "$T/graind.log"
check "by grainctl status as well" sh -c "'$GRAINCTL' status | grep -q 'refused since: .*graind.conf:3'"
root_asks GET "/v1/jobs/$J"
is "jobs go on" "$(json "d['state']" <<<"$BODY")" running
rm "$GRAIND_CONFIG"
reload
is "a file that is gone changes nothing" "$(policy "['keep_s']")" 2592000
settings "rule {" "  user = nobody" "  exe = \"*/allowed\"" "  profile = off" "}"
reload
is "a right one is taken" "$(policy "['keep_s'], d['policy']['error']")" "(0, '')"
root_asks GET "/v1/jobs/$J"
is "jobs go on, then, too" "$(json "d['state']" <<<"$BODY")" running
root_asks POST "/v1/jobs/$J/detach"
is "and end as they should" "$(json "d['state'], d['lost']" <<<"$BODY")" "('finished', 0)"
nobody_asks POST /v1/jobs "{\"pid\":$A}"
is "the new rules hold" "$CODE" 403
nobody_asks POST /v1/jobs "{\"pid\":$F}"
is "and the old ones do not" "$CODE" 201
nobody_asks POST "/v1/jobs/$(json "d['job']" <<<"$BODY")/detach"
for p in "$A" "$F"; do kill "$p"; done

# --- always, and never ---------------------------------------------------------
# job_of PID: number and state of its jobs, of all users'.
job_of() {
	root_asks GET '/v1/jobs?all=1'
	json "[(j['state'], j['uid']) for j in d['jobs'] if j['pid'] == $1]" <<<"$BODY"
}
session() { root_asks GET /v1/jobs; json "len([j for j in d['jobs'] if j['pid'] == 0])" <<<"$BODY"; }
complaints() { tail -n +"$((LINES_BEFORE + 1))" "$T/graind.log" | grep -c "no session\|process 0\|are not: "; }
# wait_for COMMAND ARG... EXPECTED: waits until the command prints this
wait_for() { until_so "$1" prints "$@"; }
prints()
{
	local now
	now=$("${@:1:$#-1}")
	echo "$now"
	[ "$now" = "${*: -1}" ]
}
is "no session without need" "$(session)" 0
nobody_runs allowed; EARLY=$P
settings "rule {" "  exe = \"*/forbidden\"" "  profile = off" "}" "rule {" "  user = nobody" "  profile = always" "}"
reload
wait_for session 1
is "always: a session begins by itself" "$(session)" 1
nobody_runs allowed; A=$P
nobody_runs forbidden; F=$P
GRAIND_OFF=1 nobody_runs allowed; OPTED=$P
start_loop "$T/allowed" 3600000 /dev/null; R=$P
# The thread groups that the kernel passes over silently.
silent() # PID...: how many of these
{
	bpftool map dump name refused 2>/dev/null | grep -oE "\"key\": ($(IFS='|'; echo "$*"))\b" | sort -u | wc -l
}
wait_for silent "$F" "$OPTED" "$R" 3
wait_for job_of "$A" "[('running', 65534)]"; wait_for job_of "$EARLY" "[('running', 65534)]"
is "what begins gets a job" "$(job_of "$A")" "[('running', 65534)]"
is "what ran already, too" "$(job_of "$EARLY")" "[('running', 65534)]"
is "what is off does not" "$(job_of "$F")" "[]"
is "nor who opts out" "$(job_of "$OPTED")" "[]"
is "nor other users" "$(job_of "$R")" "[]"
is "whom it leaves out, events of these end in the kernel" "$(silent "$F" "$OPTED" "$R")" 3
nobody_asks GET /v1/jobs
is "its owner sees the job, and not the session" "$(json "sorted(j['pid'] for j in d['jobs'])" <<<"$BODY")" \
	"[$(printf '%s\n' "$A" "$EARLY" | sort -n | paste -sd, | sed 's/,/, /')]"
kill "$A"; wait_for job_of "$A" "[('finished', 65534)]"
is "which ends with the process" "$(job_of "$A")" "[('finished', 65534)]"
settings "rule {" "  exe = \"*/forbidden\"" "  user = 4711" "  profile = off" "}" "rule {" "  user = nobody" \
	"  profile = always" "}"
reload
wait_for job_of "$F" "[('running', 65534)]"
is "a process that is allowed from now on gets a job" "$(job_of "$F")" "[('running', 65534)]"
is "jobs that ran go on" "$(job_of "$EARLY")" "[('running', 65534)]"
settings "rule {" "  exe = \"*/forbidden\"" "  profile = off" "}"
reload
wait_for session 0
is "without such a rule the session ends" "$(session)" 0
for p in "$EARLY" "$F"; do kill "$p"; done
root_asks POST /v1/jobs '{"all":true}'; S=$(json "d['job']" <<<"$BODY")
nobody_runs forbidden; F=$P
nobody_runs allowed; A=$P
wait_for job_of "$A" "[('running', 65534)]"
wait_for silent "$F" "$OPTED" 2
is "root's session records what is on request" "$(job_of "$A")" "[('running', 65534)]"
is "leaves out what is off" "$(job_of "$F")" "[]"
is "and who opts out" "$(job_of "$OPTED")" "[]"
nobody_asks POST /v1/jobs "{\"pid\":$OPTED}"
is "unless it is asked for" "$CODE $(json "d['notes'][0][:24]" <<<"$BODY")" "201 GRAIND_OFF is set in the"
nobody_asks POST "/v1/jobs/$(json "d['job']" <<<"$BODY")/detach"
root_asks POST "/v1/jobs/$S/detach"
for p in "$A" "$F" "$OPTED" "$R"; do kill "$p"; done

# --- a program that may not be recorded comes from one that may -------------------
mkfifo -m 644 "$T/go"
"${NOBODY[@]}" sh -c 'read -r _ <"$1"; exec "$0" 3600000 /dev/null' "$T/forbidden" "$T/go" >/dev/null & P=$!
PIDS+=("$P")
until_so "it is that user's shell" grep -qx sh "/proc/$P/comm"
nobody_asks POST /v1/jobs "{\"pid\":$P}"; J=$(json "d['job'], d['state']" <<<"$BODY")
echo >"$T/go"
becomes "${J//[^0-9]/}" 'j["state"] == "failed"' >/dev/null
nobody_asks GET "/v1/jobs/${J//[^0-9]/}"
is "after exec" "$(json "d['state'], d['events'], d['error'][:60]" <<<"$BODY")" \
	"('failed', 0, 'the process has executed a program that must not be profiled')"
kill "$P"

# --- what the cgroup says --------------------------------------------------------
G=$(find /sys/fs/cgroup -maxdepth 1 -name freezer)
[ -n "$G" ] || G=/sys/fs/cgroup
# No other test has this one.
SLURM=slurm_$$
if mkdir -p "$G/$SLURM/uid_65534/job_4711/step_0" 2>/dev/null; then
	nobody_runs allowed; A=$P
	echo "$A" >"$G/$SLURM/uid_65534/job_4711/step_0/cgroup.procs"
	nobody_asks POST /v1/jobs "{\"pid\":$A}"; J=$(json "d['job']" <<<"$BODY")
	is "a job of Slurm has its name" "$(json "d['batch']" <<<"$BODY")" slurm:4711.0
	becomes "$J" 'j["grains"] > 0' >/dev/null
	nobody_asks POST "/v1/jobs/$J/detach"
	is "when it has ended, too" "$(json "d['batch']" <<<"$BODY")" slurm:4711.0
	nobody_asks GET "/v1/jobs/$J/summary"
	is "and its summary" "$(json "d['batch'], d['pid'] == $A" <<<"$BODY")" "('slurm:4711.0', True)"
	settings "rule {" "  cgroup = \"/$SLURM/*\"" "  profile = off" "}"
	reload
	nobody_asks POST /v1/jobs "{\"pid\":$A}"
	is "off by cgroup" "$CODE" 403
	kill "$A"; wait "$A" 2>/dev/null
	until_so "the cgroup of the step is empty" rmdir "$G/$SLURM/uid_65534/job_4711/step_0"
	rmdir "$G/$SLURM/uid_65534/job_4711" "$G/$SLURM/uid_65534" "$G/$SLURM"
	# PBS, by its hook for cgroups and by systemd's slices.
	settings ""
	reload
	for group in pbs_jobs.service/jobid/93.head pbspro.slice/pbspro-94.head.slice; do
		mkdir -p "$G/$group"
		nobody_runs allowed; A=$P
		echo "$A" >"$G/$group/cgroup.procs"
		nobody_asks POST /v1/jobs "{\"pid\":$A}"; J=$(json "d['job']" <<<"$BODY")
		named=${group%.slice} named=pbs:${named##*[/-]}
		is "a job of PBS in ${group%%/*} has its name" "$(json "d['batch']" <<<"$BODY")" "$named"
		nobody_asks POST "/v1/jobs/$J/detach"
		is "when it has ended, too" "$(json "d['batch']" <<<"$BODY")" "$named"
		kill "$A"; wait "$A" 2>/dev/null
		until_so "the cgroup of the job is empty" eval 'cd "$G" && { rmdir -p "$group"; ! [ -e "$group" ]; }'
	done
else
	skip "names by cgroup" "cgroups cannot be made here"
fi
# --- a session has no room ---------------------------------------------------------
# ends FIB_ARG...: a program that has ended when this returns; its process in W, its tasks in TASKS.
ends() { "$B/tests/omp/fib" "$@" >"$T/ends" & W=$!; wait "$W"; TASKS=$(json "d['tasks']" <"$T/ends"); }
tasks_of_process() {
	root_asks GET '/v1/jobs?all=1'
	"$GRAINCTL" summary "$(json "[j['job'] for j in d['jobs'] if j['pid'] == $1][0]" <<<"$BODY")" --json |
		json "d['grains']['tasks'], d['events']['lost']"
}
settings "keep-days = 30"
reload
root_asks POST /v1/jobs '{"all":true}'; S=$(json "d['job']" <<<"$BODY")
given_up() { grep -c "process $W is not recorded: given up: graind takes more memory" "$T/graind.log"; }
# A process waits for ten seconds. If a busy machine takes longer for the way to the end of the wait, it is given up as
# it should be, and another one comes.
settled() { [ "$(given_up)" = 1 ] || prints job_of "$W" "[('finished', 0)]"; }
for _ in $(seq 10); do
	settings "memory-bytes = 1M"
	reload
	began=$SECONDS
	ends 18 8 20
	sleep 1 # pace: graind needs less to give it a job, if it does so; if it has needed longer, this sees nothing
	without=$(job_of "$W")
	settings "keep-days = 30"
	reload
	until_so "it has its job or is given up" settled
	[ "$(given_up)" = 1 ] && [ $((SECONDS - began)) -ge 10 ] || break
done
is "without room: a process that has come waits" "$without" "[]"
is "it has its job once there is some, though it has ended" "$(job_of "$W")" "[('finished', 0)]"
is "and all that it did is in it" "$(tasks_of_process "$W")" "($TASKS, 0)"
settings "memory-bytes = 1M"
reload
began=$SECONDS
ends 18 8 1
wait_for given_up 1
check "for ten seconds it is not given up" test $((SECONDS - began)) -ge 10
is "after ten it is, with the reason in the log" "$(given_up)" 1
root_asks POST "/v1/jobs/$S/detach"
none="there was no room"
check "and the session counts it" \
	grep -q "$none (256 are recorded at a time, and no more of one user than places are left) within ten seconds" \
	<<<"$BODY"
is "it has no job" "$(job_of "$W")" "[]"
settings "keep-days = 30"
reload

settings "rule {" "  user = nobody" "  profile = always" "}"
reload
wait_for session 1
LINES_BEFORE=$(wc -l <"$T/graind.log")
stop_graind
is "a session that ends with graind is no reason to complain" "$(complaints)" 0
is "ends properly" "$GRAIND_STATUS" 0
