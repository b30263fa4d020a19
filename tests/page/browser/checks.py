# SPDX-License-Identifier: BSD-2-Clause
"""Checks as tests/runner counts them: one line each, "ok - ", "not ok - " or "skip - "."""
import os
import sys
import time

BUSY = 10  # percent of the machine, as in tests/bench/bench.py


def ok(name):
    print("ok - " + name, flush=True)


def not_ok(name, *details):
    print("not ok - " + name)
    for detail in details:
        for line in str(detail).splitlines()[:20]:
            print("# " + line[:400])
    sys.stdout.flush()


def skip(name, why):
    print("skip - %s: %s" % (name, why), flush=True)


def note(text):
    """Shown by `make check` as it is."""
    print("= " + text, flush=True)


def check(name, condition, *details):
    if condition:
        ok(name)
    else:
        not_ok(name, *details)
    return bool(condition)


def same(name, got, expected):
    """Equal values; of lists, dictionaries and sets where they begin to differ."""
    if got == expected:
        return ok(name)
    if isinstance(got, set) and isinstance(expected, set):
        return not_ok(name, "too much: %s" % sorted(got - expected)[:10], "missing: %s" % sorted(expected - got)[:10])
    if isinstance(got, dict) and isinstance(expected, dict):
        keys = [k for k in {**got, **expected} if got.get(k) != expected.get(k)]
        return not_ok(name, *("%s: got %r, expected %r" % (k, got.get(k), expected.get(k)) for k in keys[:10]))
    if isinstance(got, list) and isinstance(expected, list):
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        return not_ok(name, "lengths %d and %d, from %d on" % (len(got), len(expected), at),
                      "got:      %r" % got[at:at + 3], "expected: %r" % expected[at:at + 3])
    return not_ok(name, "got:      %r" % (got,), "expected: %r" % (expected,))


class Others:
    """
    How much of the machine went to processes that are not ours, stolen time
    included. `own` returns the processes that are, besides this one.
    """

    def __init__(self, own):
        self.own = own
        self.start = self.now()

    def now(self):
        ticks = list(map(int, open("/proc/stat").readline().split()[1:9]))
        used = sum(os.times()[:4])
        for pid in self.own():
            try:
                fields = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()
            except OSError:
                continue
            used += sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
        return busy - used, time.monotonic()

    def percent(self):
        busy, at = self.now()
        return max(0, 100 * (busy - self.start[0]) / ((at - self.start[1]) * os.cpu_count()))
