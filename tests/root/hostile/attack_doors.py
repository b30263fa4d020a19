# SPDX-License-Identifier: BSD-2-Clause
"""Connections, requests and ports: what keeps other users out, and who gets what belongs to another.

usage: attack_doors.py METRICS_PORT
"""
from attacker import *
import http.client
import struct
import threading

PORT = int(sys.argv[1])
GROUP = 64100
SHIM = SOCKET + ".shim"
# bpf/abi/shim_abi.h: struct shim_hello
HELLO = struct.pack("<IIII", 0x4D494853, 4, 1, 0)


def connected(uid, path=SOCKET, kind=socket.SOCK_STREAM):
    """A connection of that user, which this process holds. None: it could not be made."""
    connection = socket.socket(socket.AF_UNIX, kind)
    connection.setblocking(False)
    until = time.monotonic() + 2
    os.seteuid(uid)
    try:
        while True:
            try:
                connection.connect(path)
                return connection
            except BlockingIOError:
                # Up to this many connections are about to be accepted.
                if time.monotonic() > until:
                    return None
                time.sleep(0.001)
    except OSError:
        return None
    finally:
        os.seteuid(0)


def is_open(connection):
    if connection is None:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def hold(uids, each):
    """Connections of these users that send half a request. Each user makes as many as possible."""
    held = []
    for uid in uids:
        for _ in range(each):
            connection = connected(uid)
            if connection is None:
                return held
            try:
                connection.send(b"GET /v1/status HTTP/1.1\r\n")
            except OSError:
                pass
            held.append(connection)
    return held


def still_open(held):
    time.sleep(0.3)
    return sum(is_open(connection) for connection in held)


def let_go(held):
    for connection in held:
        if connection is not None:
            connection.close()
    wait(lambda: timed(0, "GET", "/v1/status", timeout=2)[1] == 200)


def member_asks(method, path):
    """Acts as a member of the admin group."""
    def work():
        os.setgroups([GROUP])
        os.setgid(64020)
        os.setuid(64020)
        connection = Connection(4)
        connection.request(method, path)
        return connection.getresponse().status
    return as_user(0, work)


def connections():
    subs = list(range(SUB, SUB + 14))
    held = hold(subs, 50)
    count = still_open(held)
    check("14 ids of one user's range hold what one user gets: %d" % count, 0 < count <= 50 and len(held) == 700,
          len(held))
    check("root is answered", timed(0, "GET", "/v1/status", timeout=4)[1] == 200)
    check("so is another user", timed(BOB, "GET", "/v1/status", timeout=4)[1] == 200)
    more = hold(range(65001, 65013), 50)
    count = still_open(held + more)
    check("with 12 further users it is what all users get: %d" % count, count <= 448, count)
    check("root is still answered", timed(0, "GET", "/v1/status", timeout=4)[1] == 200)
    check("so is a member of the admin group", member_asks("GET", "/v1/jobs") == 200)
    answers = [timed(CAROL, "GET", "/v1/status", timeout=4)[1] for _ in range(10)]
    check("and a user who comes only now", answers == [200] * 10, answers)
    let_go(held + more)


def requests(uid, count):
    """How many of this many requests over one connection are answered with 200."""
    connection, answered = Connection(10), 0
    connection.sock = connected(uid)
    connection.sock.settimeout(10)
    for _ in range(count):
        connection.request("GET", "/v1/status")
        answer = connection.getresponse()
        answer.read()
        answered += answer.status == 200
    connection.close()
    return answered


def rates():
    began = time.monotonic()
    answered = sum(requests(SUB + 100 + i, 300) for i in range(14))
    took = time.monotonic() - began
    check("14 ids of a range ask as often as one user may: %d in %.1f s" % (answered, took),
          answered <= 400 + 200 * (took + 1), answered)
    spent = requests(BOB, 1000)
    # A user whose record is dropped must not get a new allowance.
    began = time.monotonic()
    requests(BOB, 400)
    for uid in range(66000, 66300):
        requests(uid, 1)
    again = requests(BOB, 500)
    took = time.monotonic() - began
    check("300 other users who ask do not give one a new allowance: %d of 500 in %.1f s (and %d)" %
          (again, took, spent),
          again <= 200 * (took + 1) and (again < 400 or took > 1), again)


def shim():
    # A process with libgrainshim is expected, so the socket is open.
    waiting = program(CAROL)
    uses_openmp(waiting.pid)
    opened = attach(CAROL, waiting.pid, fast=True)
    check("a job waits for its process to come", opened is not None)
    read, write = os.pipe()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        # Like a set-uid program: bob's process has connected, and goes on as ann's.
        os.close(read)
        connection = connected(BOB, SHIM, socket.SOCK_SEQPACKET)
        connection.send(HELLO)
        socket.send_fds(theirs, [b"x"], [connection.fileno()])
        connection.close()
        become(ANN)
        os.write(write, b"x")
        os.execve(install("loop_forever"), ["loop_forever", "120000", "/dev/null"], CALM)
    os.close(write)
    os.read(read, 1)
    bobs = socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])
    uses_openmp(child)
    job = attach(ANN, child, fast=True)
    check("ann's process gets a job", job is not None)
    bobs.settimeout(5)
    try:
        message, descriptors = socket.recv_fds(bobs, 64, 4)[:2]
    except OSError as problem:
        message, descriptors = repr(problem), []
    check("what bob's process opened before it was ann's gets nothing of her job", not descriptors and message == b"",
          (message, descriptors))
    # A process has ended, but another process of its user holds its connection.
    child_of_bob = os.fork()
    if child_of_bob == 0:
        connection = connected(BOB, SHIM, socket.SOCK_SEQPACKET)
        connection.send(HELLO)
        socket.send_fds(theirs, [b"x"], [connection.fileno()])
        os._exit(0)
    os.waitpid(child_of_bob, 0)
    dead = socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])
    dead.settimeout(2)
    try:
        closed = dead.recv(1) == b""
    except OSError as problem:
        closed = repr(problem)
    check("a connection whose process has ended waits no longer", closed is True, closed)
    for number in opened, job:
        finish(number)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def scrape(host, timeout=5):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=timeout)
    try:
        connection.putrequest("GET", "/metrics", skip_host=True)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError as problem:
        return 0, repr(problem)
    finally:
        connection.close()


def metrics():
    held = []
    for i in range(100):
        connection = socket.socket()
        connection.settimeout(0.3)
        try:
            connection.bind(("127.0.0.%d" % (2 + i % 5), 0))
            connection.connect(("127.0.0.1", PORT))
            connection.send(b"GET /metrics HTTP/1.1\r\n")
        except OSError:
            pass
        held.append(connection)
    status, text = scrape("127.0.0.1:%d" % PORT)
    check("with 100 connections held at the metrics' port Prometheus is answered",
          status == 200 and text.endswith("# EOF\n"), (status, text[-200:]))
    for connection in held:
        connection.close()
    name = socket.gethostname().split(".")[0]
    good = ["127.0.0.1:%d" % PORT, "localhost", name, "%s:%d" % (name, PORT), "[::1]:%d" % PORT]
    check("asked by address, host name or localhost it answers",
          [scrape(host)[0] for host in good] == [200] * len(good), good)
    check("asked by a name that was given", scrape("metrics.example.org:9464")[0] == 200)
    status, text = scrape("rebound.example:%d" % PORT)
    check("by the name of a web page's maker nothing is told",
          status == 421 and "graind_" not in text and "--metrics-host" in text, (status, text))


connections()
rates()
shim()
metrics()
end_children()
