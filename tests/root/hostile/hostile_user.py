# SPDX-License-Identifier: BSD-2-Clause
"""Two unprivileged users against one graind: what each tries to do to the other, to root and to graind.

usage: hostile_user.py SOCKET STATE PROGRAM LONG_LIVED_PID_OF_ROOT LOG_OF_GRAIND
PROGRAM: loop_forever, at a place where both may execute it. Prints lines as the shell tests do.
"""
import os
import signal
import sys
import threading

SOCKET, STATE, PROGRAM, ROOTS, LOG = sys.argv[1:6]
os.environ.update(GRAIND_SOCKET=SOCKET, GRAIND_STATE_DIR=STATE, GRAIND_LOG=LOG, GRAIND_PID="0",
                  PROGRAMS=os.path.dirname(PROGRAM), TESTS_BUILD="")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attacker import *


def program(uid, milliseconds=120000):
    """A running OpenMP program of that user."""
    child = subprocess.Popen([PROGRAM, str(milliseconds), "/dev/null"], stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: become(uid), env=CALM)
    children.append(child)
    time.sleep(0.2)
    return child.pid


def alive():
    status, answer = ask(0, "GET", "/v1/status")
    return status == 200 and "version" in answer


def each_others_jobs():
    pid = program(ANN)
    check("bob cannot attach to ann's process", ask(BOB, "POST", "/v1/jobs", {"pid": pid})[0] == 403)
    check("nor to root's", ask(BOB, "POST", "/v1/jobs", {"pid": int(ROOTS)})[0] == 403)
    job = attach(ANN, pid)
    check("ann can", job is not None)
    tries = [("GET", ""), ("POST", "/detach"), ("DELETE", ""), ("GET", "/summary"), ("GET", "/trace"),
             ("GET", "/report"), ("GET", "/report?format=json")]
    for when in "runs", "is over":
        got = [(ask(BOB, m, "/v1/jobs/%d%s" % (job, p))[0]) for m, p in tries]
        check("bob is told that there is no such job while ann's %s" % when, got == [404] * len(tries), got)
        lists = [ask(BOB, "GET", p)[1] for p in ("/v1/jobs", "/v1/jobs?all=1")]
        check("and sees none in a list", all(x == {"jobs": []} for x in lists), lists)
        metrics = ask(BOB, "GET", "/metrics")[1]
        check("nor in /metrics", 'job="%d"' % job not in metrics and "loop_forever" not in metrics, metrics[-500:])
        check("it is what it was",
              ask(ANN, "GET", "/v1/jobs/%d" % job)[1]["state"] == ("running" if when == "runs" else "finished"))
        if when == "runs":
            ask(ANN, "POST", "/v1/jobs/%d/detach" % job)
    check("bob cannot look into its directory",
          as_user(BOB, lambda: os.access("%s/jobs/%d/trace.grt" % (STATE, job), os.R_OK)) is False)
    check("bob may not record all processes", ask(BOB, "POST", "/v1/jobs", {"all": True})[0] == 403)
    return job


def paths(job):
    odd = ["/v1/jobs/../../etc/passwd", "/v1/jobs/%d/../../../../etc/shadow" % job, "/v1/jobs/%2e%2e/%2e%2e/etc/passwd",
           "/etc/passwd", "/v1/jobs/%d%%2ftrace/.." % job, "/v1/jobs/%d/trace/../trace" % job,
           "/v1/jobs/%d/trace%%00.txt" % job, "/v1/jobs/%d/job.json" % job, "/v1/jobs/0%d" % job, "/v1/jobs/+%d" % job,
           "/v1/jobs/%d;" % job, "/v1/jobs/-1", "/v1/jobs/18446744073709551617", "/v1/jobs/9223372036854775807/trace",
           "//v1/jobs", "/v1//jobs", "/v1/jobs/", "/v1/jobs/%d/" % job, "/v1/jobs/%s" % ("1" * 3000), "/%n%n%n%s",
           "/v1/jobs/%ff%fe", "/v1/jobs?all=" + "x" * 3000]
    got = {p: ask(BOB, "GET", p) for p in odd}
    bad = {p: g for p, g in got.items() if g[0] not in (400, 404, 405, 414, 431) and g[1] != {"jobs": []}}
    check("paths that lead elsewhere are none", not bad, bad)
    check("and tell nothing", not any("root:" in str(g) for g in got.values()))
    views = [ask(ANN, "GET", "/v1/jobs/%d/report?%s" % (job, q)) for q in
             ("format=../../etc/passwd", "format=svg&view=/etc/shadow", "format=%00", "format=" + "a" * 2000,
              "view=" + "%0a" * 50)]
    check("formats and views are names, not files", all(v[0] == 400 and "root:" not in str(v[1]) for v in views), views)


