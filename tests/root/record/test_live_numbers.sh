#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Numbers of jobs that run are near those of the whole: threads that execute the program's code, preemption, average
# parallelism, problems, and what a ceiling lets recording cost. That they are the same by each way that one may ask:
# graind/test_metrics.sh.
# usage: tests/root/record/test_live_numbers.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
start_graind || exit 1
check "a job" "$GRAINCTL" run -- "$B/tests/omp/demo"
"$GRAINCTL" summary 1 --json >"$T/1"
start_loop env OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 3600000 /dev/null
check "a job with a ceiling" "$GRAINCTL" attach "$P" --ceiling 0.5
becomes 2 'j["ceiling"]["mode"] != "all" and j["ceiling"]["cost_percent"] is not None and j["grains"] > 0' >/dev/null
of_job 2 'j["ceiling"]["cost_percent"]' >"$T/cost"
"$GRAINCTL" detach 2 >/dev/null
check "a job that is analysed while it runs" "$GRAINCTL" attach "$P"
becomes 3 'j["average_parallelism"] is not None' >/dev/null
curl -s --unix-socket "$GRAIND_SOCKET" http://graind/metrics >"$T/metrics"
"$GRAINCTL" detach 3 >/dev/null
"$GRAINCTL" summary 3 --json >"$T/3"
python3 - "$T" <<'PY'
import json, re, sys
base = sys.argv[1]
one, three = (json.load(open(base + "/" + n)) for n in "13")


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:800])


live = json.load(open(base + "/state/jobs/1/job.json"))
used = one["work_ns"] / one["wall_ns"]
check("threads that executed its code as it was said live: %.3f, and the summary's work over time: %.3f"
      % (live["busy_threads"], used),
      abs(live["busy_threads"] - used) < 0.05 * used and live["busy_threads"] <= one["average_parallelism"])
threads = one["scheduler"]["threads"]
preempted = 100 * sum(t["preempted_ns"] for t in threads) / sum(t["last_ns"] - t["first_ns"] for t in threads)
check("preempted as it was said live: %.3f %%, and by the summary: %.3f %%" % (live["preempted_percent"], preempted),
      abs(live["preempted_percent"] - preempted) < 2)
cost = float(open(base + "/cost").read())
check("a ceiling's recording costs little: %.3f %%" % cost, 0 < cost < 20)
running = dict(re.findall(r'^([a-z_]+\{job="3".*\}) (\S+)$', open(base + "/metrics").read(), re.M))
now, whole = float(running['graind_job_average_parallelism{job="3"}']), three["average_parallelism"]
check("average parallelism of a part: %.3f, that of the whole: %.3f" % (now, whole), abs(now - whole) < 0.25 * whole)
shares = {re.search('problem="(.*?)"', k).group(1): float(v) for k, v in running.items() if "problem_ratio" in k}
near = {n: (round(shares.get(n, -1), 3), round(p["percent"] / 100, 3)) for n, p in three["problems"].items()
        if p["available"]}
check("parts of the grains, near those of the whole: %s" % near,
      near and all(abs(a - b) < 0.25 for a, b in near.values()), near)
PY
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
