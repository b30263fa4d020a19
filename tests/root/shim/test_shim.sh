#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# libgrainshim: every construct on libgomp is as with uprobes. A million small tasks are recorded without a loss. A
# program goes on unharmed if nobody listens to it, if it forks, or if its graind is killed.
# usage: tests/root/shim/test_shim.sh BUILD_DIRECTORY
# With EVERY=1 (make check-every) with 1, 2 and 4 threads, and on the other versions of libgomp.
# FEW=1: one program of each kind of event, and thousands of tasks, for machines that are ten times slower.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
fib="$B/tests/omp/fib" depth=28 sampled=26 long=27 only=()
[ "${FEW:-}" ] && depth=20 sampled=22 long=22 only=(--only task_depend,taskloop,taskgroup,for_dynamic,sections,critical)
shim="$B/libgrainshim.so"
summary() { "$GRAINCTL" summary "$1" --json; }
job_of() { tail -n 1 "$T/err" | sed -n 's/^job \([0-9]*\)$/\1/p'; }

# The library shows only the runtimes' functions and the hook for libomp, and it needs only libc.
is "it needs nothing but libc" "$(objdump -p "$shim" | awk '/NEEDED/ && $2 !~ /^(libc\.so|ld-linux)/ { print $2 }')" ""
is "it shows nothing but entry points of runtimes" \
	"$(nm -D --defined-only "$shim" | awk '{ print $3 }' |
		grep -Ev '^(GOMP_|omp_|ompt_start_tool$|__kmpc_|dlclose$|grainshim_(attach|begin)$)')" ""

is "without graind the program is as ever" "$(LD_PRELOAD=$shim "$fib" 20 10 | json 'd["correct"]')" True
is "with a socket where nobody listens, too" \
	"$(LD_PRELOAD=$shim GRAIND_SHIM_SOCKET=$T/nobody "$fib" 20 10 | json 'd["correct"]')" True
start_graind || exit 1
is "a graind that has no job for it sends it away" \
	"$(LD_PRELOAD=$shim GRAIND_SHIM_SOCKET=$GRAIND_SOCKET.shim "$fib" 20 10 | json 'd["correct"]')" True

few=(--threads 2)
[ "${EVERY:-}" ] && few=()
python3 "$HERE/constructs/matrix.py" "$B" "$T" --fast --runtime libgomp "${few[@]}" "${only[@]}"
[ "${EVERY:-}" ] && python3 "$HERE/constructs/matrix.py" "$B" "$T" --fast --versions --runtime 'gomp-*'

"$GRAINCTL" run --fast --lossless -- "$fib" $depth $depth >"$T/out" 2>"$T/err"
job=$(job_of)
is "every task of fib($depth): result" "$(json 'd["correct"]' <"$T/out")" True
is "each is a grain" "$(summary "$job" | json 'd["grains"]["total"]')" "$(json 'd["tasks"]' <"$T/out")"
is "nothing lost, nothing incomplete" \
	"$(summary "$job" |
		json '[d["events"]["lost"], d["grains"]["incomplete"], d["incomplete_regions"],
			d["events"]["losses"]]')" \
	"[0, 0, 0, {}]"
is "the source is said" "$(summary "$job" | json 'd["source"]')" shim
tasks=$(json 'd["tasks"]' <"$T/out")
bytes=$(stat -c %s "$GRAIND_STATE_DIR/jobs/$job/trace.grt")
check "at most 32 bytes a task on disk ($((bytes / tasks)))" test $((bytes / tasks)) -le 32
"$GRAINCTL" delete "$job" >/dev/null

# The kernel's side is recorded, too: two threads on one CPU take turns.
"$GRAINCTL" run --fast --lossless --sample=999 -- taskset -c 0 "$fib" $sampled $sampled >"$T/out" 2>"$T/err"
job=$(job_of)
summary "$job" >"$T/summary"
check "the scheduler is followed, too" \
	test "$(json 'min(t["preemptions"] for t in d["scheduler"]["threads"])' <"$T/summary")" -gt 0
is "which they share: each had it, and together not longer than it was there" \
	"$(json '(lambda t: (len(t), all(x["cpu_ns"] > 0 for x in t),
	sum(x["cpu_ns"] for x in t) <= max(x["last_ns"] for x in t) -
	min(x["first_ns"] for x in t)))(d["scheduler"]["threads"])' <"$T/summary")" "(2, True, True)"
check "samples are in tasks" test "$(json 'd["sampling"]["grains"]' <"$T/summary")" -gt 0
is "nothing incomplete with them" "$(json '[d["events"]["lost"], d["grains"]["incomplete"]]' <"$T/summary")" "[0, 0]"
check "what an event costs is known" test "$(json 'd["overhead"]["ns_per_event"] > 0' <"$T/summary")" = True

# Programs from compilers before GCC 4.9.
OMP_SCHEDULE=dynamic,3 "$GRAINCTL" run --fast -- "$B/tests/root/programs/old_teams" >"$T/out" 2>"$T/err"
job=$(job_of)
summary "$job" >"$T/summary"
is "regions in two halves: right" "$(json 'd["correct"]' <"$T/out")" True
is "regions in two halves: each region, chunk, section and task" \
	"$(json '[len(d["regions"]), d["grains"]["tasks"], d["grains"]["chunks"], d["grains"]["incomplete"],
		d["incomplete_regions"]]' <"$T/summary")" \
	"$(json '[d["regions"], d["tasks"], d["chunks"] + d["sections"], 0, 0]' <"$T/out")"
is "the job has counted them, too" \
	"$("$GRAINCTL" jobs --all --json | json '[j["grains"] for j in d["jobs"] if j["job"] == '"$job"']')" \
	"[$(json 'd["tasks"] + d["chunks"] + d["sections"]' <"$T/out")]"

# If graind dies, only the recording is lost.
OMP_NUM_THREADS=2 timeout 120 "$GRAINCTL" run --fast -- "$fib" $long $long 30 >"$T/out" 2>"$T/err" &
program=$!
recorded() { "$GRAINCTL" jobs --json | json 'd["jobs"][0]["grains"] > 100000' | grep -qx True; }
until_so "the program is recorded" recorded
stop_graind KILL
wait "$program"
is "killed graind: the program ends as it should" "$? $(json 'd["correct"]' <"$T/out")" "0 True"
# Two threads write 12 MB of words, which are read some hundred times a second.
"$B/tests/tools/rings_only" "$T/rings.sock" 4 524288 wait >"$T/rings" &
rings=$!
until_so "there are rings" test -S "$T/rings.sock"
OMP_NUM_THREADS=2 LD_PRELOAD=$B/libgrainshim.so GRAIND_SHIM_SOCKET=$T/rings.sock "$B/tests/omp/rate" 200000 \
	2000 >"$T/out"
until_so "the rings are done" test -s "$T/rings"
kill "$rings"
# The rest are tables, and where each thread is.
check "a thread touches no more memory than its reader is behind: $(cat "$T/rings")" \
	test "$(json 'd["words"] > 1500000 and d["lost"] == 0 and d["kb"] < d["needed_kb"] + 512' <"$T/rings")" = True

start_graind || exit 1
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
