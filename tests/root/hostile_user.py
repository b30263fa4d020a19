# SPDX-License-Identifier: BSD-2-Clause
"""Two unprivileged users against one graind: what each tries to do to the other, to root and to graind.

usage: hostile_user.py SOCKET STATE PROGRAM LONG_LIVED_PID_OF_ROOT LOG_OF_GRAIND
PROGRAM: loop_forever, where both may execute it. Prints lines as the shell tests do.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

SOCKET, STATE, PROGRAM, ROOTS, LOG = sys.argv[1:6]
ANN, BOB = 64001, 64002
# They need not do much.
CALM = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "LOOP_PAUSE_US": "10000"}
children = []


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what), flush=True)
    if not good:
        print("# " + str(detail)[:600].replace("\n", " "), flush=True)


class Connection(http.client.HTTPConnection):
    def __init__(self, timeout=30):
        super().__init__("graind", timeout=timeout)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


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


def ask(uid, method, path, body=None):
    """(status, object) of a request of that user."""
    def work():
        connection = Connection()
        connection.putrequest(method, path, skip_accept_encoding=True)
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, answer.read(4000000).decode(errors="replace")
    status, text = as_user(uid, work)
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


def program(uid, milliseconds=120000):
    """A running OpenMP program of that user."""
    child = subprocess.Popen([PROGRAM, str(milliseconds), "/dev/null"], stdout=subprocess.DEVNULL, preexec_fn=lambda: become(uid),
                             env=CALM)
    children.append(child)
    time.sleep(0.2)
    return child.pid


def attach(uid, pid):
    status, job = ask(uid, "POST", "/v1/jobs", {"pid": pid})
    return job["job"] if status == 201 else None


def alive():
    status, answer = ask(0, "GET", "/v1/status")
    return status == 200 and "version" in answer


def each_others_jobs():
    pid = program(ANN)
    check("bob cannot attach to ann's process", ask(BOB, "POST", "/v1/jobs", {"pid": pid})[0] == 403)
    check("nor to root's", ask(BOB, "POST", "/v1/jobs", {"pid": int(ROOTS)})[0] == 403)
    job = attach(ANN, pid)
    check("ann can", job is not None)
    tries = [("GET", ""), ("POST", "/detach"), ("DELETE", ""), ("GET", "/summary"), ("GET", "/trace"), ("GET", "/report"),
             ("GET", "/report?format=json")]
    for when in "runs", "is over":
        got = [(ask(BOB, m, "/v1/jobs/%d%s" % (job, p))[0]) for m, p in tries]
        check("bob is told that there is no such job while ann's %s" % when, got == [404] * len(tries), got)
        lists = [ask(BOB, "GET", p)[1] for p in ("/v1/jobs", "/v1/jobs?all=1")]
        check("and sees none in a list", all(x == {"jobs": []} for x in lists), lists)
        metrics = ask(BOB, "GET", "/metrics")[1]
        check("nor in /metrics", 'job="%d"' % job not in metrics and "loop_forever" not in metrics, metrics[-500:])
        check("it is what it was", ask(ANN, "GET", "/v1/jobs/%d" % job)[1]["state"] == ("running" if when == "runs" else "finished"))
        if when == "runs":
            ask(ANN, "POST", "/v1/jobs/%d/detach" % job)
    check("bob cannot look into its directory", as_user(BOB, lambda: os.access("%s/jobs/%d/trace.grt" % (STATE, job), os.R_OK)) is False)
    check("bob may not record all processes", ask(BOB, "POST", "/v1/jobs", {"all": True})[0] == 403)
    return job


def paths(job):
    odd = ["/v1/jobs/../../etc/passwd", "/v1/jobs/%d/../../../../etc/shadow" % job, "/v1/jobs/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd",
           "/v1/jobs/%d%%2ftrace/.." % job, "/v1/jobs/%d/trace/../trace" % job, "/v1/jobs/%d/trace%%00.txt" % job, "/v1/jobs/%d/job.json" % job,
           "/v1/jobs/0%d" % job, "/v1/jobs/+%d" % job, "/v1/jobs/%d;" % job, "/v1/jobs/-1", "/v1/jobs/18446744073709551617",
           "/v1/jobs/9223372036854775807/trace", "//v1/jobs", "/v1//jobs", "/v1/jobs/", "/v1/jobs/%d/" % job, "/v1/jobs/%s" % ("1" * 3000),
           "/%n%n%n%s", "/v1/jobs/%ff%fe", "/v1/jobs?all=" + "x" * 3000]
    got = {p: ask(BOB, "GET", p) for p in odd}
    bad = {p: g for p, g in got.items() if g[0] not in (400, 404, 405, 414, 431) and g[1] != {"jobs": []}}
    check("paths that lead elsewhere are none", not bad, bad)
    check("and tell nothing", not any("root:" in str(g) for g in got.values()))
    views = [ask(ANN, "GET", "/v1/jobs/%d/report?%s" % (job, q)) for q in
             ("format=../../etc/passwd", "format=svg&view=/etc/shadow", "format=%00", "format=" + "a" * 2000, "view=" + "%0a" * 50)]
    check("formats and views are names, not files", all(v[0] == 400 and "root:" not in str(v[1]) for v in views), views)


def links(job):
    """The directory of a job that is over is ann's."""
    directory = "%s/jobs/%d" % (STATE, job)
    secret = STATE + "/../secret"
    with open(secret, "w") as out:
        out.write('{"job":%d,"state":"finished","uid":0,"secret":1}' % job)
    os.chmod(secret, 0o600)
    path = os.path.realpath(secret)

    def replace(name, make):
        def work():
            target = "%s/%s" % (directory, name)
            try:
                os.unlink(target)
            except FileNotFoundError:
                pass
            make(target)
        return as_user(ANN, work)
    asked = {"trace.grt": "/trace", "summary.json": "/summary", "job.json": ""}
    for name, suffix in asked.items():
        for how, make in (("a link", lambda t: os.symlink(path, t)), ("a pipe", os.mkfifo), ("a directory", os.mkdir),
                          ("a link to a device", lambda t: os.symlink("/dev/zero", t)),
                          ("a link to what graind has open", lambda t: os.symlink("/proc/self/fd/0", t))):
            shutil.copy(directory + "/" + name, STATE + "/../saved")
            replace(name, make)
            got = ask(ANN, "GET", "/v1/jobs/%d%s" % (job, suffix)), ask(0, "GET", "/v1/jobs/%d%s" % (job, suffix))
            check("%s that its owner made %s is not read" % (name, how), all(g[0] in (404, 422) and "secret" not in str(g[1]) for g in got), got)
            target = directory + "/" + name
            os.rmdir(target) if os.path.isdir(target) and not os.path.islink(target) else os.unlink(target)
            shutil.copy(STATE + "/../saved", target)
            os.chown(target, ANN, ANN)
    # What graind would write, give away or connect to when it is started again, or asked to delete.
    path_of_socket = STATE + "/../ann.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path_of_socket)
    os.chmod(path_of_socket, 0o777)
    listener.listen(4)
    listener.settimeout(0.5)
    for where in os.path.realpath(SOCKET), os.path.realpath(path_of_socket):
        text = json.dumps({"job": job, "state": "running", "uid": 0, "pid": 1, "socket": where})
        as_user(ANN, lambda: open(directory + "/job.json", "w").write(text))
    as_user(ANN, lambda: os.unlink(directory + "/summary.json"))
    replace("summary.json", lambda t: os.symlink(path, t))
    before = os.stat(path)
    status = ask(ANN, "DELETE", "/v1/jobs/%d" % job)
    try:
        listener.accept()
        called = True
    except socket.timeout:
        called = False
    check("graind connects to no socket that a user names", not called)
    check("a job that its owner calls running can be deleted", status[0] == 204, status)
    after = os.stat(path)
    check("and what a link in it pointed to is as it was", (before.st_uid, before.st_size) == (after.st_uid, after.st_size) == (0, before.st_size))


