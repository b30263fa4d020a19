# SPDX-License-Identifier: BSD-2-Clause
"""A user who forks a great many processes that have mapped the runtime, in several recorded programs at once: each that
has probes of its own makes every hit of a probe in that file dearer for all, and the kernel sets them and takes them
out one after the other. How many there are of one user's, that it is said, and what another user's attach takes
meanwhile."""
import re

from attacker import *

PROGRAMS_OF_HIS = 3
CHILDREN = 300
# BUDGET_PROCESSES. Each process has two links in each runtime of the system.
MOST = 256
LINKS = 4
GOMP = next(line.split()[-1] for line in open("/proc/self/maps")
            if "libc.so.6" in line).replace("libc.so.6", "libgomp.so.1")
FORKS = """
import ctypes, os, sys, time
ctypes.CDLL(sys.argv[1])
print('ready', flush=True)
sys.stdin.readline()
for i in range(%d):
    if os.fork() == 0:
        time.sleep(1000)
    time.sleep(0.002)
print('forked', flush=True)
time.sleep(1000)
""" % CHILDREN


def forking():
    def begin():
        os.setsid()
        become(BOB)
    child = subprocess.Popen(["/usr/bin/python3", "-S", "-c", FORKS, GOMP], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, preexec_fn=begin)
    children.append(child)
    child.stdout.readline()
    return child


before = descriptors("bpf_link")
storm = [forking() for _ in range(PROGRAMS_OF_HIS)]
jobs = [attach(BOB, child.pid) for child in storm]
check("his programs are recorded", all(jobs), jobs)
of_jobs = descriptors("bpf_link") - before
for child in storm:
    child.stdin.write(b"\n")
    child.stdin.flush()
most = 0
running = program(ANN)
uses_openmp(running.pid)
for child in storm:
    while child.stdout.readline() != b"forked\n":
        pass
    most = max(most, descriptors("bpf_link") - before - of_jobs)
check("hundreds of children of one user's programs have no more links than he may have: %d" % most,
      most <= MOST * LINKS, most)
took, status, job = timed(ANN, "POST", "/v1/jobs", {"pid": running.pid}, timeout=60)
check("another user attaches meanwhile", status == 201, (status, job))
# On a busy machine his program gets its turn late.
wait(lambda: ask(ANN, "GET", "/v1/jobs/%d" % job["job"])[1].get("events"), 60)
took, status, job = timed(ANN, "POST", "/v1/jobs/%d/detach" % job["job"], timeout=60)
check("and detaches, with all events", status == 200 and job["events"] and not job["lost"], (status, job))
shown = [ask(BOB, "GET", "/v1/jobs/%d" % job)[1] for job in jobs]
for child in storm:
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
ended = [finish(job, BOB) for job in jobs]
told = [ask(BOB, "GET", "/v1/jobs/%d" % job)[1] for job in jobs]
check("it is said how many were not followed",
      any(re.search(r"child processes (were not followed|ended before they could be probed)", json.dumps(job))
          for job in told), [job.get("notes") for job in told])
check("all links go, with the background's patience", wait(lambda: descriptors("bpf_link") <= before, 120),
      (before, descriptors("bpf_link")))
took, status, job = timed(BOB, "POST", "/v1/jobs", {"pid": program(BOB).pid}, timeout=60)
check("his next recording is one like any other", status == 201, (status, job))
end_children()