def given(directory):
    """Changes a job to what an older graind left: the user owns it."""
    for name in os.listdir(directory):
        os.chown(directory + "/" + name, ANN, ANN)
    os.chown(directory, ANN, ANN)
    # A process that is already inside can go on, even if jobs/ is closed.
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY)


# How the API returns the content of each file of a job.
ASKED = {"trace.grt": "/trace", "summary.json": "/summary", "job.json": ""}


def reach_into(directory, path):
    """Tries to look into the directory of a job and to change it. Returns the attempts that succeeded."""
    done = []
    for attempt in (lambda: os.listdir(STATE + "/jobs"), lambda: os.listdir(directory),
                    lambda: os.unlink(directory + "/trace.grt"), lambda: os.symlink(path, directory + "/x"),
                    lambda: os.open(directory + "/job.json", os.O_RDONLY),
                    lambda: os.rename(directory, STATE + "/jobs/gone"), lambda: os.mkdir(STATE + "/jobs/999999")):
        try:
            attempt()
            done.append(True)
        except OSError:
            done.append(False)
    return done


def replace_files(job, path):
    """Copies a job several times. In each copy a file is replaced by a link, a pipe or a directory. Returns
    {number: (the file, by what)}."""
    directory = "%s/jobs/%d" % (STATE, job)
    kept = {name: open("%s/%s" % (directory, name), "rb").read() for name in ("trace.grt", "summary.json", "job.json")}
    kinds = {"a link": lambda t, at: os.symlink(path, t, dir_fd=at), "a pipe": lambda t, at: os.mkfifo(t, dir_fd=at),
             "a directory": lambda t, at: os.mkdir(t, dir_fd=at),
             "a link to a device": lambda t, at: os.symlink("/dev/zero", t, dir_fd=at),
             "a link to what graind has open": lambda t, at: os.symlink("/proc/self/fd/0", t, dir_fd=at)}
    jobs = {}
    for name in ASKED:
        for how, make in kinds.items():
            number = 500 + len(jobs)
            jobs[number] = name, how
            made = "%s/jobs/%d" % (STATE, number)
            os.mkdir(made, 0o700)
            for file, content in kept.items():
                with open(made + "/" + file, "wb") as out:
                    out.write(content.replace(b'"job":%d,' % job, b'"job":%d,' % number) if file == "job.json"
                              else content)
            at = given(made)

            def work():
                os.fchdir(at)
                os.unlink(name)
                make(name, at)
            as_user(ANN, work)
            os.close(at)
    return jobs


def check_replaced(jobs):
    """graind reads nothing through the replaced files. The rest of the jobs can be used and deleted."""
    bad = {}
    for number, (name, how) in jobs.items():
        got = [ask(user, "GET", "/v1/jobs/%d%s" % (number, ASKED[name])) for user in (ANN, 0)]
        if any("secret" in str(g[1]) for g in got) or (name != "job.json" and any(g[0] not in (404, 422) for g in got)):
            bad[number] = name, how, got
        if name == "job.json" and any(g[0] != 200 or g[1]["uid"] != ANN or g[1]["state"] != "failed" for g in got):
            bad[number] = name, how, got
        if ask(BOB, "GET", "/v1/jobs/%d" % number)[0] != 404 or ask(ANN, "DELETE", "/v1/jobs/%d" % number)[0] != 204:
            bad[number] = name, how, "whose it is"
    check("%d jobs whose owner put links, pipes and directories in place of files: nothing is read through them" %
          len(jobs), not bad, bad)


