# SPDX-License-Identifier: BSD-2-Clause
"""Copies of libgomp that change, are huge, or are many. Only the user who has made them notices."""
import glob
import re
import threading
import zlib

import attacker
from attacker import *

LIBGOMP = os.path.realpath("/usr/lib/%s-linux-gnu/libgomp.so.1" % os.uname().machine)
ORIGINAL = open(LIBGOMP, "rb").read()
HUGE = 24 << 30
# An attach takes some 20 ms. A busy machine may need a hundred times that.
SOON = 4


def changed():
    """
    A libgomp of the same size in which GOMP_parallel begins with other instructions: one-byte instructions up to the
    last byte of a move between registers. That byte becomes a push, and the probe would be there. In the system's
    libgomp, a breakpoint there turns the move into a move to the stack pointer.
    """
    symbols = subprocess.run(["nm", "-D", LIBGOMP], capture_output=True, text=True, check=True).stdout
    at = int(re.search(r"^(\S+) T GOMP_parallel@", symbols, re.M)[1], 16)
    begin = re.match(rb"(\xf3\x0f\x1e\xfa)?(.{0,24}?\x48\x89)[\xc0-\xff]", ORIGINAL[at:at + 32], re.S)
    if not begin:
        return None
    text = (begin[1] or b"") + b"\xf8" * len(begin[2]) + b"\x57"
    return ORIGINAL[:at] + text + ORIGINAL[at + len(text):]


def bobs_directory(name, content=ORIGINAL, size=None):
    """A directory of bob with a libgomp of his own."""
    directory = os.path.join(PROGRAMS, name)

    def work():
        with open(directory + "/libgomp.so.1", "wb") as out:
            out.write(content)
            if size:
                out.truncate(size)
    os.mkdir(directory)
    os.chown(directory, BOB, BOB)
    as_user(BOB, work)
    return directory


def bobs_program(*directories):
    """It has mapped the libgomp of each of them, and calls none of them."""
    load = ("import ctypes, sys, time\nkept = [ctypes.CDLL(name + '/libgomp.so.1') for name in sys.argv[1:]]\n"
            "time.sleep(600)")
    child = program(BOB, "/usr/bin/python3", "-c", load, *directories)
    if not wait(lambda: all(d in open("/proc/%d/maps" % child.pid).read() for d in directories)):
        check("bob's program maps its libgomp", False, directories)
    return child


def planning_worker(directory):
    """The worker that now plans the libgomp in there; None: there is none."""
    for name in glob.glob("/proc/%d/task/*/children" % attacker.graind):
        try:
            for pid in open(name).read().split():
                if (b"--worker-plan" in open("/proc/%s/cmdline" % pid, "rb").read() and
                    directory in os.readlink("/proc/%s/fd/0" % pid)):
                    return int(pid)
        except OSError:
            pass
    return None


def attach_and_stop(directory, **options):
    """Bob attaches to a program with that libgomp, and the worker that plans it is stopped. Returns (thread,
    worker). The worker is None if it was too fast."""
    child, worker = bobs_program(directory), None
    asking = threading.Thread(target=lambda: ask(BOB, "POST", "/v1/jobs", dict(options, pid=child.pid), timeout=90))
    asking.start()
    while not worker and asking.is_alive():
        worker = planning_worker(directory)
    if worker:
        os.kill(worker, signal.SIGSTOP)
    return asking, worker


