# SPDX-License-Identifier: BSD-2-Clause
"""usage: faults_target.py BUILD DIRECTORY

The rings overflow because graind is stopped (SIGSTOP) while a probed program runs. A program is killed while it is
recorded. What was lost or cut is counted and marked, and the rest is sound.
"""
import json
import os
import re
import signal
import sys
import time

from faults import Host, check

build, directory = sys.argv[1:3]
host = Host(build, directory)
host.start()


def begin(*argv):
    """Starts grainctl run of this command and waits until it is recorded. Returns the process of grainctl, the
    job's number and the program's."""
    run = host.popen(build + "/grainctl", "run", *argv)
    for _ in range(300):
        jobs = [j for j in host.jobs().values() if j["state"] == "running" and j["grains"]]
        if jobs:
            return run, jobs[0]["job"], jobs[0]["pid"]
        time.sleep(0.05)
    run.kill()
    sys.exit("nothing is recorded: " + host.tail())


def ended(job):
    for _ in range(300):
        found = host.jobs()[job]
        if found["state"] in ("finished", "failed"):
            break
        time.sleep(0.1)
    return found


def sound(name, s, tasks):
    check("%s: no time is counted twice, or not at all" % name, s["conservation"]["violations"] == 0, s["conservation"])
    check("%s: no more tasks than there were" % name, 0 < s["grains"]["tasks"] <= tasks, s["grains"], tasks)
    check("%s: what was cut is marked" % name, s["grains"]["incomplete"] + s["incomplete_regions"] > 0, s["grains"],
          s["incomplete_regions"])
    p = host.grainctl("summary", s["job"])
    check("%s: the summary says so in words" % name, p.returncode == 0 and
          re.search(r"^incomplete (grains|regions) +[1-9]", p.stdout, re.M), p.stdout[-600:])


FIB = ("--", host.omp("fib"), 24, 16, 8)
whole, number = host.run("fib", *FIB[2:])
undisturbed = host.summary(number)
check("undisturbed: nothing is lost",
      undisturbed["events"]["lost"] == 0 and undisturbed["grains"]["tasks"] == whole["tasks"], undisturbed["events"])
run, number, _ = begin(*FIB)
host.graind.send_signal(signal.SIGSTOP)
# The program goes on meanwhile.
time.sleep(3)
host.graind.send_signal(signal.SIGCONT)
out, _ = run.communicate(timeout=120)
job, s = ended(number), host.summary(number)
print("= stopped: %d events seen, %d lost; %d undisturbed" %
      (s["events"]["seen"], s["events"]["lost"], undisturbed["events"]["seen"]))
check("stopped: the program is right", json.loads(out)["correct"] and json.loads(out)["tasks"] == whole["tasks"], out)
check("stopped: the rings overflowed, which is counted",
      s["events"]["lost"] > 1000 and job["lost"] == s["events"]["lost"], s["events"], job)
# There may be a wait more or less: this depends on how the threads meet.
check("stopped: what was seen and what was lost are all that happened",
      abs(s["events"]["seen"] + s["events"]["lost"] - undisturbed["events"]["seen"]) <=
      0.01 * undisturbed["events"]["seen"], s["events"], undisturbed["events"])
sound("stopped", s, whole["tasks"])

for name, options in (("killed", ()), ("killed --fast", ("--fast",))):
    run, number, pid = begin(*options, "--", host.omp("fib"), 24, 16, 3000)
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    out, err = run.communicate(timeout=120)
    job, s = ended(number), host.summary(number)
    check("%s: grainctl passes it on" % name, run.returncode == 128 + 9, run.returncode, err)
    check("%s: its job is finished, by its end" % name, job["state"] == "finished" and job["reason"] == "exit", job)
    check("%s: all that arrived is counted" % name,
          s["grains"]["total"] == job["grains"] > 0 and s["events"]["lost"] == job["lost"] == 0,
          s["grains"], s["events"], job)
    sound(name, s, whole["tasks"] * 375)
own, after = host.run("fib", 16, 8)
check("afterwards: a job is whole",
      host.summary(after)["grains"]["total"] == own["tasks"] and host.summary(after)["events"]["lost"] == 0)
check("it ends cleanly", host.stop() == 0, host.tail())
