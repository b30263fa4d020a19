# SPDX-License-Identifier: BSD-2-Clause
# Sourced after lib.sh by the tests that attach real probes. Ends the test with
# a skip where the machine or the user cannot.
if [ "$(id -u)" -ne 0 ]; then
	skip "$(basename "$0" .sh)" "needs root to attach uprobes: run 'sudo make check'"
	exit 0
fi
export GRAIND_STATE_DIR=$T/state GRAIND_SOCKET=$T/graind.sock GRAIND_CONFIG=/dev/null
GRAIND_PID=
GRAINCTL=$B/grainctl
HERE=$ROOT/tests/root

# start_graind: one of our own, with its own state directory and socket.
start_graind()
{
	local i
	mkdir -p "$GRAIND_STATE_DIR"
	"$B/graind" --foreground --state-dir "$GRAIND_STATE_DIR" --socket "$GRAIND_SOCKET" >>"$T/graind.log" 2>&1 &
	GRAIND_PID=$!
	PIDS+=("$GRAIND_PID")
	for i in $(seq 100); do
		[ -S "$GRAIND_SOCKET" ] && "$GRAINCTL" status >/dev/null 2>&1 && return 0
		kill -0 "$GRAIND_PID" 2>/dev/null || break
		sleep 0.05
	done
	not_ok "graind starts" "$(tail -5 "$T/graind.log")"
	return 1
}

# With several nodes the kernel takes pages away now and then to see who uses them: faults that nobody asked for.
# There are none until the test ends.
no_numa_balancing()
{
	local knob=/proc/sys/kernel/numa_balancing before
	before=$(cat $knob 2>/dev/null) || return 0
	[ "$before" = 0 ] && return
	echo 0 >$knob
	trap "cleanup; echo $before >$knob" EXIT
}

# stop_graind [SIGNAL]: leaves its exit status in GRAIND_STATUS.
stop_graind()
{
	kill "-${1:-TERM}" "$GRAIND_PID" 2>/dev/null
	wait "$GRAIND_PID" 2>/dev/null
	GRAIND_STATUS=$?
}

# held_by_others: "prog NUMBER", "map NUMBER" and "link NUMBER" of what processes have open that do not come from this test.
held_by_others()
{
	local pid kind id last= ours=
	while read -r pid kind id; do
		[ "$pid" = "$last" ] || { grep -qzsF "GRAIND_STATE_DIR=$T/" "/proc/$pid/environ" && ours=1 || ours=; }
		last=$pid
		[ "$ours" ] || echo "$kind $id"
	done < <(grep -sE '^(prog|map|link)_id:' /proc/[0-9]*/fdinfo/* | sed -E 's|^/proc/([0-9]+)/fdinfo/[0-9]+:(.*)_id:[[:space:]]*|\1 \2 |')
}

# settings LINE...: the whole of GRAIND_CONFIG; reload: until graind has read it.
settings() { printf '%s\n' "$@" >"$GRAIND_CONFIG"; }
reload()
{
	local was
	was=$(grep -c 'settings' "$T/graind.log")
	kill -HUP "$GRAIND_PID"
	for _ in $(seq 100); do [ "$(grep -c 'settings' "$T/graind.log")" -gt "$was" ] && return; sleep 0.02; done
}

# What graind has in the kernel, one line each: its links, programs and maps. What others have that run meanwhile is left out.
bpf_objects()
{
	{
		bpftool prog show 2>/dev/null | sed -n 's/^\([0-9]*\): \([a-z_]*\) *name \([^ ]*\).*/prog \1 \2 \3/p'
		bpftool map show 2>/dev/null | sed -n 's/^\([0-9]*\): \([a-z_]*\) *name \([^ ]*\).*/map \1 \2 \3/p'
		bpftool link show 2>/dev/null | sed -n 's/^\([0-9]*\): \([a-z_]*\).*/link \1 \2/p'
	} >"$T/bpf_objects"
	# Afterwards: what was made since is in no list.
	held_by_others | awk 'FILENAME == "-" { others[$1 " " $2] = 1; next } !(($1 " " $2) in others)' - "$T/bpf_objects"
}

# wait_gone NAME BEFORE: everything that BEFORE does not list has left the
# kernel. The kernel frees it in the background, so it gets five seconds.
wait_gone()
{
	local i left
	for i in $(seq 50); do
		left=$(comm -13 <(sort <<<"$2") <(bpf_objects | sort))
		[ -z "$left" ] && break
		sleep 0.1
	done
	if [ -z "$left" ]; then ok "$1"; else not_ok "$1" "$left"; fi
}

# free_ports NUMBER: so many of 127.0.0.1, in one line.
free_ports()
{
	python3 -c 'import socket, sys
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(x.getsockname()[1] for x in s))' "$1"
}
# of_job NUMBER EXPRESSION: of the job j, now.
of_job() { curl -s --unix-socket "$GRAIND_SOCKET" "http://graind/v1/jobs/$1" | json "(lambda j: $2)(d)" 2>/dev/null; }
# becomes NUMBER EXPRESSION: until it holds, ten seconds at most.
becomes() { local _; for _ in $(seq 100); do [ "$(of_job "$1" "$2")" = True ] && break; sleep 0.1; done; of_job "$1" "$2"; }
# records JOB SECONDS: so long, and until 20 whole regions of loop_forever are in it: any 25 of them in a row are 425 tasks.
records() { sleep "$2"; becomes "$1" 'j["grains"] >= 430' >/dev/null; }
