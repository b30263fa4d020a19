# SPDX-License-Identifier: BSD-2-Clause
"""The state directory belongs to graind, including what an older graind gave to users. No user's job is deleted
because of others' jobs."""
import os
import stat
import subprocess
import sys
import threading
import time

import attacker
from attacker import (ANN, BOB, CAROL, LOG, PROGRAMS, STATE, ask, as_user, attach, check, finish, memory_kb, program,
                      restart, skip, timed, uses_openmp, wait)

SETTINGS = os.environ["GRAIND_CONFIG"]
JOBS = STATE + "/jobs"
SERVICE = os.stat(STATE).st_uid
MB = 1 << 20


def settings(*lines):
    with open(SETTINGS, "w") as out:
        out.write("".join(line + "\n" for line in lines))


def told():
    return open(LOG).read()


def write(path, content, uid=SERVICE):
    with open(path, "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(path, 0o600)
    os.chown(path, uid, uid)


def description(number, uid, **more):
    return attacker.json.dumps(dict({"job": number, "parent_job": 0, "state": "finished", "error": "", "pid": 77,
                                     "uid": uid, "user": "u", "exe": "/opt/fib", "cmd": "fib", "threads": 2,
                                     "start_ns": 1, "end_ns": 2, "grains": 3, "problems": [], "notes": [],
                                     "reason": "exit"}, **more))


def give(number, uid, trace=b"trace", job=None):
    """A job as an older graind left it to its user; an open descriptor of it, for who may not reach it by its name."""
    directory = "%s/%d" % (JOBS, number)
    os.makedirs(directory, exist_ok=True)
    write(directory + "/job.json", job or description(number, uid), uid)
    write(directory + "/trace.grt", trace, uid)
    write(directory + "/summary.json", '{"grains":{"total":3}}', uid)
    os.chown(directory, uid, uid)
    os.chmod(directory, 0o700)
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY)


def inside(uid, at, work):
    """work() of that user, in the directory."""
    def there():
        os.fchdir(at)
        return work()
    return as_user(uid, there)


def there(number, uid):
    return ask(uid, "GET", "/v1/jobs/%d" % number)[0] == 200


def locks():
    """Bob holds a lock on everything that he can open; ann goes on."""
    holder = """
import fcntl, os, sys
held = []
for base, directories, files in os.walk(sys.argv[1]):
    for name in [base] + [base + "/" + f for f in files]:
        for flags in os.O_RDWR, os.O_RDONLY:
            try:
                fd = os.open(name, flags | os.O_NONBLOCK)
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held.append(name)
                break
            except OSError:
                pass
print(" ".join(held), flush=True)
sys.stdin.read()
"""
    first = attach(ANN, program(ANN).pid)
    holding = subprocess.Popen(["/usr/bin/python3", "-c", holder, STATE], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, preexec_fn=lambda: attacker.become(BOB))
    held = holding.stdout.readline().split()
    files = [name for name in held if not os.path.isdir(name)]
    check("bob can open no file in the state directory", not files, files)
    child = program(ANN)
    uses_openmp(child.pid)
    took, status, job = timed(ANN, "POST", "/v1/jobs", {"pid": child.pid}, timeout=8)
    check("while bob holds locks on %d things there, ann attaches" % len(held), status == 201 and took < 8,
          (took, status, job))
    asked = [timed(ANN, "GET", path, timeout=8) for path in ("/v1/status", "/v1/jobs", "/v1/jobs?all=1")]
    check("and asks", all(a[1] == 200 and a[0] < 8 for a in asked), asked)
    holding.stdin.close()
    holding.wait()
    if status == 201:
        finish(job["job"])
    finish(first)
    return first


def modes():
    def names(directory):
        try:
            return os.listdir(directory)
        except OSError:
            return None
    closed = [STATE + "/" + name for name in sorted(os.listdir(STATE)) if os.path.isdir(STATE + "/" + name)]
    seen = as_user(BOB, lambda: [d for d in closed if names(d) is not None])
    check("bob can list no directory in it: %s" % " ".join(d.rsplit("/", 1)[1] for d in closed),
          not seen and len(closed) >= 3, seen)
    odd = {}
    for base, directories, files in os.walk(STATE):
        for name in directories + files:
            st = os.lstat(base + "/" + name)
            if st.st_uid != SERVICE or st.st_mode & 0o077:
                odd[base + "/" + name] = st.st_uid, oct(st.st_mode)
    check("all that is in it is graind's alone", not odd, odd)