def has_ended(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def change_while_planned(directory, other):
    """True: the plan is that of the changed bytes, and only the worker has seen them."""
    # So nobody plans the system's libgomp first.
    asking, worker = attach_and_stop(directory, fast=True, at_start=True)
    if worker:
        os.kill(attacker.graind, signal.SIGSTOP)

        def write(content):
            with open(directory + "/libgomp.so.1", "r+b") as out:
                out.write(content)
        as_user(BOB, lambda: write(other))
        os.kill(worker, signal.SIGCONT)
        wait(lambda: has_ended(worker))
        as_user(BOB, lambda: write(ORIGINAL))
        os.kill(attacker.graind, signal.SIGCONT)
    asking.join()
    return bool(worker)


def is_exact(what):
    """Ann's program on the system's libgomp is right, lives, and is recorded completely."""
    env = dict(os.environ, GRAIND_SOCKET=SOCKET, OMP_NUM_THREADS="2")
    run = subprocess.run([install("grainctl", BUILD + "/grainctl"), "run", "--", install("fib"), "18", "6", "2"],
                         capture_output=True, text=True,
                         preexec_fn=lambda: become(ANN), env=env, stdin=subprocess.DEVNULL, cwd="/")
    found = re.search(r"^job (\d+)$", run.stderr, re.M)
    said = json.loads(run.stdout) if run.stdout.strip().endswith("}") else {}
    check("%s: ann's program is right and lives" % what, run.returncode == 0 and said.get("correct") is True,
          (run.returncode, run.stdout, run.stderr))
    job = ask(ANN, "GET", "/v1/jobs/%s" % found[1])[1] if found else {}
    summary = ask(ANN, "GET", "/v1/jobs/%s/summary" % found[1])[1] if found else {}
    tasks = (sum(d["instances"] for d in summary.get("definitions", []) if d.get("kind") == "task")
             if isinstance(summary, dict) else 0)
    check("%s: and is recorded exactly: %d tasks" % (what, tasks), tasks == said.get("tasks", -1) and job["lost"] == 0,
          (said, job))


def changing_bytes():
    """Puts the system's libgomp back as soon as the changed one is planned, so that the plan could pass for the
    system's."""
    other = changed()
    if not other:
        skip("bytes that change while they are planned",
             "GOMP_parallel of this libgomp begins in another way than is known")
        return
    done = False
    for attempt in range(10):
        done = done or change_while_planned(bobs_directory("changing-%d" % attempt), other)
    check("bob's libgomp is another one while it is planned", done)
    restart()
    is_exact("after bob's bytes had changed")


def forged_files():
    """graind uses a plan in STATE/plans only if it is true for the file. Here every point is moved by one byte."""
    files = glob.glob(STATE + "/plans/*")
    forged = {}
    for name in files:
        head, body = open(name).read().split("\n", 1)
        body = re.sub(r"^point\t([0-9a-f]+)", lambda m: "point\t%x" % (int(m[1], 16) + 1), body, flags=re.M)
        forged[name] = re.sub(r"sum [0-9a-f]{8}$", "sum %08x" % zlib.crc32(body.encode()), head) + "\n" + body
        with open(name, "r+") as out:
            out.write(forged[name])
            out.truncate()
    restart()
    is_exact("with forged plans in the state directory")
    check("%d of them are gone" % len(forged),
          forged and any(not os.path.exists(n) or open(n).read() != forged[n] for n in forged))
    check("which is in the log", "planned anew" in open(LOG).read())


def anns_attach():
    """The seconds that ann's attach takes, and whether it succeeds."""
    child = program(ANN)
    uses_openmp(child.pid)
    seconds, status, job = timed(ANN, "POST", "/v1/jobs", {"pid": child.pid}, timeout=90)
    if status == 201:
        finish(job["job"])
    child.kill()
    return seconds, status


def is_not_delayed(what):
    seconds, status = anns_attach()
    check("%s: ann's attach is not delayed (%.2f s)" % (what, seconds), status == 201 and seconds < SOON,
          (seconds, status))


def huge_and_hanging():
    anns_attach()
    child = bobs_program(bobs_directory("huge", size=HUGE))
    asking = threading.Thread(target=lambda: ask(BOB, "POST", "/v1/jobs", {"pid": child.pid}, timeout=90))
    asking.start()
    time.sleep(0.3)
    is_not_delayed("while bob attaches to a libgomp of %d GiB" % (HUGE >> 30))
    asking.join()
    worker = None
    for attempt in range(10):
        if not worker:
            asking, worker = attach_and_stop(bobs_directory("hanging-%d" % attempt, ORIGINAL + b"%d" % attempt))
    check("a worker hangs at bob's libgomp", worker is not None)
    is_not_delayed("while it does")
    began = time.monotonic()
    restart()
    check("graind does not wait for it at its end (%.1f s)" % (time.monotonic() - began), time.monotonic() - began < 10)
    asking.join()


def many_copies():
    """Bob fills the memory for plans. The system's plan stays."""
    anns_attach()
    for number in range(5):
        directories = [bobs_directory("copy-%d-%d" % (number, i), ORIGINAL + b"%d-%d" % (number, i)) for i in range(8)]
        child = bobs_program(*directories)
        status, job = ask(BOB, "POST", "/v1/jobs", {"pid": child.pid}, timeout=90)
        check("bob attaches to 8 copies more", status == 201, (status, job))
        if status == 201:
            finish(job["job"])
        child.kill()
    kept = glob.glob(STATE + "/plans/*")
    for name in kept:
        os.unlink(name)
    is_not_delayed("after them")
    check("the plan of the system's libgomp was still known", kept and not glob.glob(STATE + "/plans/*"),
          (kept, glob.glob(STATE + "/plans/*")))


def main():
    try:
        changing_bytes()
        forged_files()
        huge_and_hanging()
        many_copies()
    finally:
        end_children()


main()
