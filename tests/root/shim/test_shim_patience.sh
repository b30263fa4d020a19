#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# attach --fast tries again what is not possible at the moment, says after a while what it waits for, and gives up only
# when its patience is over. The program runs on meanwhile.
# usage: tests/root/shim/test_shim_patience.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
R=$B/tests/root/programs
GOMP=$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive SLOW_UNTIL=$T/go
start_graind || exit 1

# begin COMMAND...: starts the program, which makes the file $T/there when it is where it has to be. PROGRAM: its
# process
begin()
{
	rm -f "$T/there" "$T/go"
	"$@" >"$T/program.json" 2>"$T/program.err" &
	PROGRAM=$!
	PIDS+=("$PROGRAM")
}
# gives_up NAME TEXT: with a patience of a second, one line that says this and how to go on
gives_up()
{
	"$GRAINCTL" attach --fast --patience 1 "$PROGRAM" >"$T/out" 2>"$T/err"
	is "$1: after its patience it gives up" "$? $(wc -l <"$T/err") $(grep -c -- "$2.*--patience" "$T/err")" "1 1 1"
}
# waits NAME TEXT: an attach that waits and says why. ATTACH: its process
waits()
{
	"$GRAINCTL" attach --fast --patience $((PATIENCE * 2)) --lossless "$PROGRAM" >"$T/out" 2>"$T/err" &
	ATTACH=$!
	PIDS+=("$ATTACH")
	until_so "$1: it says what it waits for" grep -q -- "^grainctl: attach: waiting (see --patience): .*$2" "$T/err"
	check "$1: it has not given up" kill -0 "$ATTACH"
}
# records NAME: what the attach waited for has passed
recorded()
{
	wait "$ATTACH"
	is "$1: then it is recorded" \
		"$? $(grep -c "^job [0-9]*$" "$T/out") $(grep -v waiting "$T/err" | grep -v "was stopped for")" "0 1 "
	"$GRAINCTL" detach "$(sed -n 's/^job //p' "$T/out")"
}
PATIENCE=${PATIENCE:-120}

# The loader's state between two of its steps: the code is there, but nothing says what it contains.
begin /usr/bin/python3 -c "import ctypes, mmap, os, sys, time
library = open(sys.argv[1], 'rb')
code = mmap.mmap(library.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC, offset=4096)
open(sys.argv[2] + '/there', 'w')
while not os.path.exists(sys.argv[2] + '/go'):
    time.sleep(0.01)
ctypes.CDLL(sys.argv[3])
code.close()
while True:
    time.sleep(0.01)" "$GOMP" "$T" "$R/team_gomp.so"
until_so "the runtime is half loaded" test -e "$T/there"
gives_up "a runtime that is half loaded" "is just loading its OpenMP runtime"
waits "a runtime that is half loaded" "is just loading its OpenMP runtime"
touch "$T/go"
recorded "a runtime that is half loaded"
kill "$PROGRAM"
wait "$PROGRAM" 2>/dev/null

# The only thread of the program is in the loader.
begin /usr/bin/python3 -c "import ctypes, sys, time
ctypes.CDLL(sys.argv[1])
open(sys.argv[3] + '/there', 'w')
ctypes.CDLL(sys.argv[2])
while True:
    time.sleep(0.01)" "$R/team_gomp.so" "$R/plugin_slow.so" "$T"
until_so "it loads a library" test -e "$T/there"
until_so "it is in the loader" grep -q plugin_slow "/proc/$PROGRAM/maps"
gives_up "a thread in the loader" "no thread of process .* was where a library can be loaded"
# From one look to the next it sleeps, the longer the longer it lasts, however long that is.
strace -qq -o "$T/naps" -e trace=clock_nanosleep "$GRAINCTL" attach --fast --patience 10 "$PROGRAM" >"$T/out" 2>"$T/err"
is "it sleeps between its looks" "$? $(grep -c 'tv_nsec=100000000}' "$T/naps" | sed 's/^[1-9].*/some/') \
$(grep -c EINVAL "$T/naps")" "1 some 0"
waits "a thread in the loader" "loader\|allocator\|library"
touch "$T/go"
recorded "a thread in the loader"
kill "$PROGRAM"
wait "$PROGRAM" 2>/dev/null

# Another thread holds the loader's lock. The threads of the team go on meanwhile.
begin "$R/held_now" slow
until_so "a thread loads a library" grep -q plugin_slow "/proc/$PROGRAM/maps"
gives_up "a lock of the loader that is held" "was loading a library all the time"
waits "a lock of the loader that is held" "it is loading a library"
is "its threads are not stopped meanwhile" "$(grep -l '^State:.*[tT] (' /proc/"$PROGRAM"/task/*/status | wc -l)" 0
touch "$T/go"
recorded "a lock of the loader that is held"
kill -TERM "$PROGRAM"
wait "$PROGRAM"
is "the program is unharmed" "$? $(json 'd["correct"]' <"$T/program.json")" "0 True"

"$GRAINCTL" attach --fast --patience x 1 >"$T/out" 2>"$T/err"
is "a patience that is no number" "$? $(grep -c "patience takes whole seconds, not 'x'" "$T/err")" "2 1"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
