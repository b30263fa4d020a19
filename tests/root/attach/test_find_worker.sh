#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Workers find out which files have an OpenMP runtime. This tests what they may do, that graind itself does not look,
# and what happens with files that keep a worker busy and with workers that die.
# usage: tests/root/attach/test_find_worker.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
OWNER=64001 HOSTILE=64002
chmod 755 "$T"
gomp=$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')
cp "$B/tests/omp/loop_forever" "$T/program"
mkdir "$T"/lib{1,2}
cp "$gomp" "$T/lib1/libgomp.so.1"
chown -R $OWNER "$T/program" "$T"/lib{1,2}
python3 "$ROOT/tests/tools/make_slow_elf.py" "$T/slow.so"
chown $HOSTILE "$T/slow.so"
# run LIBRARIES: starts the program with a runtime that its owner owns; its PID is in PROGRAM
run()
{
	LD_LIBRARY_PATH=$1 OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive LOOP_PAUSE_US=1000 \
		start_program "$T/program" 600000 /dev/null
	PROGRAM=$P
}
# job_of PID: the number of its job, as the attach has printed it
job_of() { "$GRAINCTL" attach "$1" 2>&1 | sed -n 's/^job \([0-9]*\)$/\1/p'; }
runtime_of() { json "d['runtime']" <"$GRAIND_STATE_DIR/jobs/$1/job.json"; }
# worker OWNER: the PID of this owner's worker, busy or not
worker() { pgrep -P "$GRAIND_PID" -f -- "^graind-worker --worker-find $1 "; }
failed() {
	curl -s --unix-socket "$GRAIND_SOCKET" http://graind/metrics | awk '/^graind_unsearched_files_total/ {print $2}'
}

# --- what it may ---------------------------------------------------------------
exec 9<"$T/program" # graind is started with more descriptors than it needs
start_graind || exit 1
exec 9<&-
run "$T/lib1"
J=$(job_of "$PROGRAM")
is "a runtime that is a user's own is found" "$(runtime_of "$J")" libgomp
W=$(worker $OWNER)
is "by a worker of its owner, and one for root's files" "$(wc -w <<<"$W") $(worker 65534 | wc -l)" "1 1"
case $B in
*san*) skip "the worker's rights" "sanitizers need more of them" ;;
*)
	is "it has the owner's rights and no more" \
		"$(awk '/^(Uid|Gid):/ {print $2, $3, $4, $5} /^CapEff:/ {print $2} /^Groups:/ {print NF - 1}
			/^(NoNewPrivs|Seccomp):/ {print $2}' "/proc/$W/status" | tr '\n' ' ')" \
		"$OWNER $OWNER $OWNER $OWNER 65534 65534 65534 65534 0 0000000000000000 1 2 "
	is "that of root's files is nobody" "$(awk '/^Uid:/ {print $2}' "/proc/$(worker 65534)/status")" 65534
	is "no environment" "$(tr '\0' ' ' <"/proc/$W/environ")" ""
	is "its files: where files come, what nobody reads, nothing" \
		"$(for f in "/proc/$W/fd"/*; do
			echo "${f##*/} $(readlink "$f" | sed 's/:.*//')"
		done | sort | tr '\n' ' ')" "0 socket 1 pipe 2 /dev/null "
	is "its limits: CPU, files written, core, processes, open files, memory" \
		"$(awk '/^Max (cpu time|file size|core file|processes|open files|address)/ {print $(NF - 2)}' \
			"/proc/$W/limits" | tr '\n' ' ')" \
		"60 0 0 0 16 2147483648 "
	;;
esac

# --- a worker that dies ------------------------------------------------------------
kill -STOP "$W"
mkdir "$T/lib3"; cp "$gomp" "$T/lib3/libgomp.so.1"; chown -R $OWNER "$T/lib3"
run "$T/lib3"
job_of "$PROGRAM" >"$T/job" & ASKER=$!
# asked PID: whether there is something for this worker to read
asked()
{
	python3 - "$1" <<'PY'
import ctypes, fcntl, os, sys
PIDFD_GETFD, FIONREAD = 438, 0x541B
socket = ctypes.CDLL(None).syscall(PIDFD_GETFD, os.pidfd_open(int(sys.argv[1])), 0, 0)
sys.exit(fcntl.ioctl(socket, FIONREAD, b"\0" * 4) == b"\0" * 4)
PY
}
until_so "it is asked" asked "$W"
kill -KILL "$W"
wait "$ASKER"
is "one that dies is replaced, and the file looked into all the same" \
	"$(runtime_of "$(cat "$T/job")") $(failed)" "libgomp 0"
check "by a new one" test "$(worker $OWNER)" != "$W"

