#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# attach --fast says in one line which process it leaves alone, changes none of them, and leaves no job. If the
# program or the attaching process is killed in the middle, nothing else is affected.
# usage: tests/root/shim/test_shim_refusals.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
R=$B/tests/root/programs
# start_with EVENT COMMAND...: its PID is in PROGRAM. Waits until EVENT succeeds, a command that is told the PID.
start_with()
{
	local event=$1
	shift
	OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive "$@" >"$T/program.json" 2>"$T/program.err" &
	PROGRAM=$!
	PIDS+=("$PROGRAM")
	until_so "$*: $event" "$event" "$PROGRAM"
}
has_team() { [ "$(ls "/proc/$1/task" | wc -l)" -ge "${THREADS:-2}" ]; }
# start COMMAND...: starts a program that has a team then
start() { start_with has_team "$@"; }
is_executed() { [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$EXECUTED")" ]; }
# start_other COMMAND...: starts a program without a team
start_other() { EXECUTED=$(command -v "$1") start_with is_executed "$@"; }
has_loaded() { grep -q "$LIBRARY" "/proc/$1/maps"; }
# refused NAME TEXT COMMAND...: checks that the command says TEXT in one line and fails
refused()
{
	local name=$1 text=$2 status
	shift 2
	"$@" >"$T/out" 2>"$T/err"
	status=$?
	if [ $status -ne 0 ] && [ "$(wc -l <"$T/err")" = 1 ] && grep -q -- "$text" "$T/err"; then
		ok "refused: $name"
	else
		not_ok "refused: $name" "exit status $status" "$(head -3 "$T/err")"
	fi
}
running() { "$GRAINCTL" jobs --json | json 'd["jobs"][0]["job"] if d["jobs"] else ""'; }
has_job() { [ "$(running)" ]; }
# A job that a killed grainctl has asked for may begin only now.
end_jobs()
{
	local quiet=0 job
	while [ $quiet -lt 3 ]; do
		job=$(running)
		quiet=$((quiet + 1))
		[ "$job" ] && quiet=0 && "$GRAINCTL" detach "$job" 2>/dev/null
		sleep 0.2 # pace: `again` ends what begins later still
	done
}
# again PID: attaches once more, after a grainctl was killed; leaves the job's number in $T/job
again()
{
	end_jobs >&2
	attach_fast "$1" >"$T/job" || { cat "$T/err" && return 1; }
}
no_thread_is_stopped()
{
	is "$1: no thread is stopped" "$(grep -l '^State:.*[tT] (' /proc/"$PROGRAM"/task/*/status | wc -l)" 0
}
finish()
{
	kill -KILL "$PROGRAM" 2>/dev/null
	wait "$PROGRAM" 2>/dev/null
}
# What is not possible at the moment is tried again for a second only.
fast="$GRAINCTL attach --fast --patience 1"
start_graind || exit 1