def forged(restart):
    """job.json says that graind left it unfinished; the files in it are links when graind starts again."""
    pid = program(ANN)
    job = attach(ANN, pid)
    ask(ANN, "POST", "/v1/jobs/%d/detach" % job)
    directory, secret = "%s/jobs/%d" % (STATE, job), os.path.realpath(STATE + "/../secret")

    def work():
        for name in "trace.grt", "summary.json":
            os.unlink(directory + "/" + name)
            os.symlink(secret, directory + "/" + name)
        with open(directory + "/job.json", "w") as out:
            json.dump({"job": job, "state": "running", "uid": 0, "pid": 1, "socket": os.path.realpath(SOCKET)}, out)
    as_user(ANN, work)
    restart()
    check("what its owner forged is not taken up at the next start",
          os.stat(secret).st_uid == 0 and json.load(open(directory + "/job.json"))["state"] == "running")
    check("and seen by its owner only", ask(BOB, "GET", "/v1/jobs/%d" % job)[0] == 404 and
          all(j["uid"] == BOB for j in ask(BOB, "GET", "/v1/jobs?all=1")[1]["jobs"]))


def reused_numbers():
    """The process ends between question and attach, and root's gets its number."""
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
        root = subprocess.Popen(["of-root", "400", "/dev/null"], executable=PROGRAM, stdout=subprocess.DEVNULL, env=CALM)
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
    """Root of a user namespace of one's own, with mounts of one's own, is still nobody."""
    script = ("mount -t tmpfs none /proc 2>/dev/null; mkdir -p /proc/self; printf 'Uid:\\t0\\t0\\t0\\t0\\n' >/proc/self/status; echo ready; "
              "exec sleep 60")
    inside = subprocess.Popen(["unshare", "-r", "-m", "sh", "-c", script], stdout=subprocess.PIPE, preexec_fn=lambda: become(BOB))
    children.append(inside)
    if inside.stdout.readline() != b"ready\n":
        print("skip - user namespaces: users cannot make any here")
        return
    pid = program(ANN)
    ask_inside = ("import json,socket,sys\ns=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
                  "b=json.dumps({'pid':int(sys.argv[2])}) if sys.argv[2] != 'all' else '{\"all\":true}'\n"
                  "s.sendall(('POST /v1/jobs HTTP/1.1\\r\\nHost: g\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n%s' % (len(b), b)).encode())\n"
                  "print(s.recv(100).split()[1].decode())")
    got = [subprocess.run(["unshare", "-r", "-m", "/usr/bin/python3", "-c", ask_inside, SOCKET, str(what)], capture_output=True, text=True,
                          preexec_fn=lambda: become(BOB)).stdout.strip() for what in (pid, ROOTS, "all")]
    check("root of bob's own namespace may not look at others", got == ["403"] * 3, got)
    check("ann may not look at a process in bob's namespace", ask(ANN, "POST", "/v1/jobs", {"pid": inside.pid})[0] == 403)
    status, job = ask(BOB, "POST", "/v1/jobs", {"pid": inside.pid})
    check("bob may, and it is bob's", status in (201, 403) and (status == 403 or job["uid"] == BOB), (status, job))
    if status == 201:
        ask(BOB, "POST", "/v1/jobs/%d/detach" % job["job"])


