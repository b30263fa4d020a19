# SPDX-License-Identifier: BSD-2-Clause
"""usage: faults_disk.py BUILD DIRECTORY

The disk is full, then read-only; files of the state are damaged. DIRECTORY/state is a file system of 16 MiB.
"""
import json
import os
import subprocess
import sys
import time

from faults import Host, check

build, directory = sys.argv[1:3]
host = Host(build, directory)
state = host.state
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "graind-test", state], check=True)
try:
    host.start()
    own, kept = host.run("fib", 16, 8)
    digest = host.digest(kept)
    check("before: a job is whole", kept and host.summary(kept)["grains"]["total"] == own["tasks"])

    with open(state + "/ballast", "wb") as ballast:
        ballast.write(b"x" * (12 << 20))
    own, full = host.run("fib", 27, 20, 4)
    check("full disk: the program is right", own and own["correct"])
    job = host.jobs().get(full)
    check("full disk: its job is over and says so", job and job["state"] in ("failed", "finished") and
          any("space" in str(text).lower() or "full" in str(text).lower() for text in (job.get("reason"), job.get("notes"), job.get("error"))), job)
    check("full disk: graind lives, and the earlier job is as it was", host.graind.poll() is None and host.digest(kept) == digest, host.tail())
    p = host.grainctl("summary", full)
    check("full disk: of the job there is what was written, or one line", p.returncode == 0 or 0 < len(p.stderr.strip().splitlines()) <= 2, p.stdout, p.stderr)
    os.unlink(state + "/ballast")
    host.grainctl("delete", full)
    own, again = host.run("fib", 16, 8)
    check("with room again: a job is whole", again and host.summary(again)["grains"]["total"] == own["tasks"], host.tail())

    subprocess.run(["mount", "-o", "remount,ro", state], check=True)
    loop = host.popen(host.omp("loop_forever"), 600000, directory + "/times")
    p = host.grainctl("attach", loop.pid)
    check("read-only disk: attach says so in one line", p.returncode != 0 and len(p.stderr.strip().splitlines()) == 1 and "read-only" in p.stderr.lower(), p.stdout, p.stderr)
    own, none = host.run("fib", 16, 8)
    check("read-only disk: graind lives, what was is readable", host.graind.poll() is None and host.digest(kept) == digest, host.tail())
    subprocess.run(["mount", "-o", "remount,rw", state], check=True)
    p = host.grainctl("attach", loop.pid)
    check("writable again: attach", p.returncode == 0, p.stderr)
    loop.kill()
    loop.wait()
    check("graind ends cleanly", host.stop() == 0, host.tail())

    # What another program, or a disk, has done to its files.
    own_before, spoilt = own, {}
    for what in ("no trace", "trace of noise", "cut trace", "summary cut", "summary of noise", "no summary", "trace is a directory"):
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
        p = host.grainctl("report" if "trace" in what else "summary", number, "--format" if "trace" in what else "--json",
                          *(["json"] if "trace" in what else []))
        # A summary that is gone or damaged is made anew from the trace; a trace is not.
        check("damaged state: %s: one line, or all of it" % what, p.returncode == 1 and len(p.stderr.splitlines()) == 1 if "trace" in what else
              p.returncode == 0 and json.loads(p.stdout)["grains"]["total"] == own_before["tasks"] or
              p.returncode == 1 and len(p.stderr.splitlines()) == 1, p.returncode, p.stdout[:200], p.stderr)
        check("damaged state: %s: graind lives and lists the job" % what, host.graind.poll() is None and
              host.jobs()[number]["state"] == "finished", host.tail())
        check("damaged state: %s: it can be deleted" % what, host.grainctl("delete", number).returncode == (1 if "directory" in what else 0))
    told = open(directory + "/graind.log").read()
    check("damaged state: each is told in the log, with what removes it", all("grainctl delete %d" % n in told for n in (9001, 9002, 9003, 9004)), host.tail())
    removed = [host.grainctl("delete", n) for n in (9001, 9002, 9003, 9004)]
    check("damaged state: so they are removed", all(p.returncode == 0 for p in removed), *[p.stderr for p in removed])
    own, last = host.run("fib", 16, 8)
    check("damaged state: a new job is whole", last and host.summary(last)["grains"]["total"] == own["tasks"], host.tail())
    check("it ends cleanly", host.stop() == 0, host.tail())
finally:
    if host.graind and host.graind.poll() is None:
        host.stop(9)
    subprocess.run(["umount", "-l", state])