refused "no such process" "there is no process" $fast 4000000
start_other sleep 600
refused "no OpenMP runtime" "has not loaded an OpenMP runtime" $fast "$PROGRAM"
finish
start "$R/held_static" plain
refused "linked statically" "is linked statically" $fast "$PROGRAM"
finish
start "$R/held_static_pie" plain
refused "linked statically, anywhere in memory" "is linked statically" $fast "$PROGRAM"
finish
# The loader waits until somebody writes the first library.
mkfifo "$T/first.so"
env LD_PRELOAD="$T/first.so" "$R/held_now" plain >/dev/null 2>&1 &
PROGRAM=$!
PIDS+=("$PROGRAM")
EXECUTED=$R/held_now until_so "held_now is executed" is_executed "$PROGRAM"
refused "its libraries are not loaded yet" "has not loaded a C library yet: give it more (--patience)" $fast "$PROGRAM"
kill -KILL "$PROGRAM"
# This is the loader's state between two of its steps: the code is there, but nothing says what it contains.
LIBRARY=libgomp.so start_with has_loaded /usr/bin/python3 -c "import mmap, sys, time
library = open(sys.argv[1], 'rb')
code = mmap.mmap(library.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC, offset=4096)
time.sleep(600)" "$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')"
refused "its runtime is half loaded" "is just loading its OpenMP runtime: give it more (--patience)" $fast "$PROGRAM"
finish
start "$R/held_linked_in" plain
refused "its runtime is a part of it" "is linked into it" $fast "$PROGRAM"
finish
libomp=$(ldconfig -p | awk '$1 == "libomp.so.5" { print $NF; exit }')
mkdir "$T/gnu"
ln -s "$libomp" "$T/gnu/libgomp.so.1"
start env "LD_LIBRARY_PATH=$T/gnu" "$B/tests/omp/fib" 45 12
refused "GCC's code on libomp" "runs GCC's code on libomp" $fast "$PROGRAM"
finish
OMP_NUM_THREADS=2 start_loop "$GRAINCTL" run --fast -- "$B/tests/omp/loop_forever.clang" 600000 "$T/times"
PROGRAM=$P
job=$(running)
inner=$(pgrep -P "$PROGRAM")
"$GRAINCTL" detach "$job"
refused "libomp that was recorded from its start" "is recorded from inside since its start" $fast "$inner"
kill -KILL "$inner"
wait "$PROGRAM" 2>/dev/null
"$GRAINCTL" delete "$job"
start env LD_PRELOAD=libgomp.so.1 "$B/tests/omp/fib.clang" 45 12
refused "both runtimes" "has both libgomp and libomp" $fast "$PROGRAM"
finish
start "$R/held_now" plain
refused "a thread, no process" "is a thread; give the number of its process" \
	$fast "$(ls "/proc/$PROGRAM/task" | grep -vx "$PROGRAM" | head -n 1)"
kill -STOP "$PROGRAM"
until_so "it is stopped" grep -q '^State:.*T (' "/proc/$PROGRAM/status"
refused "a stopped process" "is stopped; let it go on" $fast "$PROGRAM"
kill -CONT "$PROGRAM"
strace -o "$T/strace" -p "$PROGRAM" 2>/dev/null &
tracer=$!
until_so "it is traced" grep -q "^TracerPid:[[:space:]]*$tracer$" "/proc/$PROGRAM/status"
refused "a traced one" "is traced by process $tracer" $fast "$PROGRAM"
kill "$tracer"
wait "$tracer" 2>/dev/null
# As another user, who may not look into the process. Everybody can read the program's files.
install -m 755 "$GRAINCTL" "$B/libgrainshim.so" "$R/held_now" "$T"
chmod 755 "$T"
refused "another user's" "is not yours" setpriv --reuid 65534 --clear-groups "$T/grainctl" attach --fast "$PROGRAM"
setpriv --reuid 65534 --clear-groups "$T/grainctl" attach --fast "$PROGRAM" 2>/dev/null
is "as what is not permitted" "$?" 3
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "what was refused is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
# The file's set-user-ID bit makes the process root's, and the user who started it may not look into it.
cp "$R/held_now" "$T/setuid"
chmod 4755 "$T/setuid"
start setpriv --reuid 65534 --clear-groups "$T/setuid" plain
refused "set-user-ID" "has rights that you do not have\|is not yours" \
	setpriv --reuid 65534 --clear-groups "$T/grainctl" attach --fast "$PROGRAM"
finish
/usr/bin/python3 -c 'import os, sys, time
child = os.fork()
child or os._exit(0)
open(sys.argv[1], "w").write(str(child))
time.sleep(600)' "$T/zombie" &
PIDS+=($!)
is_zombie() { grep -q '^State:.*Z (' "/proc/$(cat "$T/zombie")/status"; }
until_so "one has ended" is_zombie
refused "one that has ended" "has ended" $fast "$(cat "$T/zombie")"
# The process sees neither the library nor graind's socket.
start unshare --mount sh -c 'mount -t tmpfs none "$0" && exec "$1" plain' "$T" "$R/held_now"
mkdir "$T.other"
cp "$B/grainctl" "$B/libgrainshim.so" "$T"
refused "another mount namespace" "does not see" "$T/grainctl" attach --fast "$PROGRAM"
finish
rmdir "$T.other"
why=
echo 'int main(void) { for (;;); }' >"$T/small.c"
if ! gcc -m32 -nostdlib -ffreestanding -static -Wl,-emain -o "$T/small" "$T/small.c" 2>"$T/err"; then
	why="gcc makes none here: $(head -n 1 "$T/err")"
