# SPDX-License-Identifier: BSD-2-Clause
"""If a user may not look into a process, graind does not show it to him, whatever he asks for and whenever the
process becomes such a one. What ran beside a process is named only if it is his."""
from attacker import *

def trace_of(uid, job):
    """The text lines of its trace, as the user gets them."""
    path = os.path.join(PROGRAMS, "trace.grt")
    answer = subprocess.run(["curl", "-s", "--unix-socket", SOCKET, "-o", "-", "http://graind/v1/jobs/%d/trace" % job],
                            preexec_fn=lambda: become(uid), capture_output=True)
    with open(path, "wb") as file:
        file.write(answer.stdout)
    text = subprocess.run(["/usr/bin/python3", os.path.join(os.path.dirname(__file__), "../record/trace_text.py"),
                           path], capture_output=True)
    os.unlink(path)
    return text.stdout.decode(errors="replace")


def may_look(uid, pid):
    def work():
        try:
            with open("/proc/%d/maps" % pid) as maps:
                return bool(maps.readline())
        except OSError:
            return False
    return as_user(uid, work)


def refused(what, pid):
    check("%s: the kernel does not let him look" % what, not may_look(BOB, pid))
    status, answer = ask(BOB, "POST", "/v1/jobs", {"pid": pid})
    check("%s: nor does graind" % what, status == 403 and "ask root" in str(answer), answer)
    status, answer = ask(BOB, "POST", "/v1/jobs", {"pid": pid, "tasks": False, "sample_hz": 99})
    check("%s: not for samples either" % what, status == 403, answer)


def not_dumpable():
    child = program(BOB, "/usr/bin/python3", "-c",
                    "import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); time.sleep(60)")
    wait(lambda: not may_look(BOB, child.pid))
    refused("a process that is not dumpable", child.pid)
    # A program that the user may execute, but not read.
    path = install("unreadable", BUILD + "/tests/omp/loop_forever")
    os.chmod(path, 0o711)
    child = program(BOB, path, "60000", "/dev/null")
    uses_openmp(child.pid)
    refused("a program of mode 0711", child.pid)
    # Root may look. The job is root's.
    status, job = ask(0, "POST", "/v1/jobs", {"pid": child.pid})
    if check("root records it", status == 201, job):
        check("and it is not shown to him", ask(BOB, "GET", "/v1/jobs/%d" % job["job"])[0] == 404)
        check("but to root", ask(0, "GET", "/v1/jobs/%d" % job["job"])[0] == 200)
        finish(job["job"])
        check("nor at its end", ask(BOB, "GET", "/v1/jobs/%d/trace" % job["job"])[0] == 404)


def becomes_such():
    """A process is recorded, and then says that it must not be looked into."""
    child = subprocess.Popen(["/usr/bin/python3", "-c", r"""
import ctypes, sys, time
libc = ctypes.CDLL(None)
ctypes.CDLL("libgomp.so.1")
print("loaded", flush=True)
sys.stdin.readline()
libc.prctl(4, 0, 0, 0, 0)
print("is", flush=True)
time.sleep(60)
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: become(BOB), env=CALM)
    children.append(child)
    child.stdout.readline()
    job = attach(BOB, child.pid)
    if not check("while it may be looked into it has a job", job):
        return
    child.stdin.write(b"\n")
    child.stdin.flush()
    child.stdout.readline()
    ended = wait(lambda: ask(BOB, "GET", "/v1/jobs/%d" % job)[1]["state"] in ("finished", "failed"))
    check("which ends when it may not any more", ended)


def executes_set_uid():
    """Again and again the process becomes a set-uid program that maps files that no other process maps."""
    private = os.path.join(PROGRAMS, "private.so")
    shutil.copy("/usr/bin/true", private)
    secret = install("set_uid", BUILD + "/tests/root/programs/set_uid")
    os.chown(secret, CAROL, CAROL)
    os.chmod(secret, 0o4755)
    seen, told = [], 0
    for round in range(6):
        child = subprocess.Popen(["/usr/bin/python3", "-c", """
import ctypes, os, sys
ctypes.CDLL("libgomp.so.1")
print("loaded", flush=True)
names = sys.stdin.readline().split()
os.execv(names[0], names)
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: become(BOB), env=CALM)
        children.append(child)
        child.stdout.readline()
        job = attach(BOB, child.pid, sample_hz=2000) if round % 2 else attach(BOB, child.pid)
        if not job:
            check("round %d has a job" % round, False)
            continue
        child.stdin.write(("%s %s\n" % (secret, private)).encode())
        child.stdin.flush()
        check("the set-uid program runs",
              child.stdout.readline() == b"mapped\n") if not round else child.stdout.readline()
        time.sleep(0.1)
        finish(job)
        status, view = ask(BOB, "GET", "/v1/jobs/%d" % job)
        text = trace_of(BOB, job)
        told += "@module" in text
        seen += [word for word in ("private.so", "set_uid")
                 if word in text or word in str(view["notes"]) or word in view["exe"]]
        child.kill()
    check("of what it was before its mappings are", told)
    check("of a set-uid program that it has executed nothing is shown", not seen, seen)


def neighbours():
    """Who preempts ann's threads: root, carol, who has opted out, and ann herself."""
    ask(CAROL, "POST", "/v1/optout", {"on": True})
    spin = "import time\nwhile True: pass"
    for uid, name in ((CAROL, "carols_secret"), (ANN, "anns_own"), (BOB, "bobs_work")):
        path = os.path.join(PROGRAMS, name)
        shutil.copy("/usr/bin/python3", path)
        os.chmod(path, 0o755)
        for cpu in os.sched_getaffinity(0):
            child = program(uid, path, "-c", spin)
            os.sched_setaffinity(child.pid, {cpu})
    busy = program(ANN, install("loop_forever"), "120000", "/dev/null",
                   env={"LOOP_PAUSE_US": "0", "OMP_WAIT_POLICY": "active"})
    uses_openmp(busy.pid)
    job = attach(ANN, busy.pid)
    own = wait(lambda: "anns_own" in trace_of(ANN, job) and "another user's process" in trace_of(ANN, job), 15)
    finish(job)
    text = trace_of(ANN, job)
    check("who preempted her threads is named where it was herself", "anns_own" in text)
    check("who has opted out is not named", "carols_secret" not in text, own)
    check("but told of", "another user's process" in text)


for attack in not_dumpable, becomes_such, executes_set_uid, neighbours:
    attack()
    end_children()
