# SPDX-License-Identifier: BSD-2-Clause
"""Says what tests/list and tests/areas lack, for lint. usage: check_list.py <FILES, in the top folder"""

import sys

import listing

rows = listing.read_areas("tests/areas")
areas = {area for _, of in rows for area in of}
tests = listing.read_tests("tests/list", areas)
listing.Skips("tests/skips")
there = listing.on_disk(".")
for name in sorted(there - set(tests)):
    print("tests/list: add %s" % name)
for name in sorted(set(tests) - there):
    print("tests/list: there is no %s" % name)
for area in sorted(areas - {"all"} - {area for test in tests.values() for area in test.areas}):
    print("tests/areas: no test of tests/list is of the area %s" % area)
for path in sys.stdin.read().split():
    if listing.areas_of(path, rows) is None:
        print("tests/areas: no line is for %s" % path)
