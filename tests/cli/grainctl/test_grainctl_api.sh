#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl against a pretended graind: what it asks, what it makes of answers,
# hostile ones too, and `run` as a wrapper. No privilege is needed.
. "$(dirname "$0")/../../lib.sh"
cd "$T" || exit 1
unset GRAIND_SOCKET GRAIND_STATE_DIR
printf 'grain-log 1\n1 10 0 thread-begin\n9 10 0 thread-end\n' >trace.log

serve()
{
	: >"$T/$1.log"
	/usr/bin/python3 "$ROOT/tests/cli/grainctl/fake_graind.py" "$T/$1.sock" "$T/$1.log" "$1" "$T/trace.log" \
		2>"$T/$1.err" &
	PIDS+=($!)
	until_so "the pretended graind starts" test -S "$T/$1.sock" && return
	sed 's/^/# /' "$T/$1.err"
	exit 1
}
broken="cut cut-chunks other-chunks two-lengths long-head not-http nothing"
modes="$broken chunks good refuse forbid garbage huge wrong-types escapes forget fail running"
for mode in $modes; do serve "$mode"; done
ctl()
{
	local mode=$1
	shift
	timeout "${PATIENCE:-120}" "$B/grainctl" --socket "$T/$mode.sock" --state-dir "$T/state" "$@"
}

# The requests are those of the API. Where socket and state directory are both named, each verb that reads
# jobs asks first whether they belong together.
ctl good status >out; is "status" "$? $(head -1 out | cut -c1-12)" "0 graind 9.9.9"
ctl good jobs >out; is "jobs lists the job" "$? $(awk 'NR == 2 { print $1, $2, $3, $4 }' out)" "0 7 ann 4711 fib"
ctl good jobs --json >out
is "jobs --json passes the job on" \
	"$(python3 -c 'import json; print([j["job"] for j in json.load(open("out"))["jobs"]])')" "[7]"
is "attach prints the job" "$(ctl good attach 4711 --duration 5)" "job 7"
ctl good detach 7; is "detach of a finished job" $? 0
ctl good delete 7; is "delete" $? 0
ctl good export 7 >out; is "a trace is fetched when it cannot be read" "$? $(head -1 out)" "0 grain-log 1"
is "no copy of it is left" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'grainctl.??????' -newer trace.log)" ""
is "what was asked" "$(grep -v '^GET /v1/jobs/7$' good.log)" 'GET /v1/status
GET /v1/status
GET /v1/jobs
GET /v1/status
GET /v1/jobs
GET /v1/status
GET /v1/status
POST /v1/jobs {"pid":4711,"at_start":false,"duration_s":5}
GET /v1/status
GET /v1/status
DELETE /v1/jobs/7
GET /v1/status
GET /v1/jobs/7/trace'
ctl good jobs --all >/dev/null
check "jobs --all asks for all" grep -qx 'GET /v1/jobs?all=1' good.log

# A state directory that is not that graind's has an earlier job of the same number.
mkdir -p elsewhere/jobs/7
program='"user":"me","exe":"/opt/fib","cmd":"./fib"'
printf '{"job":7,"state":"finished","error":"","pid":1,"uid":%d,%s,"socket":"%s"}' \
	"$(id -u)" "$program" "$T/gone.sock" \
	>elsewhere/jobs/7/job.json
chmod 700 elsewhere/jobs/7
ctl running --state-dir "$T/elsewhere" detach 7
is "detach: what runs, not what is stored" "$? $(grep -c '^POST /v1/jobs/7/detach' running.log)" "0 1"
ctl good --state-dir "$T/elsewhere" detach 7; is "detach of one that is over everywhere" $? 0
ctl gone --state-dir "$T/elsewhere" detach 7; is "detach of one that is over, without graind" $? 0

# Widths
for columns in 80 100 200; do
	COLUMNS=$columns ctl good jobs >out
	is "jobs fits $columns columns" "$(awk -v w=$columns 'length > w' out)" ""
done
check "jobs names problems where there is room" grep -q 'benefit,balance' out

