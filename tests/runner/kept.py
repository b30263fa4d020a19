# SPDX-License-Identifier: BSD-2-Clause
"""What is kept of the runs, below BUILD/results: TREE/ATTEMPT has all output of a run of exactly these files, history
what each test took last and whether it failed, unsteady who failed once and passed alone. The link last: the newest."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time

# So many trees are kept.
TREES = 6


def git(root, *arguments, **more):
    return subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, **more).stdout.decode()


def tree(root):
    """A name for the contents of all files that belong to the checkout, also those that are not committed."""
    try:
        with tempfile.TemporaryDirectory() as room:
            index = os.path.join(room, "index")
            env = dict(os.environ, GIT_INDEX_FILE=index, GIT_OBJECT_DIRECTORY=os.path.join(room, "objects"),
                       GIT_ALTERNATE_OBJECT_DIRECTORIES=os.path.join(
                           os.path.abspath(os.path.join(root, git(root, "rev-parse", "--git-common-dir").strip())),
                           "objects"))
            os.mkdir(env["GIT_OBJECT_DIRECTORY"])
            git(root, "read-tree", "HEAD", env=env)
            git(root, "add", "-A", env=env)
            return git(root, "write-tree", env=env).strip()[:12]
    except (OSError, subprocess.CalledProcessError):
        pass
    whole = hashlib.sha1()
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if os.path.join(folder, f) not in (os.path.join(root, "build"),
                                                                                 os.path.join(root, ".git")))
        for name in sorted(files):
            path = os.path.join(folder, name)
            whole.update(path.encode() + b"\0")
            if os.path.isfile(path):
                with open(path, "rb") as content:
                    whole.update(hashlib.sha1(content.read()).digest())
    return whole.hexdigest()[:12]


def changed(root, base):
    """The files that differ from a commit. Without one: what is not committed, or what the last commit changed."""
    try:
        found = git(root, "status", "--porcelain", "-uall").splitlines()
        if base is None and found:
            return sorted({line[3:].split(" -> ")[-1] for line in found})
        more = git(root, "ls-files", "-o", "--exclude-standard").split()
        return sorted(set(git(root, "diff", "--name-only", base or "HEAD~1").split()) | set(more))
    except (OSError, subprocess.CalledProcessError):
        return None


class Results:
    """kind: what else the outcome depends on, such as who runs the tests."""

    def __init__(self, build, of_tree, kind):
        self.top = os.path.join(build, "results")
        self.tree = os.path.join(self.top, of_tree)
        self.kind = kind
        attempts = [int(n) for n in os.listdir(self.tree) if n.isdigit()] if os.path.isdir(self.tree) else []
        self.room = os.path.join(self.tree, str(max(attempts, default=0) + 1))
        os.makedirs(self.room)
        os.utime(self.tree)
        last = os.path.join(self.top, "last")
        if os.path.lexists(last):
            os.unlink(last)
        os.symlink(os.path.relpath(self.room, self.top), last)
        self.history = self._read(os.path.join(self.top, "history"))
        self.passed = self._read(os.path.join(self.tree, "passed-" + kind))
        trees = [os.path.join(self.top, n) for n in os.listdir(self.top)]
        trees = sorted((t for t in trees if os.path.isdir(t) and not os.path.islink(t)), key=os.path.getmtime)
        for old in trees[:-TREES]:
            shutil.rmtree(old, ignore_errors=True)

    @staticmethod
    def _read(path):
        try:
            with open(path, encoding="utf-8") as text:
                return json.load(text)
        except (OSError, ValueError):
            return {}

    @staticmethod
    def _write(path, what):
        with open(path + ".part", "w", encoding="utf-8") as text:
            json.dump(what, text, indent=0)
        os.rename(path + ".part", path)

    def ended(self, outcome, sound):
        """Keeps what a test took and, if it passed and skipped only what it may, that it need not run again."""
        self.history[outcome["name"]] = {"seconds": outcome["seconds"], "failed": outcome["failed"] > 0}
        self._write(os.path.join(self.top, "history"), self.history)
        if sound:
            self.passed[outcome["name"]] = outcome
            self._write(os.path.join(self.tree, "passed-" + self.kind), self.passed)
        with open(os.path.join(self.room, "seconds"), "a", encoding="utf-8") as seconds:
            seconds.write("%.1f %s cpu %.1f load %.2f steal %.1f\n" % (
                outcome["seconds"], outcome["name"], outcome["cpu_seconds"], outcome["load"],
                outcome["steal_seconds"]))

    def unsteady(self, names):
        with open(os.path.join(self.top, "unsteady"), "a", encoding="utf-8") as text:
            for name in names:
                text.write("%s %s %s\n" % (time.strftime("%FT%T"), os.path.basename(self.tree), name))
