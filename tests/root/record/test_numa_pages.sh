#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where a program's memory lies: pages of arrays and blocks of known size, exactly, at the attach and at the end; and
# what the program may use. With several NUMA nodes also: memory that one thread has initialized is named, with
# advice, and memory that every thread has initialized is not.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

program=$B/tests/omp/first_touch
# A slow machine has no time for more.
sweeps=()
[ "${FEW:-}" ] && sweeps=(8)
nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' 2>/dev/null | wc -l)
start_graind || exit 1

# summary JOB EXPRESSION: evaluates it for the summary d of a job that has ended; a(NAME) is the area of that name,
# p(AREA, LOOK) its pages
summary()
{
	[ -s "$T/summary-$1" ] || "$GRAINCTL" summary "$1" --json >"$T/summary-$1" 2>&1 || return
	python3 - "$2" "$T/summary-$1" <<'EOF'
import json
import sys
d = json.load(open(sys.argv[2]))
numa = d["numa"]
areas = numa["pages"].get("areas", [])


def a(name):
    return next((x for x in areas if x["name"] == name), None)


def p(area, look):
    return None if area is None or area[look] is None else sum(area[look]["pages"]) + area[look]["hidden"]


print(eval(sys.argv[1]))
EOF
}
job_of() { sed -n 's/^job \([0-9]*\).*/\1/p' "$1" | tail -1; }
# recorded NAME=VALUE... PROGRAM [ARG...]: has grainctl run it until its memory is initialized and graind has looked at
# it after that. job: its job
recorded()
{
	local settings=()
	while [[ $1 == *=* ]]; do settings+=("$1"); shift; done
	OUT=$T/out start_loop env "${settings[@]}" "$GRAINCTL" run -- "$@" 2>"$T/err"
	await_looks
	kill $(pgrep -P "$P")
	wait "$P"
	job=$(job_of "$T/err")
}

# From the program's start on.
recorded OMP_NUM_THREADS=2 "$program" "${sweeps[@]}"
is "an array that one thread initializes: 32 MiB are 8192 pages" "$(summary "$job" 'p(a("serial_grid"), "last")')" 8192
is "one that all threads initialize: 8192" "$(summary "$job" 'p(a("parallel_grid"), "last")')" 8192
is "their file and kind" "$(summary "$job" '[a("serial_grid")[k] for k in ("module", "kind", "bytes")]')" \
	"['first_touch', 'data', 33554432]"
# malloc rounds up to pages and needs 16 bytes itself. Two pages of the smaller block are touched.
is "malloc's blocks are told apart, 24 MiB and 12 MiB, to the page" \
	"$(summary "$job" '[(x["bytes"] >> 12, p(x, "last")) for x in areas if x["kind"] == "allocation"]')" \
	"[(6144, 6144), (3072, 2)]"
is "all pages of an area are looked at" "$(summary "$job" 'a("serial_grid")["last"]["step"]')" 1
is "pages of nodes are those of the areas" "$(summary "$job" \
	'(sum(n["bytes_last"] for n in numa["nodes"]) ==
		4096 * sum(sum(x["last"]["pages"]) for x in areas if x["last"]))')" True
is "the machine's nodes" "$(summary "$job" '[n["node"] for n in numa["nodes"]]' | tr -cd 0-9, | tr , ' ' | wc -w)" \
	"${nodes/#0/1}"
is "no addresses are sampled, which is said" \
	"$(summary "$job" 'numa["addresses"]["available"], len(numa["addresses"]["why"]) > 20')" "(False, True)"

# A program of another user that already runs, with at most two CPUs, recorded by a graind with the rights of its
# unit. start_with CAPABILITIES: starts such a graind in place of the one that runs
start_with()
{
	stop_graind
	setpriv --bounding-set="$1" "$B/graind" --foreground --state-dir "$GRAIND_STATE_DIR" --socket "$GRAIND_SOCKET" \
		>>"$T/graind.log" 2>&1 &
	GRAIND_PID=$!
	PIDS+=($!)
	until_so "graind starts with these capabilities" "$GRAINCTL" status
}
rights=-all,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+setuid,+setgid,+chown
start_with $rights
install -m 755 "$program" "$T/first_touch"
chmod 755 "$T"
start_loop env OMP_NUM_THREADS=2 setpriv --reuid=65534 --regid=65534 --clear-groups taskset -c 0 "$T/first_touch" \
	"${sweeps[@]}"
