#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost ceiling. A program that would cost too much is recorded in windows. This is said everywhere, and its work
# is estimated near the truth. Other programs are recorded as always. A row of the benchmark measures the cost in real
# time.
# usage: tests/root/record/test_ceiling.sh BUILD_DIRECTORY
# With EVERY=1 (make check-every) also the estimates for a program that is recorded in windows.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
PROGRAMS=$B/tests/omp

# limited NAME OPTIONS -- PROGRAM ARG...: leaves NAME.out, .err, .text, .summary, .job
limited()
{
	local name=$1 job
	shift
	if ! "$GRAINCTL" run "$@" >"$T/$name.out" 2>"$T/$name.err"; then
		not_ok "$name: runs" "$(tail -3 "$T/$name.err")"
		return 1
	fi
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	"$GRAINCTL" summary "$job" >"$T/$name.text"
	"$GRAINCTL" summary "$job" --json >"$T/$name.summary"
	cp "$GRAIND_STATE_DIR/jobs/$job/job.json" "$T/$name.job"
	echo "$job" >"$T/$name.number"
}

start_graind || exit 1

limited free -- "$PROGRAMS/fib" 34 8 3
is "without a ceiling: recorded all the time" "$(json 'd["recording"]' <"$T/free.summary")" "{'mode': 'all'}"
is "without a ceiling: none in the job" "$(json 'd["ceiling"]' <"$T/free.job")" "None"

# How coarse the tasks are follows from what a probe and a task cost on this machine. The program's 4,700 events, at
# 1.5 probes each, must take at most 1.6 % of its time. With each number more, a task has 1.6 times the work.
probe_ns=$(json 'round(d["ns_per_event"])' <"$T/free.job")
bare_ns=$(for _ in 1 2 3; do "$PROGRAMS/fib" 38 6 6 | json 'd["whole_ns"]'; done | sort -n | head -1)
coarse=$(awk -v ns="$probe_ns" -v bare="$bare_ns" 'BEGIN {
	n = log(4700 * 1.5 * ns / 0.016 / bare) / log(1.618); print(38 + (n > 0 ? int(n + 0.99) : 0)) }')
echo "= a probe takes $probe_ns ns, fib(38) $((bare_ns / 1000000)) ms: fib($coarse) is coarse"
limited coarse --ceiling 2 -- "$PROGRAMS/fib" "$coarse" 6 6
is "coarse: recorded all the time" \
	"$(json 'd["recording"]["mode"], d["average_parallelism"] is not None' <"$T/coarse.summary")" "('all', True)"
is "coarse: the job has the ceiling" \
	"$(json 'd["ceiling"]["percent"], d["ceiling"]["mode"], d["ceiling"]["windows"]' <"$T/coarse.job")" \
	"(2.0, 'all', 0)"
is "coarse: every task" "$(json 'd["grains"]["tasks"], d["grains"]["incomplete"]' <"$T/coarse.summary")" "(756, 0)"

# Its tasks are shorter than one probe.
limited fine --ceiling 2 -- "$PROGRAMS/fib" 30 30 10
is "fine: in windows" "$(json 'd["ceiling"]["mode"]' <"$T/fine.job")" windows
is "fine: costs what it may, as far as graind reckons" \
	"$(json '0 < d["ceiling"]["cost_percent"] <= 2.5 and d["ceiling"]["recorded_percent"] < 20' <"$T/fine.job")" \
	True
check "fine: a note tells" grep -q "ceiling: recording all would cost more than 2 %" "$T/fine.job"
check "fine: the summary tells" grep -q "RECORDED IN WINDOWS" "$T/fine.text"
is "fine: and so does the job's note below it" \
	"$(sed -n '/^NOTES$/,$p' "$T/fine.text" | grep -c "^  - ceiling: recording all would cost more than 2 %")" 1
check "fine: and above the rest, how much of the time it is" \
	grep -q "^  part   recorded in [0-9]* windows\?: [0-9.]* % of" "$T/fine.text"
