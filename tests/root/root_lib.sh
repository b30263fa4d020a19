# SPDX-License-Identifier: BSD-2-Clause
# Sourced after lib.sh by the tests that attach real probes. If the machine or the user cannot do that, the test is
# skipped.
if [ "$(id -u)" -ne 0 ]; then
	skip "$(basename "$0" .sh)" "needs root to attach uprobes: run 'sudo make check'"
	exit 0
fi
export GRAIND_STATE_DIR=$T/state GRAIND_SOCKET=$T/graind.sock GRAIND_CONFIG=/dev/null
GRAIND_PID=
GRAINCTL=$B/grainctl
HERE=$ROOT/tests/root

# for_all_users [PROGRAM...]: copies graind, grainctl, what belongs beside them, and these programs to $T/public, where
# every user can reach them. Others need not be able to reach the checkout.
for_all_users()
{
	chmod 755 "$T"
	mkdir -p -m 755 "$T/public"
	install -m 755 "$B"/graind{,-render} "$B"/grainctl{,-full} "$B/libgrainshim.so" "$@" "$T/public"
}

# start_graind: starts a graind for this test, with its own state directory and socket
start_graind()
{
	local i
	mkdir -p "$GRAIND_STATE_DIR"
	"$B/graind" --foreground --state-dir "$GRAIND_STATE_DIR" --socket "$GRAIND_SOCKET" >>"$T/graind.log" 2>&1 &
	GRAIND_PID=$!
	PIDS+=("$GRAIND_PID")
	for i in $(seq 2400); do
		[ -S "$GRAIND_SOCKET" ] && "$GRAINCTL" status >/dev/null 2>&1 && return 0
		kill -0 "$GRAIND_PID" 2>/dev/null || break
		sleep 0.05
	done
	not_ok "graind starts" "$(tail -5 "$T/graind.log")"
	return 1
}

# With several nodes the kernel takes pages away now and then to see who uses them. This causes page faults that no
# program asked for. It is off until the test ends.
no_numa_balancing()
{
	local knob=/proc/sys/kernel/numa_balancing before
	before=$(cat $knob 2>/dev/null) || return 0
	[ "$before" = 0 ] && return
	echo 0 >$knob
	trap "cleanup; echo $before >$knob" EXIT
}

# start_program COMMAND ARG...: starts a program with OpenMP, and waits until it has loaded its runtime. P: its process.
# Its output goes to $OUT.
start_program()
{
	"$@" >"${OUT:-/dev/null}" &
	P=$!
	PIDS+=("$P")
	until_so "$* loads its runtime" grep -qsE '/lib(gomp|omp|iomp5)[^/]*\.so' "/proc/$P/maps"
}
# start_loop COMMAND ARG...: starts loop_forever, or what becomes it, and waits until its first region is over. P: its
# process. Its output goes to $OUT.
start_loop()
{
	local begun
	begun=$(mktemp -u "${TMPDIR:-/tmp}/begun.XXXXXX")
	LOOP_BEGUN=$begun "$@" >"${OUT:-/dev/null}" &
	P=$!
	PIDS+=("$P")
	until_so "$* ends a region" test -e "$begun"
	rm -f "$begun"
}
# more_regions FILE NUMBER: waits until the loop_forever with LOOP_REGIONS=FILE has ended so many regions more
more_regions() { until_so "$2 regions more" eval "[ \"\$(cat $1)\" -ge $(($(cat "$1") + $2)) ]"; }

