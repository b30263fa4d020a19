# SPDX-License-Identifier: BSD-2-Clause
"""Shared by test_faults.sh and test_soak.sh: a graind of their own, programs, and what graind holds.

Checks are lines "ok - NAME" or "not ok - NAME", with details behind "# ".
"""
import glob
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time


def check(name, good, *details):
    print("%s - %s" % ("ok" if good else "not ok", name), flush=True)
    if not good:
        for line in "\n".join(map(str, details)).splitlines()[:20]:
            print("# " + line[:300], flush=True)
    return good


class Host:
    """A graind in a directory, and the programs that run beside it."""

    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        self.state, self.socket = directory + "/state", directory + "/graind.sock"
        self.env = dict(os.environ, GRAIND_STATE_DIR=self.state, GRAIND_SOCKET=self.socket,
                        GRAIND_CONFIG="/dev/null", OMP_DYNAMIC="false", OMP_NUM_THREADS="2")
        self.graind = None
        os.makedirs(self.state, exist_ok=True)

    def start(self):
        self.log = open(self.directory + "/graind.log", "a")
        self.graind = subprocess.Popen([self.build + "/graind", "--foreground", "--state-dir", self.state, "--socket",
                                        self.socket],
                                       stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.env)
        for _ in range(400):
            if self.grainctl("status").returncode == 0:
                return
            if self.graind.poll() is not None:
                break
            time.sleep(0.05)
        sys.exit("graind did not start: " + self.tail())

    def tail(self):
        return open(self.directory + "/graind.log").read()[-600:]

    def stop(self, number=signal.SIGTERM):
        self.graind.send_signal(number)
        return self.graind.wait(60)

    def grainctl(self, *argv, timeout=120):
        try:
            return subprocess.run([self.build + "/grainctl", *map(str, argv)], env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            check("grainctl %s ends within %d s" % (" ".join(map(str, argv)), timeout), False, self.tail(),
                  *self.where())
            raise

    def where(self):
        """What each thread of graind, and of the programs started beside it, waits for in the kernel."""
        for task in glob.glob("/proc/[0-9]*/task/*"):
            try:
                ours = ("GRAIND_STATE_DIR=%s\0" % self.state).encode() in open(task + "/environ", "rb").read()
                name, waits = (open(task + "/" + f).read().strip() for f in ("comm", "wchan"))
            except OSError:
                continue
            if ours:
                yield "%s %s: %s" % (os.path.basename(task), name, waits)

    def popen(self, *argv, **more):
        return subprocess.Popen(list(map(str, argv)), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def omp(self, name):
        return self.build + "/tests/omp/" + name

    def run(self, *argv):
        """Runs grainctl run with a program of tests/omp. Returns its output as JSON and the job's number. None:
        not recorded."""
        p = self.grainctl("run", "--", self.omp(argv[0]), *argv[1:])
        job = re.findall(r"^job (\d+)$", p.stderr, re.M)
        return (json.loads(p.stdout) if p.stdout else None), int(job[-1]) if job else None

    def jobs(self):
        return {j["job"]: j for j in json.loads(self.grainctl("jobs", "--all", "--json").stdout)["jobs"]}

    def summary(self, job):
        p = self.grainctl("summary", job, "--json")
        return json.loads(p.stdout) if p.returncode == 0 else None

    def digest(self, job):
        return hashlib.sha256(self.grainctl("summary", job, "--json").stdout.encode()).hexdigest()

    def holds(self):
        """What must not grow: files, mappings and threads of graind, its BPF objects, its memory in kB."""
        proc = "/proc/%d/" % self.graind.pid
        bpf = 0
        for fd in os.listdir(proc + "fd"):
            try:
                bpf += bool(re.search(r"^(prog|link|map)_id:", open(proc + "fdinfo/" + fd).read(), re.M))
            except OSError:
                pass
        return {"fds": len(os.listdir(proc + "fd")), "bpf": bpf, "threads": len(os.listdir(proc + "task")),
                "maps": sum(1 for _ in open(proc + "maps")),
                "rss_kb": int(re.search(r"VmRSS:\s*(\d+)", open(proc + "status").read()).group(1))}

    def settled(self, before, seconds=15):
        """What graind holds once nothing is going on. This waits for at most so many seconds, or until it is no
        more than before."""
        now = self.holds()
        for _ in range(seconds * 5):
            now = self.holds()
            if all(now[what] <= before[what] for what in ("fds", "bpf", "threads")):
                break
            time.sleep(0.2)
        return now
