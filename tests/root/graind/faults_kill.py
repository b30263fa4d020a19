# SPDX-License-Identifier: BSD-2-Clause
"""usage: faults_kill.py BUILD DIRECTORY TIMES [SEED]

graind is killed (SIGKILL) at random moments while programs start, run and end under it, and started again. What
was whole stays whole. What was cut is readable and says so. No program notices, no probe stays, no job stays open.
"""
import json
import os
import random
import subprocess
import sys
import time

from faults import Host, check

build, directory, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
random.seed(seed)
host = Host(build, directory)
links = lambda: int(subprocess.run("bpftool link show | grep -cE '^[0-9]+: '", shell=True, capture_output=True,
                                   text=True).stdout or 0)
before = links()
known = {}  # job: digest of its summary, if that was whole
wrong = {"a program that is recorded fails": [], "a whole job has changed": [], "a job stays open": [],
         "a link stays in the kernel": [], "a job without a reason": [], "grainctl run does not end": [],
         "what a cut job has recorded cannot be analysed": [], "a cut job's times do not add up": [],
         "a cut job has more tasks than its program": [], "a cut job is not marked": []}
truth = {}  # command: tasks
whole = cut = 0
# Any moment of a second and a half. All are equally likely, also if there are few.
moments = [1.5 * (turn + random.random()) / times for turn in range(times)]
random.shuffle(moments)
for turn in range(times):
    host.start()
    jobs = host.jobs()
    for job, digest in known.items():
        if jobs.get(job, {}).get("state") != "finished" or host.digest(job) != digest:
            wrong["a whole job has changed"].append((turn, job, jobs.get(job)))
    for job in jobs.values():
        if job["state"] not in ("finished", "failed"):
            wrong["a job stays open"].append((turn, job))
        if job["state"] == "failed" and not job.get("error"):
            wrong["a job without a reason"].append((turn, job))
    first, number = host.run("fib", 16, 8)
    if number:
        known[number] = host.digest(number)
        whole += 1
    loop = host.popen(host.omp("loop_forever"), 1500, directory + "/times")
    attach = host.popen(build + "/grainctl", "attach", loop.pid)
    run = host.popen(build + "/grainctl", "run", "--", host.omp("fib"), 22, 12)
    fast = host.popen(build + "/grainctl", "run", "--fast", "--", host.omp("fib"), 22, 22)
    time.sleep(moments[turn])
    host.stop(9)
    for p in run, fast:
        try:
            out, err = p.communicate(timeout=60)
            # graind may have been gone before the program began. Then grainctl says so, and nothing ran.
            if out:
                truth[" ".join(map(str, p.args[p.args.index("--") + 1:]))] = json.loads(out)["tasks"]
            if out and not json.loads(out)["correct"] or not out and "graind" not in err:
                wrong["a program that is recorded fails"].append((turn, p.returncode, out, err[-200:]))
        except subprocess.TimeoutExpired:
            p.kill()
            wrong["grainctl run does not end"].append((turn, p.args))
    attach.communicate(timeout=60)
    if loop.wait(60) != 0:
        wrong["a program that is recorded fails"].append((turn, "loop_forever", loop.returncode))
    for _ in range(50):
        if links() <= before:
            break
        time.sleep(0.1)
    if links() > before:
        wrong["a link stays in the kernel"].append((turn, links(), before))
host.start()
jobs = host.jobs()
cut = sum(1 for job in jobs.values() if job["state"] == "failed")
for job, digest in known.items():
    if jobs.get(job, {}).get("state") != "finished" or host.digest(job) != digest:
        wrong["a whole job has changed"].append(("end", job, jobs.get(job)))
analysed = 0
for number, job in jobs.items():
    trace = "%s/jobs/%d/trace.grt" % (host.state, number)
    if job["state"] != "failed" or not os.path.exists(trace):
        continue
    p = host.grainctl("analyze", trace, "--keep-going", "--json")
    if p.returncode:
        # If graind was killed before the first chunk was written, the trace is empty, which one line says.
        if p.returncode != 1 or p.stdout or len(p.stderr.splitlines()) != 1 or os.path.getsize(trace) > 4096:
            wrong["what a cut job has recorded cannot be analysed"].append((number, p.returncode, p.stderr,
                                                                            os.path.getsize(trace)))
        continue
    s = json.loads(p.stdout)
    analysed += s["grains"]["total"] > 0
    if s["conservation"]["violations"]:
        wrong["a cut job's times do not add up"].append((number, s["conservation"]))
    if s["grains"]["tasks"] > truth.get(job["cmd"], s["grains"]["tasks"]):
        wrong["a cut job has more tasks than its program"].append((number, job["cmd"], s["grains"], truth))
    # All of the program, or a mark that something is missing.
    if (not (s["damaged"] or s["grains"]["incomplete"] or s["incomplete_regions"]) and
        s["grains"]["tasks"] != truth.get(job["cmd"])):
        wrong["a cut job is not marked"].append((number, job["cmd"], s["grains"], s["events"]))
print("= killed %d times (seed %d): %d jobs were whole before, %d were cut short, of %d of them there are grains" %
      (times, seed, whole, cut, analysed))
check("killed: jobs were recorded before and during it", whole >= times * 0.9 and cut > 0, whole, cut, host.tail())
check("killed: of cut jobs there is what was recorded", analysed > 0 or cut < 3, analysed, cut)
for what, cases in wrong.items():
    check("killed %d times: never: %s" % (times, what), not cases, *cases)
check("killed: and it ends cleanly", host.stop() == 0, host.tail())