is "fine: nothing is made of the gaps" \
	"$(json '(d["conservation"]["violations"] == 0 and d["average_parallelism"] is None
	and d["wall_ns"] == d["recording"]["recorded_ns"]
	and d["recording"]["recorded_ns"] < d["recording"]["whole_ns"] / 4
	and d["work_ns"] <= 2.02 * d["wall_ns"]
	and sum(r["wall_ns"] for r in d["regions"]) <= 2.02 * d["wall_ns"])' <"$T/fine.summary")" True
is "fine: no fragment is longer than its window" \
	"$(json 'all(x["exec_ns"]["max"] < d["recording"]["recorded_ns"] for x in d["definitions"])' \
	<"$T/fine.summary")" True
"$GRAINCTL" export "$(cat "$T/fine.number")" --format log -o "$T/fine.log"
"$GRAINCTL" summary "$T/fine.log" --json >"$T/fine.again"
is "fine: the exported log says the same" \
	"$(json 'd["recording"], d["grains"], d["work_ns"], d["wall_ns"]' <"$T/fine.again")" \
	"$(json 'd["recording"], d["grains"], d["work_ns"], d["wall_ns"]' <"$T/fine.summary")"

# From inside it costs less, and windows need no probes. If even that costs too much, it is recorded in windows.
for runtime in libgomp libomp; do
	program=$PROGRAMS/fib
	[ $runtime = libgomp ] || program=$PROGRAMS/fib.clang
	limited "inside-$runtime" --ceiling 1 --fast -- "$program" 32 32 3
	is "inside, $runtime: in windows" \
		"$(json 'd["ceiling"]["mode"], d["ceiling"]["windows"] > 1' <"$T/inside-$runtime.job")" \
		"('windows', True)"
	is "inside, $runtime: recorded from inside" "$(json 'd["source"]' <"$T/inside-$runtime.summary")" shim
	is "inside, $runtime: costs what it may, as far as graind reckons" \
		"$(json '0 < d["ceiling"]["cost_percent"] <= 1.5 and d["ceiling"]["recorded_percent"] < 50' \
			<"$T/inside-$runtime.job")" True
	is "inside, $runtime: more of it than probes would" \
		"$(json 'd["ceiling"]["recorded_percent"]' <"$T/inside-$runtime.job" | awk '{ print ($1 > 1) }')" 1
	is "inside, $runtime: the program is right, nothing is lost, nothing is made of the gaps" \
		"$(json '(d["events"]["lost"], d["conservation"]["violations"], d["average_parallelism"],
			d["work_ns"] <= 2.02 * d["wall_ns"],
			d["wall_ns"] == d["recording"]["recorded_ns"] < d["recording"]["whole_ns"] / 2)' \
			<"$T/inside-$runtime.summary")" "(0, 0, None, True, True)"
	is "inside, $runtime: no fragment is longer than its window" \
		"$(json 'all(x["exec_ns"]["max"] < d["recording"]["recorded_ns"] for x in d["definitions"])' \
		<"$T/inside-$runtime.summary")" True
done
"$PROGRAMS/fib" 36 36 1 >"$T/running.out" 2>&1 &
program=$!
PIDS+=("$program")
sleep 0.2
"$GRAINCTL" attach --fast --lossless --ceiling 1 "$program" >"$T/attached.out" 2>&1
attached=$?
is "attached from inside: $(tail -n 1 "$T/attached.out")" $attached 0
job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/attached.out" | tail -1)
sleep 1.5
"$GRAINCTL" detach "$job" >"$T/detached.out" 2>&1
"$GRAINCTL" summary "$job" --json >"$T/attached.summary"
is "attached from inside: in windows" \
	"$(json 'd["recording"]["mode"], d["events"]["lost"], d["conservation"]["violations"]' \
		<"$T/attached.summary")" \
	"('windows', 0, 0)"
check "attached from inside: the program goes on" kill -0 $program
kill $program
wait $program 2>/dev/null

