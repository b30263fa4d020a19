#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""How much CPU time the threads of a process take with real-time priority, and how much with ordinary priority,
while a program is recorded.

usage: priorities.py PID
"""
import collections
import os
import re
import sys
import time

SECONDS = 1.5
# All work except the copying takes about a third of the time. If that ran in real time, too, only a thirtieth would
# be ordinary.
WORK = 0.15
SCHED_RR = 2
TRACING = "/sys/kernel/tracing/instances/graind-test-%d" % os.getpid()
SWITCH = re.compile(r"\[(\d+)\] .*? (\d+\.\d+): sched_switch: .*prev_pid=(\d+) .* next_pid=(\d+) next_prio=(\d+)")
SET = re.compile(r"-(\d+) +\[(\d+)\] .*? (\d+\.\d+): sys_sched_setscheduler\(pid: \w+, policy: (\w+)")


def write(name, text):
    with open("%s/%s" % (TRACING, name), "w") as out:
        out.write(text)


def threads(pid):
    return {int(tid) for tid in os.listdir("/proc/%d/task" % pid)}


def record(pid):
    """The kernel's trace, and the threads that existed."""
    os.mkdir(TRACING)
    try:
        write("buffer_size_kb", "16384")
        for event in "sched/sched_switch", "syscalls/sys_enter_sched_setscheduler":
            write("events/%s/enable" % event, "1")
        known = threads(pid)
        time.sleep(SECONDS)
        write("tracing_on", "0")
        with open(TRACING + "/trace") as lines:
            return list(lines), known | threads(pid)
    finally:
        os.rmdir(TRACING)


def account(lines, known):
    """Seconds of CPU time: {with real-time priority: sum}."""
    took, running = collections.Counter(), {}
    for line in lines:
        found = SWITCH.search(line)
        if found:
            cpu, at, left, comes, priority = found[1], float(found[2]), int(found[3]), int(found[4]), int(found[5])
            if running.get(cpu, (-1,))[0] == left:
                took[running[cpu][2]] += at - running[cpu][1]
            running[cpu] = (comes, at, priority < 100)
            if comes not in known:
                running.pop(cpu)
            continue
        found = SET.search(line)
        if found and int(found[1]) == running.get(found[2], (-1,))[0]:
            tid, since, real = running[found[2]]
            at = float(found[3])
            took[real] += at - since
            running[found[2]] = (tid, at, int(found[4], 16) & 0xff == SCHED_RR)
    return took


took = account(*record(int(sys.argv[1])))
print("= of %.1f s, CPU time of graind: %.1f ms in real time, %.1f ms as an ordinary program" %
      (SECONDS, 1000 * took[True], 1000 * took[False]))
for what, good in (("rings are copied in real time", took[True] > 0),
                   ("what is made of them, as an ordinary program", took[False] > WORK * (took[False] + took[True])),
                   ("in real time no more than half of a CPU", took[True] < SECONDS / 2)):
    print("%s - %s" % ("ok" if good else "not ok", what))