def own_job():
    """A job that is over, of today."""
    child = program(BOB)
    uses_openmp(child.pid)
    job = attach(BOB, child.pid)
    finish(job)
    child.kill()
    directory = "%s/%d" % (JOBS, job)

    def spoil():
        done = []
        for attempt in (lambda: os.chmod(directory, 0o777), lambda: os.mkdir(directory + "/mine"),
                        lambda: os.listdir(JOBS), lambda: os.rename(directory, JOBS + "/5000"),
                        lambda: os.symlink("/etc/passwd", directory + "/trace.grt")):
            try:
                attempt()
                done.append(True)
            except OSError:
                done.append(False)
        return done
    check("bob cannot change what is recorded of him", not any(as_user(BOB, spoil)), as_user(BOB, spoil))
    os.makedirs(directory + "/deep/deeper", exist_ok=True)
    os.chown(directory + "/deep", SERVICE, SERVICE)
    status = ask(BOB, "DELETE", "/v1/jobs/%d" % job)
    check("a directory in it does not keep it from being deleted", status[0] == 204 and not os.path.exists(directory),
          status)


def make_victims(shared):
    """Files of others that bob may link to. Returns {what it is: (path, owner)}."""
    os.mkdir(shared, 0o777)
    os.chmod(shared, 0o777)
    victims = {"ann's": (shared + "/ann", ANN), "root's": (shared + "/root", 0),
               "root's, with another name": (shared + "/root2", 0)}
    for path, uid in victims.values():
        with open(path, "w") as out:
            out.write('{"job":701,"state":"finished","uid":0,"secret":1}')
        os.chown(path, uid, uid)
        os.chmod(path, 0o666)
    return victims


def prepare_forged(shared):
    """Job 701, of bob's: open for all, with directories, others' files as hard links, and a description of his own."""
    at = give(701, BOB)
    forged = description(701, 0, state="running", socket=os.environ["GRAIND_SOCKET"])

    def make():
        os.chmod(".", 0o777)
        os.makedirs("mine/deeper")
        os.chmod("mine", 0)
        for name, path in ("trace.grt", shared + "/ann"), ("summary.json", shared + "/root"):
            os.unlink(name)
            os.link(path, name)
        with open("job.json", "w") as out:
            out.write(forged)
        return True
    check("bob prepares a job", inside(BOB, at, make) is True)
    # He deletes the job, with a directory in it, and fills it again. By then an older graind has made the directory
    # its own, and has left it open.
    ask(BOB, "DELETE", "/v1/jobs/701")

    def again():
        for name, path in (("trace.grt", shared + "/ann"), ("summary.json", shared + "/root"),
                           ("more", shared + "/root2")):
            if not os.path.exists(name):
                os.link(path, name)
        with open("job.json", "w") as out:
            out.write(forged)
        return True
    inside(BOB, at, again)
    os.close(at)


def prepare_others():
    """Further jobs of bob's, by number. Returns a file of 703 that he has open."""
    # 702: carol's directory is in bob's directory, where she may write.
    at = give(702, BOB)
    inside(BOB, at, lambda: os.mkdir("open") or os.chmod("open", 0o777) or os.chmod(".", 0o777))
    inside(CAROL, at, lambda: os.makedirs("open/carols/data") or open("open/carols/data/file", "w").close())
    os.close(at)
    # 703: he has a file open, and goes on using it.
    at = give(703, BOB)
    writing = os.open("%s/703/job.json" % JOBS, os.O_RDWR)
    os.close(at)
    # 704: there are so many files that graind cannot look at all of them.
    at = give(704, BOB)
    inside(BOB, at, lambda: [os.makedirs("d%d/e/f" % i) for i in range(300)] and
           [open("d0/%d" % i, "w").close() for i in range(5000)] and None)
    os.close(at)
    return writing