elif timeout 0.2 "$T/small" 2>/dev/null || [ $? -ne 124 ]; then # pace: it only ends by this
	why="this kernel runs none"
fi
if [ "$why" ]; then
	skip "refused: a 32-bit program" "$why"
else
	start_other "$T/small"
	refused "a 32-bit program" "is a 32-bit program" $fast "$PROGRAM"
	finish
fi
if command -v musl-gcc >/dev/null; then
	echo '#include <unistd.h>
int main(void) { for (;;) sleep(1); }' >"$T/small.c" && musl-gcc -o "$T/musl" "$T/small.c"
	LIBRARY="musl/libc\|ld-musl" start_with has_loaded "$T/musl"
	refused "another C library" "is not glibc" $fast "$PROGRAM"
	finish
else
	skip "refused: another C library" "there is no musl-gcc here (musl-tools)"
fi
# A C library in which dlopen has another name.
mkdir "$T/libc"
if python3 - "$T/libc/libc.so.6" <<-'EOF'
	import ctypes, os, sys
	ctypes.CDLL("libc.so.6")
	libc = next(line.split(None, 5)[5].strip() for line in open("/proc/self/maps")
	            if line.rstrip().endswith("/libc.so.6"))
	data = open(libc, "rb").read()
	open(sys.argv[1], "wb").write(data.replace(b"\0dlopen\0", b"\0dlopem\0"))
	sys.exit(data.count(b"\0dlopen\0") == 0)
EOF
then
	LIBRARY=$T/libc/libc start_with has_loaded env LD_LIBRARY_PATH="$T/libc" sleep 600
	refused "without dlopen" "has no dlopen" $fast "$PROGRAM"
	finish
else
	skip "refused: without dlopen" "the C library here keeps its name otherwise"
fi
# Only the parent of a program may look into it.
scope=/proc/sys/kernel/yama/ptrace_scope
if [ -w $scope ]; then
	was=$(cat $scope)
	[ "$was" = 0 ] && echo 1 >$scope
	start setpriv --reuid 65534 --clear-groups "$T/held_now" plain
	refused "yama's ptrace_scope" "kernel.yama.ptrace_scope is" setpriv --reuid 65534 --clear-groups "$T/grainctl" \
		attach --fast "$PROGRAM"
	[ "$was" = 0 ] && echo "$was" >$scope
	finish
else
	skip "refused: yama's ptrace_scope" "this kernel has none"
fi
# The library is there since the program's start, and another recorder uses it, or one of our jobs does.
"$B/tests/tools/rings_only" "$T/rings.sock" 4 524288 >"$T/rings" &
PIDS+=($!)
until_so "there are rings" test -S "$T/rings.sock"
start env LD_PRELOAD="$B/libgrainshim.so" GRAIND_SHIM_SOCKET="$T/rings.sock" "$R/held_now" plain
LIBRARY=memfd: until_so "it has rings" has_loaded "$PROGRAM"
refused "recorded by somebody else from inside" "is recorded from inside already" $fast "$PROGRAM"
finish
is "none of them has left a job" "$("$GRAINCTL" jobs --all --json | json 'len(d["jobs"])')" 0

# If the library was loaded at the program's start and nobody records with it, it can be used like an injected one.
start env LD_PRELOAD="$B/libgrainshim.so" GRAIND_SHIM_SOCKET="$T/none.sock" "$R/held_now" plain
job=$(attach_fast "$PROGRAM")
check "a preloaded library that is idle: it records: $(cat "$T/err")" test "$job"
refused "one that a job records" "is already profiled by job $job" $fast "$PROGRAM"
becomes "$job" 'j["events"] > 0' >/dev/null
"$GRAINCTL" detach "$job"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "its program is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
check "and there are events" \
	test "$("$GRAINCTL" jobs --all --json |
		json "[j['events'] for j in d['jobs'] if j['job'] == ${job:-0}][0]")" -gt 0
