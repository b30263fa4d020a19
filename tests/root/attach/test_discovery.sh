#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where runtimes are found: static and stripped, under other names, loaded later, several in one process, in other
# roots. Also plans that are kept, and hostile ones.
# usage: tests/root/attach/test_discovery.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
cd "$T" || exit 1
chmod 755 "$T"
export OMP_NUM_THREADS=2 OMP_DYNAMIC=false
libgomp=$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')
libgomp=$(realpath "$libgomp")

field() { "$GRAINCTL" jobs --all --json | python3 -c '
import json, sys
for job in json.load(sys.stdin)["jobs"]:
    if job["job"] == int(sys.argv[1]):
        print(*[job[key] for key in sys.argv[2:]])' "$@"; }
# run PROGRAM ARG...: leaves JOB
run()
{
	timeout -k 5 "${PATIENCE:-120}" "$GRAINCTL" run -- "$@" >out 2>err
	JOB=$(tail -n 1 err | sed -n 's/^job \([0-9]*\)$/\1/p')
	[ -n "$JOB" ] || { not_ok "$1: run ends with 'job N'" "$(tail -5 err)"; JOB=999999; }
}
whole()
{
	is "$1" "$("$GRAINCTL" summary "$JOB" --json 2>&1 | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["grains"]["incomplete"], d["late"], d["damaged"])')" "0 False False"
}
# run_late FILE PROGRAM ARG...: run, and makes the file once a runtime was found that the program had mapped by then
run_late()
{
	local file=$1 last watcher
	shift
	last=$("$GRAINCTL" jobs --all --json | json 'max(j["job"] for j in d["jobs"])')
	found_late()
	{
		"$GRAINCTL" jobs --all --json |
			json "[n for j in d['jobs'] if j['job'] > $last for n in j['notes']]" | grep 'late: '
	}
	until_so "$1: its runtime is found" found_late && : >"$file" &
	watcher=$!
	run "$@"
	wait "$watcher"
}
wait_state() { [ "$(becomes "$1" "j['state'] == '$2'")" = True ]; }
# known PID...: whether graind has opened all of these processes, which it does after it has put probes into their files
known()
{
	local pid
	for pid in "$@"; do grep -qsx "Pid:[[:space:]]*$pid" "/proc/$GRAIND_PID"/fdinfo/* || return; done
}

# Programs.
P=$B/tests/root/programs
cp "$P"/{dynamic,static,static_pie,linked_in,loader,plugin_gomp.so,plugin_omp.so} .
for program in static static_pie linked_in; do
	strip -s -o ${program}_stripped $program
done
# As in a Python wheel: a copy under a hashed name, which the library itself finds.
mkdir wheel lib
cp "$libgomp" wheel/libgomp-a34b3233.so.1
cp "$libgomp" lib/libgomp.so.1
cp "$P/plugin_wheel.so" wheel/plugin.so
python3 - wheel/plugin.so <<'PY'
import sys
data = open(sys.argv[1], "rb").read()
# The new name has the same length as "libgomp.so.1". wheel/ has a link of that name.
assert data.count(b"libgomp.so.1\0") == 1
open(sys.argv[1], "wb").write(data.replace(b"libgomp.so.1\0", b"libgomp-hash\0"))
PY
ln -s libgomp-a34b3233.so.1 wheel/libgomp-hash

before=$(bpf_objects)
start_graind || exit 1

# Runtimes that are linked into programs.
for program in static static_pie linked_in static_stripped static_pie_stripped linked_in_stripped; do
	run ./$program tasks:50 tasks:7
	is "$program: every task" "$(field "$JOB" state grains lost runtime)" "finished 57 0 libgomp"
	whole "$program: complete"
done
for program in static static_pie linked_in; do
	for file in $program ${program}_stripped; do
		"$GRAINCTL" doctor --runtime ./$file --json >$file.json 2>err
	done
	is "$program: the same probe points with and without symbols" \
		"$(python3 - $program.json ${program}_stripped.json <<'PY'
import json, sys
a, b = ({(p["address"], p["event"]) for p in json.load(open(f))["plan"]["points"]} for f in sys.argv[1:])
# If several functions have the same code, it may stay without a name.
print(len(a) > 20, sorted(b - a), len(a - b) <= 1)
PY
)" "True [] True"
done
# A runtime without names that is not this system's: graind says so and does not guess.
python3 - static_stripped other_stripped <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
# No instruction is changed, but the table of functions is gone.
at = data.find(b".eh_frame\0")
data[at:at + 9] = b".nothing_"
# It must also not look like a copy of a file whose plan is known: such files have the same build-id.
note = data.find(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0")
assert note >= 0
data[note + 16] ^= 0xff
open(sys.argv[2], "wb").write(data)
PY
chmod +x other_stripped
timeout 60 "$GRAINCTL" run -- ./other_stripped tasks:5 >out 2>err
is "a runtime without names that is not recognised is refused in one line" \
	"$(grep -c 'without the names of its functions' err) $(cat out | wc -l)" "1 1"

# Other names and places.
LD_LIBRARY_PATH=$T/lib run ./dynamic tasks:50
is "a copy by LD_LIBRARY_PATH" "$(field "$JOB" grains lost)" "50 0"
whole "a copy by LD_LIBRARY_PATH: complete"
run ./loader ./plugin_gomp.so
is "loaded later: libgomp" "$(field "$JOB" grains lost runtime)" "1000 0 libgomp"
whole "loaded later: complete from the first event"
run ./loader ./plugin_omp.so
is "loaded later: libomp" "$(field "$JOB" grains lost runtime)" "1000 0 libomp"
whole "loaded later: libomp complete from the first event"
run ./loader ./plugin_gomp.so ./plugin_omp.so
is "two runtimes in one process" "$(field "$JOB" grains lost runtime)" "2000 0 libgomp+libomp"
# The first 50 tasks may be over by then.
run_late found ./loader until:found wheel/plugin.so
is "an unknown copy under another name is found when it is mapped" \
	"$(field "$JOB" state lost runtime) $(($(field "$JOB" grains) >= 950))" "finished 0 libgomp 1"
is "an unknown copy: the job says how late" \
	"$(field "$JOB" notes | grep -c 'late: .*libgomp-a34b3233.so.1 was found')" 1
LD_LIBRARY_PATH=$T run_late found_too ./loader plugin_gomp.so until:found_too wheel/plugin.so
is "two copies of libgomp" "$(($(field "$JOB" grains) >= 1950)) $(field "$JOB" lost)" "1 0"

# Attach to a process that has not loaded a runtime yet.
mkfifo go
(read -r _ <go; exec ./loader ./plugin_gomp.so) &
program=$!
PIDS+=("$program")
JOB=$("$GRAINCTL" attach "$program" 2>err | sed -n 's/^job //p')
is "attach before there is a runtime: waiting" "$(field "$JOB" state)" waiting
echo >go
wait "$program"
check "and its job ends" wait_state "$JOB" finished
is "all of it was recorded" "$(field "$JOB" grains lost)" "1000 0"

# Other roots.
mkdir -p root/lib root/proc
cp static static_stripped root/
cp dynamic root/
for file in $(ldd dynamic | grep -o '/[^ ]*'); do
	mkdir -p "root$(dirname "$file")"
	cp "$file" "root$file"
done
run_late root/go unshare -m chroot "$T/root" /dynamic until:/go tasks:21
is "in a root of its own, with its own libgomp" "$(field "$JOB" grains lost)" "21 0"
rm root/go
# attached SCRIPT: attaches to what this becomes, in its own mount namespace and root, and lets it go on. Leaves JOB.
attached()
{
	start_program unshare -m sh -c "$1"
	JOB=$("$GRAINCTL" attach "$P" 2>err | sed -n 's/^job //p')
	: >"/proc/$P/root/go"
	wait "$P"
	wait_state "${JOB:-0}" finished
}
attached "mount -t tmpfs none '$T/lib' && cp -r '$T/root/.' '$T/lib' &&
	exec chroot '$T/lib' /dynamic until:/go tasks:22"
is "attached in another mount namespace that we cannot see into by name" "$(field "${JOB:-0}" grains lost)" "22 0"
mkdir -p over merged
layers="lowerdir='$T/root',upperdir='$T/over/u',workdir='$T/over/w'"
overlaid="mount -t tmpfs none '$T/over' && mkdir '$T/over/u' '$T/over/w' &&
	mount -t overlay overlay -o $layers '$T/merged'"
if unshare -m sh -c "$overlaid" 2>err; then
	attached "$overlaid && exec chroot '$T/merged' /dynamic until:/go tasks:23"
	is "on an overlay, as in containers" "$(field "${JOB:-0}" grains lost)" "23 0"
else
	skip "on an overlay, as in containers" "this kernel has no overlay file system: $(head -1 err)"
fi

# Everything at the same time: one session, several files, more than 104 points.
session=$(curl -s --unix-socket "$GRAIND_SOCKET" -X POST -d '{"all":true}' http://graind/v1/jobs |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["job"])')
first=$((session + 1))
points=0
for file in ./static ./linked_in_stripped "$T/wheel/libgomp-hash"; do
	n=$("$GRAINCTL" doctor --runtime "$file" --json 2>/dev/null |
		python3 -c 'import json, sys; print(len((json.load(sys.stdin)["plan"] or {"points": ()})["points"]))')
	points=$((points + ${n:-0}))
done
check "session: several files with more than 104 points ($points)" [ "$points" -ge 104 ]
./static until:begin tasks:31 until:all_seen >out & a=$!
./linked_in_stripped until:begin tasks:32 until:all_seen >out & b=$!
LD_LIBRARY_PATH=$T/lib ./dynamic until:begin tasks:33 until:all_seen >out & c=$!
./loader until:all_seen ./plugin_omp.so & d=$!
./dynamic until:begin tasks:34 until:next exec:tasks.35,until.all_seen >out & e=$!
PIDS+=($a $b $c $d $e)
observed()
{
	"$GRAINCTL" jobs --all --json | python3 -c '
import json, sys
jobs = [j for j in json.load(sys.stdin)["jobs"] if j["job"] >= int(sys.argv[1]) and j["pid"] in map(int, sys.argv[2:])]
print(*sorted(j["grains"] for j in jobs))
sys.exit(any(j["state"] != "finished" for j in jobs))' $first "$@"
}
# have PID... GRAINS: whether these processes' jobs have so many grains
have() { [ "$(observed "${@:1:$#-1}")" = "${!#}" ]; }
until_so "session: all programs are known" known $a $b $c $d $e
: >begin
until_so "session: a program's tasks are seen before it executes another" have $e 34
: >next
until_so "session: all tasks are seen" have $a $b $c $e "31 32 33 34 35"
: >all_seen
wait $a $b $c $d $e
# These processes are over as soon as their tasks are. What they were is known from when they mapped the runtime.
short=()
for i in $(seq 8); do ./dynamic until:go_short tasks:36 >out & short+=($!); done
PIDS+=("${short[@]}")
# The program's file is opened last.
opened() { known "${short[@]}" && [ "$(find "/proc/$GRAIND_PID/fd" -lname "$T/dynamic" | wc -l)" -ge 8 ]; }
until_so "session: short programs are known" opened
: >go_short
wait "${short[@]}"
until_so "session: all jobs are over" have $a $b $c $d $e "${short[@]}" \
	"31 32 33 34 35 36 36 36 36 36 36 36 36 1000"
"$GRAINCTL" detach "$session" >/dev/null
until_so "session: all jobs are over" observed $a $b $c $d $e "${short[@]}"
is "session: all files, and programs executed since, are observed" "$(observed $a $b $c $d $e)" "31 32 33 34 35 1000"
unrecorded() { grep "is not recorded" "$T/graind.log" | grep -E "$(IFS='|'; echo "process (${short[*]}) ")"; }
is "session: programs that are over at once too" "$(observed "${short[@]}")$(unrecorded)" "36 36 36 36 36 36 36 36"
lines=$("$GRAINCTL" summary \
	"$("$GRAINCTL" jobs --all --json |
		python3 -c 'import json, sys; print(*[j["job"] for j in json.load(sys.stdin)["jobs"]
			if j["pid"] == int(sys.argv[1])])' "${short[0]}")" --json |
	python3 -c 'import json, sys; print(*sorted({d["source"].split(":")[0]
		for d in json.load(sys.stdin)["definitions"]}))')
is "... with their source lines" "$lines" "family.c"
[ "$(observed $a $b $c $d $e)" = "31 32 33 34 35 1000" ] || tail -20 "$T/graind.log"

# Plans that are kept.
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
check "plans are kept" [ -n "$(ls "$GRAIND_STATE_DIR/plans")" ]
is "plans: nobody else can write there" "$(stat -c '%a %u' "$GRAIND_STATE_DIR/plans")" "700 0"
for file in "$GRAIND_STATE_DIR"/plans/*; do
	# Every point is moved by one byte, so it is in the middle of an instruction.
	python3 - "$file" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
text = re.sub(r"^point\t([0-9a-f]+)", lambda m: "point\t%x" % (int(m[1], 16) + 1), text, flags=re.M)
open(sys.argv[1], "w").write(text)
PY
done
start_graind || exit 1
run ./dynamic tasks:50
is "a kept plan that was changed is not used" "$(field "$JOB" grains lost)" "50 0"
stop_graind
for file in "$GRAIND_STATE_DIR"/plans/*; do head -c 100000 /dev/urandom >"$file"; done
start_graind || exit 1
run ./dynamic tasks:50
is "nor one that is noise" "$(field "$JOB" grains lost)" "50 0"
rm -rf "$GRAIND_STATE_DIR/plans"
ln -s /etc "$GRAIND_STATE_DIR/plans"
stop_graind
start_graind || exit 1
run ./static tasks:50
is "nor a directory that is a link elsewhere" \
	"$(field "$JOB" grains lost) $(ls /etc | grep -cE '^[0-9a-f]+-[0-9a-f]+$')" "50 0 0"
stop_graind
wait_gone "nothing is left in the kernel" "$before"
