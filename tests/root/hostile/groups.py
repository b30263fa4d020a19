# SPDX-License-Identifier: BSD-2-Clause
"""Control groups as systemd makes them on a shared server. CPU time is shared fairly between the service and the
users, and between users. The service has a limit of memory. Uses version 1 or 2 of the kernel's control groups,
whichever exists."""
import os

TOP = "/sys/fs/cgroup"
NAME = "graind-hostile-%d" % os.getpid()


class Group:
    """A group below the test's own group, or the test's own group. Directories: one for each controller."""
    def __init__(self, path):
        two = os.path.exists(TOP + "/cgroup.controllers")
        self.roots = {c: TOP if two else "%s/%s" % (TOP, c) for c in ("cpu", "memory", "cpuacct")}
        self.two = two
        self.path = path
        for root in sorted(set(self.roots.values())):
            if two:
                parent = os.path.dirname(os.path.join(root, path))
                open(parent + "/cgroup.subtree_control", "w").write("+cpu +memory")
            os.makedirs(os.path.join(root, path), exist_ok=True)

    def file(self, controller, name):
        return os.path.join(self.roots[controller], self.path, name)

    def take(self, pid):
        for root in set(self.roots.values()):
            with open(os.path.join(root, self.path, "cgroup.procs"), "w") as out:
                out.write(str(pid))

    def limit_memory(self, size):
        with open(self.file("memory", "memory.max" if self.two else "memory.limit_in_bytes"), "w") as out:
            out.write(str(size))

    def weigh(self, weight):
        """Sets a share as CPUWeight= does; 100 is the normal one."""
        two = self.two
        with open(self.file("cpu", "cpu.weight" if two else "cpu.shares"), "w") as out:
            out.write(str(weight if two else weight * 1024 // 100))

    def peak_memory(self):
        with open(self.file("memory", "memory.peak" if self.two else "memory.max_usage_in_bytes")) as value:
            return int(value.read())

    def memory(self):
        with open(self.file("memory", "memory.current" if self.two else "memory.usage_in_bytes")) as value:
            return int(value.read())

    def cpu_seconds(self):
        if not self.two:
            with open(self.file("cpuacct", "cpuacct.usage")) as value:
                return int(value.read()) / 1e9
        with open(self.file("cpu", "cpu.stat")) as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("usage_usec")) / 1e6

    def remove(self):
        """Moves processes that are still in the group, such as graind before its end, to the top."""
        for root in set(self.roots.values()):
            try:
                for pid in open(os.path.join(root, self.path, "cgroup.procs")).read().split():
                    open(os.path.join(root, "cgroup.procs"), "w").write(pid)
                os.rmdir(os.path.join(root, self.path))
            except OSError:
                pass


def tree():
    """Returns service, honest, hostile. Raises OSError if no groups can be made."""
    names = ["", "/service", "/users", "/users/honest", "/users/hostile"]
    groups = [Group(NAME + name) for name in names]
    return groups[1], groups[3], groups[4], lambda: [group.remove() for group in reversed(groups)]