# The called function fails by a signal. The thread goes on where it was.
start "$R/held_own_dlopen" plain
refused "a dlopen that fails by a signal" "goes on where it was" $fast "$PROGRAM"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "the program was not to blame, and is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
# A call that works and does not wait is not given up in the middle.
WORK_MS=2500 start "$R/held_own_dlopen" plain
job=$(attach_fast "$PROGRAM")
check "a dlopen that works for some seconds: $(cat "$T/err")" test "$job"
"$GRAINCTL" detach "$job"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "its program is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
WORK_MS=0 WORK_UNTIL=$T/work_is_done start "$R/held_own_dlopen" plain
refused "a dlopen that works for too long" "goes on where it was as soon as it has" $fast "$PROGRAM"
end_jobs
no_thread_is_stopped "that works"
: >"$T/work_is_done"
LIBRARY=libgrainshim.so until_so "the library is loaded" has_loaded "$PROGRAM"
no_thread_is_stopped "that has worked"
job=$(attach_fast "$PROGRAM")
check "and once that is done it is recorded: $(cat "$T/err")" test "$job"
"$GRAINCTL" detach "$job"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"

# grainctl is killed at any moment. The program goes on, and the next attach is like the first.
start "$R/held_now" allocate
for after in 0.02 0.05 0.1 0.15 0.2 0.25 0.3 0.4; do
	$fast "$PROGRAM" >"$T/out" 2>"$T/err" &
	attacher=$!
	sleep $after # pace: it only varies the moment
	kill -KILL "$attacher" 2>/dev/null
	wait "$attacher" 2>/dev/null
	end_jobs
done
check "grainctl killed in the middle: the program runs on" kill -0 "$PROGRAM"
no_thread_is_stopped "grainctl killed in the middle"
until_so "it is recorded when asked again" again "$PROGRAM"
job=$(cat "$T/job")
check "and is recorded when asked again: $(cat "$T/err")" test "$job"
becomes "$job" 'j["events"] > 0' >/dev/null
"$GRAINCTL" detach "$job"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "and is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
# A library cannot be loaded while another one is being loaded. The attaching process waits a while, then leaves the
# program as it was. If it is killed while it waits, the program goes on.
export SLOW_MS=300 THREADS=3
start "$R/held_now" slow
job=$(attach_fast "$PROGRAM")
check "another library takes a while to load: $(cat "$T/err")" test "$job"
"$GRAINCTL" detach "$job"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "its program is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
SLOW_UNTIL=$T/is_loaded start "$R/held_now" slow
# The library that takes long is the only thing that this thread has to do.
is_loading() { grep -q plugin_slow "/proc/$1/maps"; }
until_so "it loads the library" is_loading "$PROGRAM"
refused "another library takes too long" "was loading a library all the time" $fast "$PROGRAM"
for _ in 1 2 3; do
	$fast "$PROGRAM" >"$T/out" 2>"$T/err" &
	attacher=$!
	until_so "there is a job" has_job
	sleep 0.1 # pace: it only varies the moment
	kill -KILL "$attacher"
	wait "$attacher" 2>/dev/null
	end_jobs
done
no_thread_is_stopped "killed while it waits"
: >"$T/is_loaded"
until_so "once it is loaded it is recorded" again "$PROGRAM"
"$GRAINCTL" detach "$(cat "$T/job")"
unset THREADS
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "the program is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
for after in 0.05 0.1 0.2 0.3; do
	start "$R/held_now" plain
	(
		sleep $after # pace: it only varies the moment
		kill -KILL "$PROGRAM" 2>/dev/null
	) &
	killer=$!
	timeout "${PATIENCE:-120}" $fast "$PROGRAM" >"$T/out" 2>"$T/err"
	status=$?
	wait "$killer" 2>/dev/null
	wait "$PROGRAM" 2>/dev/null
	check "a program killed $after s into it: it is said, or was in time (exit status $status)" test $status -lt 2
done
# If graind is killed, this is noticed, and the calls go to the runtime again. The next attach finds them so.
start "$R/held_now" plain
$fast "$PROGRAM" >"$T/out" 2>"$T/err"
stop_graind KILL
given_back() { ! grep 'graind-shim (deleted)' "/proc/$PROGRAM/maps"; }
until_so "its memory is given back" given_back
is "a graind that was killed: its memory was given back" "$(grep -c 'graind-shim (deleted)' "/proc/$PROGRAM/maps")" 0
start_graind || exit 1
job=$(attach_fast "$PROGRAM")
check "another graind records the process: $(cat "$T/err")" test "$job"
"$GRAINCTL" detach "$job"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "the program is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
