# SPDX-License-Identifier: BSD-2-Clause
"""The rows of bench.py that are about --ceiling: how much slower programs are whose recording may cost 2 %."""
import json
import re
import statistics


CEILING = 2
PROGRAMS = (
    ("fine tasks", "fib", (30, 30), 4, 12),
    ("coarse tasks", "grains200", (40000, "SPIN"), None, None),
    ("fine and coarse tasks in turn", "changing", (), 120, 400),
)


def time_of(own):
    """All of it: windows fall into some rounds, of which a median would know nothing."""
    return own.get("whole_ns") or own["phase_ns"]


def limited(bench, name, arguments):
    p = bench.command([bench.B + "/grainctl", "run", "--ceiling", str(CEILING), "--", bench.B + "/tests/omp/" + name,
                       *map(str, arguments)], 2)
    number = re.findall(r"^job (\d+)$", p.stderr, re.M)[-1]
    jobs = json.loads(bench.command([bench.B + "/grainctl", "jobs", "--all", "--json"]).stdout)["jobs"]
    ceiling = next(j["ceiling"] for j in jobs if j["job"] == int(number))
    bench.command([bench.B + "/grainctl", "delete", number])
    return json.loads(p.stdout), ceiling


def ceiling(bench):
    spin = bench.program("grains200")["spin"]
    for what, name, arguments, short, long in PROGRAMS:
        arguments = [spin if a == "SPIN" else a for a in arguments]
        if short:
            arguments = (([short] if bench.SHORT else [long]) if name == "changing"
                         else arguments + [short if bench.SHORT else long])
        told = []

        def measure():
            ratios = []
            for _ in range(3 if bench.SHORT else 7):
                plain = time_of(bench.program(name, *arguments, threads=2))
                own, said = limited(bench, name, arguments)
                ratios.append(time_of(own) / plain)
                told.append(said)
            return statistics.median(ratios)

        slower, note, others = bench.best_of(measure, lambda r: r <= 1.03)
        bench.row("%s with a ceiling of %d %%" % (what, CEILING), "%.3f" % slower, "x", "<= 1.03", slower <= 1.03,
                  "%s, %.0f %% recorded%s" % (told[-1]["mode"], told[-1]["recorded_percent"],
                                              "; " + note if note else ""), others)
