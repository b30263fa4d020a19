#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What graind deletes by itself: by age, by bytes, by user. Also what it never deletes.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
# The loops pause, to leave the CPUs to the tests beside this one.
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
chmod 755 "$T"
export GRAIND_CONFIG=$T/graind.conf OMP_NUM_THREADS=2
cp "$B/tests/omp/loop_forever" "$B/tests/omp/rate" "$T/"; chmod 755 "$T/rate" "$T/loop_forever"
JOBS=$GRAIND_STATE_DIR/jobs
NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# look: waits until graind has gone through all jobs once more, if its settings have limits. Each time it first notes
# that it looks at the clock. It may be at it already by earlier settings: when it has begun three times, it has gone
# through all of them once by those that hold now.
noted() { stat -c '%i %z' "$GRAIND_STATE_DIR/clock" 2>/dev/null; }
look()
{
	local before
	for _ in 1 2 3; do
		before=$(noted)
		reload
		until_so "graind looks at the clock" eval "noted; [ \"\$(noted)\" != '$before' ]" || return
	done
}
deleted() { ask GET /metrics | sed -n "s/^graind_jobs_deleted_total{reason=\"$1\"} //p"; }
there() { ls "$JOBS" | sort -n | tr '\n' ' '; }
ask() { curl -s --unix-socket "$GRAIND_SOCKET" -X "$1" ${3:+-d "$3"} "http://graind$2"; }
# finished COMMAND...: makes a job that is over, of the program that the command starts
finished()
{
	start_loop "$@" "$T/loop_forever" 3600000 /dev/null
	ask POST "/v1/jobs/$(ask POST /v1/jobs "{\"pid\":$P}" | json "d['job']")/detach" >>"$T/finished"
	kill "$P"
}
touch "$GRAIND_CONFIG"
start_graind || exit
for _ in 1 2 3; do finished env; done
finished "${NOBODY[@]}"; finished "${NOBODY[@]}"
is "nothing is deleted without limits" "$(there)" "1 2 3 4 5 "

# --- what an older graind gave to a user: names of others' files, links out of it, a deep tree,
# one that nobody can enter ---
echo secret >"$T/secret"; mkdir "$T/outside"; touch "$T/outside/file"
# ended_days_ago JOB DAYS: call it while no graind runs
ended_days_ago() { sed -i "s/\"ended_s\":[0-9]*/\"ended_s\":$(($(date +%s) - $2 * 86400))/" "$JOBS/$1/job.json"; }
# clock_seen SECONDS_AGO REST: sets when graind last looked at the clock
clock_seen() { echo "$(($(date +%s) - $1)) $2" >"$GRAIND_STATE_DIR/clock"; chmod 600 "$GRAIND_STATE_DIR/clock"; }
again() { stop_graind; "$@"; start_graind; }
spoil()
{
	head -c 10M /dev/urandom >>"$JOBS/4/trace.grt"
	chown -R 65534 "$JOBS/4"
	chmod 711 "$JOBS"
	"${NOBODY[@]}" /usr/bin/python3 - "$JOBS/4" "$T" <<-'PY'
		import os, sys
		os.chdir(sys.argv[1])
		os.symlink(sys.argv[2] + "/secret", "link")
		os.symlink(sys.argv[2] + "/outside", "directory")
		os.mkdir("sealed"); open("sealed/file", "w").close(); os.chmod("sealed", 0)
		os.mkfifo("pipe")
		for i in range(3000):
		    os.mkdir("deep"); os.chdir("deep")
		    if i % 500 == 0: open("file", "w").write("x" * 5000)
	PY
	ended_days_ago 2 31
}
again spoil
taken_back()
{
	echo "$(ls -A "$JOBS/4" | tr '\n' ' ')$(stat -c '%u %a' "$JOBS/4" "$JOBS")$(ls -A "$JOBS" | grep '^\.')"
}
owned="job.json summary.json trace.grt 0 700
0 700.lock"
until_so "what it gave to a user is graind's again" eval 'taken_back; [ "$(taken_back)" = "$owned" ]'
is "what it gave to a user is graind's again, and nothing of the user's is left" "$(taken_back)" "$owned"
is "it is the user's job" "$(ask GET /v1/jobs/4 | json "d['uid'], d['state']")" "(65534, 'finished')"
is "what its links pointed to is still there" "$(cat "$T/secret") $(ls "$T/outside")" "secret file"

