# SPDX-License-Identifier: BSD-2-Clause
"""All processes of a session share maps in the kernel and room for files. Whose room does a user take who has very
many processes?"""
from attacker import *

OPEN = BUILD + "/tests/root/programs/open_calls"


def job_of(pid):
    jobs = ask(0, "GET", "/v1/jobs?all=1")[1]
    found = [j for j in jobs.get("jobs", []) if j["pid"] == pid] if isinstance(jobs, dict) else []
    return found[-1] if found else {}


def recorded(job):
    """(what is known of each task: its place in the source and its iterations; events lost)"""
    text = subprocess.run([BUILD + "/grainctl", "report", str(job["job"]), "--format", "json"], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    grains = [json.loads(line) for line in text.splitlines()]
    summary = ask(0, "GET", "/v1/jobs/%d/summary" % job["job"])[1]
    tasks = [(str(g["source"]).split(":")[0], g["lower"], g["upper"]) for g in grains if g["kind"] == "task"]
    return sorted(tasks, key=str), summary["events"]["lost"]


def open_calls():
    session = ask(0, "POST", "/v1/jobs", {"all": True}, timeout=120)[1]
    check("root records all processes", session.get("state") == "running", session)
    opener = install("open_calls", OPEN)
    calm = program(ANN, opener, "calm", "3", "2500")
    within = program(ANN, opener, "within", "100", "6000")
    few = program(ANN, opener, "within", "20", "6000")
    check("ann's programs are recorded", wait(lambda: all(job_of(p.pid) for p in (calm, within, few))))
    bobs = [program(BOB, opener, "deep", "20000", "6") for _ in range(2)]
    for child in (calm, within, few, *bobs):
        child.wait()
    check("ann's programs do their work", all(p.returncode == 0 for p in (calm, within, few)),
          [p.returncode for p in (calm, within, few)])
    check("all get their end",
          wait(lambda: all(job_of(p.pid).get("state") == "finished" for p in (calm, within, few, *bobs)), 60))
    tasks, lost = recorded(job_of(calm.pid))
    check("a taskloop that goes on while bob has very many is right in all of its tasks, "
          "nothing is lost: %d" % len(tasks),
          tasks == [("open_calls.c", 10 * i, 10 * i + 9) for i in range(3)] and lost == 0, (tasks, lost))
    tasks, lost = recorded(job_of(few.pid))
    check("so are 20 within each other",
          tasks == [("open_calls.c", i, i + 9) for i in (0, 10) for _ in range(20)] and lost == 0, (tasks, lost))
    tasks, lost = recorded(job_of(within.pid))
    whole = tasks == [("open_calls.c", i, i + 9) for i in (0, 10) for _ in range(100)]
    check("100 within each other are right or say that they are not (%d lost)" % lost,
          len(tasks) == 200 and (whole or lost > 0), (tasks, lost))
    jobs = [job_of(p.pid) for p in bobs]
    check("what bob has too many of is counted as his: %s" % [j.get("lost_by") for j in jobs],
          all(j.get("lost_by", {}).get("thread-state", 0) > 0 for j in jobs), jobs)
    check("the session ends", finish(session["job"])[1].get("state") == "finished")


def runtimes():
    """One user's processes have very many different files with a runtime, another user has one."""
    session = ask(0, "POST", "/v1/jobs", {"all": True}, timeout=120)[1]
    check("root records all processes again", session.get("state") == "running", session)
    libgomp = os.path.realpath("/usr/lib/%s-linux-gnu/libgomp.so.1" % os.uname().machine)
    copies = [os.path.join(PROGRAMS, "copy-%d" % number) for number in range(36)]
    for copy in copies:
        os.mkdir(copy)
        shutil.copy(libgomp, copy + "/libgomp.so.1")
    bobs = [program(BOB, env={"LD_LIBRARY_PATH": copy}) for copy in copies[:35]]
    check("bob's copies of libgomp are so many that the log says so",
          wait(lambda: "too many different OpenMP runtimes" in open(LOG).read(), 60), open(LOG).read()[-300:])
    recorded = sum(bool(job_of(p.pid)) for p in bobs)
    check("some of his processes are recorded: %d" % recorded, 0 < recorded < len(bobs))
    anns = program(ANN, env={"LD_LIBRARY_PATH": copies[35]})
    check("ann's process with a copy of her own is", wait(lambda: job_of(anns.pid).get("events", 0) > 0),
          job_of(anns.pid))
    end_children()
    check("the session ends, too", finish(session["job"])[1].get("state") == "finished")


open_calls()
runtimes()
end_children()
