# SPDX-License-Identifier: BSD-2-Clause
"""Two users under a graind with the limits of its unit. One is hostile in all ways at once; the other attaches,
asks and fetches every second. Prints a table of what the second user sees: alone, beside the same processes of a
user whom graind does not hear (what the machine itself takes), and beside the hostile user. A kernel may leave a
whole control group without a CPU for seconds, although the group is due its share (CFS since Linux 6.6, with
groups whose weights change often). A canary in graind's group on each CPU records such times. The part of a
request's time that lies in them is no delay by graind.

usage: attack_load.py SECONDS UNIT_FILE [ATTACK...], by the names of the functions below; without names all
"""
import ctypes
import fcntl
import glob
import http.server
import mmap
import re
import socketserver
import threading

from attacker import *
import groups

SECONDS = int(sys.argv[1])
LONG = SECONDS >= 120
# With so few requests, one busy second of another program affects half of them.
BRIEF = SECONDS < 10
# Ann is the hostile user. She also has the ids from SUB on.
HONEST = BOB
GOMP = next(line.split()[-1] for line in open("/proc/self/maps")
            if "libc.so.6" in line).replace("libc.so.6", "libgomp.so.1")
OPENMP = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print('ready', flush=True); "


def unit_bytes(setting):
    """A size that the unit file gives, or None."""
    found = re.search(r"^%s=(\d+)([KMG%%]?)" % setting, open(sys.argv[2]).read(), re.M)
    if found and found[2] == "%":
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * int(found[1]) // 100
    return found and int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]


# ---- the honest user -------------------------------------------------------

def honest(seconds):
    """Makes the requests of a second, again and again. Returns (kind, begin, end, status) of each, and what the
    jobs say."""
    def work():
        took, jobs = [], []

        def request(kind, method, path, body=None):
            began = time.monotonic()
            try:
                connection = Connection(60)
                connection.request(method, path, json.dumps(body) if body is not None else None)
                answer = connection.getresponse()
                status, text = answer.status, answer.read()
                connection.close()
            except OSError as problem:
                status, text = repr(problem), b""
            took.append((kind, began, time.monotonic(), status))
            return status, text
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            began = time.monotonic()
            status, text = request("attach", "POST", "/v1/jobs", {"pid": running.pid})
            if status == 201:
                path = "/v1/jobs/%d" % json.loads(text)["job"]
                time.sleep(0.3)
                request("ask", "GET", path)
                status, text = request("detach", "POST", path + "/detach")
                jobs.append(json.loads(text) if status == 200 else {"state": "not detached"})
                request("summary", "GET", path + "/summary")
                request("trace", "GET", path + "/trace")
                request("report", "GET", path + "/report?format=svg")
                request("delete", "DELETE", path)
            request("list", "GET", "/v1/jobs?all=1")
            time.sleep(max(0, began + 1 - time.monotonic()))
        return took, [(j["state"], j.get("lost"), j.get("events"), j.get("error")) for j in jobs]
    running = program(HONEST, install("loop_forever"), "10000000", "/dev/null")
    honest_group.take(running.pid)
    uses_openmp(running.pid)
    result = in_group(honest_group, HONEST, work)
    running.kill()
    return result


