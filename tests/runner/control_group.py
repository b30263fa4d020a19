# SPDX-License-Identifier: BSD-2-Clause
"""A control group (cgroup v2) for a run of the tests, with one for each test below it."""

import os


def make():
    """A group for this run below the one of this process, or None where none can be made."""
    try:
        with open("/proc/self/mounts", encoding="utf-8") as mounts:
            mount = next(line.split()[1] for line in mounts if line.split()[2] == "cgroup2")
        with open("/proc/self/cgroup", encoding="utf-8") as groups:
            own = next(line[3:].strip() for line in groups if line.startswith("0::"))
        path = "%s%s/graind-tests.%d" % (mount, own.rstrip("/"), os.getpid())
        os.mkdir(path)
        return path
    except (OSError, StopIteration):
        return None


def processes(group):
    """The numbers of the processes in the group and in those below it."""
    found = set()
    for folder, _, _ in os.walk(group):
        with open(folder + "/cgroup.procs", encoding="ascii") as procs:
            found.update(int(pid) for pid in procs.read().split())
    return found


def remove(group):
    """Removes the group and those below it, as far as they are empty."""
    for folder, _, _ in os.walk(group, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            pass
