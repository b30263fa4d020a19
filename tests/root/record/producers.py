# SPDX-License-Identifier: BSD-2-Clause
"""Records each program by probes and once more by libgrainshim. Grains, regions and definitions are the same.

usage: producers.py BUILD_DIRECTORY [CONSTRUCT...]

Needs a graind, named by GRAIND_SOCKET. Without names, this takes every construct whose graph is the same in each
run.
"""
import json
import os
import re
import subprocess
import sys

COMPILERS = {"gcc": "libgomp", "clang": "libomp"}
# The schedule decides what these contain: sizes of guided chunks, iterations that are cancelled, tasks that no longer
# begin.
DIFFERS = {"for_guided", "cancel_for", "cancel_parallel", "cancel_sections", "cancel_taskgroup", "ordered_depend"}
# The properties of a grain that no schedule changes.
GRAIN = ("kind", "source", "depth", "lower", "upper", "incomplete", "depends_on")
REGION = ("parent", "kind", "source", "threads", "tasks", "incomplete")


def of_region(parent):
    """The identifier without the member's number. The schedule decides which member gets a single construct."""
    return parent and re.sub(r"(\.p\d+)\.\d+$", r"\1.*", parent)


class Graphs:
    def __init__(self, build):
        self.grainctl = os.path.join(build, "grainctl")
        self.programs = os.path.join(build, "tests/omp/constructs")

    def ctl(self, *args, **kwargs):
        return subprocess.run([self.grainctl, *args], capture_output=True, text=True,
                              timeout=float(os.environ.get("PATIENCE", 120)), **kwargs)

    def constructs(self):
        return sorted({f.rsplit(".", 1)[0] for f in os.listdir(self.programs) if re.fullmatch(r"\w+\.(gcc|clang)", f)})

    def record(self, program, threads, fast):
        """Producer, grains and regions of a run, or why there are none."""
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false", OMP_CANCELLATION="true",
                   OMP_SCHEDULE="dynamic,3", OMP_WAIT_POLICY="passive")
        run = self.ctl("run", *(["--fast"] if fast else []), "--", program, env=env)
        job = re.findall(r"^job (\d+)$", run.stderr, re.M)
        if run.returncode or not job:
            return run.stderr[-300:]
        report = self.ctl("report", job[-1], "--format", "json")
        summary = self.ctl("summary", job[-1], "--json")
        self.ctl("delete", job[-1])
        if report.returncode or summary.returncode:
            return report.stderr[-300:] + summary.stderr[-300:]
        grains = [json.loads(line) for line in report.stdout.splitlines()]
        said = json.loads(summary.stdout)
        return (said["source"], {g["id"]: [of_region(g["parent"])] + [g[k] for k in GRAIN] for g in grains},
                {r["id"]: [r[k] for k in REGION] for r in said["regions"]})

    def compare(self, name, compiler, threads):
        program = os.path.join(self.programs, "%s.%s" % (name, compiler))
        label = "%s %s %d" % (name, COMPILERS[compiler], threads)
        probes, shim = (self.record(program, threads, fast) for fast in (False, True))
        if isinstance(probes, str) and isinstance(shim, str) and "unknown omp_depend_t" in probes:
            return "ok - %s: not observable by either: the runtime is older than the construct" % label
        if isinstance(probes, str) or isinstance(shim, str):
            return "not ok - %s: recorded by both\n# %r\n# %r" % (label, probes, shim)
        wrong = []
        if (probes[0], shim[0]) != ("uprobes", "shim"):
            wrong.append("recorded by %s and by %s" % (probes[0], shim[0]))
        for what, one, two in (("grain", probes[1], shim[1]), ("region", probes[2], shim[2])):
            wrong += ["%s %s: %s by probes, %s by the library" % (what, i, one.get(i), two.get(i))
                      for i in sorted(one.keys() | two.keys()) if one.get(i) != two.get(i)]
        if wrong:
            return "not ok - %s: one graph\n%s" % (label, "\n".join("# " + w[:300] for w in wrong[:8]))
        return "ok - %s: one graph, %d grains, %d regions" % (label, len(probes[1]), len(probes[2]))


def main():
    graphs = Graphs(os.path.abspath(sys.argv[1]))
    for name in sys.argv[2:] or [c for c in graphs.constructs() if c not in DIFFERS]:
        for compiler in COMPILERS:
            if os.path.exists(os.path.join(graphs.programs, "%s.%s" % (name, compiler))):
                for threads in 1, 2:
                    print(graphs.compare(name, compiler, threads), flush=True)


if __name__ == "__main__":
    main()