def name_socket(job, path, restart):
    """A job's owner puts data into its files that would make graind connect to, write or give away something."""
    directory = "%s/jobs/%d" % (STATE, job)
    path_of_socket = STATE + "/../ann.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path_of_socket)
    os.chmod(path_of_socket, 0o777)
    listener.listen(4)
    listener.settimeout(0.5)
    at = given(directory)

    def say():
        os.fchdir(at)
        os.unlink("summary.json")
        os.symlink(path, "summary.json")
        with open("job.json", "w") as out:
            json.dump({"job": job, "state": "running", "uid": 0, "pid": 1, "socket": os.path.realpath(path_of_socket)},
                      out)
    as_user(ANN, say)
    os.close(at)
    restart()
    status = ask(ANN, "DELETE", "/v1/jobs/%d" % job)
    try:
        listener.accept()
        called = True
    except socket.timeout:
        called = False
    check("graind connects to no socket that a user names", not called)
    check("a job that its owner calls running can be deleted", status[0] == 204, status)


def links(job, restart):
    """graind owns the directory of a job that is over. An older graind gave it to the user, who may have changed
    it."""
    directory = "%s/jobs/%d" % (STATE, job)
    secret = STATE + "/../secret"
    with open(secret, "w") as out:
        out.write('{"job":%d,"state":"finished","uid":0,"secret":1}' % job)
    os.chmod(secret, 0o600)
    path = os.path.realpath(secret)
    reached = as_user(ANN, lambda: reach_into(directory, path))
    check("whose job it is cannot reach its directory", not any(reached), reached)
    jobs = replace_files(job, path)
    restart()
    before = os.stat(path)

    def is_untouched():
        after = os.stat(path)
        return (before.st_uid, before.st_size) == (after.st_uid, after.st_size) == (0, before.st_size)
    check_replaced(jobs)
    check("and what a link pointed to is as it was", is_untouched())
    check("nothing is left of them", sorted(n for n in os.listdir(STATE + "/jobs") if n.startswith(".")) == [".lock"],
          os.listdir(STATE + "/jobs"))
    name_socket(job, path, restart)
    check("and what a link in it pointed to is as it was", is_untouched())


def forged(restart):
    """job.json says that graind left the job unfinished. Its files are links when graind starts again."""
    pid = program(ANN)
    job = attach(ANN, pid)
    ask(ANN, "POST", "/v1/jobs/%d/detach" % job)
    directory, secret = "%s/jobs/%d" % (STATE, job), os.path.realpath(STATE + "/../secret")
    at = given(directory)

    def work():
        os.fchdir(at)
        for name in "trace.grt", "summary.json":
            os.unlink(name)
            os.symlink(secret, name)
        with open("job.json", "w") as out:
            json.dump({"job": job, "state": "running", "uid": 0, "pid": 1, "socket": os.path.realpath(SOCKET)}, out)
    as_user(ANN, work)
    os.close(at)
    restart()
    taken = ask(ANN, "GET", "/v1/jobs/%d" % job)[1]
    check("what its owner forged is not taken up at the next start",
          os.stat(secret).st_uid == 0 and (taken["uid"], taken["state"]) == (ANN, "failed") and "socket" not in taken,
          taken)
    check("nor is what its links point to",
          [ask(ANN, "GET", "/v1/jobs/%d/%s" % (job, what))[0] for what in ("trace", "summary")] == [404, 422])
    check("and seen by its owner only", ask(BOB, "GET", "/v1/jobs/%d" % job)[0] == 404 and
          all(j["uid"] == BOB for j in ask(BOB, "GET", "/v1/jobs?all=1")[1]["jobs"]))