# --- a file that takes minutes -------------------------------------------------------
cat >"$T/hold.py" <<'PY'
import ctypes, mmap, sys, time
with open(sys.argv[1], "rb") as f:
    held = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
ctypes.CDLL("libgomp.so.1")
open(sys.argv[2], "w").close()
time.sleep(600)
PY
# hold: starts a process that has mapped the file and a runtime
hold()
{
	rm -f "$T/held"
	/usr/bin/python3 -SE "$T/hold.py" "$T/slow.so" "$T/held" & HOLDER=$!
	PIDS+=("$HOLDER")
	until_so "it holds the file" test -e "$T/held"
}
hold
job_of "$HOLDER" >"$T/held.job" & ASKER=$!
# Stopped, it uses none of the three seconds of CPU time that it has.
until_so "a worker of the hostile file's owner begins" \
	pkill -STOP -P "$GRAIND_PID" -f -- "^graind-worker --worker-find $HOSTILE "
SLOW=$(worker $HOSTILE)
check "a worker of the hostile file's owner begins" test "$SLOW"
run "$T/lib1"
J=$(job_of "$PROGRAM")
is "others are attached to meanwhile" "$(runtime_of "$J") $(cat "$T/held.job") $(cut -d" " -f3 "/proc/$SLOW/stat")" \
	"libgomp  T"
kill -CONT "$SLOW"
wait "$ASKER"
is "it is given up, and the process recorded" "$(runtime_of "$(cat "$T/held.job")") $(failed)" "libgomp 1"
is "which is said in one line" \
	"$(grep -c "looking for an OpenMP runtime in $T/slow.so of user $HOSTILE: it took too long" "$T/graind.log")" 1
is "the worker is gone" "$(cat "/proc/$SLOW/comm" 2>/dev/null)" ""
hold
is "it is not looked into again" "$(runtime_of "$(job_of "$HOLDER")") $(failed)" "libgomp 1"
grep "looking for an OpenMP runtime" "$T/graind.log" | sed 's/^/# /'

# --- the end ---------------------------------------------------------------------------
LEFT=$(worker '[0-9]*')
check "there are workers" test "$LEFT"
stop_graind
is "graind ends properly" "$GRAIND_STATUS" 0
# They are killed when graind ends, and gone once they have had a CPU for it.
still() { for w in $LEFT; do cat "/proc/$w/comm" 2>/dev/null; done; }
over() { [ -z "$(still)" ]; }
until_so "its workers end" over
is "and its workers with it" "$(still)" ""

# --- who reads what -----------------------------------------------------------------------
case $B in
*san*) skip "who reads the files" "sanitizers"; exit 0 ;;
esac
if ! strace -o "$T/st" true 2>/dev/null; then
	skip "who reads the files" "no strace"
	exit 0
fi
# graind runs as a user of its own, with the capabilities of its unit and no more.
CAPS=+bpf,+perfmon,+sys_ptrace,+dac_read_search,+setuid,+setgid,+chown
SELF=64000
GRAIND_STATE_DIR=$T/state2 GRAIND_SOCKET=$T/run/graind.sock
mkdir "$T"/{st.d,bin,run} "$GRAIND_STATE_DIR"
chown $SELF "$T/run" "$GRAIND_STATE_DIR"
cat >"$T/bin/graind" <<SH
#!/bin/sh
exec strace -ff -y -o "$T/st.d/st" -e trace=execve,read,pread64,readv,preadv,mmap \
	setpriv --reuid=$SELF --regid=$SELF --clear-groups \
	--inh-caps=$CAPS --ambient-caps=$CAPS --bounding-set=-all,$CAPS --no-new-privs "$B/graind" "\$@"
SH
chmod 755 "$T/bin/graind"
B=$T/bin start_graind || exit 1
run "$T/lib3"
J=$(job_of "$PROGRAM")
is "under strace it is found, too" "$(runtime_of "$J")" libgomp
kill -TERM "$(pgrep -P "$GRAIND_PID" graind)"
wait "$GRAIND_PID"
# There is one file for each thread. A thread that became a worker shows that.
cd "$T/st.d" || exit 1
readers() { grep -lE "^(read|pread64|readv|preadv)\([0-9]+<$1>|^mmap\(.*<$1>" st.*; }
workers=$(grep -l '"graind-worker", "--worker-' st.*)
is "graind's threads read nothing of the program" "$(readers "$T/program" | grep -vxF "$workers")" ""
check "a worker that searches does" grep -q "\"--worker-find\", \"$OWNER\"" $(readers "$T/program")
check "a runtime's plan is made by nobody" grep -q '"--worker-plan", "65534", "65534"' st.*
is "none has graind's own user" "$(grep -h "\"graind-worker\", \"--worker-[a-z-]*\", \"$SELF\"" st.*)" ""