# Refusals
ctl refuse attach 4711 2>err >out
is "a refusal is passed on" "$? $(cat err) $(wc -c <out)" \
	"1 grainctl: attach: no OpenMP runtime is in it; link it with -fopenmp 0"
ctl forbid attach 4711 2>err; is "not permitted" "$? $(wc -l <err)" "3 1"
ctl forget detach 7 2>err; is "an unknown job" "$? $(wc -l <err)" "1 1"

# Hostile answers: one line, no control characters, no hang, bounded memory.
# (A build with ASan reserves more than any limit.)
limit=1000000
{ (ulimit -v $limit; "$B/grainctl" --version) || limit=unlimited; } >/dev/null 2>&1
for mode in garbage huge; do
	for verb in status jobs top "top --json" "attach 4711" "detach 7" "summary 7"; do
		# shellcheck disable=SC2086
		(ulimit -v $limit; ctl $mode $verb >out 2>err)
		is "$mode answer to $verb" "$? $(wc -l <err)" "1 1"
	done
done
for mode in $broken; do
	for verb in status "detach 7"; do
		# shellcheck disable=SC2086
		ctl $mode $verb >out 2>err
		is "$mode answer to $verb" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
	done
done
ctl cut jobs 2>err
check "it says what is wrong" \
	grep -q "^grainctl: jobs: graind at $T/cut.sock: the connection ended before the answer did" err
ctl chunks jobs >out; is "an answer in chunks" "$? $(awk 'NR == 2 { print $1, $2, $3, $4 }' out)" "0 7 ann 4711 fib"
ctl good export 7 >whole
ctl chunks export 7 >out; is "a trace in chunks" "$? $(cmp out whole)" "0 "
for mode in wrong-types escapes; do
	ctl $mode jobs >out 2>&1
	is "jobs with $mode" \
		"$? $(wc -l <out) $(LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out)" \
		"0 2 0"
done

for mode in good wrong-types escapes; do
	for columns in 80 120; do
		COLUMNS=$columns ctl $mode top >out 2>&1
		is "top with $mode, $columns columns" \
			"$? $(LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out) $(
				awk -v w=$columns 'length > w' out)" "0 0 "
	done
done
ctl good top --json >out
is "top --json: the jobs, and what is not known" \
	"$? $(json '[j["job"] for j in d["jobs"]], d["graind"]["version"], d["graind"]["cpu_seconds"]' <out)" \
	"0 ([7], '9.9.9', None)"

# run is a transparent wrapper.
last() { tail -n 1 err; }
ctl good run -- sh -c 'exit 42' 2>err; is "run passes the exit status on" "$? $(last)" "42 job 7"
is "run asks before main" "$(grep -c '"at_start":true' good.log)" "1"
ctl good run -- sh -c 'kill -TERM $$' 2>err; is "run: 128 + signal" "$? $(last)" "143 job 7"
ctl good run -- sh -c 'kill -KILL $$' 2>err; is "run: killed" "$? $(last)" "137 job 7"
is "run: arguments, input and output" \
	"$(printf 'in put\n' | ctl good run -- sh -c 'cat; printf "[%s]" "$@"' x 'a b' '' --help 2>err)" "in put
[a b][][--help]"
is "run without --" "$(ctl good run printf '%s.' a -b 2>err)" "a.-b."
is "run leaves stderr to the program, and says the job last" "$(ctl good run -- sh -c 'echo E >&2' 2>&1)" "E
job 7"
ctl good run -- /no/such/program 2>err; is "run: not found" "$? $(wc -l <err)" "127 1"
ctl good run -- no-such-program 2>err; is "run: not in PATH" "$? $(wc -l <err)" "127 1"
: >plain; ctl good run -- ./plain 2>err; is "run: not executable" "$? $(wc -l <err)" "126 1"
ctl good run -- "$T" 2>err; is "run: a directory" "$? $(wc -l <err)" "126 1"
printf '#!/bin/sh\necho "script $1"; exit 3\n' >script; chmod +x script
is "run: a script" "$(ctl good run ./script s 2>err; echo $?)" "script s
3"
printf 'echo bare; exit 4\n' >bare; chmod +x bare
is "run: a script without #!" "$(ctl good run ./bare 2>err; echo $?)" "bare
4"
cat >static.c <<'C'
#include <unistd.h>
int main(void) { return write(1, "static\n", 7) == 7 ? 5 : 6; }
C
if gcc -static -o static static.c 2>/dev/null; then
	is "run: a static program" "$(ctl good run ./static 2>err; echo $?)" "static