# --- by age ------------------------------------------------------------------
touch -d '-31 days' "$JOBS/3"
settings "keep-days = 30"
look
is "nothing is too old by a clock that graind has just begun to look at" "$(there)" "1 2 3 4 5 "
is "which it says" \
	"$(grep -c 'no job is deleted for its age for 24 hours, as the clock may be wrong' "$T/graind.log")" 1
again clock_seen 259200 0
look
is "nor by one that says that nobody looked for days" "$(there)" "1 2 3 4 5 "
is "which it says, too" "$(grep -c 'by the clock no graind has run here for more than a day' "$T/graind.log")" 1
again clock_seen 600 0
look
is "a job that is too old, by when it ended" "$(there)" "1 3 4 5 "
is "is counted" "$(deleted age)" 1
start_loop "$T/loop_forever" 3600000 /dev/null; R=$P
ask POST /v1/jobs "{\"pid\":$R}" >"$T/answer"
touch -d '-31 days' "$JOBS/6"
settings "keep-days = 29"
look
is "a running one is none" \
	"$("$GRAINCTL" jobs --json |
		json "[(j['job'], j['state']) for j in (d['jobs'] if isinstance(d, dict) else d)]")" "[(6, 'running')]"

# --- by bytes, of whoever takes most, oldest first -------------------------------
for j in 1 3; do head -c 12M /dev/urandom >"$JOBS/$j/more"; done
head -c 10M /dev/urandom >"$JOBS/5/more"
settings "keep-bytes = 35M"
look
is "when all take too much the oldest goes of the user whose jobs take most" "$(there)" "3 4 5 6 "
is "and is counted" "$(deleted bytes)" 1

# --- by user -----------------------------------------------------------------------
settings "user-bytes = 15M"
look
is "the user's older job goes, those of root stay" "$(there)" "3 5 6 "
is "and is counted" "$(deleted quota)" 1
settings "user-bytes = 1M"
look
is "the newest is kept" "$(there)" "3 5 6 "

# --- a running job that exceeds its user's quota --------------------------------
rm -f "$JOBS/5/more"
start_program "${NOBODY[@]}" "$T/rate" 400000 3600000
ask POST /v1/jobs "{\"pid\":$P}" >"$T/answer"
becomes 7 'j["state"] == "finished"' >/dev/null
is "its recording ends as it should" "$(json "d['state'], d['reason'], d['error'][:57]" <"$JOBS/7/job.json")" \
	"('finished', 'quota', 'the recording ended early: the jobs of nobody take more t')"
check "the process goes on" kill -0 "$P"
check "it has a summary" "$GRAINCTL" summary 7
is "and is kept" "$(ls "$JOBS" | grep -c '^7$')" 1
is "it is counted" "$(ask GET /metrics | sed -n 's/^graind_jobs_over_quota_total //p')" 1
is "the other users' jobs run on" \
	"$("$GRAINCTL" jobs --json | json "[j['job'] for j in (d['jobs'] if isinstance(d, dict) else d)]")" "[6]"

# --- graind itself -----------------------------------------------------------------
settings 'cpus = "0"'
reload
is "all its threads run where they may" \
	"$(for t in /proc/"$GRAIND_PID"/task/*; do awk '/^Cpus_allowed_list/ {print $2}' "$t/status"; done | sort -u)" 0
settings 'cpus = "900"'
reload
is "CPUs that are not there are refused" "$("$GRAINCTL" status | grep -c 'refused since.*cpus: graind can use none')" 1
settings 'memory-bytes = 1M'
reload
is "it uses all CPUs again" "$(awk '/^Cpus_allowed_list/ {print $2}' "/proc/$GRAIND_PID/status")" \
	"$(awk '/^Cpus_allowed_list/ {print $2}' /proc/self/status)"
"$GRAINCTL" attach "$P" >"$T/out" 2>&1
is "no job begins beyond its memory" "$? $(grep -c 'more memory than its settings allow' "$T/out")" "1 1"
stop_graind
is "ends properly" "$GRAIND_STATUS" 0