# Estimates. They take some minutes if probes cost much.
medium()
{
	# Each region has 8190 tasks of some 20 us. A window is a region, and the last one may be missing at the end.
	# Among this many regions that is little. If probes cost more, the windows have less of the program.
	for seed in 1 2 3; do
		limited "medium$seed" --ceiling 2 -- "$PROGRAMS/fib" 38 12 $((probe_ns < 2000 ? 150 : 250))
	done
	limited whole -- "$PROGRAMS/fib" 38 12 100
	python3 - "$T" <<'PY'
import json, sys
base = sys.argv[1]
runs = [json.load(open("%s/medium%d.summary" % (base, i))) for i in (1, 2, 3)]
jobs = [json.load(open("%s/medium%d.job" % (base, i))) for i in (1, 2, 3)]
whole = json.load(open(base + "/whole.summary"))


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:900])


est = [r["recording"].get("estimated") for r in runs]
check("medium: in windows, three times", all(est) and all(j["ceiling"]["cost_percent"] <= 2.5 for j in jobs),
      [(j["ceiling"], r["recording"]) for r, j in zip(runs, jobs)])
if all(est):
    check("medium: estimates have their errors",
          all(0 < (e["work_ns"]["error"] or 0) < 0.3 * e["work_ns"]["value"] for e in est), est)
    work = [e["work_ns"]["value"] / (r["recording"]["whole_ns"] * 2) for e, r in zip(est, runs)]
    share = whole["work_ns"] / (whole["wall_ns"] * 2)
    check("medium: both threads work %.2f of the time, estimated %s (+- 0.2)" % (share, ["%.2f" % w for w in work]),
          abs(sum(work) / 3 - share) < 0.2, est)
    check("medium: what is not whole is marked",
          all(r["grains"]["incomplete"] < 0.3 * r["grains"]["total"] for r in runs),
          [r["grains"] for r in runs])
PY
}
[ "${EVERY:-}" ] && medium

# A session. The policy's ceiling is that of each process. If all processes are recorded, the most costly one decides.
stop_graind
is "graind ends well" "$GRAIND_STATUS" 0
export GRAIND_CONFIG=$T/graind.conf
settings "process-ceiling-percent = 2" "rule {" "  exe = \"$PROGRAMS/loop_forever\"" "  profile = off" "}"
start_graind || exit 1
session=$(curl -s --unix-socket "$GRAIND_SOCKET" -d '{"all":true}' http://graind/v1/jobs | json 'd["job"]')
"$PROGRAMS/fib" "$coarse" 5 6 >"$T/first.out"
"$PROGRAMS/fib" 38 12 100 >"$T/third.out" & medium=$!
# There may be seconds between two windows, so this waits until the program has its job.
for _ in $(seq 2400); do
	"$GRAINCTL" jobs --json >"$T/jobs"
	[ "$(json "[j for j in d['jobs'] if j['pid'] == $medium and j['events']] != []" <"$T/jobs")" = True ] && break
	sleep 0.05
done
"$PROGRAMS/fib" 30 30 24 >"$T/second.out" & fine=$!
# Short programs beside it: each is over before the next window, or has its job.
short=()
for _ in $(seq 20); do
	"$PROGRAMS/fib" 20 2 1 >/dev/null & short+=($!)
	wait $!
	sleep 0.1
done
"$PROGRAMS/loop_forever" 600000 "$T/times" >/dev/null & off=$!
PIDS+=("$off")
sleep 0.5
kill "$off"
wait "$fine"; fine=$?; wait "$medium"; medium=$?
is "session: programs are right" "$fine $medium" "0 0"
curl -s --unix-socket "$GRAIND_SOCKET" -X POST "http://graind/v1/jobs/$session/detach" >/dev/null
for _ in $(seq 1200); do
	"$GRAINCTL" jobs --all --json >"$T/jobs"
	[ "$(json "len([j for j in d['jobs'] if j['job'] >= $session and j['state'] not in ('finished', 'failed')])" \
		<"$T/jobs")" = 0 ] && break
	sleep 0.1
done
of_session() { json "next(($2) for j in d['jobs'] if j['job'] > $session and j['cmd'].endswith('$1'))" <"$T/jobs"; }
unseen() {
	local why="what it did with OpenMP, if anything, was between the ceiling's windows"
	sed -n "s/.*job $session: process \([0-9]*\) is not recorded: $why$/\1/p" "$T/graind.log"
}
unseen >"$T/unseen"
with_job=$(json "len([j for j in d['jobs']
	if j['job'] > $session and j['pid'] in ($(IFS=,; echo "${short[*]}"))])" <"$T/jobs")
