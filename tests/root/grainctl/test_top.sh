#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl top: what it prints without a terminal, and what it shows on one.
# usage: tests/root/grainctl/test_top.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

start_graind || exit 1
"$GRAINCTL" top >"$T/out"
is "no job runs: it says what graind costs" \
	"$? $(grep -c 'running, 0 waiting' "$T/out") $(grep -c 'its own cost: [0-9.]*% of a CPU' "$T/out")" "0 1 1"
OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 90000 /dev/null & P=$!; PIDS+=("$P")
OMP_NUM_THREADS=4 "$B/tests/omp/loop_forever" 90000 /dev/null & Q=$!; PIDS+=("$Q")
check "a job" "$GRAINCTL" attach "$P"
check "and another one" "$GRAINCTL" attach "$Q"
sleep 2

"$GRAINCTL" top --json >"$T/json"
is "top --json" "$?" 0
/usr/bin/python3 - "$T/json" "$P" "$Q" <<'PY'
import json, os, sys
d = json.load(open(sys.argv[1]))
pids = [int(p) for p in sys.argv[2:]]


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:800])


jobs = {j["pid"]: j for j in d["jobs"]}
check("both jobs", sorted(jobs) == sorted(pids), jobs)
for pid, threads in zip(pids, (2, 4)):
    job = jobs[pid]
    check("job %d: the threads that the kernel has" % job["job"],
          sorted(t["tid"] for t in job["thread_list"]) == sorted(int(t) for t in os.listdir("/proc/%d/task" % pid)) and
          len(job["thread_list"]) == threads, job["thread_list"])
    check("job %d: grains and CPU time per second" % job["job"], job["grains_per_s"] > 10 and job["cpus"] > 0.01, job)
    cpus = sum(t["cpu_percent"] for t in job["thread_list"]) / 100
    check("job %d: its threads' CPU time is the process'" % job["job"],
          abs(cpus - job["cpus"]) < 0.15, (cpus, job["cpus"]))
    check("job %d: threads are on CPUs that there are" % job["job"],
          all(0 <= t["cpu"] < os.cpu_count() for t in job["thread_list"]), job["thread_list"])
check("what graind costs", d["graind"]["answers"] and 0 <= d["graind"]["cpu_percent"] < 200 and
      d["graind"]["memory_bytes"] > 1e6, d["graind"])
PY
for columns in 80 140; do
	COLUMNS=$columns "$GRAINCTL" top --once >"$T/out"
	is "top --once: jobs and threads in $columns columns" \
		"$? $(awk -v w=$columns 'length > w' "$T/out") $(grep -cE '^ +[12]  root' "$T/out") $(
			grep -c 'loop_forever  \(sleeps\|ready\)' "$T/out")" "0  2 6"
done
"$GRAINCTL" top --sort=events </dev/null >"$T/out"
is "a pipe gets the table" "$? $(grep -c 'OVERH' "$T/out") $(grep -c $'\033' "$T/out")" "0 1 0"

if /usr/bin/python3 -c 'import pyte' 2>/dev/null; then
	/usr/bin/python3 -B "$HERE/grainctl/top_screen.py" "$GRAINCTL" "$P" "$Q" "$GRAIND_PID"
else
	skip "on a terminal" "no python3-pyte: run 'make deps'"
fi
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
