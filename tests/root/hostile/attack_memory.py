# SPDX-License-Identifier: BSD-2-Clause
"""Users who want graind to use memory and time for them: rings that were never written, impossible numbers, forks
with many mappings, very much code, and programs that connect to graind and are gone at once."""
import re
import select

from attacker import *

# A program that connects to graind as libgrainshim.so does, with the layout of bpf/abi/shim_abi.h. It is compiled
# into a program of its own, which reports what it has done and does the next thing when it is told to.
COMING = r"""
import array, mmap, os, socket, struct, sys, time
THREADS_AT = 4096 + 8192 * 8
RINGS_AT = (THREADS_AT + 256 * 192 + 4095) & ~4095
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.environ["GRAIND_SOCKET"] + ".shim")
s.send(struct.pack("<5I", 0x4d494853, 4, 1, 0, 0)[:16])
welcome, fds, flags, address = socket.recv_fds(s, 64, 1)
memory = mmap.mmap(fds[0], RINGS_AT)
CLAIMED, SITE_COUNT = 24 + 16 + 8 * 48 + 8, 24 + 16 + 8 * 48 + 12
def put(at, number, size=8):
    memory[at:at + size] = number.to_bytes(size, "little")
def get(at, size=8):
    return int.from_bytes(memory[at:at + size], "little")
def thread(number, field):
    return THREADS_AT + 192 * number + {
        "head": 0, "lost": 8, "tid": 16, "grains": 24, "missed": 32, "tail": 64, "order": 128}[field]
def told(what):
    print(what, flush=True)
    return sys.stdin.readline()
"""


def talker(uid, *command, env=None):
    """A program whose output is read."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: become(uid),
                             env=dict(CALM, **(env or {})))
    children.append(child)
    return child


def comes(uid, what):
    """A process of the user that does `what` once it has the memory. Returns it and its job."""
    child = talker(uid, "/usr/bin/python3", "-c",
                   "import sys; sys.stdin.readline()\n" + COMING + "told('there')\n" + what,
                   env={"GRAIND_SOCKET": SOCKET})
    job = attach(uid, child.pid, fast=True)
    child.stdin.write(b"\n")
    child.stdin.flush()
    return child, job, child.stdout.readline().strip().decode() == "there"


def goes_on(child):
    """The next thing that it reports."""
    child.stdin.write(b"\n")
    child.stdin.flush()
    return child.stdout.readline().decode().split()


def shim_losses():
    text = ask(0, "GET", "/metrics")[1]
    return int(re.search(r'graind_lost_events_total{cause="shim"} (\d+)', text).group(1))


def never_written():
    """Rings that have only holes, and are reported to be full again and again."""
    child, job, there = comes(BOB, r"""
put(CLAIMED, 256, 4)
until = time.monotonic() + 60
for i in range(256):
    memory[thread(i, "order"):thread(i, "order") + 64] = bytes(range(64))
heads = [0] * 256
rounds = 0
while rounds < 3 and time.monotonic() < until:
    for i in range(256):
        if get(thread(i, "tail")) == heads[i]:
            heads[i] += 1 << 19
            put(thread(i, "head"), heads[i])
    rounds = min(heads) >> 19
    time.sleep(0.001)
while any(get(thread(i, "tail")) != heads[i] for i in range(256)) and time.monotonic() < until:
    time.sleep(0.01)