"$GRAINCTL" attach "$P" >"$T/attached" 2>"$T/err"
if grep -q 'CAP_SYS_ADMIN on this kernel' "$T/err"; then
	multi=$("$GRAINCTL" doctor --json 2>/dev/null |
		json '[c["result"] for c in d["checks"] if c["name"] == "uprobe_multi"][0]')
	[ "${GRAIND_ATTACH:-}" = perf ] && multi=limited
	is "one more capability is needed, which one line says, where the kernel has no uprobe_multi only" \
		"$multi $(wc -l <"$T/err")" "limited 1"
	start_with $rights,+sys_admin
	"$GRAINCTL" attach "$P" >"$T/attached" 2>"$T/err"
fi
job=$(job_of "$T/attached")
[ "$job" ] || sed 's/^/# /' "$T/err"
await_looks
asked_ns=$(python3 -c 'import time; print(time.monotonic_ns())')
"$GRAINCTL" detach "$job" >/dev/null
is "attached: another user's pages, at the attach and at the end" "$(summary "$job" \
	'[p(a(n), look) for n in ("serial_grid", "parallel_grid") for look in ("first", "last")]')" \
	"[8192, 8192, 8192, 8192]"
is "it may use one CPU" "$(summary "$job" 'numa["allowed_cpus"]')" 0
is "the first look is soon, the last one when it is detached" \
	"$(summary "$job" "numa['pages']['first_ns'] < $asked_ns <= numa['pages']['last_ns']")" True
kill "$P" 2>/dev/null

# Without symbols, memory is named by its file.
strip -o "$T/stripped" "$program"
recorded OMP_NUM_THREADS=2 "$T/stripped" "${sweeps[@]}"
is "a stripped program: its data is one area" "$(summary "$job" \
	'[(x["name"], x["module"], p(x, "last") >= 16384) for x in areas
		if x["kind"] == "data" and x["bytes"] > 1 << 20]')" \
	"[(None, 'stripped', True)]"

# If another process reads a page that the program has not touched, the program's first touch of it is lost.
recorded OMP_NUM_THREADS=2 "$B/tests/root/programs/untouched"
is "memory of which one page was touched is looked at" \
	"$(summary "$job" '[p(x, "last") for x in areas if x["bytes"] == 16 << 20 and x["kind"] == "anonymous"]')" "[1]"
is "and nobody touches another" "$(cat "$T/out")" "1 of 4096 pages"

if [ "$nodes" -lt 2 ]; then
	is "one node: nothing can be remote, which is said" "$(summary "$job" 'numa["why"], numa["remote"]["why"]')" \
		"('one NUMA node: nothing can be remote', 'one NUMA node: nothing can be remote')"
	is "and no first touch is wrong" "$(summary "$job" '[x for x in areas if x["misplaced"]]')" "[]"
	skip "misplaced first touch" "this machine has one NUMA node; make check-vm has a guest with four"
	stop_graind
	exit 0
fi

# One thread on each node.
places=$(for n in /sys/devices/system/node/node[0-9]*; do
	sed 's/[-,].*//' "$n/cpulist"
done | grep . | sed 's/.*/{&}/' | paste -sd,)
threads=$(tr -cd '{' <<<"$places" | wc -c)
recorded OMP_NUM_THREADS="$threads" OMP_PLACES="$places" OMP_PROC_BIND=close "$program" "${sweeps[@]}"
is "on $nodes nodes: the array that one thread has initialized is misplaced" \
	"$(summary "$job" 'a("serial_grid")["misplaced"]')" True
is "all of it is on one node" "$(summary "$job" 'sorted(a("serial_grid")["last"]["pages"])[-1]')" 8192
is "the array that all have initialized is not" "$(summary "$job" 'a("parallel_grid")["misplaced"]')" False
is "it is spread over the nodes" "$(summary "$job" 'sum(x > 0 for x in a("parallel_grid")["last"]["pages"])')" \
	"$threads"
is "the advice names the array, and not the other" "$(summary "$job" \
	'[("serial_grid" in x["finding"], "parallel_grid" in x["finding"], "first touch" in x["text"])
	for x in d["advice"] if x["kind"] == "first_touch"]')" \
	"[(True, False, True)]"
is "each thread's time is on its node" "$(summary "$job" \
	'all(max(t["node_ns"]) > 0.9 * sum(t["node_ns"]) for t in numa["threads"] if sum(t["node_ns"]))')" True
is "what is remote at least, less than if all is used alike" "$(summary "$job" \
	'0 < numa["remote"]["least_percent"] <= numa["remote"]["alike_percent"] < 100')" True
"$GRAINCTL" summary "$job" >"$T/text"
check "the summary says it" grep -q "serial_grid.*misplaced" "$T/text"
stop_graind