def check_anns_job(trace, honest):
    kept = ask(ANN, "GET", "/v1/jobs/700")
    check("ann's job is there, as it was",
          kept[0] == 200 and (kept[1]["uid"], kept[1]["state"], kept[1]["exe"]) == (ANN, "finished", "/opt/fib"), kept)
    check("with its trace",
          os.path.exists(JOBS + "/700/trace.grt") and open(JOBS + "/700/trace.grt", "rb").read() == trace)
    check("and its summary", ask(ANN, "GET", "/v1/jobs/700/summary")[1] == {"grains": {"total": 3}})
    check("what this graind recorded of ann is there, too", ask(ANN, "GET", "/v1/jobs/%d/summary" % honest)[0] == 200)


def check_bobs_jobs(writing):
    got = ask(BOB, "GET", "/v1/jobs/701")
    check("bob's is bob's, whoever he says he is",
          got[0] == 200 and (got[1]["uid"], got[1]["state"]) == (BOB, "failed"), got)
    served = [ask(user, "GET", "/v1/jobs/701/" + what) for user in (BOB, 0) for what in ("trace", "summary")]
    check("without the files of others", all(s[0] in (404, 422) and "secret" not in str(s[1]) for s in served), served)
    os.pwrite(writing, description(703, 0, state="running", exe="/evil").encode().ljust(4096), 0)
    os.close(writing)
    got = ask(BOB, "GET", "/v1/jobs/703")
    check("what he writes to a file that he has open is not what graind reads",
          got[0] == 200 and got[1]["exe"] == "/opt/fib" and got[1]["uid"] == BOB, got)
    found = subprocess.run(["find", JOBS, "-path", "*/open/carols/data/file"], capture_output=True, text=True).stdout
    check("carol's directory in bob's is not removed", found.count("\n") == 1, found)
    deleted = [ask(BOB, "DELETE", "/v1/jobs/%d" % n)[0] for n in (701, 702, 703, 704)]
    check("bob deletes what he has", deleted == [204] * 4, deleted)
    wait(lambda: len([n for n in os.listdir(JOBS) if n.startswith(".deleted")]) == 1)
    left = [n for n in os.listdir(JOBS) if n.startswith(".")]
    check("nothing is left of it but what is carol's", sorted(left) == [".deleted-702-%d" % BOB, ".lock"], left)
    subprocess.run(["rm", "-r", JOBS + "/.deleted-702-%d" % BOB], check=False)


def former(honest):
    """What the directories of an older graind can have in them when this one starts."""
    shared = PROGRAMS + "/shared"
    victims = make_victims(shared)
    # Ann is honest: these are exactly the files that graind left.
    trace = os.urandom(100000)
    os.close(give(700, ANN, trace))
    prepare_forged(shared)
    writing = prepare_others()
    began = time.monotonic()
    restart()
    check("graind is up again soon (%.1f s)" % (time.monotonic() - began), time.monotonic() - began < 10)
    wait(lambda: all(os.stat("%s/%d" % (JOBS, n)).st_uid == SERVICE for n in (700, 701, 702, 703, 704)
                     if os.path.exists("%s/%d" % (JOBS, n))))
    owners = {what: os.stat(path).st_uid for what, (path, uid) in victims.items() if os.stat(path).st_uid != uid}
    check("no file of others has another owner", not owners, owners)
    check_anns_job(trace, honest)
    check_bobs_jobs(writing)


def quotas():
    """Bob fills the disk; whose jobs go?"""
    honest = [800, 801, 802]
    for number in honest:
        os.close(give(number, ANN, os.urandom(2 * MB)))
    for number in 803, 804, 805:
        at = give(number, BOB, os.urandom(12 * MB))
        inside(BOB, at, lambda: [open("empty%d" % i, "w").close() for i in range(4100)] and None)
        inside(BOB, at, lambda: os.utime(".", (4102444800, 4102444800)))
        os.close(at)
    settings("keep-bytes = 32M", "keep-days = 90")
    restart()
    wait(lambda: not there(803, BOB))
    time.sleep(1)
    check("beyond keep-bytes the oldest of the heaviest user goes",
          [there(n, BOB) for n in (803, 804, 805)] == [False, True, True], sorted(os.listdir(JOBS)))
    check("and none of ann's", all(there(n, ANN) for n in honest), sorted(os.listdir(JOBS)))
    ended = ask(BOB, "GET", "/v1/jobs/805")[1].get("ended_s", 1 << 40)
    check("no job has ended in the future", ended <= time.time(), ended)
    for number in range(810, 816):
        os.close(give(number, BOB))
    settings("user-jobs = 3")
    restart()
    wait(lambda: not there(812, BOB))
    check("beyond user-jobs the user's oldest go",
          [there(n, BOB) for n in (804, 805, 810, 811, 812, 813, 814, 815)] == [False] * 5 + [True] * 3,
          sorted(os.listdir(JOBS)))
    check("and nobody else's", all(there(n, ANN) for n in honest), sorted(os.listdir(JOBS)))


