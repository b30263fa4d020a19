# SPDX-License-Identifier: BSD-2-Clause
"""Runs one test, in a control group and with a folder for temporary files of its own, and writes what became of it:
NAME.out, all that it printed, and NAME.json. Whatever the test leaves running, mounted or in the folder goes with it.
usage: one_test.py ROOM NAME LIMIT_S TMP COMMAND ARG..., started by ctest. The status is 0 if the test has passed.
ROOM: where both files go. The environment's GRAIND_TESTS_GROUP: the control group of the whole run, if one can be made.
"""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import control_group

# How long what is told to end may take to clean up.
GRACE_S = 10
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
BROKEN = re.compile(r'^Traceback.*\n +File "(?:[^"/]*/)*([^"/]+", line \d+)', re.MULTILINE)
libc = ctypes.CDLL(None)


class Terminated(Exception):
    pass


def terminate(*_):
    raise Terminated


class Group:
    """The processes of the test: those of its control group, and those that descend from this process."""

    def __init__(self, parent, name):
        self.path = os.path.join(parent, name) if parent else None
        if self.path:
            try:
                os.mkdir(self.path)
            except OSError:
                self.path = None

    def enter(self):
        """In the child, before it becomes the test."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        if self.path:
            with open(self.path + "/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write("0")

    def processes(self):
        found = control_group.processes(self.path) if self.path else set()
        parents = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as stat:
                    state, parent = stat.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                parents.setdefault(int(parent), []).append(int(pid))
            else:
                found.discard(int(pid))
        queue = [os.getpid()]
        while queue:
            children = parents.get(queue.pop(), [])
            found.update(children)
            queue += children
        return found

    def signal(self, number):
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except OSError:
                pass

    def wait_empty(self, seconds):
        end = time.monotonic() + seconds
        while self.processes() and time.monotonic() < end:
            reap()
            time.sleep(0.05)
        reap()
        return not self.processes()

    def cpu_seconds(self):
        if self.path:
            with open(self.path + "/cpu.stat", encoding="ascii") as stat:
                return int(dict(line.split() for line in stat)["usage_usec"]) / 1e6
        times = os.times()
        return times.children_user + times.children_system

    def remove(self):
        """Ends what is left, by force."""
        if self.path and os.path.exists(self.path + "/cgroup.kill"):
            with open(self.path + "/cgroup.kill", "w", encoding="ascii") as kill:
                kill.write("1")
        self.signal(signal.SIGKILL)
        self.wait_empty(GRACE_S)
        if self.path:
            control_group.remove(self.path)


def reap(until=None, seconds=0):
    """Takes leave of children that have ended, also of those that the test has left to init. Whoever looks for such a
    process must not find it any more. With a process: until that one ends, its status, or None after these seconds."""
    end = time.monotonic() + seconds
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            pid, status = 0, 0
        if pid and pid == until:
            return os.waitstatus_to_exitcode(status)
        if not pid:
            left = end - time.monotonic()
            if not until or left <= 0:
                return None
            signal.sigtimedwait([signal.SIGCHLD], min(left, 10))


def described(pids):
    for pid in sorted(pids):
        try:
            with open("/proc/%d/cmdline" % pid, encoding="utf-8", errors="replace") as line:
                yield "process %d: %s" % (pid, line.read().replace("\0", " ").strip()[:100])
        except OSError:
            pass


def unmounted(folder):
    """Takes away what is mounted in the folder, and says what that was."""
    with open("/proc/self/mountinfo", encoding="utf-8") as table:
        points = [line.split()[4].replace("\\040", " ") for line in table]
    below = sorted((p for p in points if p.startswith(folder + "/")), reverse=True)
    for point in below:
        subprocess.run(["umount", "-l", point], check=False)
    return below


def steal():
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def judge(name, status, limit, text):
    """(passed, failed, skips, lines that the test itself did not print)"""
    said = text.splitlines()
    passed = sum(line.startswith("ok - ") for line in said)
    failed = sum(line.startswith("not ok - ") for line in said)
    skips = [line[7:] for line in said if line.startswith("skip - ")]
    broken = BROKEN.search(text)
    if status and not failed:
        if status == "limit":
            return passed, 1, skips, ["not ok - %s took more than %d s" % (name, limit)]
        return passed, 1, skips, ["not ok - %s ended with status %s" % (name, status)]
    # If a script breaks off, nobody misses the checks after that. So this counts as a failure.
    if broken and not failed:
        return passed, 1, skips, ['not ok - %s: a script of it broke off ("%s)' % (name, broken.group(1))]
    if not passed + failed + len(skips):
        return passed, 1, skips, ["not ok - %s checked nothing" % name]
    return passed, failed, skips, []


def main():
    room, name, limit, tmp, *command = sys.argv[1:]
    limit = float(limit)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, terminate)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    base = os.path.join(room, name.replace("/", "_"))
    group = Group(os.environ.pop("GRAIND_TESTS_GROUP", ""), name.replace("/", "_"))
    os.mkdir(tmp)
    os.chmod(tmp, 0o1777)
    begin, stolen = time.monotonic(), steal()
    left, test, status = [], None, None
    try:
        with open(base + ".out", "wb") as out:
            test = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                    env=dict(os.environ, TMPDIR=tmp), preexec_fn=group.enter)
            status = reap(test.pid, limit)
            if status is None:
                status = "limit"
        seconds = time.monotonic() - begin
        if status != "limit" and not group.wait_empty(2):
            left += described(group.processes())
    except Terminated:
        status = "interrupted"
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if status in ("limit", "interrupted") and test:
        seconds = time.monotonic() - begin
        group.signal(signal.SIGTERM)
        group.wait_empty(GRACE_S)
    cpu = group.cpu_seconds()
    group.remove()
    left += ["mount " + point for point in unmounted(tmp)]
    shutil.rmtree(tmp, ignore_errors=True)
    if status == "interrupted":
        return 1
    with open(base + ".out", encoding="utf-8", errors="replace") as out:
        passed, failed, skips, more = judge(name, status, limit, out.read())
    with open(base + ".out", "a", encoding="utf-8") as out:
        out.writelines(["\n# left behind, and ended: %s" % what for what in left])
        out.writelines("\n" + line for line in more)
    outcome = {"name": name, "passed": passed, "failed": failed, "skips": skips, "left": left,
               "seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2),
               "load": os.getloadavg()[0], "steal_seconds": round(steal() - stolen, 2)}
    with open(base + ".part", "w", encoding="utf-8") as part:
        json.dump(outcome, part)
    os.rename(base + ".part", base + ".json")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
