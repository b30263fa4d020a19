# SPDX-License-Identifier: BSD-2-Clause
"""Shared by the attacks of tests/root/hostile: users, requests, programs, checks.

Environment, from hostile_lib.sh: GRAIND_SOCKET, GRAIND_STATE_DIR, GRAIND_PID, GRAIND_LOG, PROGRAMS (a directory
that all may read), TESTS_BUILD.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

SOCKET, STATE, LOG, PROGRAMS, BUILD = (os.environ[name] for name in
                                       ("GRAIND_SOCKET", "GRAIND_STATE_DIR", "GRAIND_LOG", "PROGRAMS", "TESTS_BUILD"))
graind = int(os.environ["GRAIND_PID"])
# Ann is honest, bob is not. The ids from SUB on are ann's by /etc/subuid.
ANN, BOB, CAROL, SUB = 64001, 64002, 64003, 700000
# These programs need little CPU time.
CALM = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "LOOP_PAUSE_US": "10000", "PATH": os.environ["PATH"]}
children = []


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what), flush=True)
    if not good:
        print("# " + str(detail)[:600].replace("\n", " "), flush=True)
    return good


def skip(what, why):
    print("skip - %s: %s" % (what, why), flush=True)


def restart():
    """Ends graind and starts another one."""
    global graind
    print("restart", flush=True)
    graind = int(sys.stdin.readline())


class Connection(http.client.HTTPConnection):
    def __init__(self, timeout=30, path=SOCKET):
        super().__init__("graind", timeout=timeout)
        self.path = path

    def connect(self):
        # This waits as grainctl does. A client that does not wait for a place in the queue is refused while others
        # fill the queue.
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(self.timeout), 0))
        self.sock.connect(self.path)
        self.sock.settimeout(self.timeout)


def descriptors(kind):
    """How many objects graind has whose name contains this: bpf_link, perf_event."""
    count = 0
    for name in os.listdir("/proc/%d/fd" % graind):
        try:
            count += kind in os.readlink("/proc/%d/fd/%s" % (graind, name))
        except FileNotFoundError:
            pass
    return count


def become(uid):
    if uid:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)


def as_user(uid, work):
    """What work() returns in a process of that user."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            become(uid)
            os.write(write, json.dumps(work()).encode())
            status = 0
        except BaseException as problem:
            os.write(write, json.dumps({"exception": repr(problem)}).encode())
        os._exit(status)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return json.loads(text)


def ask(uid, method, path, body=None, timeout=30):
    """(status, object) of a request of that user; (0, why) if no answer came in time."""
    def work():
        connection = Connection(timeout)
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        connection.putrequest(method, path, skip_accept_encoding=True)
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, answer.read(4000000).decode(errors="replace")
    result = as_user(uid, work)
    if isinstance(result, dict):
        return 0, result["exception"]
    status, text = result
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


def timed(uid, method, path, body=None, timeout=30):
    """(seconds, status, object)"""
    began = time.monotonic()
    status, answer = ask(uid, method, path, body, timeout)
    return time.monotonic() - began, status, answer


def install(name, source=None):
    """A program of the build's tests (tests/omp/NAME, or `source`) at a place where all users may execute it.
    Returns its path."""
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        shutil.copy(source or "%s/tests/omp/%s" % (BUILD, name), path)
        os.chmod(path, 0o755)
    return path


def program(uid, *command, env=None, **popen):
    """Starts a program of that user. Without a command it is loop_forever, for two minutes."""
    command = command or (install("loop_forever"), "120000", "/dev/null")
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: become(uid),
                             env=dict(CALM, **(env or {})), **popen)
    children.append(child)
    return child


def uses_openmp(pid):
    """Waits until the process has mapped libgomp."""
    return wait(lambda: "libgomp" in open("/proc/%d/maps" % pid).read())


def attach(uid, pid, **options):
    """The number of the new job, or None."""
    status, job = ask(uid, "POST", "/v1/jobs", dict(options, pid=pid))
    return job["job"] if status == 201 else None


def wait(done, seconds=120):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if done():
            return True
        time.sleep(0.05)
    return bool(done())


def finish(job, uid=0):
    return ask(uid, "POST", "/v1/jobs/%d/detach" % job)


def memory_kb():
    """The memory of graind itself (Pss, without what is shared with others), in kB."""
    with open("/proc/%d/smaps_rollup" % graind) as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def cpu_seconds(pid=None):
    fields = open("/proc/%d/stat" % (pid or graind)).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end_children():
    for child in children:
        if child.poll() is None:
            child.send_signal(signal.SIGCONT)
            child.kill()
        child.wait()
    children.clear()
