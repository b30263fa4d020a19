#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Serial code has a name without being asked for: recorded by probes and from inside; attached, with --sample.
# --no-sample takes none. A user who has no samples left is not refused. Sampling needs no other capture than the spare.
# usage: tests/root/record/test_serial.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
program=$B/tests/omp/serial_code
export OMP_NUM_THREADS=2
first=$(grep -n 'first region' "$ROOT/tests/omp/serial_code.c" | cut -d: -f1)
second=$(grep -n 'second region' "$ROOT/tests/omp/serial_code.c" | cut -d: -f1)

# job_of FILE: the job that grainctl has told there
job_of() { sed -n 's/^job \([0-9]*\)$/\1/p' "$1" | tail -1; }

# wait_for_end JOB
wait_for_end()
{
	for _ in $(seq 1200); do
		[ "$("$GRAINCTL" jobs --all --json | json '[j["state"] for j in d["jobs"] if j["job"] == '"$1"']')" = \
			"['finished']" ] && return
		sleep 0.1
	done
}

# named NAME JOB: the serial code of that recording has its name
named()
{
	"$GRAINCTL" summary "$2" --json >"$T/$1.json"
	"$GRAINCTL" summary "$2" >"$T/$1.text"
	is "$1: most of the serial code is in one function, by name" \
		"$(json '[f["function"] for f in d["account"]["serial_functions"]][0]' <"$T/$1.json")" solve_alone
	check "$1: it has about its share" \
		[ "$(json '0.7 < d["account"]["serial_functions"][0]["share"] < 0.98' <"$T/$1.json")" = True ]
	is "$1: and its line" \
		"$(json 'd["account"]["serial_functions"][0]["source"].split(":")[0]' <"$T/$1.json")" serial_code.c
	# GCC gives the call of a region at the begin of a function the line before its pragma.
	is "$1: it runs between the two regions" \
		"$(json '[(b["function"], *(int(at.split(":")[1]) in (line - 1, line) for at, line in
			((b["before"], '"$first"'), (b["after"], '"$second"'))))
			for b in d["account"]["serial_between"][:1]]' <"$T/$1.json")" "[('solve_alone', True, True)]"
	is "$1: the advice names it" "$(json '[a["evidence"].get("function") for a in d["advice"]
		if a["kind"] == "serial_code"]' <"$T/$1.json")" "['solve_alone']"
	check "$1: the text has the table" grep -q '^solve_alone .*serial_code.c:' "$T/$1.text"
	is "$1: nothing lost" "$(json 'd["events"]["lost"], d["sampling"]["lost"]' <"$T/$1.json")" "(0, 0)"
	is "$1: 49 a second" "$(json 'd["sampling"]["hz"]' <"$T/$1.json")" 49
	is "$1: memory is not examined by the way" "$(json 'd["numa"]["addresses"].get("samples", 0)' <"$T/$1.json")" 0
}

# programs: the BPF programs that graind holds
programs() { sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$GRAIND_PID"/fdinfo/* 2>/dev/null | sort -u; }

start_graind || exit 1
"$GRAINCTL" run -- "$program" 60 >/dev/null 2>"$T/run"
named probes "$(job_of "$T/run")"
"$GRAINCTL" run --fast -- "$program" 60 >/dev/null 2>"$T/run"
named inside "$(job_of "$T/run")"

"$GRAINCTL" run --no-sample -- "$program" 5 >/dev/null 2>"$T/run"
"$GRAINCTL" summary "$(job_of "$T/run")" --json >"$T/none.json"
is "--no-sample: no samples, and nothing is named" \
	"$(json 'd["sampling"]["available"], [k for k in d["account"] if k.startswith("serial_")]' \
		<"$T/none.json")" "(False, [])"
"$GRAINCTL" run --no-sample --sample -- true 2>"$T/run"
is "--no-sample --sample: refused" "$?" 2

# graind has loaded its next capture when it has as many programs again for a while.
last=
for _ in $(seq 400); do
	now=$(programs)
	[ "$now" ] && [ "$now" = "$last" ] && break
	last=$now
	sleep 0.3
done
"$program" 100000 >"$T/out" &
pid=$!
PIDS+=("$pid")
sleep 0.5
job=$(job_of <("$GRAINCTL" attach --sample=49 --memory-event=none "$pid" 2>"$T/attach.err"))
is "attached: no program was loaded for it" "$(comm -13 <(echo "$last") <(programs))" ""
# So many more rounds: the number of samples depends on the CPU time, and not on the time.
until=$(($(wc -l <"$T/out") + 60))
for _ in $(seq 1200); do
	[ "$(wc -l <"$T/out")" -ge $until ] && break
	sleep 0.1
done
"$GRAINCTL" detach "$job" >/dev/null
wait_for_end "${job:-0}"
named attached "$job"

# Other jobs of the user take all samples of CPUs. The ones that say --sample are asked by thread then.
uid=65533
for_all_users "$program"
kill "$pid"
pids=()
for _ in 1 2; do
	setpriv --reuid=$uid --regid=$uid --clear-groups "$T/public/serial_code" 100000 >/dev/null &
	pids+=($!)
	PIDS+=($!)
done
sleep 0.5

# ask BODY: what graind answers this user
ask()
{
	setpriv --reuid=$uid --regid=$uid --clear-groups curl -s --unix-socket "$GRAIND_SOCKET" -X POST -d "$1" \
		http://localhost/v1/jobs
}
ask '{"pid":'"${pids[0]}"',"duration_s":30,"sample_hz":990,"memory_event":"none"}' >"$T/first"
ask '{"pid":'"${pids[1]}"',"duration_s":5,"sample_hz":49,"memory_event":"none","sample_optional":true}' >"$T/second"
is "no samples left: the job is not refused" \
	"$(json 'd.get("state")' <"$T/first") $(json 'd.get("state")' <"$T/second")" "running running"
job=$(json 'd.get("job", 0)' <"$T/second")
wait_for_end "$job"
kill "${pids[@]}"
check "and a note says so" grep -q 'no samples: your jobs take 990 of at most 1000 samples a second of each CPU' \
	"$GRAIND_STATE_DIR/jobs/$job/job.json"
"$GRAINCTL" summary "$job" --json >"$T/second.json"
is "its summary has none" "$(json 'd["sampling"]["available"], len(d["account"]["parts"]) > 1' <"$T/second.json")" \
	"(False, True)"
for body in '{"pid":1,"sample_optional":true}' '{"pid":1,"tasks":false,"sample_hz":9,"sample_optional":true}'; do
	is "$body: refused" "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$GRAIND_SOCKET" -X POST \
		-d "$body" http://localhost/v1/jobs)" 400
done
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