without=$(printf '%s\n' "${short[@]}" | grep -cxFf "$T/unseen")
is "session: each short one has a job ($with_job), or graind's log says why it has none ($without)" \
	"$((with_job + without))" 20
check "session: ... most of them were between windows" test "$without" -ge 10
is "session: ... but for those that are not to be recorded" "$(grep -cx "$off" "$T/unseen")" 0
is "session: ... a note of it says how many" \
	"$(json "[n.split()[0] for j in d['jobs'] if j['job'] == $session for n in j['notes']
		if 'between the ceiling' in n]" <"$T/jobs")" "['$(wc -l <"$T/unseen")']"
is "session: before there is anything costly all is recorded" \
	"$(of_session "fib $coarse 5 6" "j['ceiling']['percent'], j['ceiling']['mode'], j['grains']")" \
	"(2.0, 'all', 372)"
is "session: the costly one is in windows" \
	"$(of_session "fib 30 30 24" "j['ceiling']['mode'], j['ceiling']['windows'] > 1")" "('windows', True)"
cost=$(of_session "fib 30 30 24" "round(j['ceiling']['cost_percent'], 2)")
is "session: and costs what it may, as far as graind reckons: $cost %" \
	"$(of_session "fib 30 30 24" "0 < j['ceiling']['cost_percent'] <= 2.5")" True
is "session: a note tells" \
	"$(of_session "fib 30 30 24" "any('ceiling: recording all would cost' in n for n in j['notes'])")" True
is "session: the other one, beside it, too" \
	"$(of_session "fib 38 12 100" "j['ceiling']['mode'], any('ceiling' in n for n in j['notes'])")" \
	"('windows', True)"
"$GRAINCTL" summary "$(of_session "fib 30 30 24" "j['job']")" >"$T/session.text"
check "session: its summary tells" grep -q "RECORDED IN WINDOWS" "$T/session.text"

