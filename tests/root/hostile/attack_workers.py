# SPDX-License-Identifier: BSD-2-Clause
"""Workers have the rights of their user. If one of them stops, whom does this delay?"""
from attacker import *
import attacker
import threading


def workers(kind, uid):
    """The pids of this graind's workers of that user."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat("/proc/" + name).st_uid in (uid, 0):
                status = open("/proc/%s/status" % name).read()
                arguments = open("/proc/%s/cmdline" % name, "rb").read().split(b"\0")
                ids = [status.split("\nPPid:\t")[1].split()[0], status.split("\nUid:\t")[1].split()[1]]
                if ids == [str(attacker.graind), str(uid)] and kind in b" ".join(arguments[:2]).decode():
                    found.append(int(name))
        except (OSError, IndexError):
            pass
    return found


tried = []


def stop(uid, pid):
    """Stops a worker. Its user tries it and must fail; then root does it, as a worker may also stop by itself."""
    tried.append(as_user(uid, lambda: os.kill(pid, signal.SIGSTOP) or "stopped"))
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    return wait(lambda: state_of(pid) != "R", 5) and state_of(pid) == "T"


def state_of(pid):
    """The state as in /proc. Z: it has ended, X: it is gone. R also stands for sleeping: that may yet become a stop."""
    try:
        state = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0]
        return "R" if state in "SD" else state
    except OSError:
        return "X"


def job_of(pid):
    jobs = ask(0, "GET", "/v1/jobs?all=1")[1]
    found = [j for j in jobs.get("jobs", []) if j["pid"] == pid] if isinstance(jobs, dict) else []
    return found[-1] if found else None


def stopped_fold():
    session = ask(0, "POST", "/v1/jobs", {"all": True}, timeout=120)[1]
    check("root records all processes", session.get("state") == "running", session)
    # After some seconds bob's trace has no more room. From then on bob's worker must take all events.
    bobs = program(BOB, install("rate"), "300000", "120000", env={"OMP_NUM_THREADS": "2"})
    stopped = []

    def is_stopped():
        for pid in workers("--worker-fold", BOB):
            if pid not in stopped and stop(BOB, pid):
                stopped.append(pid)
        return bool(stopped)
    check("the worker that makes statistics of bob's events stands still", wait(is_stopped, 60))
    files = ["/proc/%d/fd/%s" % (stopped[0], n) for n in os.listdir("/proc/%d/fd" % stopped[0])] if stopped else []
    targets = [os.readlink(f) for f in files]
    jobs = set(t.split("/jobs/")[1].split("/")[0] for t in targets if "/jobs/" in t)
    check("which has files of his job only", len(targets) <= 6 and len(jobs) <= 1, targets)

    def is_full():
        job = job_of(bobs.pid)
        return job and job["lost"] > 0
    check("what finds no room then is counted as lost", wait(is_full, 60), job_of(bobs.pid))
    # Meanwhile ann works. Everything that she does is recorded.
    path = os.path.join(PROGRAMS, "anns")
    with open(path, "w") as out:
        os.chmod(path, 0o666)
    anns = program(ANN, install("fib"), "16", "20", "5", env={"OMP_NUM_THREADS": "2"})
    began = time.monotonic()
    anns.wait()
    check("ann's program gets its job and its end",
          wait(lambda: (job_of(anns.pid) or {}).get("state") == "finished", 60),
          (job_of(anns.pid), time.monotonic() - began))
    job = job_of(anns.pid) or {}
    summary = ask(0, "GET", "/v1/jobs/%d/summary" % job["job"])[1] if job else {}
    tasks = summary.get("grains", {}).get("tasks") if isinstance(summary, dict) else None
    check("with each of its tasks, and nothing lost: %s" % tasks,
          tasks and tasks == 5 * 2 * (CALLS - 1) // 2 and job["lost"] == 0 and
          summary["events"]["lost"] == 0, (tasks, job))
    check("a worker that does not go on is ended",
          wait(lambda: not any(os.path.exists("/proc/%d" % p) for p in stopped), 60))
    bobs.kill()
    wait(lambda: (job_of(bobs.pid) or {}).get("state") == "finished", 120)
    job = job_of(bobs.pid) or {}
    lost = job.get("lost_by", {})
    check("bob alone has lost events: %s" % lost, lost.get("not-written", 0) > 0, job)
    summary = ask(0, "GET", "/v1/jobs/%d/summary" % job["job"])[1] if job else {}
    check("which his summary says too",
          isinstance(summary, dict) and summary.get("events", {}).get("lost", 0) >= lost.get("not-written", 0), summary)
    seconds, status, answer = timed(0, "POST", "/v1/jobs/%d/detach" % session["job"], timeout=60)
    check("the session ends when it is to (%.1f s)" % seconds, status == 200 and answer["state"] == "finished", answer)


def stopped_reports():
    """Bob has as many report workers as he may, and all of them are stopped. Others still get their reports."""
    jobs = {}
    for uid in BOB, ANN:
        # Bob's recording is so large that its report takes a while.
        child = program(uid, *((install("rate"), "100000", "120000") if uid == BOB else ()))
        uses_openmp(child.pid)
        jobs[uid] = attach(uid, child.pid)
    wait(lambda: ask(0, "GET", "/v1/jobs/%d" % jobs[BOB])[1]["events"] > 300000, 60)
    for uid in BOB, ANN:
        finish(jobs[uid], uid)
    end_children()
    threads, stopped = [], []

    def is_stopped():
        for pid in workers("graind-render", BOB):
            if pid not in stopped and stop(BOB, pid):
                stopped.append(pid)
        return len(stopped) >= 2
    end = time.monotonic() + 60
    while not is_stopped() and time.monotonic() < end:
        while sum(t.is_alive() for t in threads) < 2:
            threads.append(threading.Thread(target=ask, args=(BOB, "GET", "/v1/jobs/%d/report?format=html" % jobs[BOB]),
                                            daemon=True))
            threads[-1].start()
        time.sleep(0.005)
    check("two workers that make reports for bob stand still", len(stopped) >= 2, stopped)
    status, answer = ask(BOB, "GET", "/v1/jobs/%d/report" % jobs[BOB])
    check("he gets no third one", status == 503 and "being made" in answer["error"], (status, answer))
    for uid, who in (ANN, "ann"), (0, "root"):
        seconds, status, _ = timed(uid, "GET", "/v1/jobs/%d/report" % jobs[ANN])
        check("%s gets hers meanwhile (%.1f s)" % (who, seconds), status == 200, status)
    for pid in stopped:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    for thread in threads:
        thread.join()


def calls(n):
    return 1 if n < 2 else 1 + calls(n - 1) + calls(n - 2)


CALLS = calls(16)
stopped_reports()
stopped_fold()
check("bob can stop none of them himself", tried and "stopped" not in tried, tried)
end_children()
