# SPDX-License-Identifier: BSD-2-Clause
"""What tests/list, tests/areas and tests/skips say. A line that is wrong ends the run with its file and number."""

import fnmatch
import os
import sys

TIERS = ("gate", "full")
# A unit test once more with ASan and UBSan takes so many times as long.
SANITIZED_TIMES = 4


class Test:
    """A line of tests/list. cpus: how many it keeps busy, or None: it runs alone. seconds: on a quiet machine."""

    def __init__(self, name, cpus, locks, areas, tier, seconds, why=""):
        self.name, self.cpus, self.locks, self.areas = name, cpus, locks, areas
        self.tier, self.seconds, self.why = tier, seconds, why

    def command(self, build):
        kind, _, rest = self.name.partition("/")
        if kind == "lint":
            return ["tests/lint.sh", build]
        if kind == "unit":
            return [os.path.join(build, "tests", self.name)]
        if kind == "sanitized":
            return ["bash", "tests/sanitized.sh", build, rest]
        if kind == "page":
            return ["env", "PYTHONPATH=tests/page/browser", "/usr/bin/python3", "-B", "tests/" + self.name, build]
        return ["bash", "tests/" + self.name, build]


def lines(path):
    """The lines that say something: (number, the text before " #", the text after it)."""
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            said, _, why = (" " + line.rstrip("\n")).partition(" #")
            if said.strip():
                yield number, said.strip(), why.strip()


def wrong(path, number, what):
    sys.exit("%s:%d: %s" % (path, number, what))


def read_tests(path, areas):
    """The tests by name, in the order of the list. areas: the names that a test may give."""
    tests = {}
    for number, said, why in lines(path):
        columns = said.split()
        if len(columns) != 6:
            wrong(path, number, "a line has six columns: name, CPUs, locks, areas, tier, seconds")
        name, cpus, locks, of, tier, seconds = columns
        of = of.split(",")
        if name in tests:
            wrong(path, number, "%s is listed twice" % name)
        if tier not in TIERS:
            wrong(path, number, "the tier is %s" % " or ".join(TIERS))
        if tier == "full" and not why:
            wrong(path, number, "say after # why the gate does without %s" % name)
        unknown = [area for area in of if area not in areas]
        if unknown:
            wrong(path, number, "tests/areas has no area %s" % unknown[0])
        try:
            cpus, seconds = None if cpus == "all" else float(cpus), float(seconds)
        except ValueError:
            wrong(path, number, "CPUs are a number or all, seconds are a number")
        tests[name] = Test(name, cpus, [] if locks == "-" else locks.split(","), of, tier, seconds, why)
    return tests


def sanitized(tests):
    """The unit tests once more with ASan and UBSan."""
    return {"sanitized/" + t.name[5:]: Test("sanitized/" + t.name[5:], t.cpus, t.locks, t.areas, "full",
                                            t.seconds * SANITIZED_TIMES, "a build of its own")
            for t in tests.values() if t.name.startswith("unit/")}


def on_disk(root):
    """The names of the tests that are there, as tests/list has them."""
    found = {"lint"}
    for kind, begin, end in (("unit", "test_", ".c"), ("cli", "test_", ".sh"), ("root", "test_", ".sh"),
                             ("page", "test_", ".py")):
        for folder, _, files in os.walk(os.path.join(root, "tests", kind)):
            for name in files:
                if name.startswith(begin) and name.endswith(end):
                    path = os.path.relpath(os.path.join(folder, name), os.path.join(root, "tests"))
                    found.add(path[:-2] if kind == "unit" else path)
    return found


def read_areas(path):
    """[(beginning of a path, areas)], the longest beginning first."""
    rows = [(said.split()[0], said.split()[1:]) for _, said, _ in lines(path)]
    return sorted(rows, key=lambda row: -len(row[0]))


def areas_of(path, rows):
    """The areas that a change of this file touches, or None if no line of tests/areas names it."""
    for beginning, areas in rows:
        if path == beginning or path.startswith(beginning.rstrip("/") + "/"):
            return areas
    return None


class Skips:
    """The skips that tests/skips allows: TEST | TEXT | why, both patterns as a shell's."""

    def __init__(self, path):
        self.rows = []
        for number, said, _ in lines(path):
            row = [column.strip() for column in said.split("|")]
            if len(row) != 3 or not all(row):
                wrong(path, number, "a line is: TEST | TEXT | why")
            self.rows.append(row)

    def allows(self, name, text):
        name = name.replace("sanitized/", "unit/", 1)
        return any(fnmatch.fnmatchcase(name, test) and fnmatch.fnmatchcase(text, said)
                   for test, said, _ in self.rows)