5"
fi
if gcc -m32 -o small static.c 2>/dev/null; then
	is "run: a 32-bit program runs and is not profiled" \
		"$(ctl good run ./small 2>err; echo "$? $(grep -c '64-bit' err)")" "static
5 1"
fi
cat >early.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int got;
static void on(int s) { got = s; }
__attribute__((constructor)) static void early(void)
{
	signal(SIGUSR1, on); raise(SIGUSR1); if (getenv("LEAVE")) _exit(9);
}
int main(void) { printf("%d\n", got == SIGUSR1); return 0; }
C
gcc -o early early.c
is "run: a signal before main arrives" "$(ctl good run ./early 2>err)" "1"
LEAVE=1 ctl good run ./early 2>err; is "run: a program that ends before main" "$? $(wc -l <err)" "9 1"
is "run: the program is not traced afterwards" "$(ctl good run -- grep TracerPid /proc/self/status 2>err)" \
	"TracerPid:	0"
is "run: signal mask and dispositions are the caller's" \
	"$(ctl good run -- grep -E 'Sig(Blk|Ign)' /proc/self/status 2>err)" \
	"$(timeout 9 grep -E 'Sig(Blk|Ign)' /proc/self/status)"

# Signals for grainctl reach the program.
for signal in TERM INT HUP USR1; do
	rm -f out
	ctl good run -- bash -c "trap 'echo got; exit 7' $signal; echo ready; while :; do sleep 0.05; done" \
		>out 2>err &
	wrapper=$!
	until_so "run: it is ready for SIG$signal" grep -qs ready out
	kill -$signal "$(pgrep -P "$(pgrep -P "$wrapper" -x timeout)" -x grainctl)"
	wait "$wrapper"
	is "run: SIG$signal is passed on" "$? $(grep -c got out) $(last)" "7 1 job 7"
done

# The program runs although it is not profiled, and one line says why.
is "run: refused" "$(ctl refuse run -- sh -c 'echo ran; exit 5' 2>err; echo $?) $(cat err)" \
	"ran
5 grainctl: run: not profiled: no OpenMP runtime is in it; link it with -fopenmp"
is "run: forbidden" "$(ctl forbid run -- sh -c 'echo ran; exit 5' 2>err; echo $?) $(wc -l <err)" "ran
5 1"
is "run: a garbled answer" "$(ctl garbage run -- sh -c 'echo ran; exit 5' 2>err; echo $?) $(wc -l <err)" "ran
5 1"
ctl forget run -- sh -c 'exit 5' 2>err; is "run: the job vanishes" "$? $(wc -l <err) $(last)" "5 2 job 7"
ctl fail run -- sh -c 'exit 5' 2>err
is "run: the recording fails" "$? $(grep -c 'disk is full' err) $(last)" "5 1 job 7"
if [ "$(id -u)" != 0 ] && [ -u /usr/bin/su ]; then
	ctl good run -- su --version >out 2>err
	is "run: a set-user-ID program runs untraced" "$? $(grep -c 'not profiled' err)" "0 1"
elif command -v setpriv >/dev/null && [ -u /usr/bin/su ]; then
	chmod 755 "$T"; chmod 777 good.sock good.log; cp "$B/grainctl" "$T/grainctl"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/grainctl" --socket "$T/good.sock" \
		--state-dir "$T/state" run -- su --version >out 2>err
	is "run: a set-user-ID program runs untraced" "$? $(grep -c 'not profiled' err)" "0 1"
fi