def in_group(group, uid, work):
    """Like as_user(), in that group."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        group.take(os.getpid())
        become(uid)
        try:
            os.write(write, json.dumps(work()).encode())
        except BaseException as problem:
            os.write(write, json.dumps({"exception": repr(problem)}).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return json.loads(text)


# ---- the canaries ----------------------------------------------------------

NAP, LATE = 0.005, 0.02


def canaries():
    """One canary on each CPU. It records when it wanted to run and did not for longer than LATE."""
    begun = []
    for cpu in sorted(os.sched_getaffinity(0)):
        path = "%s/canary.%d" % (PROGRAMS, cpu)
        pid = os.fork()
        if pid == 0:
            os.sched_setaffinity(0, {cpu})
            service_group.take(os.getpid())
            with open(path, "w", buffering=1) as out:
                while True:
                    wanted = time.monotonic() + NAP
                    time.sleep(NAP)
                    now = time.monotonic()
                    if now > wanted + LATE:
                        out.write("%f %f\n" % (wanted, now))
        begun.append((pid, path))
    return begun


def both(a, b):
    """The times that are in both of these sorted lists of (begin, end)."""
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        begin, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if begin < end:
            found.append((begin, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return found


def starved(begun):
    """The times in which none of these processes got a CPU."""
    common = None
    for pid, path in begun:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        whiles = [tuple(map(float, line.split())) for line in open(path) if line.endswith("\n")]
        common = whiles if common is None else both(common, whiles)
    return common


# ---- the hostile one: each runs until it is killed -------------------------

# The socket that is asked: graind's, or that of a stand-in that records nothing.
door = SOCKET


class StandIn(http.server.BaseHTTPRequestHandler):
    """Answers every request as if it had done the work. It takes at least as long as graind does."""
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        time.sleep(0.25 if self.command == "POST" and self.path != "/v1/optout" else 0.005)
        body = b'{"job": 1, "jobs": []}'
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = do_DELETE = answer

    def address_string(self):
        return "stand-in"

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 1000


def stand_in():
    """Runs as long as its process. Its other socket accepts connections as libgrainshim's socket does."""
    for path in door, door + ".shim":
        if os.path.exists(path):
            os.unlink(path)
    shim = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    shim.bind(door + ".shim")
    shim.listen(1000)
    server = Server(door, StandIn)
    for path in door, door + ".shim":
        os.chmod(path, 0o777)

    def take():
        held = []
        while True:
            held = held[-400:] + [shim.accept()[0]]
    threading.Thread(target=take, daemon=True).start()
    server.serve_forever()

def ask_self(method, path, body=None, timeout=20):
    """A request of the process' own user. Errors in the answer do not matter."""
    try:
        connection = Connection(timeout, door)
        connection.request(method, path, json.dumps(body) if body is not None else None)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)
    except (OSError, ValueError, http.client.HTTPException):
        return 0, {}


