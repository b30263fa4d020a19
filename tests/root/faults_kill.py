# SPDX-License-Identifier: BSD-2-Clause
"""usage: faults_kill.py BUILD DIRECTORY TIMES [SEED]

graind is killed (SIGKILL) at random moments while programs start, run and end under it, and started again: what was
whole stays whole, no program notices, no probe stays, no job stays open.
"""
import json
import random
import subprocess
import sys
import time

from faults import Host, check

build, directory, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
random.seed(seed)
host = Host(build, directory)
links = lambda: int(subprocess.run("bpftool link show | grep -cE '^[0-9]+: '", shell=True, capture_output=True, text=True).stdout or 0)
before = links()
known = {}  # job: digest of the summary of one that was whole
wrong = {"a program that is recorded fails": [], "a whole job has changed": [], "a job stays open": [],
         "a link stays in the kernel": [], "a job without a reason": [], "grainctl run does not end": []}
whole = cut = 0
# Any moment of a second and a half, each as often as the others also where there are few.
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
            # Before it began, graind may have been gone: then it says so, and nothing ran.
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
print("= killed %d times (seed %d): %d jobs were whole before, %d were cut short" % (times, seed, whole, cut))
check("killed: jobs were recorded before and during it", whole >= times * 0.9 and cut > 0, whole, cut, host.tail())
for what, cases in wrong.items():
    check("killed %d times: never: %s" % (times, what), not cases, *cases)
check("killed: and it ends cleanly", host.stop() == 0, host.tail())
