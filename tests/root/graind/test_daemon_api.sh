#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind itself: its start, its API as curl sees it, and what it leaves behind.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
# The loops pause, to leave the CPUs to the tests beside this one.
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
S=$GRAIND_SOCKET STATE=$GRAIND_STATE_DIR D=
chmod 755 "$T"

# start ARG...: starts a graind in the foreground; its PID is in D once it answers
start()
{
	"$B/graind" --foreground --state-dir "$STATE" --socket "$S" "$@" 2>>"$T/log" &
	D=$!
	PIDS+=("$D")
	until_so "graind answers" eval 'answers || ! kill -0 "$D" 2>/dev/null' && answers
}
answers() { curl -s -o /dev/null --unix-socket "$S" http://graind/v1/status; }
stop() { kill -TERM "$D" && wait "$D"; }
# call METHOD PATH [BODY]: leaves CODE and BODY of the answer
call()
{
	curl -s -o "$T/body" -w '%{http_code}' --unix-socket "$S" -X "$1" ${3:+-d "$3"} "http://graind$2" >"$T/code"
	CODE=$(cat "$T/code") BODY=$(tr -d '\0' <"$T/body" 2>/dev/null)
}
NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)
field() { python3 -c 'import json,sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$BODY" "$1" 2>&1; }
# An error is one line of JSON with only "error".
is_error()
{
	is "$1: status" "$CODE" "$2"
	python3 - "$1" "$BODY" <<-'EOF'
		import json, sys
		try:
		    body = json.loads(sys.argv[2])
		    good = list(body) == ["error"] and len(body["error"]) > 10 and "\n" not in body["error"]
		except Exception as problem:
		    good, body = False, repr(problem)
		print(("ok - " if good else "not ok - ") + sys.argv[1] + ": one clear line")
		if not good: print("#", sys.argv[2], body)
	EOF
}
# BPF programs and links that graind holds, as "prog 17" and "link 4" lines.
held() { cat "/proc/$D/fdinfo"/* 2>/dev/null | sed -nE 's/^(prog|link)_id:\s*([0-9]+)$/\1 \2/p' | sort -u; }
# kept: the names of graind's programs, and the number of its links. Without jobs they are the same as before the
# first job, when only what is loaded for the next job is there.
kept()
{
	local what id
	held | while read -r what id; do
		[ "$what" = link ] && echo link || bpftool prog show id "$id" 2>/dev/null |
			sed -n 's/.* name \([^ ]*\) .*/\1/p'
	done | sort | tr '\n' ' '
}
kept_files() { find "/proc/$D/fd" -mindepth 1 -lname 'anon_inode:b[pt]*' | wc -l; }
# wait_kept NAME: waits for this, as graind and the kernel close links in the background
wait_kept()
{
	until_so "$1" eval 'kept; [ "$(kept)" = "$KEPT" ]'
	is "$1" "$(kept)" "$KEPT"
}
# remaining FILE: which of the objects in it still exist. Programs that serve all jobs stay as long as graind.
remaining()
{
	local left='' what id shared=gate_of_
	kill -0 "$D" 2>/dev/null || shared=nothing
	while read -r what id; do
		bpftool "$what" show id "$id" 2>/dev/null | grep -v " name $shared" | grep -q "^$id:" &&
			left+="$what $id "
	done <"$1"
	echo "$left"
}
# none_remains NAME FILE: waits until the kernel has freed them
none_remains()
{
	until_so "$1" eval "remaining '$2'; [ -z \"\$(remaining '$2')\" ]"
	is "$1" "$(remaining "$2")" ""
}
loop() { start_loop env OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 3600000 /dev/null; }


# --- refusing to start ---------------------------------------------------
refuses() # NAME STATUS PATTERN COMMAND...
{
	local name=$1 status=$2 pattern=$3
	shift 3
	timeout "${PATIENCE:-120}" "$@" >"$T/out" 2>&1
	is "$name: status" $? "$status"
	is "$name: one line" "$(wc -l <"$T/out")" 1
	if grep -q -- "$pattern" "$T/out"; then ok "$name: says so"; else not_ok "$name: says so" "$(cat "$T/out")"; fi
}
echo "a = 1" >"$T/config"
touch "$T/file"
refuses "wrong settings" 1 "config:1: no such option 'a'" "$B/graind" --config "$T/config" \
	--state-dir "$STATE" --socket "$S"
refuses "settings that are not there" 1 "cannot read the settings $T/none" "$B/graind" --config "$T/none" \
	--state-dir "$STATE" --socket "$S"
refuses "a state directory that is a file" 1 "state directory" "$B/graind" --state-dir "$T/file" --socket "$S"
refuses "a state directory below a file" 1 "state directory" "$B/graind" --state-dir "$T/file/x" --socket "$S"
refuses "a file in the socket's place" 1 "is no socket" "$B/graind" --state-dir "$STATE" --socket "$T/file"
refuses "a long socket name" 1 "1 to 107 bytes" "$B/graind" --state-dir "$STATE" --socket "$T/$(printf '%0120d' 0)"
refuses "no capabilities" 3 "CAP_BPF" "${NOBODY[@]}" "$B/graind" --state-dir "$STATE" --socket "$S"
for cap in BPF PERFMON SYS_PTRACE DAC_READ_SEARCH SETUID SETGID CHOWN; do
	without=$(tr '[:upper:]' '[:lower:]' <<<"$cap")
	# CAP_SYS_ADMIN includes the first two capabilities.
	refuses "without CAP_$cap" 3 "lacks CAP_$cap: start it as root" \
		setpriv --inh-caps=-all --bounding-set="-$without,-sys_admin" "$B/graind" \
		--state-dir "$STATE" --socket "$S"
done
mkdir -m 700 "$T/sealed"
if [ "$(setpriv --bounding-set=-dac_override --inh-caps=-all id -u)" = 0 ]; then
	chown 65534 "$T/sealed"
	# With only graind's own capabilities, root may not write into others' directories.
	refuses "a state directory that cannot be written" 3 "state directory" setpriv --inh-caps=-all \
		--bounding-set=-all,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+setuid,+setgid,+chown \
		"$B/graind" --state-dir "$T/sealed" --socket "$S"
fi
is "wrong usage" "$("$B/graind" --nonsense >/dev/null 2>&1; echo $?)" 2
check "version" sh -c "'$B/graind' --version | grep -q '^graind [0-9]'"

# --- start ---------------------------------------------------------------
python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$S"
if start; then ok "replaces a stale socket"; else not_ok "replaces a stale socket" "$(cat "$T/log")"; fi
refuses "a socket in use" 1 "listens at" "$B/graind" --state-dir "$STATE" --socket "$S"
call GET /v1/status
is "status" "$CODE $(field pid) $(field jobs_running)" "200 $D 0"
is "socket's mode" "$(stat -c %a "$S")" 666

# is_loaded: whether all is there that graind loads for the next job. Programs are loaded one after the other, and what
# measures the cost of an event comes and goes. The thread that does it sleeps after that. With rings of more than 16
# CPUs nothing is loaded.
is_loaded()
{
	local now before
	[ "$(getconf _NPROCESSORS_CONF)" -gt 16 ] && return
	before=$(cat "$T/kept" 2>/dev/null)
	grep -lx graind-load "/proc/$D/task"/*/comm | sed 's/comm$/status/' | xargs grep -q '^State:.S' || return
	now=$(kept)
	echo "$now" | tee "$T/kept"
	case $now in *link*) return 1 ;; *libomp_probe*) [ "$now" = "$before" ] ;; *) return 1 ;; esac
}
until_so "what the next job needs is loaded" is_loaded
KEPT=$(kept)
is "nothing is attached before the first job" "$(grep -c link <<<"$KEPT")" 0
KEPT_FILES=$(kept_files)

# --- requests that must fail ---------------------------------------------
call POST /v1/jobs '{'; is_error "bad JSON" 400
call POST /v1/jobs '["pid"]'; is_error "no object" 400
call POST /v1/jobs '{}'; is_error "no pid" 400
call POST /v1/jobs '{"pid":"1"}'; is_error "pid as text" 400
call POST /v1/jobs '{"pid":-1}'; is_error "negative pid" 400
call POST /v1/jobs '{"pid":99999999999999999999}'; is_error "huge pid" 400
call POST /v1/jobs '{"pid":1,"pid":2}'; is_error "pid twice" 400
call POST /v1/jobs '{"pid":1,"speed":2}'; is_error "unknown key" 400
call POST /v1/jobs '{"pid":1,"duration_s":-1}'; is_error "negative duration" 400
head -c 70000 /dev/zero | tr '\0' ' ' >"$T/huge"
call POST /v1/jobs "@$T/huge"; is_error "huge body" 413
CODE=$(curl -s -o "$T/body" -w '%{http_code}' --unix-socket "$S" -H 'Transfer-Encoding: chunked' -H 'Expect:' \
	--data-binary "@$T/huge" http://graind/v1/jobs) BODY=$(cat "$T/body")
is_error "huge body in chunks" 413
head -c 3000000 /dev/zero | tr '\0' ' ' >"$T/huge"
call POST /v1/jobs "@$T/huge"; is_error "a body that is not even sent" 413
call GET /nothing; is_error "unknown path" 404
call GET /v1/jobs/7x; is_error "a job that is no number" 404
call GET /v1/jobs/99999999999999999999999; is_error "a job number beyond all" 404
call GET /v1/jobs/4711; is_error "unknown job" 404
call POST /v1/jobs/4711/detach; is_error "detach of an unknown job" 404
call PUT /v1/jobs; is_error "wrong method" 405
call POST /v1/jobs '{"pid":4194304}'; is_error "process that does not exist" 404
call POST /v1/jobs "{\"pid\":$D}"; is_error "graind itself" 422
# In a container there are no kernel threads.
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	call POST /v1/jobs '{"pid":2}'; is_error "a kernel thread" 422
fi
printf 'garbage\r\n\r\n' | timeout 5 python3 -c 'import socket,sys
s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read()); s.recv(100)' "$S"
call GET /v1/status; is "alive after garbage" "$CODE" 200

cat >"$T/flood.py" <<'EOF'
# Opens as many silent connections as it gets, and holds them until it is killed.
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
held = []
for _ in range(200):
    s = socket.socket(socket.AF_UNIX); s.settimeout(1)
    try: s.connect(sys.argv[1]); s.send(b"GET /v1/st"); held.append(s)
    except OSError: pass
print("held", flush=True)
sys.stdin.read()
EOF
coproc FLOOD { python3 "$T/flood.py" "$S"; }
read -r -t "${PATIENCE:-120}" HELD <&"${FLOOD[0]}"
call GET /v1/status; is "answers others while a user keeps 200 connections" "$HELD $CODE" "held 200"
kill "$FLOOD_PID" && wait "$FLOOD_PID" 2>/dev/null

# --- whose process -------------------------------------------------------
sleep 1000 & SLEEPER=$!; PIDS+=("$SLEEPER")
nobody_asks() {
	CODE=$("${NOBODY[@]}" curl -s -o "$T/nobody" -w '%{http_code}' --unix-socket "$S" -X "$1" ${3:+-d "$3"} \
		"http://graind$2")
	BODY=$(cat "$T/nobody")
}
touch "$T/nobody"; chown 65534 "$T/nobody"
nobody_asks POST /v1/jobs "{\"pid\":$SLEEPER}"; is_error "another user's process" 403
nobody_asks POST /v1/jobs '{"all":true}'; is_error "all processes, not as root" 403
call GET /v1/jobs
is "nothing was left of refused jobs" "$BODY $(ls "$STATE/jobs")" '{"jobs":[]} '

# --- waiting -------------------------------------------------------------
call POST /v1/jobs "{\"pid\":$SLEEPER}"
JOB=$(field job)
is "no runtime yet: waiting" "$CODE $(field state)" "201 waiting"
call POST /v1/jobs "{\"pid\":$SLEEPER}"; is_error "profiled already" 409
case $BODY in *"job $JOB"*) ok "names the other job" ;; *) not_ok "names the other job" "$BODY" ;; esac
call GET "/v1/jobs/$JOB/summary"; is_error "summary of a job that runs" 409
call DELETE "/v1/jobs/$JOB"; is_error "deleting a job that runs" 409
nobody_asks GET "/v1/jobs/$JOB"; is_error "another user's job" 404
nobody_asks POST "/v1/jobs/$JOB/detach"; is_error "detach of another user's job" 404
nobody_asks GET /v1/jobs; is "another user's list" "$BODY" '{"jobs":[]}'
call POST "/v1/jobs/$JOB/detach"
is "detach while waiting" "$CODE $(field state) $(field reason)" "200 finished detach"
call GET "/v1/jobs/$JOB/summary"; is_error "no summary without a runtime" 422
call POST /v1/jobs "{\"pid\":$SLEEPER}"; JOB=$(field job)
kill "$SLEEPER"
becomes "$JOB" 'j["state"] == "failed"' >/dev/null
call GET "/v1/jobs/$JOB"
is "ended without a runtime" "$(field state) $(field reason)" "failed exit"
call DELETE "/v1/jobs/$JOB"; is "delete" "$CODE" 204
call GET "/v1/jobs/$JOB"; is_error "a deleted job" 404
mkfifo "$T/go"
sh -c 'read -r _ <"$1"; exec "$0" 3600000 /dev/null' "$B/tests/omp/loop_forever" "$T/go" >/dev/null &
P=$!
PIDS+=("$P")
call POST /v1/jobs "{\"pid\":$P}"; JOB=$(field job)
is "before the program is executed" "$(field state)" waiting
echo >"$T/go"
becomes "$JOB" 'j["grains"] > 10' >/dev/null
kill "$P"; wait "$P"
becomes "$JOB" 'j["state"] == "finished"' >/dev/null
call GET "/v1/jobs/$JOB"
is "a runtime that appears later" "$(field state) $(field reason) $([ "$(field grains)" -gt 10 ] && echo grains)" \
	"finished exit grains"

# --- running -------------------------------------------------------------
loop
call POST /v1/jobs "{\"pid\":$P}"; JOB=$(field job)
is "attach" "$CODE $(field state) $(field runtime)" "201 running libgomp"
held >"$T/held"
is "what is attached" "$(cut -d' ' -f1 "$T/held" | sort -u | tr '\n' ' ')" "link prog "
becomes "$JOB" 'j["events"] > 100 and j["grains"] > 10' >/dev/null
call GET "/v1/jobs/$JOB"
is "counts while it runs" "$([ "$(field events)" -gt 100 ] && [ "$(field grains)" -gt 10 ] && echo yes)" yes
call GET "/v1/jobs/$JOB/trace"; is "trace so far" "$CODE $(head -c 8 "$T/body")" "200 GRAINTRC"
call POST "/v1/jobs/$JOB/detach"
is "detach" "$CODE $(field state) $(field reason) $(field error) $(field lost)" "200 finished detach  0"
none_remains "detaching leaves no probe" "$T/held"
wait_kept "and nothing that is held for it"
check "the process goes on" kill -0 "$P"
call GET "/v1/jobs/$JOB/summary"
is "summary" \
	"$CODE $(python3 -c 'import json,sys; s=json.load(open(sys.argv[1]))
print(s["pid"], s["definitions"][0]["source"].split(":")[0], s["grains"]["total"] > 10)' "$T/body" 2>&1)" \
	"200 $P loop_forever.c True"
call POST "/v1/jobs/$JOB/detach"; is "detach again" "$CODE $(field state)" "200 finished"
call POST /v1/jobs "{\"pid\":$P,\"duration_s\":1}"; SHORT=$(field job)
becomes "$SHORT" 'j["state"] == "finished"' >/dev/null
call GET "/v1/jobs/$SHORT"; is "duration" "$(field state) $(field reason)" "finished duration"
kill "$P"

# A process of another user, by itself.
cp "$B/tests/omp/loop_forever" "$T/loop"; chmod 755 "$T/loop"
start_loop env OMP_NUM_THREADS=2 "${NOBODY[@]}" "$T/loop" 3600000 /dev/null
nobody_asks POST /v1/jobs "{\"pid\":$P}"; OWN=$(field job)
is "nobody's own process" "$CODE $(field state) $(field uid)" "201 running 65534"
is "its directory while it runs" "$(stat -c '%U %a' "$STATE/jobs/$OWN")" "root 700"
becomes "$OWN" 'j["grains"] > 10' >/dev/null
nobody_asks POST "/v1/jobs/$OWN/detach"; is "nobody's own detach" "$CODE $(field state) $(field error)" "200 finished "
is "its directory afterwards" "$(stat -c '%u %a' "$STATE/jobs/$OWN" "$STATE/jobs/$OWN"/* | sort -u | tr '\n' ',')" \
	"0 600,0 700,"
kill "$P"
is "whose job it is cannot reach it there" \
	"$("${NOBODY[@]}" ln -sf /etc/shadow "$STATE/jobs/$OWN/summary.json" 2>&1 |
		grep -c 'Permission denied')$("${NOBODY[@]}" ls "$STATE/jobs" 2>/dev/null)" 1
nobody_asks GET "/v1/jobs/$OWN/summary"
is "but asks for the summary" \
	"$CODE $(json "d['grains'] > 0 if isinstance(d['grains'], int) else bool(d['grains'])" <"$T/body" 2>&1)" \
	"200 True"
call GET "/v1/jobs/$OWN"; is "whose it is graind says" "$(field uid)" 65534
nobody_asks DELETE "/v1/jobs/$OWN"; is "nobody's own delete" "$CODE" 204
kill "$P" 2>/dev/null

# --- ends during attach: whenever that is, an answer and nothing left -----
bad=
for i in $(seq 12); do
	OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" $((i * 25)) /dev/null >/dev/null & P=$!
	sleep 0.02 # pace: whatever the program has come to by then, all answers are judged alike
	call POST /v1/jobs "{\"pid\":$P}"
	case $CODE in 201 | 404 | 422) ;; *) bad+=" $CODE:$BODY" ;; esac
	wait "$P"
done
is "processes that end during attach" "$bad" ""
none_runs() { call GET /v1/jobs; echo "$BODY"; [ "$BODY" = '{"jobs":[]}' ]; }
until_so "no job is left" none_runs
call GET /v1/jobs
is "no job is left" "$BODY" '{"jobs":[]}'
# Links are closed in the background.
wait_kept "no probe is left"

# --- every process ---------------------------------------------------------
call POST /v1/jobs '{"all":true}'; ALL=$(field job)
is "all processes" "$CODE $(field state) $(field pid)" "201 running 0"
# Its events fit into the rings.
"$B/tests/omp/fib" 20 9 5 >"$T/fib"
came_by()
{
	call GET '/v1/jobs?all=1'
	json "[(j['cmd'], j['state']) for j in d['jobs']]" <"$T/body" | tee "$T/states"
	grep -q "fib 20 9 5', 'finished'" "$T/states"
}
until_so "the process that came by has its job" came_by
call POST "/v1/jobs/$ALL/detach"; is "the session's end" "$CODE $(field state)" "200 finished"
until_so "and nothing runs" none_runs
call GET '/v1/jobs?all=1'
is "a job for the process that came by, with all its tasks" "$(python3 -c 'import json,sys
jobs = [j for j in json.load(open(sys.argv[1]))["jobs"] if j["cmd"].endswith("fib 20 9 5")]
print(len(jobs), jobs[0]["grains"] == json.load(open(sys.argv[2]))["tasks"], jobs[0]["state"])' "$T/body" \
	"$T/fib" 2>&1)" "1 True finished"

# --- idle (what it takes then: test_idle.sh) ---------------------------------
# The last job's rings are released after its end, and a worker may be kept for a while.
open_files() { find "/proc/$D/fd" -mindepth 1 ! -lname 'anon_inode:b[pt]*' | wc -l; }
until_so "idle" eval 'kept_files; open_files; [ "$(kept_files)" -le "$KEPT_FILES" ] && [ "$(open_files)" -lt 20 ]'
open_files=$(open_files)
if [ "$open_files" -lt 20 ]; then
	ok "idle: $open_files open files"
else
	not_ok "idle: open files" "$(ls -l "/proc/$D/fd")"
fi
check "idle: no more descriptors of programs and maps than before the first job" test "$(kept_files)" -le "$KEPT_FILES"

# --- workers have no rights --------------------------------------------------
mkfifo "$T/questions"
"$B/graind" --worker-symbolize 65534 65534 0 <"$T/questions" >/dev/null & W=$!; PIDS+=("$W")
exec 9>"$T/questions"
rights()
{
	awk '/^(Uid|Gid|CapEff|CapPrm|NoNewPrivs):/ {printf "%s ", $2} /^Groups:/ {printf "%s%d ", $1, NF - 1}' \
		"/proc/$W/status"
}
none="65534 65534 Groups:0 0000000000000000 0000000000000000 1 "
until_so "a worker gives up its rights" eval 'rights; [ "$(rights)" = "$none" ]'
is "a worker's rights" "$(rights)" "$none"
case $B in *san*) skip "a worker's system calls" "sanitizers need more of them" ;;
*)	until_so "a worker's system calls are filtered" grep -q '^Seccomp:.2' "/proc/$W/status"
	is "a worker's system calls are filtered" "$(awk '/^Seccomp:/ {print $2}' "/proc/$W/status")" 2 ;;
esac
exec 9>&-
wait "$W"; is "a worker ends with its input" $? 0
echo "address 10 1 0" | "$B/graind" --worker-symbolize 65534 65534 0 | cat >"$T/answer"
is "a worker's answer, behind the sign that it runs" "$(cat "$T/answer")" "$(printf '\n10\t0\t0\t\t\t\t-')"

# --- the end -----------------------------------------------------------------
loop
call POST /v1/jobs "{\"pid\":$P}"; JOB=$(field job)
becomes "$JOB" 'j["events"] > 0' >/dev/null
held >"$T/held"
stop
is "SIGTERM" $? 0
is "SIGTERM finishes jobs" \
	"$(python3 -c 'import json,sys; j=json.load(open(sys.argv[1]))
print(j["state"], j["reason"], j["events"] > 0)' "$STATE/jobs/$JOB/job.json" 2>&1)" "finished shutdown True"
is "the socket is removed" "$([ -e "$S" ] && echo there)" ""
check "there were probes" test -s "$T/held"
none_remains "SIGTERM leaves no probe" "$T/held"
start
call POST /v1/jobs "{\"pid\":$P}"; JOB=$(field job)
held >"$T/held"
is "attach once more" "$CODE $(field state) $(cut -d' ' -f1 "$T/held" | sort -u | tr '\n' ' ')" "201 running link prog "
until_so "its trace is begun" test -s "$STATE/jobs/$JOB/trace.grt"
kill -9 "$D"; wait "$D" 2>/dev/null
none_remains "kill -9 leaves no probe" "$T/held"
check "kill -9 leaves the process running" kill -0 "$P"
start
call GET "/v1/jobs/$JOB"
is "a job whose graind was killed" "$(field state)" failed
call GET "/v1/jobs/$JOB/trace"; is "its trace is kept" "$CODE $(head -c 8 "$T/body")" "200 GRAINTRC"
kill "$P"
stop

# --- in the background, private -----------------------------------------------
"$B/graind" --state-dir "$STATE" --socket "$S" --exit-when-idle
is "into the background" "$?" 0
call GET /v1/status; D=$(field pid)
is "listens when its start returns" "$CODE" 200
loop
call POST /v1/jobs "{\"pid\":$P}"; JOB=$(field job)
kill "$P"
until_so "ends with its last job" eval '! kill -0 "$D" 2>/dev/null'
is "ends with its last job" "$(kill -0 "$D" 2>&1 | grep -c 'No such process') $([ -e "$S" ] && echo socket)" "1 "

# --- under systemd ---------------------------------------------------------------
cat >"$T/manager.py" <<'EOF'
# Plays systemd for one service: a listening socket, readiness, the watchdog, the end.
import os, signal, socket, subprocess, sys, time
graind, state, path, notify = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX); listener.bind(path); listener.listen(8)
told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); told.bind(notify)
told.settimeout(float(os.environ.get("PATIENCE", 120)))
def child():
    os.dup2(listener.fileno(), 3); os.set_inheritable(3, True)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", NOTIFY_SOCKET=notify,
                      WATCHDOG_USEC="400000", WATCHDOG_PID=str(os.getpid()))
    os.execv(graind, [graind, "--foreground", "--state-dir", state, "--socket", path])
pid = os.fork()
if pid == 0: child()
print(told.recv(100).decode())
answer = subprocess.run(["curl", "-s", "--unix-socket", path, "http://graind/v1/status"], capture_output=True).stdout
print('"pid":%d' % pid in answer.decode())
print(told.recv(100).decode())
os.kill(pid, signal.SIGTERM)
while (last := told.recv(100).decode()) == "WATCHDOG=1": pass
print(last)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.path.exists(path))
EOF
is "systemd's socket, readiness, watchdog and end" \
	"$(python3 "$T/manager.py" "$B/graind" "$STATE" "$T/given.sock" "$T/notify.sock" 2>>"$T/log" | tr '\n' ' ')" \
	"READY=1 True WATCHDOG=1 STOPPING=1 0 True "

grep -E 'runtime error|AddressSanitizer|LeakSanitizer' "$T/log" >"$T/san"
if [ -s "$T/san" ]; then not_ok "no sanitizer report" "$(cat "$T/san")"; else ok "no sanitizer report"; fi
