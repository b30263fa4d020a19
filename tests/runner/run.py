#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests of tests/list by ctest, and ends with "N passed, N failed, N skipped".

usage: tests/runner/run.py [--full | --every] [--fresh] [--changed [--base COMMIT]] BUILD [PATTERN]
  PATTERN            only tests with this in their name, of every tier, such as unit/graph, root/test_shim, sanitized/
  --full, --every    also what the gate leaves out, and unit tests with ASan and UBSan; --every: in long forms.
                     What has passed for exactly these files is not run again, except with --fresh.
  --changed          only what belongs to the files that are not committed, or that differ from the commit
  --tree DIRECTORY   the checkout, in place of the one that this file belongs to

The environment's LIMIT: the most seconds for one test.
What failed runs once more at the end, alone: failed twice is failed; passed alone is unsteady, which is said in the
last line but one and is no failure. README.md of this folder says where everything is kept."""

import argparse
import ctypes
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import control_group
import kept
import listing
import speed

# The most seconds for one test, and how long a test waits for what must come, on a usual machine.
LIMIT_S = {"gate": 1800, "full": 1800, "every": 5400}
PATIENCE_S = 120
# ctest counts whole slots: two of them are a CPU.
SLOTS = 2
# Of what a test that failed has printed, so many lines are shown.
SHOWN = 60
DONE = re.compile(r"^ *\d+/\d+ Test +#(\d+):")


class Interrupted(Exception):
    pass


def interrupt(*_):
    raise Interrupted


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_const", dest="tier", const="full", default="gate")
    parser.add_argument("--every", action="store_const", dest="tier", const="every")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--base")
    parser.add_argument("--tree", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    parser.add_argument("build")
    parser.add_argument("pattern", nargs="?", default="")
    return parser.parse_args()


def matches(name, pattern):
    """The pattern unit/graph also stands for unit/analysis/graph."""
    return fnmatch.fnmatchcase(name, "*" + pattern.replace("/", "/*") + "*")


def selected(given, tests):
    """The tests to run. A pattern selects whatever it names, wherever that belongs."""
    if given.pattern:
        return [t for t in tests.values() if matches(t.name, given.pattern)]
    return [t for t in tests.values() if given.tier != "gate" or t.tier == "gate"]


def touched(paths, tests, rows):
    """The tests that a change of these files may break: of the areas that tests/areas names, and changed tests."""
    areas, names = set(), {"lint"}
    for path in paths:
        found = listing.areas_of(path, rows)
        areas.update(found or [])
        name = path[len("tests/"):] if path.startswith("tests/") else ""
        names.update(n for n in (name, name[:-2]) if n in tests)
    return [t for t in tests.values() if t.name in names or
            (t.tier == "gate" and ("all" in areas or areas & set(t.areas)))]


def quoted(text):
    return "[==[%s]==]" % text


class Run:
    def __init__(self, given, root, results, skips, factor):
        self.given, self.root, self.results, self.skips = given, root, results, skips
        self.limit = float(os.environ.get("LIMIT", 0)) or LIMIT_S[given.tier] * factor
        self.group = control_group.make()
        self.tmp = tempfile.mkdtemp(prefix="graind-tests.")
        os.chmod(self.tmp, 0o755)
        self.environment = dict(os.environ, PATIENCE=str(round(PATIENCE_S * factor)),
                                GRAIND_TESTS_GROUP=self.group or "", LSAN_OPTIONS="suppressions=%s:print_suppressions=0"
                                % os.path.join(root, "tests/lsan.supp"))
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
            self.environment.pop(name, None)
        if given.tier == "every":
            self.environment["EVERY"] = "1"
        self.outcomes, self.ctest = {}, None

    def write_ctest(self, tests, folder, first, alone):
        """The file that ctest reads: first what failed last time, then what the change touches, then the longest."""
        slots = SLOTS * len(os.sched_getaffinity(0))
        one = os.path.join(os.path.dirname(os.path.abspath(__file__)), "one_test.py")
        os.makedirs(folder)
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as out:
            for number, test in enumerate(tests, 1):
                last = self.results.history.get(test.name, {})
                cost = last.get("seconds", test.seconds) + 1e5 * (test.name in first) + 1e6 * last.get("failed", False)
                command = ["/usr/bin/python3", "-SEB", one, self.results.room, test.name, "%.0f" % self.limit,
                           os.path.join(self.tmp, str(number)), *test.command(self.given.build)]
                out.write("add_test(%s %s)\n" % (quoted(test.name), " ".join(map(quoted, command))))
                out.write("set_tests_properties(%s PROPERTIES COST %.1f TIMEOUT %d WORKING_DIRECTORY %s" % (
                    quoted(test.name), cost, self.limit + 120, quoted(self.root)))
                if test.cpus is None or alone:
                    out.write(" RUN_SERIAL TRUE")
                else:
                    out.write(" PROCESSORS %d" % min(max(1, round(SLOTS * test.cpus)), slots))
                if test.locks:
                    out.write(" RESOURCE_LOCK %s" % quoted(";".join(test.locks)))
                out.write(")\n")
        return slots

    def execute(self, tests, first=(), alone=False):
        """Runs the tests and shows each as it ends. Returns the names of those that failed."""
        with tempfile.TemporaryDirectory(prefix="ctest.", dir=self.tmp) as room:
            slots = self.write_ctest(tests, os.path.join(room, "tests"), first, alone)
            # What starts the tests ends with this process, and they with it.
            self.ctest = subprocess.Popen(
                ["ctest", "--test-dir", os.path.join(room, "tests"), "-j", str(slots)], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                env=self.environment, preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGTERM))
            try:
                failed = self.follow(tests)
            except BaseException:
                self.stop()
                raise
        return failed

    def follow(self, tests):
        """Reads what ctest says until it ends. Returns the names of those that failed."""
        failed, shown, strange = [], set(), []
        for line in self.ctest.stdout:
            done = DONE.match(line)
            if done:
                test = tests[int(done.group(1)) - 1]
                shown.add(test.name)
                if not self.show(test, "%d/%d" % (len(shown), len(tests))):
                    failed.append(test.name)
            elif not re.match(r" +Start +\d+: ", line):
                strange.append(line)
        self.ctest.wait()
        for test in tests:
            if test.name not in shown:
                print("".join(strange[-5:]), end="")
                if not self.show(test, "-"):
                    failed.append(test.name)
        return failed

    def show(self, test, count):
        base = os.path.join(self.results.room, test.name.replace("/", "_"))
        try:
            with open(base + ".json", encoding="utf-8") as text:
                outcome = json.load(text)
        except (OSError, ValueError):
            outcome = {"name": test.name, "passed": 0, "failed": 1, "skips": [], "left": [], "seconds": 0,
                       "cpu_seconds": 0, "load": 0, "steal_seconds": 0}
            with open(base + ".out", "a", encoding="utf-8") as out:
                out.write("\nnot ok - %s left no result: what runs it has died, or the disk is full\n" % test.name)
        with open(base + ".out", encoding="utf-8", errors="replace") as text:
            said = text.read().splitlines()
        forbidden = [s for s in outcome["skips"] if not self.skips.allows(test.name, s)]
        outcome["failed"] += len(forbidden)
        outcome["skipped"] = len(outcome["skips"]) - len(forbidden)
        self.outcomes[test.name] = outcome
        self.results.ended(outcome, outcome["failed"] == 0)
        print("%9s %-50s %4d passed %3d failed %3d skipped %4.0f s" % (
            count, test.name, outcome["passed"], outcome["failed"], outcome["skipped"], outcome["seconds"]))
        for line in said:
            if line.startswith("= "):
                print("    " + line[2:])
            elif line.startswith("skip - ") and line[7:] not in forbidden:
                print("    " + line)
        for skip in forbidden:
            print("    not ok - skipped, and tests/skips does not allow it: " + skip)
        for left in outcome["left"]:
            print("    # left behind, and ended: " + left)
        if outcome["failed"] > len(forbidden):
            details = [line for line in said if not line.startswith(("ok - ", "skip - ", "= "))]
            for line in details[:SHOWN]:
                print("    " + line)
            print("    # all of it: %s.out" % base)
        sys.stdout.flush()
        return outcome["failed"] == 0

    def again(self, names, tests):
        """What failed runs once more, alone; its first output stays. Returns who failed and who was unsteady."""
        print("once more, alone: " + " ".join(names))
        for name in names:
            base = os.path.join(self.results.room, name.replace("/", "_"))
            os.replace(base + ".out", base + ".first.out")
            if os.path.exists(base + ".json"):
                os.replace(base + ".json", base + ".first.json")
        failed = self.execute([tests[name] for name in names], alone=True)
        return failed, [name for name in names if name not in failed]

    def stop(self):
        """Ends all that still runs; what a test has set up it takes back itself, if it can."""
        if self.ctest and self.ctest.poll() is None:
            try:
                os.killpg(self.ctest.pid, signal.SIGTERM)
                self.ctest.wait(60)
            except (OSError, subprocess.TimeoutExpired):
                os.killpg(self.ctest.pid, signal.SIGKILL)
        end = time.monotonic() + 60
        while self.group and time.monotonic() < end and control_group.processes(self.group):
            time.sleep(0.1)

    def close(self):
        if self.group:
            control_group.remove(self.group)
        shutil.rmtree(self.tmp, ignore_errors=True)


def build_sanitized(given, tests):
    """The sanitized unit tests that are to run. 0 or the status of make."""
    names = [t.name.partition("/")[2] for t in tests if t.name.startswith("sanitized/")]
    if not names:
        return 0
    san = os.path.join(given.build, "san")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", "-s", "-j", str(os.cpu_count()), "SAN=1", "B=" + san] +
                          ["%s/tests/unit/%s" % (san, name) for name in names], env=env, check=False).returncode


def main():
    given = arguments()
    root = os.path.realpath(given.tree)
    os.chdir(root)
    rows = listing.read_areas("tests/areas")
    tests = listing.read_tests("tests/list", {area for _, areas in rows for area in areas})
    tests.update(listing.sanitized(tests))
    skips = listing.Skips("tests/skips")
    if not shutil.which("ctest"):
        sys.exit("there is no ctest: run 'sudo make deps', which installs the package cmake")
    chosen = selected(given, tests)
    paths = kept.changed(root, given.base)
    if given.changed and paths is None:
        sys.exit("what has changed is not known: this is no checkout of git, or there is no such commit")
    near = touched(paths or [], tests, rows)
    if given.changed:
        chosen = near
        print("changed: %d files; tests: %d" % (len(paths), len(chosen)))
    if not chosen:
        sys.exit("no test has %s in its name; tests/list has all of them" % given.pattern)
    if build_sanitized(given, chosen):
        sys.exit("the unit tests could not be built with sanitizers, see above")
    try:
        results = kept.Results(given.build, kept.tree(root), "%s-%d" % (given.tier == "every", os.getuid()))
    except OSError as error:
        sys.exit("no results can be kept in %s/results: %s" % (given.build, error.strerror))
    before = {}
    if given.tier != "gate" and not given.fresh and not given.pattern:
        before = {t.name: results.passed[t.name] for t in chosen if t.name in results.passed}
        chosen = [t for t in chosen if t.name not in before]
        if before:
            print("%d tests have passed for these very files and are not run again (FRESH=1 runs them)" % len(before))
    factor, line = speed.measured(given.build)
    print(line, flush=True)
    begin = time.monotonic()
    run = Run(given, root, results, skips, factor)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    failed, unsteady = [], []
    try:
        if chosen:
            failed = run.execute(chosen, {t.name for t in near})
        if failed:
            failed, unsteady = run.again(failed, tests)
    except Interrupted:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        print("interrupted: %d of %d tests had ended; nothing runs any more" % (len(run.outcomes), len(chosen)))
        return 130
    except OSError as error:
        print("the results cannot be kept in %s: %s" % (results.room, error.strerror), file=sys.stderr)
        return 1
    finally:
        run.close()
    left = [name for name, outcome in run.outcomes.items() if outcome["left"]]
    if left:
        print("%d left something behind: %s" % (len(left), " ".join(left)))
    print("%d tests in %.0f s; all output: %s" % (len(chosen), time.monotonic() - begin, results.room))
    if failed:
        print("failed: " + " ".join(failed))
    if unsteady:
        results.unsteady(unsteady)
        print("%d unsteady (failed once, passed alone): %s" % (len(unsteady), " ".join(unsteady)))
    outcomes = list(before.values()) + list(run.outcomes.values())
    passed, red, skipped = (sum(o[key] for o in outcomes) for key in ("passed", "failed", "skipped"))
    print("%d passed, %d failed, %d skipped" % (passed, red, skipped))
    return 0 if passed and not red else 1


if __name__ == "__main__":
    sys.exit(main())
