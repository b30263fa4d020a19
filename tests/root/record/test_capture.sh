#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The capture library on the real kernel: exact counts by both ways to attach, for one process or all, the gate,
# losses, and what is left after kill -9.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

FIB=$B/tests/omp/fib
export OMP_NUM_THREADS=2
# A private copy of libgomp: other programs on the machine do not pass its probes.
LIBRARY=$T/lib/libgomp.so.1
mkdir "$T/lib"
cp "$(ldconfig -p | awk '$1 == "libgomp.so.1" {print $NF; exit}')" "$LIBRARY"
export LD_LIBRARY_PATH=$T/lib

# capture OPTION...: starts a capture in the background, with its output in $T/counts; returns once it records
capture()
{
	rm -f "$T/ready"
	"$B/tests/tools/capture_events" "$@" >"$T/counts" 2>&1 &
	CAPTURE=$!
	PIDS+=("$CAPTURE")
	until_so "capture_events $*" eval '[ -e "$T/ready" ] || ! kill -0 "$CAPTURE" 2>/dev/null'
	[ -e "$T/ready" ] && return 0
	if grep -q "this kernel has no uprobe_multi links" "$T/counts" &&
		[ "$(uname -r | sort -V - <(echo 6.6) | head -n 1)" != 6.6 ]; then
		skip "capture_events $*" "$(cat "$T/counts")"
	else
		not_ok "capture_events $*" "$(cat "$T/counts")"
	fi
	return 1
}
# counted: the programs to be counted have ended; ends the capture, too
counted() { rm -f "$T/ready"; wait "$CAPTURE"; }
value() { sed -n "s/^$1 //p" "$T/counts"; }
tasks_of() { sed -n 's/.*"tasks":\([0-9]*\).*/\1/p' <<<"$1"; }

before=$(bpf_objects)
for method in multi perf; do
	capture -f "$LIBRARY" -m $method "$T/ready" 3600 || continue
	out=$("$FIB" 22 8 5)
	counted
	n=$(tasks_of "$out")
	for kind in task_create task_create_end task_begin task_end; do
		is "$method: $kind = tasks created" "$(value $kind)" "$n"
	done
	is "$method: regions" "$(value region_begin) $(value region_end) $(value team_start) $(value team_started)" \
		"5 5 5 5"
	is "$method: workers' implicit tasks" "$(value member_begin)" 5
	is "$method: singles" "$(value single)" 10
	is "$method: nothing lost, no faults" "$(value ring_full) $(value read_faults) $(value overwritten)" "0 0 0"
done

# One process. The other one, which runs at the same time, leaves no events.
"$FIB" 20 8 10000000 >"$T/a" &
a=$!
PIDS+=("$a")
ticks_of() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
capture -f "$LIBRARY" -p $a "$T/ready" 3600 && {
	"$FIB" 20 8 20 >/dev/null
	ticks=$(ticks_of $a)
	until_so "the one has run meanwhile" eval "[ \"\$(ticks_of $a)\" -ge $((ticks + 5)) ]"
	counted
	is "one process: no event of another" "$(value process_changes)" 1
}
kill $a
wait $a 2>/dev/null
plan=$("$B/grainctl" doctor | grep '^ *0x')
capture "$T/ready" 3600 && {
	is "all processes: their breakpoints are not taken for the runtime's code" \
		"$("$B/grainctl" doctor | grep '^ *0x')" "$plan"
	counted
}
capture -f "$LIBRARY" "$T/ready" 3600 && {
	"$FIB" 20 8 3 >"$T/a" & "$FIB" 20 8 4 >"$T/b"
	wait $!
	counted
	is "all processes: both are seen" "$(value task_begin)" \
		"$(($(tasks_of "$(cat "$T/a")") + $(tasks_of "$(cat "$T/b")")))"
}

capture -f "$LIBRARY" -g "$T/ready" 3600 && {
	"$FIB" 20 8 5 >/dev/null
	counted
	is "behind the closed gate nothing is recorded" "$(value task_create) $(value region_begin)" "0 0"
}

# Nobody reads a small ring. Events that do not fit are counted exactly.
OMP_NUM_THREADS=1
capture -f "$LIBRARY" -s 1024 -i 0 "$T/ready" 3600 && {
	out=$("$FIB" 20 8 5)
	counted
	lost=$(value ring_full)
	got=$(($(value task_create) + $(value task_create_end) + $(value task_begin) + $(value task_end)))
	rest=$(($(value wait_begin) + $(value wait_end) + $(value region_begin) + $(value region_end) +
		$(value team_start) + $(value team_started) + $(value single)))
	n=$(tasks_of "$out")
	# a taskwait per call that makes two tasks, and a barrier after each single and region
	if [ "$lost" -gt 0 ]; then
		ok "a full ring loses events and says so ($lost)"
	else
		not_ok "a full ring loses events"
	fi
	is "recorded and lost add up to what happened" $((got + rest + lost)) $((4 * n + n + 5 * (2 * 2 + 4 + 1)))
}

# Two processes share the ring. Each is charged only with its own losses.
capture -f "$LIBRARY" -s 1024 -i 0 -l "$T/lost_of" "$T/ready" 3600 && {
	for i in 5 3; do
		taskset -c 0 "$FIB" 20 8 $i >"$T/fib.$i" &
		echo $! >>"$T/lost_of"
		wait $!
	done
	counted
	{ read -r first; read -r second; } <"$T/lost_of"
	n=$(tasks_of "$(cat "$T/fib.3")")
	is "a process that comes when the ring is full has lost all of its events" "$(value "ring_full_of_$second")" \
		$((5 * n + 3 * 9))
	is "and the one before it what did not fit" "$(value "ring_full_of_$first")" \
		$(($(value ring_full) - $(value "ring_full_of_$second")))
	n=$(tasks_of "$(cat "$T/fib.5")")
	check "which is not all" test "$(value "ring_full_of_$first")" -lt $((5 * n + 5 * 9))
}

capture "$T/ready" 3600 && {
	kill -9 "$CAPTURE"
	wait "$CAPTURE" 2>/dev/null
	wait_gone "kill -9 leaves nothing attached" "$before"
}