def clients():
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
    time.sleep(2)
    began = time.monotonic()
    third = ask(64003, "GET", "/v1/status")[0]
    check("while ann and bob hold all the connections they get, a third user is answered (%.0f ms)" % (1000 * (time.monotonic() - began)),
          third == 200 and time.monotonic() - began < 2)

    # A request that never ends: bytes that come in time, each of them.
    drip = socket.socket(socket.AF_UNIX)
    drip.connect(SOCKET)
    drip.send(b"GET /v1/status HTTP/1.1\r\n")
    giant = {"a header of a megabyte": b"GET /v1/status HTTP/1.1\r\nHost: g\r\nX: " + b"a" * (1 << 20),
             "a million headers": b"GET /v1/status HTTP/1.1\r\n" + b"a: b\r\n" * 1000000,
             "a line without end": b"G" * (1 << 20),
             "a body of nothing but brackets": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60000,
             "negative lengths": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: -5\r\n\r\n{}",
             "two lengths": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\nContent-Length: 50\r\n\r\n{}",
             "a length of all": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
             "chunks of a wrong size": b"POST /v1/jobs HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
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
    check("3000 requests of a user in %.1f s: %s" % (took, seen), seen.get("200", 0) <= 400 + 200 * (took + 1) and seen.get("429", 0) > 0)
    check("another one is not kept waiting", ask(64004, "GET", "/v1/status")[0] == 200)

    results = []

    def one(uid):
        results.append(ask(uid, "GET", "/v1/jobs?all=1")[0])
    fifty = [threading.Thread(target=one, args=(64010 + i % 5,)) for i in range(50)]
    for thread in fifty:
        thread.start()
    for thread in fifty:
        thread.join()
    check("50 clients at once are all answered", results == [200] * 50, results)
    began, dropped = time.monotonic(), False
    while time.monotonic() - began < 45 and not dropped:
        try:
            drip.send(b"a: b\r\n")
            time.sleep(1)
            ask(64005, "GET", "/v1/status")
        except OSError:
            dropped = True
    check("a request that drips is dropped after %.0f s" % (time.monotonic() - began), dropped)
    for thread in hanging:
        thread.join()


def wishes(restart):
    """Who is not to be recorded decides that, and nobody else; graind has no more rights than its unit gives."""
    victim = program(ANN)
    job = attach(ANN, victim)
    status, answer = ask(ANN, "POST", "/v1/optout", {"on": True})
    check("ann opts out, her recording ends", status == 200 and answer["opted_out"] and answer["stopped"] >= 1, (status, answer))
    for body in {"on": False, "uid": ANN}, {"on": False, "user": "ann"}, {"off": ANN}:
        status, answer = ask(BOB, "POST", "/v1/optout", body)
        check("bob cannot decide it for her: %s" % json.dumps(body), status == 400, (status, answer))
    ask(BOB, "POST", "/v1/optout?uid=%d" % ANN, {"on": False})

    def tamper():
        done = []
        for attempt in (lambda: os.unlink("%s/optout/%d" % (STATE, ANN)), lambda: os.rename(STATE + "/optout", STATE + "/gone"),
                        lambda: os.listdir(STATE + "/optout"), lambda: os.link("%s/optout/%d" % (STATE, ANN), "/tmp/.graind-%d" % os.getpid()),
                        lambda: os.symlink("%d" % ANN, "%s/optout/0" % STATE), lambda: open("%s/optout/%d" % (STATE, ANN), "r+")):
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
    """Connections to where libgrainshim comes to, that say nothing: how many of them graind keeps for half a second."""
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
    """What all users share a few of: nobody takes all of them."""
    pid = program(ANN)
    status, job = ask(ANN, "POST", "/v1/jobs", {"pid": pid, "fast": True})
    # The job waits for its process as bob's wait for nothing.
    bobs = []
    taking = threading.Thread(target=lambda: bobs.append(as_user(BOB, connects(300))))
    taking.start()
    time.sleep(0.4)
    anns = as_user(ANN, connects(1))
    taking.join()
    check("bob is let wait %s times of 300 where libgrainshim comes to" % bobs, status == 201 and 16 <= bobs[0] <= 128, (status, job))
    check("and ann finds room there", anns == 1, anns)
    ask(ANN, "POST", "/v1/jobs/%d/detach" % job["job"])
    os.kill(pid, signal.SIGKILL)

    session = ask(0, "POST", "/v1/jobs", {"all": True})[1]["job"]

    def recorded():
        listed = ask(0, "GET", "/v1/jobs")[1]["jobs"]
        return [sum(j["uid"] == user and j["state"] == "running" for j in listed) for user in (ANN, BOB)]

    def begin(user, count):
        environment = dict(CALM, OMP_NUM_THREADS="1", LOOP_PAUSE_US="500000")
        begun = [subprocess.Popen([PROGRAM, "600000", "/dev/null"], stdout=subprocess.DEVNULL, preexec_fn=lambda: become(user), env=environment)
                 for _ in range(count)]
        children.extend(begun)
        return begun

    def wait(done):
        until = time.monotonic() + 60
        while not done() and time.monotonic() < until:
            time.sleep(0.3)
    greedy = begin(ANN, 150)
    wait(lambda: recorded()[0] >= 100 and "others of its user are" in open(LOG).read())
    check("of ann's 150 processes a session records no more than are left for others: %d" % recorded()[0], 64 < recorded()[0] <= 128)
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
        links(job)
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