# Settings that are reloaded also hold for running recordings: of a request, from inside, of a session.
settings "keep-days = 30"
reload
"$PROGRAMS/fib" 36 36 1 >"$T/reloaded.out" & slow=$!
"$PROGRAMS/fib" 36 36 1 >"$T/asked.out" & asked=$!
PIDS+=("$slow" "$asked")
sleep 0.2
asked=$("$GRAINCTL" attach --ceiling 5 "$asked" 2>/dev/null | sed -n 's/^job //p')
session=$(curl -s --unix-socket "$GRAIND_SOCKET" -d '{"all":true}' http://graind/v1/jobs | json 'd["job"]')
for _ in $(seq 1200); do
	"$GRAINCTL" jobs --json >"$T/jobs"
	member=$(json "[j['job'] for j in d['jobs'] if j['pid'] == $slow] or ''" <"$T/jobs")
	[ "$member" ] && break
	sleep 0.1
done
member=${member//[^0-9]/}
becomes "$member" "j['events'] > 0" >/dev/null
is "reload: before, the session's job has no ceiling" "$(of_job "$member" "j['ceiling']")" None
is "... and the other one that of its request" \
	"$(becomes "$asked" "j['ceiling']['percent'] == 5 and j['ceiling']['windows'] > 0")" True
settings "process-ceiling-percent = 3"
reload
is "reload: the session's job is in windows then" \
	"$(becomes "$member" \
		"bool(j['ceiling']) and j['ceiling']['percent'] == 3 and j['ceiling']['mode'] == 'windows'")" True
is "... and costs what it may, as far as graind reckons, since then" \
	"$(becomes "$member" "0 < j['ceiling']['cost_percent'] <= 3.75 and j['ceiling']['recorded_percent'] < 100")" \
	True
is "... the other one has the lower ceiling" "$(becomes "$asked" "j['ceiling']['percent'] == 3")" True
settings "host-ceiling-percent = 50" "process-ceiling-percent = 1"
reload
is "reload: a lower one is kept, too" "$(becomes "$member" "j['ceiling']['percent'] == 1")" True
settings "keep-days = 30"
reload
is "reload: without one all is recorded again" \
	"$(becomes "$member" "j['ceiling']['percent'] is None and j['ceiling']['mode'] == 'all'")" True
is "... for the other one that of its request counts" "$(becomes "$asked" "j['ceiling']['percent'] == 5")" True
windows=$(of_job "$member" "j['ceiling']['windows']")
before=$(of_job "$member" "j['events']")
"$PROGRAMS/fib" 30 4 3 >/dev/null
is "... no window ends any more, and events go on coming" \
	"$(sleep 1; of_job "$member" "j['ceiling']['windows'] == $windows and j['events'] > $before")" True
check "... a note tells" grep -q "ceiling: the settings have none any more" <(of_job "$member" "j['notes']")
"$GRAINCTL" jobs --all --json >"$T/jobs"
of_session() { json "next(($2) for j in d['jobs'] if j['job'] > $session and j['cmd'].endswith('$1'))" <"$T/jobs"; }
is "... a program that comes then has nothing to do with windows" "$(of_session "fib 30 4 3" "j['ceiling']")" None
for job in "$session" "$asked"; do
	curl -s --unix-socket "$GRAIND_SOCKET" -X POST "http://graind/v1/jobs/$job/detach" >/dev/null
done
becomes "$member" "j['state'] == 'finished'" >/dev/null
"$GRAINCTL" summary "$member" --json >"$T/reloaded.summary"
is "... its summary has windows, to its very end" \
	"$(json 'd["recording"]["mode"], d["conservation"]["violations"], d["recording"]["recorded_ns"] > 1e9' \
		<"$T/reloaded.summary")" \
	"('windows', 0, True)"
is "... and the other program's has none" \
	"$("$GRAINCTL" summary "$(of_session "fib 30 4 3" "j['job']")" --json | json 'd["recording"]')" \
	"{'mode': 'all'}"

# allow-fast: a recording that begins under a ceiling begins from inside. If probes are used, the user is told how to
# record from inside.
way() { json 'd["source"]' <"$T/$1.summary"; }
hints() {
	json 'len([n for n in d["notes"]
		if "grainctl detach %d && grainctl attach --fast %d" % (d["job"], d["pid"]) in n])' <"$T/$1.job"
}
settings "process-ceiling-percent = 2" "allow-fast = true"
reload
limited allowed -- "$PROGRAMS/fib" 26 26 3
is "allow-fast: a program with a ceiling begins from inside" "$(way allowed) $(hints allowed)" "shim 0"
check "... and is told so" grep -q "recorded from inside, as with --fast" "$T/allowed.err"
limited probed --no-fast -- "$PROGRAMS/fib" 26 26 3
is "... not with --no-fast: in windows, and a note says once what to type" \
	"$(way probed) $(json 'd["ceiling"]["mode"]' <"$T/probed.job") $(hints probed)" "uprobes windows 1"
limited counted --counters page-faults -- "$PROGRAMS/fib" 20 4 1
is "... nor with counters" "$(way counted)" uprobes
# attached NAME PROGRAM ARG...: attaches while it runs; leaves the same files as limited
attached()
{
	local name=$1 pid job
	shift
	"${@:2}" >/dev/null & pid=$!
	PIDS+=("$pid")
	sleep 0.4
	job=$("$GRAINCTL" attach $1 "$pid" 2>"$T/$name.err" | sed -n 's/^job //p')
	sleep 0.5
	"$GRAINCTL" detach "$job" >/dev/null
	kill "$pid"
	"$GRAINCTL" summary "$job" --json >"$T/$name.summary"
}
attached moved "" "$PROGRAMS/loop_forever" 600000 "$T/times"
is "... attach likewise" "$(way moved)" shim
check "... and says so" grep -q "recorded from inside, as with --fast" "$T/moved.err"
attached stays --no-fast "$PROGRAMS/loop_forever" 600000 "$T/times"
is "... not with --no-fast" "$(way stays) $(grep -c "from inside" "$T/stays.err")" "uprobes 0"
attached linked "" "$B/tests/root/programs/static" sleep:900 tasks:50 sleep:6000
is "... what that refuses is recorded by probes, and it says why" \
	"$(way linked) $(
		grep -c "recorded by probes, though it has a ceiling and allow-fast is set: ." "$T/linked.err")" \
	"uprobes 1"
