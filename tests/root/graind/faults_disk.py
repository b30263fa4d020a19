# SPDX-License-Identifier: BSD-2-Clause
"""usage: faults_disk.py BUILD DIRECTORY

The disk is full, then read-only; files of the state are damaged. DIRECTORY/state is a file system of 16 MiB.
"""
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from faults import Host, check

build, directory = sys.argv[1:3]


def fill(path):
    """Fills the rest of the disk."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


def stored(number):
    """What the state directory says of a job."""
    return json.load(open("%s/jobs/%d/job.json" % (state, number)))


def no_room_at_all(name, spare):
    """The disk is full to its last block when a program ends. Without `spare`, the job's own reserve is gone, too."""
    program = host.popen(build + "/grainctl", "run", "--", host.omp("loop_forever"), 600000, directory + "/times")
    running = []
    for _ in range(200):
        running = [j for j in host.jobs().values() if j["state"] == "running" and j["grains"] > 100]
        if running:
            break
        time.sleep(0.05)
    job = running[0]["job"]
    room = "%s/jobs/%d/.job.json.spare" % (state, job)
    check("%s: while it runs there is room for the end" % name, os.path.exists(room))
    if not spare:
        os.unlink(room)
    fill(state + "/ballast")
    time.sleep(0.5)
    fill(state + "/ballast.more")
    os.kill(running[0]["pid"], signal.SIGTERM)
    try:
        out, err = program.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        program.kill()
        out, err = program.communicate()
        check("%s: grainctl run ends" % name, False, host.tail(), *host.where())
    check("%s: grainctl run ends as it should" % name, program.returncode == 0 and
          err.splitlines()[-1:] == ["job %d" % job], program.returncode, err)
    served = host.jobs()[job]
    check("%s: its job is over, for graind" % name, served["state"] in ("failed", "finished") and
          "space" in (served["error"] or "").lower(), served)
    check("%s: and not among those that run" % name,
          str(job) not in [line.split()[0] for line in host.grainctl("jobs").stdout.splitlines()[1:]])
    told = host.tail()
    if spare:
        check("%s: on disk, too" % name, stored(job)["state"] == served["state"], stored(job), told)
        check("%s: nothing is missing, says the log" % name, "job.json" not in told, told)
    else:
        check("%s: not on disk, which the log says" % name, stored(job)["state"] not in ("failed", "finished") and
              told.count("job %d: cannot write job.json: No space left on device" % job) == 1, stored(job), told)
    return job, served


def room_again():
    for name in ("ballast", "ballast.more"):
        os.unlink("%s/%s" % (state, name))