told("%d %d" % (rounds, os.fstat(fds[0]).st_blocks // 2))
""")
    if not check("who comes as libgrainshim does has a job", there and job):
        return
    before = memory_kb()
    rounds, shared_kb = map(int, goes_on(child))
    grown = memory_kb() - before
    check("graind has read 3 GiB of rings that were never written", rounds == 3, rounds)
    check("of which no memory has come to be (%d kB)" % shared_kb, shared_kb < 1024)
    check("nor does graind have more than 100 MB more (%d kB)" % grown, grown < 100000)
    finish(job)


def impossible_numbers():
    """2^62 lost events, and more."""
    before = shim_losses()
    child, job, there = comes(BOB, r"""
put(CLAIMED, 256, 4)
put(thread(0, "grains"), 1 << 62)
put(thread(0, "missed"), 1 << 62)
put(thread(0, "lost"), 1 << 62)
# unseated, unnumbered
put(CLAIMED + 8, 1 << 63)
put(CLAIMED + 16, 1 << 63)
# An event: without one there is no job.
put(thread(0, "head"), 4)
told("done")
""")
    if not check("another one has a job, too", there and job):
        return
    goes_on(child)
    time.sleep(0.5)
    status, view = ask(BOB, "GET", "/v1/jobs/%d" % job)
    check("of 2^62 lost events none is believed while it runs", view["lost"] < 10**12 and view["grains"] < 10**12, view)
    check("nor in the sum of all jobs", shim_losses() - before < 10**12, shim_losses())
    finish(job)
    status, view = ask(BOB, "GET", "/v1/jobs/%d" % job)
    check("nor at its end", view["lost"] < 10**12 and view["grains"] < 10**12, view)
    check("its own notes say so", any("more of its tasks or its lost events" in note for note in view["notes"]),
          view["notes"])
    check("the sum of all jobs stays", shim_losses() - before < 10**12, shim_losses())


def cpu_share(seconds):
    """CPU use of graind and its threads, as a part of one CPU."""
    began, before = time.monotonic(), cpu_seconds()
    time.sleep(seconds)
    return (cpu_seconds() - before) / (time.monotonic() - began)


def endless_code():
    """60,000 executable mappings, and a thousand sites a second that are in none of them."""
    child, job, there = comes(BOB, r"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
file = os.open("/usr/bin/python3", os.O_RDONLY)
for i in range(60000):
    # Neighbours that do not continue each other stay separate.
    libc.mmap((0x100000000000 + i * 4096), 4096, 5, 2 | 16, file, 0)
with open("/proc/self/maps") as lines:
    mapped = sum(1 for line in lines)
put(CLAIMED, 256, 4)
told(mapped)
for i in range(1, 8192):
    put(4096 + 8 * i, (0x600000000000 + 64 * i) << 6 | 1)
    put(SITE_COUNT, i, 4)
    time.sleep(0.001)
told("over")
""")
    if not check("a third one has a job", there and job):
        return
    mapped = int(goes_on(child)[0])
    check("of 60,000 mappings", mapped > 60000, mapped)
    child.stdin.write(b"\n")
    child.stdin.flush()
    time.sleep(1)
    share = cpu_share(5)
    check("what it shows costs graind less than a third of a CPU (%.0f %%)" % (100 * share), share < 0.33)
    finish(job)
    notes = ask(BOB, "GET", "/v1/jobs/%d" % job)[1]["notes"]
    check("and it has a note", any("4096" in note for note in notes), notes)


def many_forks():
    """600 processes, each with 256 mappings of files with long names."""
    deep = os.path.join(PROGRAMS, "deep")
    os.mkdir(deep)
    os.chown(deep, BOB, BOB)
    child = talker(BOB, "/usr/bin/python3", "-c", r"""
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
sys.stdin.readline()
os.chdir(sys.argv[1])
for i in range(15):
    os.mkdir("d" * 240)
    os.chdir("d" * 240)
for i in range(256):
    with open("f" * 200 + str(i), "w+b") as file:
        file.write(b"0" * 4096)
        file.flush()
        libc.mmap(None, 4096, 5, 2, file.fileno(), 0)
children = []
for i in range(600):
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    children.append(pid)
print("forked", flush=True)
sys.stdin.readline()
for pid in children:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
""", deep)
    job = attach(BOB, child.pid)
    if not check("a process without OpenMP has a job that waits", job):
        return
    before = memory_kb()
    most = [before]
    child.stdin.write(b"\n")
    child.stdin.flush()
    forked = watched(child.stdout, most)
    check("it has made 600 others", forked == b"forked\n", forked)
    check("for which graind took less than 100 MB (%d kB)" % (max(most) - before), max(most) - before < 100000)
    seconds, status, answer = timed(ANN, "GET", "/v1/jobs")
    check("and it answers others", status == 200, answer)
    finish(job)
    child.stdin.write(b"\n")
    child.stdin.flush()
    child.wait()


def watched(output, most):
    """Its next line. Meanwhile graind's memory is watched."""
    while not select.select([output], [], [], 0.05)[0]:
        most.append(memory_kb())
    most.append(memory_kb())
    return output.readline()


def gone_at_once():
    """It executes itself again as soon as it has its memory: thirty times without a word in it, then with one."""
    child = talker(BOB, "/usr/bin/python3", "-c",
                   "import sys\nif not sys.argv[1:]: sys.stdin.readline()\n" + COMING + r"""
left = int((sys.argv[1:] or ["30"])[0])
if left < 2:
    put(CLAIMED, 1, 4)
    put(thread(0, "grains"), 7)
    put(thread(0, "head"), 4)
if left:
    with open("/proc/self/cmdline") as line:
        os.execv("/usr/bin/python3", line.read().split("\0")[:3] + [str(left - 1)])
told("there")
""", env={"GRAIND_SOCKET": SOCKET})
    job = attach(BOB, child.pid, fast=True)
    there = goes_on(child) if job else None
    if not check("a program comes after thirty that were gone at once",
                 there == ["there"] and ask(0, "GET", "/v1/status")[0] == 200, there):
        return
    # What the scheduler does with a program gives it events, and so a job. A program without events has no job.
    def last_two():
        jobs = ask(BOB, "GET", "/v1/jobs?all=1")[1]["jobs"]
        return [(j["reason"], j["grains"]) for j in sorted(jobs, key=lambda j: j["job"]) if j["pid"] == child.pid][-2:]
    check("what the one before it wrote at its end is there, and what the last one writes",
          wait(lambda: last_two() == [("exec", 7), ("", 7)]), last_two())
    child.kill()
    child.wait()


def outlives():
    """The first process of a job with counters has ended when another one of the job comes."""
    child = talker(BOB, "/usr/bin/python3", "-c", r"""
import os, sys
sys.stdin.readline()
ends, ended = os.pipe()
if os.fork():
    os.close(ended)
    os._exit(len(os.read(ends, 1)))
""" + COMING + r"""
os.close(ended)
told("there")
if os.fork() == 0:
""" + "".join("    %s\n" % line for line in COMING.splitlines()) + r"""
    put(CLAIMED, 1, 4)
    put(thread(0, "head"), 4)
    until = time.monotonic() + 20
    while not get(thread(0, "tail")) and time.monotonic() < until:
        time.sleep(0.01)
    told("another")
""", env={"GRAIND_SOCKET": SOCKET})
    job = attach(BOB, child.pid, fast=True, counters=["page-faults"])
    there = goes_on(child) if job else None
    check("a child of what is recorded with counters comes", there == ["there"], there)
    check("its parent ends", wait(lambda: ask(BOB, "GET", "/v1/jobs/%d" % job)[1]["state"] in ("failed", "finished")))
    there = goes_on(child)
    check("and a child of its own comes and writes after that",
          there == ["another"] and ask(0, "GET", "/v1/status")[0] == 200, there)


for attack in gone_at_once, outlives, never_written, impossible_numbers, endless_code, many_forks:
    attack()
    end_children()
