# SPDX-License-Identifier: BSD-2-Clause
"""What a user's recording, process, socket or directory can make root's grainctl do.

usage: attack_clients.py DIRECTORY (of root, 0755)
"""
import http.server
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time

from attacker import (ANN, BOB, BUILD, CALM, PROGRAMS, SOCKET, as_user, ask, attach, become, check, children,
                      end_children, install, program, uses_openmp, wait)

TOP = sys.argv[1]
CTL = BUILD + "/grainctl"
SECRET = "only-root-may-read-this"
BOBS = os.path.join(TOP, "bob")


def grainctl(*arguments, env=None, cwd=None, timeout=60, prefix=(), ctl=CTL):
    done = subprocess.run((*prefix, ctl, *map(str, arguments)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, cwd=cwd or TOP, env=dict(os.environ, **(env or {})))
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def write(path, text, mode, owner=0):
    with open(path, "w") as out:
        out.write(text)
    os.chmod(path, mode)
    os.chown(path, owner, owner)
    return path


def lines(text):
    return "".join("%s of line %d\n" % (text, i) for i in range(1, 21))


# --- what a recording names -----------------------------------------------------------

def compile_naming(name, paths):
    """A program that claims to have one loop in each of these files."""
    source = "#include <stdio.h>\nstatic volatile long sink;\n"
    for i, path in enumerate(paths):
        source += '#line 3 "%s"\nstatic void work%d(void)\n{\n#pragma omp parallel for schedule(dynamic)\n' % (path, i)
        source += "\tfor (int i = 0; i < 8; i++)\n\t\tsink += i;\n}\n"
    source += "int main(void)\n{\n" + "".join("\twork%d();\n" % i for i in range(len(paths))) + "\treturn 0;\n}\n"
    write(os.path.join(PROGRAMS, name + ".c"), source, 0o644)
    binary = os.path.join(PROGRAMS, name)
    subprocess.run(["gcc", "-g", "-O1", "-fopenmp", "-o", binary, binary + ".c"], check=True)
    os.chmod(binary, 0o755)
    return binary


def record(uid, binary):
    """The number of a finished job of that program."""
    child = program(uid, "/bin/sh", "-c", 'read go; exec "$0"', binary, stdin=subprocess.PIPE)
    job = attach(uid, child.pid)
    child.stdin.close()
    child.wait()
    return job if job and wait(lambda: ask(0, "GET", "/v1/jobs/%d" % job)[1].get("state") == "finished") else None


def page_of(what, env=None):
    out = os.path.join(TOP, "page.html")
    status, _, said = grainctl("report", what, "--format", "html", "-o", out, env=env)
    text = open(out).read() if status == 0 else said
    if os.path.exists(out):
        os.unlink(out)
    return status, text


def named_files():
    secret = write(os.path.join(TOP, "secret"), lines(SECRET), 0o600)
    own = write(os.path.join(BOBS, "own.c"), lines("what bob alone may read"), 0o600, BOB)
    everybodys = write(os.path.join(TOP, "everybodys.c"), lines("what everybody may read"), 0o644)
    link, fifo = os.path.join(BOBS, "link.c"), os.path.join(BOBS, "fifo.c")
    os.symlink(secret, link)
    os.mkfifo(fifo, 0o666)
    naming = compile_naming("naming", [secret, own, everybodys, link, fifo, "/dev/zero", "/proc/self/environ", TOP])
    env = {"PASSWORD_OF_ROOT": "only-in-root's-environment"}
    job = record(BOB, naming)
    if not check("bob's program that names files is recorded", job is not None):
        return
    trace = os.path.join(TOP, "fetched.grt")
    with open(trace, "wb") as out:
        subprocess.run(["curl", "-sf", "--unix-socket", SOCKET, "http://graind/v1/jobs/%d/trace" % job],
                       stdout=out, check=True)
    status, page = page_of(job, env)
    check("root's page of bob's job is made", status == 0 and '"excerpts":' in page, page)
    check("with what bob may read",
          "what bob alone may read of line 6" in page and "what everybody may read of line 6" in page)
    check("without what only root may read, nor by a link", SECRET not in page)
    check("nor root's environment", "only-in-root" not in page)
    os.chmod(trace, 0o644)
    for owner, mode, who, sees in ((BOB, 0o644, "bob", True), (0, 0o644, "root", False),
                                   (ANN, 0o666, "ann, which all may write", False), (ANN, 0o644, "ann", False)):
        os.chown(trace, owner, owner)
        os.chmod(trace, mode)
        status, page = page_of(trace, env)
        check("of a file of %s: what everybody may read" % who,
              status == 0 and "what everybody may read of line 6" in page, page[:500])
        check("of what bob may read %s" % ("all" if sees else "nothing more"),
              ("what bob alone may read" in page) == sees)
        check("nothing of root's", SECRET not in page and "only-in-root" not in page)
    os.chmod(trace, 0o644)
    os.chown(trace, BOB, BOB)
    as_user(ANN, lambda: os.makedirs(os.path.join(TOP, "ann", "private"), 0o700))
    install("grainctl-full", CTL + "-full")
    status, _, said = grainctl("report", trace, "--format", "html", "-o", os.path.join(TOP, "ann", "page.html"),
                               prefix=("setpriv", "--reuid=%d" % ANN, "--regid=%d" % ANN, "--clear-groups"),
                               ctl=install("grainctl", CTL))
    page = open(os.path.join(TOP, "ann", "page.html")).read() if status == 0 else said
    check("ann's page of bob's file reads nothing by what it names", status == 0 and "of line 6" not in page,
          page[:500])
    check("which is said", "no excerpts" in said, said)
    stopped_reader(job)
    own_sources(compile_naming("roots", [secret]))


def stopped_reader(job):
    """The process that reads for bob has bob's rights, so bob may stop it."""
    def stop_all():
        os.setgroups([]), os.setgid(BOB), os.setuid(BOB)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if (os.stat("/proc/" + pid).st_uid in (0, BOB) and
                        open("/proc/%s/comm" % pid).read() == "grainctl-full\n"):
                        os.kill(int(pid), signal.SIGSTOP)
                except OSError:
                    pass
        os._exit(0)
    stopper = os.fork()
    if stopper == 0:
        stop_all()
    try:
        began = time.monotonic()
        status, page = page_of(job)
        check("bob stops what reads for him: the page is made all the same", status == 0, page[:300])
        check("soon", time.monotonic() - began < 25, time.monotonic() - began)
    except subprocess.TimeoutExpired:
        check("bob stops what reads for him: the page is made all the same", False, "it hangs")
    finally:
        os.kill(stopper, signal.SIGKILL)
        os.waitpid(stopper, 0)


def own_sources(binary):
    job = record(0, binary)
    status, page = page_of(job)
    check("root's own job shows root's own sources", status == 0 and SECRET + " of line 6" in page, page[:300])


# --- what a state directory names -----------------------------------------------------

def pretend(path, state):
    """As bob: a job whose graind is bob, who accepts connections and says nothing. Returns its process, and a file
    that gets a byte for each connection."""
    os.makedirs(state + "/jobs/7", 0o755)
    heard = write(state + "/heard", "", 0o644)
    job = {"job": 7, "state": "running", "uid": 0, "pid": 1, "exe": "/bin/true", "cmd": "true", "socket": path,
           "error": ""}
    write(state + "/jobs/7/job.json", json.dumps(job), 0o600)
    shutil.copy(os.path.join(TOP, "fetched.grt"), state + "/jobs/7/trace.grt")
    for top, _, files in os.walk(state):
        for name in [top] + [os.path.join(top, f) for f in files]:
            os.chown(name, BOB, BOB)
    ready = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([]), os.setgid(BOB), os.setuid(BOB)
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen(5)
        os.write(ready[1], b"1")
        kept = []
        while True:
            kept.append(server.accept()[0])
            if kept[-1].recv(1):
                with open(heard, "a") as out:
                    out.write("x")
    os.read(ready[0], 1)
    return child, heard


def named_socket():
    state = os.path.join(BOBS, "state")
    child, heard = pretend(os.path.join(BOBS, "graind.sock"), state)
    env = {"GRAIND_STATE_DIR": state}
    try:
        for what in (("jobs",), ("jobs", "--all"), ("summary", "7"),
                     ("report", "7", "--format", "html", "-o", TOP + "/state.html")):
            try:
                status, out, said = grainctl(*what, env=env, timeout=15)
                check("root's %s of bob's state directory does not wait for bob" % what[0], status in (0, 1), said)
            except subprocess.TimeoutExpired:
                check("root's %s of bob's state directory does not wait for bob" % what[0], False, "it hangs")
        check("nor asks him anything", open(heard).read() == "")
        page = open(TOP + "/state.html").read() if os.path.exists(TOP + "/state.html") else ""
        check("the page of his job, which he says is root's, shows what he may read", "what bob alone may read" in page,
              page[:300])
        check("and not what root may", page and SECRET not in page)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    beside_state(state)


def beside_state(state):
    """Uses the socket in a state directory of bob's, where bob claims that his job is root's."""
    child = os.fork()
    if child == 0:
        become(BOB)
        server = Server(state + "/graind.sock", Pretender)
        server.job = {"job": 7, "state": "finished", "uid": 0, "pid": 1}
        server.serve_forever()
    wait(lambda: os.path.exists(state + "/graind.sock"))
    page, env = TOP + "/beside.html", {"GRAIND_STATE_DIR": state, "GRAIND_SOCKET": ""}
    status, _, said = grainctl("report", "7", "--format", "html", "-o", page, env=env)
    text = open(page).read() if status == 0 else ""
    check("root's page from there, by bob's socket: what bob may read", "what bob alone may read" in text,
          said or text[:300])
    check("and nothing of root's", status == 0 and SECRET not in text, said)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


# --- where outputs go -----------------------------------------------------------------

def outputs():
    trace = os.path.join(TOP, "made.grt")
    subprocess.run([BUILD + "/tests/tools/make_trace", trace, "2000", "2"], stdout=subprocess.DEVNULL, check=True)
    sticky, precious = os.path.join(TOP, "sticky"), write(os.path.join(TOP, "precious"), "as it was", 0o600)
    os.makedirs(sticky)
    os.chmod(sticky, 0o1777)
    for what, where, arguments, cwd in (("a report", "report.svg",
                                         ("report", trace, "-o", sticky + "/report.svg"), TOP),
                                        ("one whose name is not given", "made.svg", ("report", trace), sticky),
                                        ("an export", "x.pftrace",
                                         ("export", trace, "--format", "perfetto", "-o", sticky + "/x.pftrace"), TOP)):
        at = os.path.join(sticky, where)
        as_user(BOB, lambda: os.symlink(precious, at))
        status, _, said = grainctl(*arguments, cwd=cwd)
        check("bob's link is where %s goes: root's file stays" % what, open(precious, "rb").read() == b"as it was")
        check("what it was to be is there", status == 0 and os.path.isfile(at) and not os.path.islink(at), said)
    at = os.path.join(sticky, "fifo.svg")
    as_user(BOB, lambda: os.mkfifo(at))
    try:
        status, _, said = grainctl("report", trace, "-o", at, timeout=20)
        check("bob's pipe is refused", status == 3 and "fifo.svg" in said, said)
    except subprocess.TimeoutExpired:
        check("bob's pipe is refused", False, "it hangs")
    own, kept = os.path.join(TOP, "own.svg"), write(os.path.join(TOP, "kept.svg"), "", 0o644)
    os.symlink(kept, own)
    status, _, said = grainctl("report", trace, "-o", own)
    check("root's own link is followed", status == 0 and os.path.islink(own) and os.path.getsize(kept) > 1000, said)
    replaced_directory()


def replaced_directory():
    """An archive goes into bob's directory. While it is being made, bob puts a link in its place."""
    trace, target = os.path.join(TOP, "large.grt"), os.path.join(TOP, "target")
    subprocess.run([BUILD + "/tests/tools/make_trace", trace, "200000", "2"], stdout=subprocess.DEVNULL, check=True)
    os.makedirs(target, 0o755)
    child = os.fork()
    if child == 0:
        os.setgroups([]), os.setgid(BOB), os.setuid(BOB)
        os.chdir(BOBS)
        until = time.monotonic() + 50
        while time.monotonic() < until:
            for name in os.listdir("."):
                if name.startswith(".x.otf2.") and not os.path.islink(name):
                    try:
                        os.rename(name, "moved")
                        os.symlink(target, name)
                        os._exit(0)
                    except OSError:
                        pass
        os._exit(1)
    status, _, said = grainctl("export", trace, "--format", "otf2", "-o", BOBS + "/x.otf2")
    os.kill(child, signal.SIGKILL) if status else None
    os.waitpid(child, 0)
    check("bob's link is where an archive is made: root writes nothing there",
          os.listdir(target) == [] and os.stat(target).st_mode & 0o777 == 0o755, (os.listdir(target), said))


# --- processes that a library is to be put into -----------------------------------------

def attach_fast(pid, env=None, **run):
    return grainctl("attach", "--fast", pid, env=env, **run)


def filtered():
    """A process that is killed for what loading a library does."""
    child = subprocess.Popen([compiled("filtered")], stdout=subprocess.PIPE, preexec_fn=lambda: become(BOB), env=CALM)
    children.append(child)
    check("a program filters its system calls", child.stdout.readline() == b"filtered\n")
    status, _, said = attach_fast(child.pid)
    check("attach --fast leaves it alone, in one line", status == 1 and "seccomp" in said and said.count("\n") == 1,
          said)
    time.sleep(0.2)
    check("it lives", child.poll() is None, child.poll())
    check("and has no job", ask(0, "GET", "/v1/jobs")[1] == {"jobs": []})


CHANGING = """
import ctypes, os, signal, sys, time
ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL)
signal.signal(signal.SIGUSR1, lambda *_: os.setgroups([64777]))
signal.signal(signal.SIGUSR2, lambda *_: os.execv(sys.executable, [sys.executable, "-c", os.environ["ITSELF"]]))
while True: time.sleep(0.01)
"""


def groups_of(pid):
    return [line.split()[1:] for line in open("/proc/%d/status" % pid) if line.startswith("Groups:")][0]


class Pretender(http.server.BaseHTTPRequestHandler):
    """A graind during whose time the process becomes something else."""
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(200, self.server.job)

    def do_POST(self):
        if self.path == "/v1/jobs":
            self.server.change()
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(201, {"job": 1, "state": "waiting", "pid": 1})

    do_DELETE = do_GET


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    job = {"job": 1, "state": "waiting", "policy": {}}


def changed(what, number, has_changed):
    child = subprocess.Popen(["/usr/bin/python3", "-c", CHANGING], env=dict(os.environ, ITSELF=CHANGING))
    children.append(child)
    uses_openmp(child.pid)
    time.sleep(0.3)
    before = open("/proc/%d/auxv" % child.pid, "rb").read()

    def change():
        os.kill(child.pid, number)
        wait(lambda: has_changed(child.pid, before))
        time.sleep(0.3)
    path = os.path.join(TOP, "pretender.sock")
    server = Server(path, Pretender)
    server.change = change
    threading.Thread(target=server.serve_forever, daemon=True).start()
    status, _, said = attach_fast(child.pid, env={"GRAIND_SOCKET": path})
    server.shutdown()
    server.server_close()
    os.unlink(path)
    check("a process that %s since it was looked at is left alone" % what,
          status == 1 and "than when it was looked at" in said, said)
    check("it lives, and has no library more",
          child.poll() is None and "libgrainshim" not in open("/proc/%d/maps" % child.pid).read(), child.poll())


def changing():
    changed("has other groups", signal.SIGUSR1, lambda pid, _: "64777" in groups_of(pid))
    changed("has executed another program", signal.SIGUSR2,
            lambda pid, before: open("/proc/%d/auxv" % pid, "rb").read() != before and
                              "libgomp" in open("/proc/%d/maps" % pid).read())


CROWD = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
ctypes.CDLL("libgomp.so.1")
file = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(30000):
    libc.mmap(None, os.fstat(file).st_size, 5, 2, file, 0)
print("crowded", flush=True)
time.sleep(600)
"""


def crowded():
    """One library is mapped 30,000 times, so each of its begins has all later ones behind it."""
    source = write(os.path.join(PROGRAMS, "flat.c"), "int f(void) { return 1; }\nint g(void) { return f() + 1; }\n",
                   0o644)
    library = os.path.join(PROGRAMS, "flat.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-Wl,-N,--eh-frame-hdr,--no-warn-rwx-segments", "-o",
                    library, source], check=True)
    child = subprocess.Popen(["/usr/bin/python3", "-c", CROWD, library], stdout=subprocess.PIPE,
                             preexec_fn=lambda: become(BOB))
    children.append(child)
    check("a process has much loaded", child.stdout.readline() == b"crowded\n")
    client = subprocess.Popen(["prlimit", "--as=2000000000", CTL, "attach", "--fast", str(child.pid)],
                              stderr=subprocess.PIPE)
    said = client.stderr.read().decode()
    _, status, usage = os.wait4(client.pid, 0)
    client.returncode = os.waitstatus_to_exitcode(status)
    check("attach --fast says so, in one line",
          client.returncode == 1 and "too much loaded" in said and said.count("\n") == 1, said)
    check("and has not taken much memory", usage.ru_maxrss < 300 << 10, usage.ru_maxrss)


# --- what sits where a program looks for graind -------------------------------------------

SOURCES = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(SOURCES)))


def compiled(name, *more):
    binary = os.path.join(PROGRAMS, name)
    if not os.path.exists(binary):
        subprocess.run(["gcc", "-g", "-O1", "-fopenmp", "-D_GNU_SOURCE", "-I", ROOT, "-o", binary,
                        os.path.join(SOURCES, name + ".c"), *more], check=True)
        os.chmod(binary, 0o755)
    return binary


class FalseGraind:
    def __init__(self, uid, path):
        self.process = subprocess.Popen([compiled("false_graind", ROOT + "/daemon/common/process/pass_fd.c"), path],
                                        stdout=subprocess.PIPE, preexec_fn=lambda: become(uid))
        children.append(self.process)
        assert self.process.stdout.readline() == b"listens\n"

    def end(self):
        """What the process has printed."""
        self.process.kill()
        return self.process.stdout.read()


def run_inside(uid, path, program_, preload=None):
    env = dict(CALM, GRAIND_SHIM_SOCKET=path, **({"LD_PRELOAD": preload} if preload else {}))
    done = subprocess.run([program_, "1500", "/dev/null"], stdout=subprocess.DEVNULL, preexec_fn=lambda: become(uid),
                          env=env, timeout=60)
    return done.returncode


def shim_sockets():
    shim, loops = install("libgrainshim.so", BUILD + "/libgrainshim.so"), install("loop_forever")
    common = os.path.join(TOP, "common")
    os.makedirs(common)
    os.chmod(common, 0o1777)
    squat = FalseGraind(BOB, common + "/graind.sock.shim")
    status = run_inside(ANN, common + "/graind.sock.shim", loops, shim)
    check("bob sits where ann's program looks for graind: it is none the worse", status == 0, status)
    told = squat.end()
    check("and tells him nothing", told == b"", told)
    own = FalseGraind(ANN, os.path.join(TOP, "ann", "own.shim"))
    status = run_inside(ANN, os.path.join(TOP, "ann", "own.shim"), loops, shim)
    check("memory that could be taken back is not used", status == 0, status)
    check("even of the own user's", own.end() == b"hello\n")
    privileged = os.path.join(PROGRAMS, "privileged")
    subprocess.run(["gcc", "-g", "-O1", "-fopenmp", "-o", privileged, ROOT + "/tests/omp/loop_forever.c",
                    "-Wl,--no-as-needed", shim, "-Wl,-rpath," + PROGRAMS], check=True)
    os.chown(privileged, ANN, ANN)
    os.chmod(privileged, 0o4755)
    squat = FalseGraind(BOB, os.path.join(BOBS, "graind.sock.shim"))
    status = run_inside(BOB, os.path.join(BOBS, "graind.sock.shim"), privileged)
    check("ann's set-user-ID program that bob runs does not go by his environment", status == 0, status)
    told = squat.end()
    check("and does not come to him", told == b"", told)


os.makedirs(BOBS, 0o755)
os.chown(BOBS, BOB, BOB)
os.makedirs(os.path.join(TOP, "ann"), 0o755)
os.chown(os.path.join(TOP, "ann"), ANN, ANN)
parts = {"names": named_files, "sockets": named_socket, "outputs": outputs, "filtered": filtered, "changing": changing,
         "crowded": crowded, "shim": shim_sockets}
try:
    for part in sys.argv[2:] or parts:
        parts[part]()
finally:
    end_children()
