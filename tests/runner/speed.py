# SPDX-License-Identifier: BSD-2-Clause
"""The machine's factor: how many times slower than a usual machine it is at what it is worst at. It scales how long a
test waits before it gives up, never what a test asserts."""

import json
import os
import subprocess

# Nanoseconds of tests/tools/machine_speed on a quiet machine of two usual CPUs.
USUAL = {"arithmetic": 28.4e6, "pages": 1500, "forks": 720e3, "probe": 700}
MOST = 20


def measured(build):
    """(factor, a line that says how it comes about)"""
    tool = os.path.join(build, "tests/tools/machine_speed")
    try:
        got = json.loads(subprocess.run([tool], stdout=subprocess.PIPE, check=True, timeout=300).stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return 1.0, "machine: its speed is not known: no %s" % tool
    ratios = {name: got[name] / usual for name, usual in USUAL.items() if got.get(name)}
    # Of a CPU that is stolen half of the time half is left.
    ratios["steal"] = 1 / max(1 - got["steal"], 1 / MOST)
    factor = min(max(1.0, *ratios.values()), MOST)
    return factor, "machine: %d CPUs, waits x %.1f (%s)" % (
        len(os.sched_getaffinity(0)), factor, ", ".join("%s %.1f" % row for row in ratios.items()))