def reused_numbers():
    """The process ends between question and attach, and a process of root gets its number."""
    last = "/proc/sys/kernel/ns_last_pid"
    try:
        open(last, "w").close()
    except OSError as problem:
        print("skip - numbers that are used again: cannot write %s: %s" % (last, problem))
        return
    leaked, reused = [], 0
    for delay in range(40):
        pid = program(ANN)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(ask(ANN, "POST", "/v1/jobs", {"pid": pid})))
        asking.start()
        time.sleep(delay * 0.001)
        victim = children.pop()
        victim.kill()
        victim.wait()
        with open(last, "w") as out:
            out.write(str(pid - 1))
        root = subprocess.Popen(["of-root", "400", "/dev/null"], executable=PROGRAM,
                                stdout=subprocess.DEVNULL, env=CALM)
        reused += root.pid == pid
        asking.join()
        time.sleep(0.02)
        root.wait()
        if "of-root" in str(answers):
            leaked.append(answers)
    jobs = ask(ANN, "GET", "/v1/jobs?all=1")[1]["jobs"]
    leaked += [j for j in jobs if "of-root" in j["cmd"]]
    check("a number that is used again shows nothing of the other process", not leaked, leaked)
    check("and was used again (%d of 40 times)" % reused, reused >= 10)


def namespaces():
    """Root in a user namespace of one's own, with mounts of one's own, still has no rights."""
    script = ("mount -t tmpfs none /proc 2>/dev/null; mkdir -p /proc/self; printf 'Uid:\\t0\\t0\\t0\\t0\\n' "
              ">/proc/self/status; echo ready; "
              "exec sleep 60")
    inside = subprocess.Popen(["unshare", "-r", "-m", "sh", "-c", script], stdout=subprocess.PIPE,
                              preexec_fn=lambda: become(BOB))
    children.append(inside)
    if inside.stdout.readline() != b"ready\n":
        print("skip - user namespaces: users cannot make any here")
        return
    pid = program(ANN)
    ask_inside = ("import json,socket,sys\ns=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
                  "b=json.dumps({'pid':int(sys.argv[2])}) if sys.argv[2] != 'all' else '{\"all\":true}'\n"
                  "s.sendall(('POST /v1/jobs HTTP/1.1\\r\\nHost: g\\r\\nConnection: close\\r\\n"
                  "Content-Length: %d\\r\\n\\r\\n%s' % (len(b), b)).encode())\n"
                  "print(s.recv(100).split()[1].decode())")
    got = [subprocess.run(["unshare", "-r", "-m", "/usr/bin/python3", "-c", ask_inside, SOCKET, str(what)],
                          capture_output=True, text=True,
                          preexec_fn=lambda: become(BOB)).stdout.strip() for what in (pid, ROOTS, "all")]
    check("root of bob's own namespace may not look at others", got == ["403"] * 3, got)
    check("ann may not look at a process in bob's namespace",
          ask(ANN, "POST", "/v1/jobs", {"pid": inside.pid})[0] == 403)
    status, job = ask(BOB, "POST", "/v1/jobs", {"pid": inside.pid})
    check("bob may, and it is bob's", status in (201, 403) and (status == 403 or job["uid"] == BOB), (status, job))
    if status == 201:
        ask(BOB, "POST", "/v1/jobs/%d/detach" % job["job"])


def hold_connections():
    """Ann and bob open connections and never finish their requests. Returns the threads that do so."""
    def hang():
        held = []
        for i in range(200):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(1)
            try:
                s.connect(SOCKET)
                s.send(b"GET /v1/status HTTP/1.1\r\nHost: g\r\nX: " + b"x" * (i % 100))
                held.append(s)
            except OSError:
                pass
        time.sleep(40)
        return len(held)
    hanging = [threading.Thread(target=as_user, args=(uid, hang)) for uid in (ANN, BOB)]
    for thread in hanging:
        thread.start()
    return hanging


def broken_requests():
    giant = {"a header of a megabyte": b"GET /v1/status HTTP/1.1\r\nHost: g\r\nX: " + b"a" * (1 << 20),
             "a million headers": b"GET /v1/status HTTP/1.1\r\n" + b"a: b\r\n" * 1000000,
             "a line without end": b"G" * (1 << 20),
             "a body of nothing but brackets":
                 b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60000,
             "negative lengths": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: -5\r\n\r\n{}",
             "two lengths": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\nContent-Length: 50\r\n\r\n{}",
             "a length of all": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
             "chunks of a wrong size":
                 b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
             "zero bytes": b"\0" * 4096}

    def send_all():
        for data in giant.values():
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(3)
            s.connect(SOCKET)
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
            except OSError:
                pass
    as_user(64003, send_all)
    check("%d giant and broken requests leave it alive" % len(giant), alive())