def openmp(*argv, code="import time; time.sleep(1000)", library=GOMP):
    """A process that has the runtime mapped."""
    child = subprocess.Popen(["/usr/bin/python3", "-S", "-c", OPENMP + code, library, *argv], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    child.stdout.readline()
    return child


def locks():
    while True:
        held = []
        for path in glob.glob(STATE + "/**", recursive=True) + glob.glob(os.path.dirname(SOCKET) + "/*") + [STATE]:
            try:
                fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held.append(fd)
            except OSError:
                pass
        time.sleep(2)
        for fd in held:
            os.close(fd)


def connections():
    held = []
    while True:
        for path, kind in ((door, socket.SOCK_STREAM), (door + ".shim", socket.SOCK_SEQPACKET)):
            try:
                s = socket.socket(socket.AF_UNIX, kind)
                s.settimeout(0.5)
                s.connect(path)
                s.send(b"GET /v1/status HTTP/1.1\r\nX: ")
                held.append(s)
            except OSError:
                time.sleep(0.05)
        if len(held) > 200:
            for s in held[:50]:
                s.close()
            del held[:50]


def requests():
    while True:
        for method, path in (("GET", "/v1/jobs?all=1"), ("GET", "/v1/status"), ("GET", "/metrics"),
                             ("POST", "/v1/optout")):
            ask_self(method, path, {} if method == "POST" else None)


def samples():
    programs = [subprocess.Popen([install("loop_forever"), "10000000", "/dev/null"], stdout=subprocess.DEVNULL,
                                 env=CALM) for _ in range(16)]
    time.sleep(1)
    while True:
        for p in programs:
            for hz in 10000, 1000, 99:
                if ask_self("POST", "/v1/jobs",
                            {"pid": p.pid, "sample_hz": hz, "counters": ["page-faults", "context-switches"]})[0] != 429:
                    break
        time.sleep(1)
        for job in ask_self("GET", "/v1/jobs")[1].get("jobs", []):
            ask_self("POST", "/v1/jobs/%d/detach" % job["job"])
            ask_self("DELETE", "/v1/jobs/%d" % job["job"])


def giant_runtimes():
    number = 0
    os.makedirs(scratch, exist_ok=True)
    while True:
        number += 1
        path = "%s/libgomp-%d-%d.so.1" % (scratch, os.getpid(), number)
        shutil.copy(GOMP, path)
        if number % 2:
            os.truncate(path, 6 << 30)
        child = openmp(library=path)
        flipping = threading.Thread(target=lambda: [flip(path) for _ in range(200)])
        flipping.start()
        ask_self("POST", "/v1/jobs", {"pid": child.pid})
        flipping.join()
        child.kill()
        child.wait()
        os.unlink(path)


def flip(path):
    """Writes other bytes for a moment."""
    try:
        with open(path, "r+b", buffering=0) as file:
            file.seek(0x8000)
            was = file.read(4096)
            file.seek(0x8000)
            file.write(b"\x90" * 4096)
            file.seek(0x8000)
            file.write(was)
    except OSError:
        pass


MAPS = """
import mmap, os, time
fds = []
name = '/'.join([sys.argv[2]] + ['d' * 200] * 12)
os.makedirs(name, exist_ok=True)
with open(name + '/x', 'wb') as out: out.write(b'x' * 8192)
for i in range(256):
    link = name + '/%d-%d' % (os.getpid(), i)
    os.link(name + '/x', link)
    f = open(link, 'rb'); fds.append(mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)); f.close()
    os.unlink(link)
sys.stdin.readline()
for i in range(500):
    if os.fork() == 0:
        time.sleep(3); os._exit(0)
time.sleep(1000)
"""


def fork_storm():
    os.makedirs(scratch, exist_ok=True)
    while True:
        child = subprocess.Popen(["/usr/bin/python3", "-S", "-c", OPENMP + MAPS, GOMP, scratch], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        child.stdout.readline()
        ask_self("POST", "/v1/jobs", {"pid": child.pid})
        child.stdin.write(b"\n")
        child.stdin.flush()
        time.sleep(4)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


EXECUTABLE = """
import mmap, time
f = open('/bin/true', 'rb')
maps = [mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ | (mmap.PROT_EXEC if i % 2 else 0)) for i in range(60000)]
time.sleep(1000)
"""


def many_mappings():
    while True:
        child = openmp(code=EXECUTABLE)
        time.sleep(3)
        ask_self("POST", "/v1/jobs", {"pid": child.pid, "sample_hz": 99})
        time.sleep(10)
        child.kill()
        child.wait()


def forged_rings():
    recorded = [install("grainctl"), "run", "--fast", "--"] if door == SOCKET else []
    while True:
        subprocess.run(["timeout", "30", *recorded, install("hostile", BUILD + "/tests/root/programs/hostile"), "5"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(CALM, GRAIND_SOCKET=door))


def stopped_workers():
    """All processes of graind that have this user's id."""
    stopped = []
    while True:
        for name in glob.glob("/proc/[0-9]*"):
            try:
                if os.stat(name).st_uid == os.getuid() and open(name + "/comm").read().startswith("graind"):
                    os.kill(int(name[6:]), signal.SIGSTOP)
                    stopped.append(int(name[6:]))
            except OSError:
                pass
        time.sleep(0.05)


def reports():
    child = subprocess.Popen([install("fib"), "26", "26", "10"], stdout=subprocess.DEVNULL, env=CALM)
    time.sleep(0.2)
    job = ask_self("POST", "/v1/jobs", {"pid": child.pid})[1].get("job", 0)
    child.wait()
    while True:
        ask_self("GET", "/v1/jobs/%d/report?format=html" % job, timeout=3)


def short_lives():
    while True:
        child = subprocess.Popen([install("loop_forever"), "30", "/dev/null"], stdout=subprocess.DEVNULL, env=CALM)
        ask_self("POST", "/v1/jobs", {"pid": child.pid})
        child.wait()


ATTACKS = [locks, samples, giant_runtimes, fork_storm, many_mappings, forged_rings, stopped_workers, reports, reports,
           short_lives]
BY_SUB_IDS = [connections, requests]
scratch = ""


def begin(attacks):
    """The processes that make the attack."""
    global scratch
    scratch = PROGRAMS + "/scratch"
    os.makedirs(scratch, exist_ok=True)
    os.chown(scratch, ANN, ANN)
    begun = []
    for uid, work in attacks:
        pid = os.fork()
        if pid == 0:
            os.setsid()
            hostile_group.take(os.getpid())
            become(uid)
            sys.stdout = sys.stderr = open(os.devnull, "w")
            work()
            os._exit(0)
        begun.append(pid)
    return begun


def end(begun):
    """Also ends whatever they have started by then."""
    for _ in range(100):
        left = [int(pid) for pid in open(hostile_group.file("cpu", "cgroup.procs")).read().split()]
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for pid in begun:
            try:
                os.waitpid(pid, os.WNOHANG)
            except OSError:
                pass
        if not left:
            return
        time.sleep(0.1)


# ---- the table -------------------------------------------------------------

def at(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def phase(name, attacks, unheard=False):
    global door
    door = PROGRAMS + "/stand-in.sock" if unheard else SOCKET
    begun = begin([(0, stand_in)] if unheard else [])
    if unheard:
        wait(lambda: os.path.exists(door))
    begun += begin(attacks)
    time.sleep(3 if attacks else 0)
    cpu = service_group.cpu_seconds()
    watchers = canaries()
    began = time.monotonic()
    got = honest(SECONDS)
    cpu = (service_group.cpu_seconds() - cpu) / (time.monotonic() - began)
    without = starved(watchers)
    end(begun)
    if isinstance(got, dict):
        check("%s: the honest user can work" % name, False, got)
        return None
    requests = [(kind, to - since, to - since - sum(b - a for a, b in both([(since, to)], without)), status)
                for kind, since, to, status in got[0]]
    return [requests, got[1], cpu, service_group.peak_memory(), sum(b - a for a, b in without),
            max((b - a for a, b in without), default=0)]


def tell(phases):
    kinds = ("attach", "ask", "detach", "summary", "trace", "report", "delete", "list")
    print("= ms: median, 99th percentile, that less whiles without a CPU | %s" % " | ".join(phases))
    for kind in kinds + ("all",):
        row = []
        for got in phases.values():
            times = [(1000 * t, 1000 * net) for k, t, net, _ in got[0] if kind in (k, "all")]
            row.append("%6.1f %7.1f %7.1f" % (at([t for t, _ in times], 0.5), at([t for t, _ in times], 0.99),
                                              at([net for _, net in times], 0.99)))
        print("= %-8s| %s" % (kind, " | ".join(row)), flush=True)
    for text, value in (("requests, refused or not answered",
                         lambda g: "%d, %d" % (len(g[0]), sum(s not in (200, 201, 204) for _, _, _, s in g[0]))),
                        ("jobs, events, lost",
                         lambda g: "%d, %d, %d" % (len(g[1]), sum(j[2] or 0 for j in g[1]),
                                                   sum(j[1] or 0 for j in g[1]))),
                        ("graind: part of a CPU; peak of memory, MB", lambda g: "%.2f; %d" % (g[2], g[3] >> 20)),
                        ("its group without a CPU: s in all; at the longest", lambda g: "%.1f; %.2f" % (g[4], g[5]))):
        print("= %-8s| %s" % (text, " | ".join(value(g) for g in phases.values())), flush=True)


try:
    service_group, honest_group, hostile_group, remove = groups.tree()
except OSError as problem:
    skip("two users, one hostile", "control groups cannot be made here: %s" % problem)
    sys.exit()
for path in [graind] + [int(child) for child in open("/proc/%d/task/%d/children" % (graind, graind)).read().split()]:
    service_group.take(path)
limit = unit_bytes("MemoryMax")
if limit:
    service_group.limit_memory(limit)
weight = unit_bytes("CPUWeight")
if weight:
    service_group.weigh(weight)
for name in "loop_forever", "fib":
    install(name)
install("hostile", BUILD + "/tests/root/programs/hostile")
for name in ("grainctl", "libgrainshim.so"):
    install(name, os.path.join(BUILD, name))
attacks = ([(ANN, work) for work in ATTACKS] +
           [(SUB + i, work) for i in range(20) for work in BY_SUB_IDS[i % 2:i % 2 + 1]])
attacks = [(uid, work) for uid, work in attacks if not sys.argv[3:] or work.__name__ in sys.argv[3:]]
phases = {"alone": phase("alone", []), "beside the same, not heard": phase("beside the same, not heard", attacks, True),
          "beside a hostile one": phase("beside a hostile one", attacks)}
if all(phases.values()):
    tell(phases)
    alone, floor, hostile = phases.values()
    check("each request of the honest user is answered as it should be",
          all(s in (200, 201, 204) for _, _, _, s in hostile[0]),
          "%s; graind's log: %s" % (sorted({(k, str(s)) for k, _, _, s in hostile[0] if s not in (200, 201, 204)}),
                                    " | ".join(
                                        line.split(" ", 1)[-1] for line in open(LOG).read().splitlines()
                                        if "of 64002" in line or "ended" in line)[-400:]))
    check("not one event of the honest user's is lost (%d of %d jobs)" % (len(hostile[1]), SECONDS),
          hostile[1] and all(j[1] == 0 for j in hostile[1]), [j for j in hostile[1] if j[1] != 0][:5])
    check("all of the honest user's jobs finish well",
          all(j[0] == "finished" and j[2] and not j[3] for j in hostile[1]),
          [j for j in hostile[1] if j[0] != "finished" or not j[2] or j[3]][:5])
    if limit:
        check("graind stays within its memory: %d of %d MB" % (hostile[3] >> 20, limit >> 20), hostile[3] < limit)
    else:
        check("the unit limits graind's memory", False, "no MemoryMax in " + sys.argv[2])
    def took(got, share, kind=None):
        return at([net for k, _, net, _ in got[0] if kind in (k, None)], share)
    # The short forms have too few requests for a percentile, so the median of each kind is judged.
    if LONG:
        mine, bound = took(hostile, 0.99), max(2 * took(alone, 0.99), took(floor, 0.99))
        check("requests take at most twice as long at the 99th percentile, or as beside the same processes without "
              "graind: %.0f of %.0f ms" % (1000 * mine, 1000 * bound), mine <= bound)
    if BRIEF:
        text = "three times as long at the median as beside the same processes without graind"
        bounds = {k: 3 * max(took(alone, 0.5, k), took(floor, 0.5, k)) + 0.1 for k, _, _, _ in alone[0]}
    else:
        text = "twice as long at the median, each kind, as alone or beside the same processes without graind"
        bounds = {k: 2 * max(took(alone, 0.5, k), took(floor, 0.5, k)) for k, _, _, _ in alone[0]}
    late = {k: "%.1f of %.1f ms" % (1000 * took(hostile, 0.5, k), 1000 * bound) for k, bound in bounds.items()
            if took(hostile, 0.5, k) > bound}
    check("requests take at most " + text, not late, late)
end_children()
remove()
