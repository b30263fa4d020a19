# SPDX-License-Identifier: BSD-2-Clause
"""Workers that look for runtimes have the rights of a file's owner. How many owners can one user be?"""
from attacker import *
import threading

FILES = 3
HOLD = """
import ctypes, mmap, sys, time
with open(sys.argv[1], "rb") as f:
    held = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
ctypes.CDLL("libgomp.so.1")
print("ready", flush=True)
time.sleep(600)
"""


def finders():
    """The ids in ann's range that workers use to look into files."""
    found = set()
    for name in os.listdir("/proc"):
        try:
            uid = os.stat("/proc/" + name).st_uid if name.isdigit() else 0
            status = open("/proc/%s/status" % name).read() if SUB <= uid < SUB + FILES else ""
            if "\nPPid:\t%d\n" % graind in status:
                found.add(uid)
        except OSError:
            pass
    return found


def sub_uids():
    """Each of many ids of ann has a file that takes minutes. Bob attaches to a program with a runtime of his own."""
    slow = os.path.join(PROGRAMS, "slow")
    subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "../../tools/make_slow_elf.py"), slow],
                   check=True)
    held = []
    for i in range(FILES):
        path = shutil.copy(slow, "%s.%d" % (slow, i))
        os.chown(path, SUB + i, SUB + i)
        os.chmod(path, 0o755)
        held.append(program(SUB + i, sys.executable, "-SEc", HOLD, path))
        uses_openmp(held[-1].pid)
    library = os.path.join(PROGRAMS, "bobs")
    os.mkdir(library)
    theirs = [line.split()[-1] for line in open("/proc/%d/maps" % held[0].pid) if "libgomp" in line][0]
    os.chown(shutil.copy(theirs, os.path.join(library, "libgomp.so.1")), BOB, BOB)
    bobs = program(BOB, env={"LD_LIBRARY_PATH": library})
    uses_openmp(bobs.pid)
    threads = [threading.Thread(target=attach, args=(SUB + i, held[i].pid), daemon=True) for i in range(FILES)]
    for thread in threads:
        thread.start()
    most = []

    def begun():
        most.append(len(finders()))
        return most[-1]
    check("a worker looks into one of ann's files", wait(begun, 60))
    wait(lambda: begun() > 1, 2)
    seconds, status, job = timed(BOB, "POST", "/v1/jobs", {"pid": bobs.pid}, timeout=60)
    going = sum(thread.is_alive() for thread in threads)
    check("bob's is looked into meanwhile (%.1f s)" % seconds,
          status == 201 and job["runtime"] == "libgomp" and going >= FILES - 1, (status, job, going))
    check("all ids of ann's range have one worker together", max(most) == 1, most)
    end_children()
    for thread in threads:
        thread.join(120)


sub_uids()