def lists():
    """Descriptions that take more memory than they are large."""
    settings("")
    big = description(0, BOB).replace('"notes": []', '"notes": [%s]' % ",".join(["1"] * 120000))
    for i in range(120):
        os.close(give(900 + i, BOB, job=big.replace('"job": 0', '"job": %d' % (900 + i))))
    restart()
    before, most, asking = memory_kb(), [0], [True]

    def watch():
        while asking[0]:
            most[0] = max(most[0], memory_kb())
            time.sleep(0.02)
    watching = threading.Thread(target=watch)
    watching.start()
    answers = [None] * 4

    def one(i):
        answers[i] = ask(BOB, "GET", "/v1/jobs?all=1", timeout=60)
    several = [threading.Thread(target=one, args=(i,)) for i in range(4)]
    for thread in several:
        thread.start()
    took, status, list_of_ann = timed(ANN, "GET", "/v1/jobs?all=1")
    for thread in several:
        thread.join()
    asking[0] = False
    watching.join()
    check("four lists of 120 forged descriptions make graind no larger (%d MB, then %d MB)" %
          (before >> 10, most[0] >> 10),
          most[0] < before + (48 << 10))
    check("they are answered", all(a[0] == 200 for a in answers), [str(a)[:100] for a in answers])
    check("ann's list has ann's jobs (%.2f s)" % took,
          status == 200 and all(j["uid"] == ANN for j in list_of_ann["jobs"]) and took < 10)


def slow_disk():
    """A job begins and one ends while nothing can be written to the state directory."""
    image = PROGRAMS + "/disk"
    with open(image, "wb") as out:
        out.truncate(64 << 20)
    try:
        subprocess.run(["mkfs.ext4", "-q", image], check=True, capture_output=True)
        subprocess.run(["mount", "-o", "loop", image, STATE], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        skip("a disk that hangs", problem)
        return
    frozen = False
    try:
        os.chown(STATE, 64000, 64000)
        restart()
        bobs, anns = program(BOB), program(ANN)
        job = uses_openmp(bobs.pid) and attach(BOB, bobs.pid)
        other = uses_openmp(anns.pid) and attach(ANN, anns.pid)
        check("ann and bob have a job each on a disk of its own", job and other, (job, other))
        frozen = subprocess.run(["fsfreeze", "-f", STATE]).returncode == 0
        bobs.kill()
        time.sleep(1.5)
        took, status, view = timed(ANN, "GET", "/v1/jobs/%d" % other, timeout=10)
        check("while bob's ends and the disk hangs, ann is told of hers (%.2f s)" % took,
              frozen and status == 200 and took < 3, view)
        took, status, jobs = timed(ANN, "GET", "/v1/jobs", timeout=10)
        check("and gets her list (%.2f s)" % took,
              status == 200 and [j["job"] for j in jobs["jobs"]] == [other] and took < 3, jobs)
        view = ask(BOB, "GET", "/v1/jobs/%d" % job, timeout=10)[1]
        check("bob's is not over before that is written",
              isinstance(view, dict) and view["state"] in ("running", "finishing"), view)
    finally:
        if frozen:
            subprocess.run(["fsfreeze", "-u", STATE])
    check("then it is", wait(lambda: ask(BOB, "GET", "/v1/jobs/%d" % job)[1].get("state") == "finished", 60))
    attacker.end_children()
    subprocess.run(["umount", "-l", STATE])
    restart()


def main():
    try:
        honest = locks()
        modes()
        own_job()
        former(honest)
        quotas()
        lists()
        slow_disk()
        check("graind is as well as before", ask(0, "GET", "/v1/status")[0] == 200)
    finally:
        attacker.end_children()


main()