# pages_time: the CPU time of graind's looks at memory so far, in tenths of a millisecond. Nothing while it looks.
pages_time()
{
	local task
	task=$(grep -lsx graind-pages "/proc/$GRAIND_PID/task"/*/comm) && task=${task%/comm} &&
		grep -q '^State:.S' "$task/status" && awk '{ print int($1 / 100000) }' "$task/schedstat"
}
# await_looks: waits until graind has begun and ended a look at memory. One that is just at work does not count.
await_looks()
{
	local _
	for _ in 1 2; do
		until_so "graind waits for its next look" eval 'pages_time >"$T/pages_time"' || return
		until_so "graind looks" eval '[ "$(pages_time)" -gt "$(cat "$T/pages_time")" ]' || return
	done
}

# stop_graind [SIGNAL]: leaves the exit status in GRAIND_STATUS
stop_graind()
{
	kill "-${1:-TERM}" "$GRAIND_PID" 2>/dev/null
	wait "$GRAIND_PID" 2>/dev/null
	GRAIND_STATUS=$?
	# If graind ended by a fault: where in the program, as far as the kernel has recorded it.
	case $GRAIND_STATUS in
	132 | 135 | 136 | 139) dmesg 2>/dev/null | grep -E 'segfault|general protection|trap ' | tail -3 |
		sed 's/^/# /' ;;
	esac
}

# held_by_others: "prog NUMBER", "map NUMBER" and "link NUMBER" of all that other processes, outside this test, have
# open
held_by_others()
{
	local pid kind id last= ours=
	while read -r pid kind id; do
		[ "$pid" = "$last" ] || { grep -qzsF "GRAIND_STATE_DIR=$T/" "/proc/$pid/environ" && ours=1 || ours=; }
		last=$pid
		[ "$ours" ] || echo "$kind $id"
	done < <(grep -sE '^(prog|map|link)_id:' /proc/[0-9]*/fdinfo/* |
		sed -E 's|^/proc/([0-9]+)/fdinfo/[0-9]+:(.*)_id:[[:space:]]*|\1 \2 |')
}

# attach_fast ARG...: prints the number of the job. A busy machine may not run the program's threads soon, so grainctl
# tries as long as everything else waits here. What it says is in $T/err.
attach_fast()
{
	local job
	job=$("$GRAINCTL" attach --fast --patience "${PATIENCE:-120}" "$@" 2>"$T/err" | sed -n 's/^job //p')
	[ "$job" ] && echo "$job"
}

# settings LINE...: writes GRAIND_CONFIG. reload: waits until graind has read it.
settings() { printf '%s\n' "$@" >"$GRAIND_CONFIG"; }
reload()
{
	local was
	was=$(grep -c 'settings' "$T/graind.log")
	kill -HUP "$GRAIND_PID"
	for _ in $(seq 6000); do [ "$(grep -c 'settings' "$T/graind.log")" -gt "$was" ] && return; sleep 0.02; done
}

# bpf_objects: what graind has in the kernel, one line each: its links, programs and maps. Objects of other processes
# that run meanwhile are left out.
bpf_objects()
{
	{
		bpftool prog show 2>/dev/null | sed -n 's/^\([0-9]*\): \([a-z_]*\) *name \([^ ]*\).*/prog \1 \2 \3/p'
		bpftool map show 2>/dev/null | sed -n 's/^\([0-9]*\): \([a-z_]*\) *name \([^ ]*\).*/map \1 \2 \3/p'
		bpftool link show 2>/dev/null | sed -n 's/^\([0-9]*\): \([a-z_]*\).*/link \1 \2/p'
	} >"$T/bpf_objects"
	# This comes afterwards: objects that were made since then are not in the first list.
	held_by_others | awk 'FILENAME == "-" { others[$1 " " $2] = 1; next } !(($1 " " $2) in others)' - \
		"$T/bpf_objects"
}

# spared: removes what a running graind keeps loaded for its next job from its input. This is one capture: no link,
# and each program and map at most once.
spared()
{
	if kill -0 "$GRAIND_PID" 2>/dev/null; then
		awk '$1 == "link" || seen[$1 " " $3 " " $4]++'
	else
		cat
	fi
}

# wait_gone NAME BEFORE: waits until everything that BEFORE does not list has left the kernel, except what is loaded
# for the next job (spared). The kernel frees it in the background, so it gets two minutes.
wait_gone()
{
	local i left
	for i in $(seq 1200); do
		left=$(comm -13 <(sort <<<"$2") <(bpf_objects | sort) | spared)
		[ -z "$left" ] && break
		sleep 0.1
	done
	if [ -z "$left" ]; then ok "$1"; else not_ok "$1" "$left"; fi
}

# free_ports NUMBER: this many free ports of 127.0.0.1, in one line
free_ports()
{
	python3 -c 'import socket, sys
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(x.getsockname()[1] for x in s))' "$1"
}
# of_job NUMBER EXPRESSION: the value of the expression for the job j as it is now
of_job() { curl -s --unix-socket "$GRAIND_SOCKET" "http://graind/v1/jobs/$1" | json "(lambda j: $2)(d)" 2>/dev/null; }
# becomes NUMBER EXPRESSION: waits until the expression holds, for at most two minutes
becomes() {
	local _
	for _ in $(seq 1200); do [ "$(of_job "$1" "$2")" = True ] && break; sleep 0.1; done
	of_job "$1" "$2"
}
# records JOB SECONDS: waits for this long, and until the job has 20 whole regions of loop_forever. Any 25 regions in
# a row have 425 tasks.
records() { sleep "$2"; becomes "$1" 'j["grains"] >= 430' >/dev/null; }
