# SPDX-License-Identifier: BSD-2-Clause
"""The OpenMP runtimes that matrix.py runs programs on, and how a program gets to run on each of them."""
import os
import re
import shutil
import subprocess
import threading

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
SYSTEM = {"gcc": "libgomp", "clang": "libomp"}
# These versions get every program, the others one of each family.
WHOLE = ["gomp-10", "gomp-14", "gomp-sid", "omp-16", "omp-19"]
# `make check` alone uses these besides the system's.
FEW = ["gomp-9", "gomp-11", "gomp-sid", "omp-11", "omp-16", "omp-19"]
FAMILIES = ["parallel", "nested", "region_in_task", "for_static", "for_static_chunk", "for_dynamic_chunk", "for_guided",
            "for_ordered", "for_doacross", "parallel_for", "sections", "single_copyprivate", "reductions", "barrier",
            "critical", "omp_lock", "taskwait", "taskgroup", "task_undeferred", "task_untied", "task_depend",
            "task_detach", "task_reduction", "taskloop_num_tasks", "taskloop_large", "taskloop_undeferred",
            "cancel_taskgroup", "many_tasks_throttle", "target", "target_nowait", "teams_host", "cxx_exception"]


# Which bodies cannot be seen in each of these runtimes.
REWRITTEN = {"rewritten-tasks": ["tasks"], "rewritten-members": ["members"], "rewritten-both": ["tasks", "members"]}
# If bodies of tasks are seen in the program, those that are target regions are not (uprobes/POINTS.md).
NOT_REWRITTEN = ["target_nowait", "target_depend"]


class Older(Exception):
    """The runtime does not have a function that the program calls."""


class Runtime:
    """Where a runtime is. `loader`: it needs programs with another C library. `archive`: it is linked into
    programs."""
    compiling = threading.Lock()

    def __init__(self, name, compiler, directory=None, why=None):
        self.name, self.compiler, self.directory, self.why = name, compiler, directory, why
        files = os.listdir(directory) if directory else []
        self.loader = next((os.path.join(directory, f) for f in files if f.startswith("ld-linux")), None)
        self.archive = os.path.join(directory, "libgomp.a") if "libgomp.a" in files else None

    def label(self):
        """The name with the version, for readers."""
        if self.directory:
            version = open(os.path.join(self.directory, "version")).read().split(":")[-1]
        elif self.why:
            return self.name
        else:
            version = subprocess.run([self.compiler, "-dumpversion"], capture_output=True, text=True).stdout
        return "%s %s" % (SYSTEM[self.compiler], version.split(".")[0].strip())

    def wants(self, name):
        if self.name in REWRITTEN and name in NOT_REWRITTEN:
            return False
        return self.name in WHOLE or self.name in REWRITTEN or self.name in SYSTEM.values() or name in FAMILIES

    def program(self, path, scratch):
        copy = os.path.join(scratch, self.name, os.path.basename(path))
        if not self.loader and not self.archive:
            return path
        if not os.path.exists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if self.archive:
                self.link(os.path.basename(path).split(".")[0], copy, scratch)
            else:
                shutil.copy(path, copy)
                subprocess.run(["patchelf", "--set-interpreter", self.loader, "--force-rpath", "--set-rpath",
                                self.directory, copy], check=True)
        return copy

    def link(self, name, program, scratch):
        """A program with the runtime inside. Newer runtimes call functions that newer C libraries name
        __isoc23_strtol."""
        sources = os.path.join(TESTS, "omp/constructs")
        cxx = os.path.exists(os.path.join(sources, name + ".cc"))
        compiler = ["g++", "-std=gnu++17"] if cxx else ["gcc", "-std=gnu11"]
        made = os.path.join(scratch, name + ".o")
        c23 = os.path.join(scratch, "c23.o")
        with self.compiling:
            if not os.path.exists(c23):
                text = "".join("long %s __isoc23_strto%s(const char *s, char **e, int b) { return strto%s(s, e, b); }\n"
                               % (kind, to, to)
                               for kind, to in (("", "l"), ("unsigned", "ul"), ("unsigned long", "ull")))
                subprocess.run(["gcc", "-O2", "-c", "-x", "c", "-", "-o", c23], check=True, text=True,
                               input="#include <stdlib.h>\n" + text)
            if not os.path.exists(made):
                subprocess.run([*compiler, "-O2", "-g", "-fopenmp", "-c", "-o", made,
                                os.path.join(sources, name + (".cc" if cxx else ".c"))], check=True)
        r = subprocess.run([compiler[0], "-o", program, made, self.archive, c23, "-lpthread", "-ldl", "-lm"],
                           capture_output=True, text=True)
        if re.search(r"undefined reference to `(GOMP|omp)_", r.stderr):
            raise Older
        if r.returncode:
            raise RuntimeError(r.stderr)

    def environment(self, threads):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false", OMP_CANCELLATION="true",
                   OMP_SCHEDULE="dynamic,3", OMP_WAIT_POLICY="passive")
        if self.directory and not self.loader and not self.archive:
            env["LD_LIBRARY_PATH"] = self.directory
        return env


def system():
    return [Runtime(SYSTEM[c], c) for c in ("gcc", "clang")]


def rewritten(build, scratch, library):
    """The system's libgomp with other instructions (tests/tools/rewrite_libgomp.py): bodies are seen in the
    programs."""
    found = []
    for name, what in REWRITTEN.items():
        directory = os.path.join(scratch, name)
        os.makedirs(directory, exist_ok=True)
        subprocess.run([os.path.join(TESTS, "tools/rewrite_libgomp.py"), os.path.join(build, "grainctl"), library,
                        os.path.join(directory, "libgomp.so.1"), *what], check=True, stdout=subprocess.DEVNULL)
        open(os.path.join(directory, "version"), "w").write("-".join(what))
        found.append(Runtime(name, "gcc", directory))
    return found


def fetched(build):
    """The runtimes that tests/runtimes.sh has fetched, or why it has not."""
    found = []
    names = [] if os.environ.get("EVERY") else FEW
    out = subprocess.run([os.path.join(TESTS, "runtimes.sh"), build, *names], capture_output=True, text=True).stdout
    for line in out.splitlines():
        name, where, *why = line.split(None, 2)
        compiler = "gcc" if name.startswith("gomp") else "clang"
        found.append(Runtime(name, compiler, None if where == "-" else where, why[0] if why else None))
    return found