def many_requests():
    def many():
        connection, seen = Connection(), {}
        began = time.monotonic()
        for _ in range(3000):
            connection.request("GET", "/v1/status")
            answer = connection.getresponse()
            answer.read()
            seen[answer.status] = seen.get(answer.status, 0) + 1
        return seen, time.monotonic() - began
    seen, took = as_user(64003, many)
    check("3000 requests of a user in %.1f s: %s" % (took, seen),
          seen.get("200", 0) <= 400 + 200 * (took + 1) and seen.get("429", 0) > 0)
    check("another one is not kept waiting", ask(64004, "GET", "/v1/status")[0] == 200)


def fifty_at_once():
    results = []

    def one(uid):
        results.append(ask(uid, "GET", "/v1/jobs?all=1")[0])
    fifty = [threading.Thread(target=one, args=(64010 + i % 5,)) for i in range(50)]
    for thread in fifty:
        thread.start()
    for thread in fifty:
        thread.join()
    check("50 clients at once are all answered", results == [200] * 50, results)


def dripping(drip):
    """A request that never ends. Each of its bytes comes in time."""
    began, dropped = time.monotonic(), False
    while time.monotonic() - began < 45 and not dropped:
        try:
            drip.send(b"a: b\r\n")
            time.sleep(1)
            ask(64005, "GET", "/v1/status")
        except OSError:
            dropped = True
    check("a request that drips is dropped after %.0f s" % (time.monotonic() - began), dropped)


def clients():
    hanging = hold_connections()
    time.sleep(2)
    began = time.monotonic()
    third = ask(64003, "GET", "/v1/status")[0]
    check("while ann and bob hold all the connections they get, a third user is answered (%.0f ms)" %
          (1000 * (time.monotonic() - began)), third == 200 and time.monotonic() - began < 2)
    drip = socket.socket(socket.AF_UNIX)
    drip.connect(SOCKET)
    drip.send(b"GET /v1/status HTTP/1.1\r\n")
    broken_requests()
    many_requests()
    fifty_at_once()
    dripping(drip)
    for thread in hanging:
        thread.join()


def wishes(restart):
    """Only the user himself decides that he is not recorded. graind has only the rights that its unit gives."""
    victim = program(ANN)
    job = attach(ANN, victim)
    status, answer = ask(ANN, "POST", "/v1/optout", {"on": True})
    check("ann opts out, her recording ends", status == 200 and answer["opted_out"] and answer["stopped"] >= 1,
          (status, answer))
    for body in {"on": False, "uid": ANN}, {"on": False, "user": "ann"}, {"off": ANN}:
        status, answer = ask(BOB, "POST", "/v1/optout", body)
        check("bob cannot decide it for her: %s" % json.dumps(body), status == 400, (status, answer))
    ask(BOB, "POST", "/v1/optout?uid=%d" % ANN, {"on": False})

    def tamper():
        done = []
        for attempt in (lambda: os.unlink("%s/optout/%d" % (STATE, ANN)),
                        lambda: os.rename(STATE + "/optout", STATE + "/gone"),
                        lambda: os.listdir(STATE + "/optout"),
                        lambda: os.link("%s/optout/%d" % (STATE, ANN), "/tmp/.graind-%d" % os.getpid()),
                        lambda: os.symlink("%d" % ANN, "%s/optout/0" % STATE),
                        lambda: open("%s/optout/%d" % (STATE, ANN), "r+")):
            try:
                attempt()
                done.append(True)
            except OSError:
                done.append(False)
        return done
    for user in BOB, ANN:
        check("nor reach where it is kept (%d)" % user, not any(as_user(user, tamper)), as_user(user, tamper))
    restart()
    check("it holds after a restart, for root as well", ask(ANN, "GET", "/v1/optout")[1]["opted_out"] and
          ask(0, "POST", "/v1/jobs", {"pid": victim})[0] == 403 and attach(ANN, victim) is None)
    kept = os.stat("%s/optout/%d" % (STATE, ANN))
    check("it is graind's own", (kept.st_uid, kept.st_mode & 0o777) == (64000, 0o600), kept)
    check("what was recorded is hers still", ask(ANN, "GET", "/v1/jobs/%d/summary" % job)[0] == 200)
    ask(ANN, "POST", "/v1/optout", {"on": False})
    check("until she undoes it", attach(ANN, victim) is not None)
    ask(BOB, "POST", "/v1/optout", {"on": True})
    own = program(BOB)
    check("bob's own wish is his", attach(BOB, own) is None and ask(ANN, "GET", "/v1/status")[1]["opted_out"] is False)
    ask(BOB, "POST", "/v1/optout", {"on": False})


