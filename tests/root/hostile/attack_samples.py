# SPDX-License-Identifier: BSD-2-Clause
"""A user has as many samples taken of his own programs as he can get. What do others feel of it?"""
import json
import os
import subprocess
import sys
import time

from attacker import (ANN, BOB, BUILD, CAROL, SUB, ask, attach, become, check, children, descriptors, end_children,
                      finish, graind, install, program, uses_openmp, wait)

MOST = 10000
# These programs never stop by themselves, and may use only the CPU time that is left.
BUSY = {"OMP_NUM_THREADS": "1", "LOOP_PAUSE_US": "0"}
# The maximum of many short times. Other programs on the CPU do not show in it, but interrupts do.
WORK = """
import time
def turns(seconds):
    n, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(20):
            n += 1
    return n
print(max(turns(0.003) for _ in range(300)))
"""


def busy_program():
    child = program(BOB, "nice", "-n", "19", install("loop_forever"), "600000", "/dev/null", env=BUSY)
    uses_openmp(child.pid)
    return child


def work_of_another():
    """The work that a program of ann gets done while it has a CPU."""
    result = subprocess.run(["/usr/bin/python3", "-c", WORK], stdout=subprocess.PIPE, preexec_fn=lambda: become(ANN),
                            check=True)
    return int(result.stdout)


def clear(jobs):
    for job in jobs:
        finish(job)


def many_samples():
    programs = [busy_program() for _ in range(16)]
    alone = work_of_another()
    jobs, refusals = [], []
    for hz in (MOST, 1000):
        for child in programs:
            status, job = ask(BOB, "POST", "/v1/jobs", {"pid": child.pid, "sample_hz": hz, "tasks": False})
            if status == 201:
                jobs.append(job["job"])
            elif status != 409:
                refusals.append((status, job))
    with_attack = work_of_another()
    check("another user's program does its work (%.2f of what it does otherwise, with %d jobs)" %
          (with_attack / alone, len(jobs)), jobs and with_attack > 0.6 * alone, (alone, with_attack))
    check("who has all of his samples gets no more, in a line that says why",
          refusals and
          all(status == 429 and "your jobs take 20000 of at most 20000 samples a second already" in answer["error"] and
              "detach one" in answer["error"] and "\n" not in answer["error"] for status, answer in refusals),
          refusals[:2])
    mine = program(ANN)
    uses_openmp(mine.pid)
    ours = attach(ANN, mine.pid, sample_hz=99)
    check("another user gets hers", ours)
    roots = attach(0, programs[-1].pid, sample_hz=MOST, tasks=False)
    check("and root, of the same program", roots)
    sampled = finish(jobs[0])[1]
    check("what was granted was sampled",
          ask(0, "GET", "/v1/jobs/%d/summary" % jobs[0])[1]["sampling"]["samples"] > 100, sampled)
    again = attach(BOB, programs[0].pid, sample_hz=MOST, tasks=False)
    check("what a job had is to be had again when it has ended", again)
    check("perf events are few: %d" % descriptors("perf_event"), descriptors("perf_event") < 1000)
    clear(jobs[1:] + [job for job in (ours, roots, again) if job])
    end_children()


def sub_ids():
    """Ann's further ids have no budget of their own."""
    jobs = []
    for uid in (ANN, ANN, SUB, SUB + 1):
        child = program(uid)
        uses_openmp(child.pid)
        jobs.append(attach(uid, child.pid, sample_hz=MOST, tasks=False))
    check("the ids of a range share their owner's samples", all(jobs[:2]) and not any(jobs[2:]), jobs)
    clear([job for job in jobs if job])
    end_children()


def many_threads():
    """Each thread of this process would need an event. It gets no more events than a user may have."""
    text = ("import threading,time\nfor i in range(5000):\n"
            " threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
            "print(1, flush=True)\ntime.sleep(600)")
    child = subprocess.Popen(["/usr/bin/python3", "-c", "import threading\nthreading.stack_size(65536)\n" + text],
                             stdout=subprocess.PIPE, preexec_fn=lambda: become(CAROL))
    children.append(child)
    child.stdout.readline()
    before = descriptors("perf_event")
    status, answer = ask(CAROL, "POST", "/v1/jobs", {"pid": child.pid, "sample_hz": MOST, "tasks": False})
    check("perf events of threads have a bound", status == 429 and "perf events" in answer["error"], (status, answer))
    check("and none is left", descriptors("perf_event") <= before + 8, (before, descriptors("perf_event")))
    status, answer = ask(CAROL, "POST", "/v1/jobs", {"pid": child.pid, "sample_hz": 99, "tasks": False})
    check("with fewer samples CPUs are asked, however many threads there are", status == 201, (status, answer))
    end_children()


def many_switches():
    """Recordings that are told of each context switch, and another user's program that only switches."""
    pong = install("ping_pong", BUILD + "/tests/tools/ping_pong")

    def round_trip():
        return int(subprocess.run([pong], stdout=subprocess.PIPE, preexec_fn=lambda: become(ANN), check=True).stdout)
    programs = [(uid, program(uid, env={"LOOP_PAUSE_US": "900000"})) for uid in (BOB, CAROL) for _ in range(16)]
    for _, child in programs:
        uses_openmp(child.pid)
    alone = round_trip()
    jobs = [attach(uid, child.pid) for uid, child in programs]
    with_attack = round_trip()
    # A report's worker is handed a descriptor. With many files its number is large.
    check("a report is made, however many files all that takes (%d)" % len(os.listdir("/proc/%d/fd" % graind)),
          ask(BOB, "GET", "/v1/jobs/%d/report?format=svg" % jobs[0])[0] == 200)
    check("another user's context switches take no longer (%.2f of what they do otherwise)" % (with_attack / alone),
          all(jobs) and with_attack < 1.4 * alone, (alone, with_attack, jobs))
    first = finish(jobs[0])[1]
    sums = ask(0, "GET", "/v1/jobs/%d/summary" % jobs[0])[1]
    check("those of recorded programs are seen", sums["events"]["seen"] > 0 and "scheduler" in sums, first)
    clear(jobs[1:])
    end_children()


many_samples()
many_switches()
sub_ids()
many_threads()
