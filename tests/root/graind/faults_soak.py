# SPDX-License-Identifier: BSD-2-Clause
"""usage: faults_soak.py BUILD DIRECTORY SECONDS

Programs come and go, are recorded in every way, reported on and forgotten. What graind holds between two rounds
stays the same, and so does its memory. Each round's counts are exact.
"""
import json
import statistics
import subprocess
import sys
import time

from faults import Host, check

build, directory, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
host = Host(build, directory)
host.start()
wrong, rounds, samples = [], 0, []


def expect(what, good, *details):
    if not good and len(wrong) < 5:
        wrong.append((rounds, what) + details)


def recorded(*argv):
    p = host.grainctl("run", *argv)
    job = p.stderr.strip().splitlines()[-1].split() if p.stderr else []
    expect("run " + " ".join(map(str, argv)), p.returncode == 0 and job[:1] == ["job"], p.stderr[-200:])
    return job[1] if job[:1] == ["job"] else None


def one_round():
    tasks = None
    jobs = []
    for how in (), ("--fast",), ("--counters", "page-faults"), ("--sample=199",):
        job = recorded(*how, "--", host.omp("fib"), 16, 8)
        s = host.summary(job) if job else None
        if s:
            tasks = tasks or s["grains"]["total"]
            expect("%s: every task" % (how,), s["grains"]["total"] == tasks and s["events"]["lost"] == 0, s["grains"],
                   s["events"])
        jobs.append(job)
    # It costs more than the ceiling, so it is recorded in windows.
    job = recorded("--ceiling", "1", "--", host.omp("fib"), 24, 24)
    s = host.summary(job) if job else None
    if s:
        expect("--ceiling: in windows, and sound",
               s["recording"]["mode"] == "windows" and s["conservation"]["violations"] == 0,
               s["recording"], s["conservation"])
    jobs.append(job)
    loop = host.popen(host.omp("loop_forever"), 600000, directory + "/times")
    for how in (), ("--fast",):
        p = host.grainctl("attach", *how, loop.pid)
        expect("attach %s" % (how,), p.returncode == 0, p.stderr)
        if p.returncode == 0:
            jobs.append(p.stdout.split()[-1])
            time.sleep(0.2)
            host.grainctl("detach", jobs[-1])
    # A program that a signal ends while it is recorded.
    p = host.grainctl("attach", loop.pid)
    loop.kill()
    loop.communicate()
    if p.returncode == 0:
        jobs.append(p.stdout.split()[-1])
    short = [host.popen(host.omp("fib"), 12, 4) for _ in range(10)]
    for p in short:
        p.communicate()
    p = host.grainctl("report", jobs[0], "--format", "svg", "-o", directory + "/report.svg")
    expect("report", p.returncode == 0, p.stderr)
    subprocess.run(["curl", "-s", "--unix-socket", host.socket, "http://graind/metrics"], capture_output=True)
    for _ in range(50):
        if all(j["state"] in ("finished", "failed") for j in host.jobs().values()):
            break
        time.sleep(0.1)
    for job in jobs:
        if job:
            p = host.grainctl("delete", job)
            expect("delete", p.returncode == 0, p.stderr)


def ask(method, path, *body):
    p = subprocess.run(["curl", "-s", "--unix-socket", host.socket, "-X", method, *body, "http://graind" + path],
                       capture_output=True, text=True)
    return json.loads(p.stdout) if p.stdout else {}


def one_session():
    """All processes of the host for a moment. Each has a job of its own."""
    session = ask("POST", "/v1/jobs", "-d", '{"all":true}').get("job")
    expect("session", session)
    programs = [host.popen(host.omp("fib"), 14, 8) for _ in range(4)]
    tasks = {p.pid: json.loads(p.communicate()[0])["tasks"] for p in programs}
    for _ in range(50):
        of_session = {j["pid"]: j for j in host.jobs().values() if j["pid"] in tasks}
        if len(of_session) == len(tasks) and all(j["state"] == "finished" for j in of_session.values()):
            break
        time.sleep(0.1)
    seen = {pid: (j["state"], j["grains"], j["lost"]) for pid, j in of_session.items()}
    expect("session: every process, every task", seen == {pid: ("finished", n, 0) for pid, n in tasks.items()},
           seen, tasks, host.jobs().get(session), host.tail())
    ask("POST", "/v1/jobs/%s/detach" % session)
    for _ in range(50):
        if host.jobs().get(session, {}).get("state") == "finished":
            break
        time.sleep(0.1)
    for job in [session] + [j["job"] for j in of_session.values()]:
        p = host.grainctl("delete", job)
        expect("delete", p.returncode == 0, p.stderr)


start = time.monotonic()
told = start
terminal = sys.stderr.isatty()
while time.monotonic() - start < seconds or rounds < 5:
    one_round()
    one_session()
    rounds += 1
    # The first rounds fill caches: plans, symbols, allocators.
    if rounds == 3:
        first = host.settled({"fds": 0, "bpf": 0, "threads": 0}, 2)
    if rounds >= 3:
        samples.append(host.settled(first, 5))
    if terminal and time.monotonic() - told > 5:
        told = time.monotonic()
        print("\r%d of %d s, %d rounds, %d kB" % (told - start, seconds, rounds,
                                                  samples[-1]["rss_kb"] if samples else 0),
              end="", file=sys.stderr, flush=True)
last = samples[-1]


def ends(what, parts):
    """Its medians in the first and in the last part of the rounds. A single round may find threads or memory that
    are about to be given back."""
    count = max(1, len(samples) // parts)
    return [statistics.median(s[what] for s in part) for part in (samples[:count], samples[-count:])]


(maps_before, maps), (early, late) = ends("maps", 10), ends("rss_kb", 3)
print("= %d rounds in %.0f s: %d to %d descriptors, %d to %d BPF objects, %d to %d threads, %d to %d mappings, "
      "%.0f to %.0f kB" % (rounds, time.monotonic() - start, first["fds"], last["fds"], first["bpf"], last["bpf"],
                           first["threads"], last["threads"], maps_before, maps, early, late))
check("each round is exact", not wrong, *wrong)
for what in "fds", "bpf", "threads":
    check("soak: %s stay as they are" % what, last[what] <= first[what], first, last)
check("soak: mappings stay as they are", maps <= maps_before + 8,
      [s["maps"] for s in samples[::len(samples) // 30 + 1]])
check("soak: memory stays as it is", late <= early * 1.05 + 512, early, late)
check("soak: it ends cleanly", host.stop() == 0, host.tail())