def connects(count):
    """Opens connections to libgrainshim's socket that say nothing. Returns how many of them graind keeps for half
    a second."""
    def work():
        held = []
        for _ in range(count):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.connect(SOCKET + ".shim")
            held.append(s)
        time.sleep(0.5)
        kept = 0
        for s in held:
            s.setblocking(False)
            try:
                s.recv(1)
            except BlockingIOError:
                kept += 1
            except ConnectionResetError:
                pass
        return kept
    return work


def places():
    """All users share a few of these. No user can take all of them."""
    pid = program(ANN)
    status, job = ask(ANN, "POST", "/v1/jobs", {"pid": pid, "fast": True})
    # The job waits for its process, while bob's jobs wait for nothing.
    bobs = []
    taking = threading.Thread(target=lambda: bobs.append(as_user(BOB, connects(300))))
    taking.start()
    time.sleep(0.4)
    anns = as_user(ANN, connects(1))
    taking.join()
    check("bob is let wait %s times of 300 where libgrainshim comes to" % bobs, status == 201 and 16 <= bobs[0] <= 128,
          (status, job))
    check("and ann finds room there", anns == 1, anns)
    ask(ANN, "POST", "/v1/jobs/%d/detach" % job["job"])
    os.kill(pid, signal.SIGKILL)

    session = ask(0, "POST", "/v1/jobs", {"all": True})[1]["job"]

    def recorded():
        listed = ask(0, "GET", "/v1/jobs")[1]["jobs"]
        return [sum(j["uid"] == user and j["state"] == "running" for j in listed) for user in (ANN, BOB)]

    def begin(user, count):
        environment = dict(CALM, OMP_NUM_THREADS="1", LOOP_PAUSE_US="500000")
        begun = [subprocess.Popen([PROGRAM, "600000", "/dev/null"], stdout=subprocess.DEVNULL,
                                  preexec_fn=lambda: become(user), env=environment)
                 for _ in range(count)]
        children.extend(begun)
        return begun

    def wait(done):
        until = time.monotonic() + 60
        while not done() and time.monotonic() < until:
            time.sleep(0.3)
    greedy = begin(ANN, 150)
    wait(lambda: recorded()[0] >= 100 and "others of its user are" in open(LOG).read())
    check("of ann's 150 processes a session records no more than are left for others: %d" % recorded()[0],
          64 < recorded()[0] <= 128)
    check("and says whom it has given up", "others of its user are, of 256 in all" in open(LOG).read())
    bobs = begin(BOB, 1)[0].pid

    def is_bobs_recorded():
        return any(j["pid"] == bobs and j["state"] == "running" for j in ask(0, "GET", "/v1/jobs")[1]["jobs"])
    wait(is_bobs_recorded)
    check("bob's is recorded", is_bobs_recorded(), recorded())
    for child in greedy:
        child.kill()
    ask(0, "POST", "/v1/jobs/%d/detach" % session)


def restart():
    print("restart", flush=True)
    sys.stdin.readline()


def main():
    try:
        job = each_others_jobs()
        paths(job)
        links(job, restart)
        reused_numbers()
        namespaces()
        forged(restart)
        wishes(restart)
        places()
        clients()
        check("graind is as well as before", alive())
    finally:
        for child in children:
            child.send_signal(signal.SIGKILL)


main()