settings "allow-fast = true"
reload
limited unlimited -- "$PROGRAMS/fib" 20 4 1
is "... nor without a ceiling" "$(way unlimited)" uprobes
limited own --ceiling 50 -- "$PROGRAMS/fib" 20 4 1
is "... a request's own ceiling is one" "$(way own)" shim
settings "process-ceiling-percent = 2"
reload
limited forbidden -- "$PROGRAMS/fib" 26 26 3
is "without it: by probes, in windows, and no word of --fast" \
	"$(way forbidden) $(json 'd["ceiling"]["mode"]' <"$T/forbidden.job") $(hints forbidden)" "uprobes windows 0"
limited users --fast -- "$PROGRAMS/fib" 20 4 1
is "... a user's own --fast is not touched" "$(way users)" shim

# A process that a session leaves out still costs its hits. They count, and the session's windows are for such
# processes, too.
settings "process-ceiling-percent = 2" "rule {" "  exe = \"$PROGRAMS/grains200\"" "  profile = always" "}"
reload
begun() {
	"$GRAINCTL" jobs --json >"$T/jobs"
	json "next((j['job'] for j in d['jobs'] if j['pid'] == 0), '')" <"$T/jobs"
}
for _ in $(seq 1200); do session=$(begun); [ "$session" ] && break; sleep 0.1; done
"$PROGRAMS/fib" 36 36 1 >/dev/null & P=$!
PIDS+=("$P")
is "left out: what it is slowed by counts, and there are windows" \
	"$(becomes "$session" "j['ceiling']['mode'] == 'windows' and j['ceiling']['recorded_percent'] < 50")" True
is "... though nothing of it is recorded" \
	"$("$GRAINCTL" jobs --json | json "len([j for j in d['jobs'] if j['pid'] == $P])")" 0
kill "$P"
settings "keep-days = 30"
reload

# The host's ceiling holds for all processes together. Here are two programs that would each use all of it.
settings "host-ceiling-percent = 2"
reload
shared=()
for _ in 1 2; do
	"$PROGRAMS/fib" 36 36 1 >/dev/null & P=$!
	PIDS+=("$P")
	sleep 0.2
	shared+=("$("$GRAINCTL" attach "$P" 2>/dev/null | sed -n 's/^job //p')" "$P")
done
may=$(($(getconf _NPROCESSORS_ONLN) * 2))
# cost: the part of a CPU that both cost, once each is recorded in windows
cost() {
	local a b
	a=$(of_job "${shared[0]}" "j['ceiling']['cost_percent'] if j['ceiling']['windows'] else 100")
	b=$(of_job "${shared[2]}" "j['ceiling']['cost_percent'] if j['ceiling']['windows'] else 100")
	awk "BEGIN { print ${a:-100} + ${b:-100} }"
}
for _ in $(seq 100); do costs=$(cost); awk "BEGIN { exit !($costs <= 1.2 * $may) }" && break; sleep 0.2; done
check "host: two programs take $costs % of a CPU together, of $may % that they may" \
	awk "BEGIN { exit !(0 < $costs && $costs <= 1.2 * $may) }"
"$GRAINCTL" detach "${shared[0]}" >/dev/null
kill "${shared[1]}" "${shared[3]}"
becomes "${shared[2]}" "j['state'] == 'finished'" >/dev/null

"$GRAINCTL" run --ceiling 0 -- "$PROGRAMS/fib" 20 2 1 >"$T/zero.out" 2>&1
is "a ceiling of nothing is refused" "$?" 2
check "... with what it takes" grep -q "0.1 to 100 percent" "$T/zero.out"
stop_graind
is "graind ends well" "$GRAIND_STATUS" 0