host = Host(build, directory)
state = host.state
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "graind-test", state], check=True)
try:
    host.start()
    own, kept = host.run("fib", 16, 8)
    digest = host.digest(kept)
    check("before: a job is whole", kept and host.summary(kept)["grains"]["total"] == own["tasks"])

    with open(state + "/ballast", "wb") as ballast:
        ballast.write(b"x" * (14 << 20))
    own, full = host.run("fib", 25, 20, 4)
    check("full disk: the program is right", own and own["correct"])
    job = host.jobs().get(full)
    check("full disk: its job is over and says so", job and job["state"] in ("failed", "finished") and
          any("space" in str(text).lower() or "full" in str(text).lower()
              for text in (job.get("reason"), job.get("notes"), job.get("error"))), job)
    check("full disk: graind lives, and the earlier job is as it was",
          host.graind.poll() is None and host.digest(kept) == digest, host.tail())
    p = host.grainctl("summary", full)
    check("full disk: of the job there is what was written, or one line",
          p.returncode == 0 or 0 < len(p.stderr.strip().splitlines()) <= 2, p.stdout, p.stderr)
    os.unlink(state + "/ballast")
    host.grainctl("delete", full)

    job, served = no_room_at_all("no room", True)
    room_again()
    host.grainctl("delete", job)

    job, served = no_room_at_all("no room, nor its own", False)
    room_again()
    check("no room, nor its own: asked again it is the same", host.jobs()[job] == served, host.jobs()[job], served)
    # graind tries it again now and then.
    for _ in range(200):
        if stored(job)["state"] != "running":
            break
        time.sleep(0.05)
    check("no room, nor its own: then it is on disk", dict(stored(job), socket=None) == dict(served, socket=None),
          stored(job), host.tail())
    host.grainctl("delete", job)

    job, served = no_room_at_all("deleted before there is room", False)
    p = host.grainctl("delete", job)
    check("deleted before there is room: it is gone", p.returncode == 0 and job not in host.jobs(), p.stderr)
    room_again()

    job, served = no_room_at_all("removed by others", False)
    shutil.rmtree("%s/jobs/%d" % (state, job))
    check("removed by others: graind knows no such job",
          job not in host.jobs() and host.grainctl("summary", job).returncode != 0, host.tail())
    room_again()

    job, served = no_room_at_all("graind ends before there is room", False)
    check("graind ends before there is room: cleanly",
          host.stop() == 0 and "job %d: how it ended could not be written" % job in host.tail(), host.tail())
    host.start()
    served = host.jobs()[job]
    check("graind ends before there is room: for the next it is over",
          served["state"] == "failed" and "its graind ended" in served["error"], served)
    check("graind ends before there is room: not yet on disk", stored(job)["state"] != "failed", stored(job))
    room_again()
    host.stop()
    check("graind ends before there is room: written at the end", stored(job)["state"] == "failed", stored(job),
          host.tail())
    host.start()
    host.grainctl("delete", job)
    own, again = host.run("fib", 16, 8)
    check("with room again: a job is whole", again and host.summary(again)["grains"]["total"] == own["tasks"],
          host.tail())

    subprocess.run(["mount", "-o", "remount,ro", state], check=True)
    loop = host.popen(host.omp("loop_forever"), 600000, directory + "/times")
    p = host.grainctl("attach", loop.pid)
    check("read-only disk: attach says so in one line",
          p.returncode != 0 and len(p.stderr.strip().splitlines()) == 1 and "read-only" in p.stderr.lower(),
          p.stdout, p.stderr)
    own, none = host.run("fib", 16, 8)
    check("read-only disk: graind lives, what was is readable",
          host.graind.poll() is None and host.digest(kept) == digest, host.tail())
    subprocess.run(["mount", "-o", "remount,rw", state], check=True)
    p = host.grainctl("attach", loop.pid)
    check("writable again: attach", p.returncode == 0, p.stderr)
    loop.kill()
    loop.wait()
    check("graind ends cleanly", host.stop() == 0, host.tail())

    # Another program, or a disk, has damaged the files.
    own_before, spoilt = own, {}
    for what in ("no trace", "trace of noise", "cut trace", "summary cut", "summary of noise", "no summary",
                 "trace is a directory"):
        host.start()
        spoilt[what] = host.run("fib", 16, 8)[1]
        host.stop()
        path = "%s/jobs/%d/" % (state, spoilt[what])
        file = path + ("trace.grt" if "trace" in what else "summary.json")
        content = open(file, "rb").read()
        os.unlink(file)
        if what == "trace is a directory":
            os.mkdir(file)
        elif not what.startswith("no "):
            with open(file, "wb") as f:
                f.write(content[:len(content) // 2] if "cut" in what else os.urandom(len(content)))
    def damaged(name, text):
        path = "%s/jobs/%d" % (state, name)
        os.makedirs(path, exist_ok=True)
        with open(path + "/job.json", "w") as f:
            f.write(text)
    damaged(9001, "")
    damaged(9002, '{"job":9002,"state":')
    damaged(9003, "\0" * 4096)
    os.makedirs(state + "/jobs/9004", exist_ok=True)
    os.makedirs(state + "/jobs/not-a-number", exist_ok=True)
    open(state + "/jobs/9005", "w").close()
    host.start()
    check("damaged state: it starts, the earlier jobs are as they were", host.digest(kept) == digest and
          host.summary(again)["grains"]["total"] == own["tasks"], host.tail())
    for what, number in spoilt.items():
        p = host.grainctl("report" if "trace" in what else "summary", number,
                          "--format" if "trace" in what else "--json", *(["json"] if "trace" in what else []))
        # A summary that is gone or damaged is made again from the trace. A trace is not.
        check("damaged state: %s: one line, or all of it" % what,
              p.returncode == 1 and len(p.stderr.splitlines()) == 1 if "trace" in what else
              p.returncode == 0 and json.loads(p.stdout)["grains"]["total"] == own_before["tasks"] or
              p.returncode == 1 and len(p.stderr.splitlines()) == 1, p.returncode, p.stdout[:200], p.stderr)
        check("damaged state: %s: graind lives and lists the job" % what, host.graind.poll() is None and
              host.jobs()[number]["state"] == "finished", host.tail())
        check("damaged state: %s: it can be deleted" % what, host.grainctl("delete", number).returncode == 0)
    told = open(directory + "/graind.log").read()
    check("damaged state: each is told in the log, with what removes it",
          all("grainctl delete %d" % n in told for n in (9001, 9002, 9003, 9004)), host.tail())
    removed = [host.grainctl("delete", n) for n in (9001, 9002, 9003, 9004)]
    check("damaged state: so they are removed", all(p.returncode == 0 for p in removed), *[p.stderr for p in removed])
    damaged(9006, json.dumps({"job": 9006, "state": "running", "uid": 0, "socket": host.socket}))
    served = host.jobs().get(9006, {})
    check("damaged state: what this graind is said to run but does not is over",
          served.get("state") == "failed" and "could not be written" in served["error"], served)
    host.grainctl("delete", 9006)
    own, last = host.run("fib", 16, 8)
    check("damaged state: a new job is whole", last and host.summary(last)["grains"]["total"] == own["tasks"],
          host.tail())
    check("it ends cleanly", host.stop() == 0, host.tail())
finally:
    if host.graind and host.graind.poll() is None:
        host.stop(9)
    subprocess.run(["umount", "-l", state])
