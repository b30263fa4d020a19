#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""same_outputs.py OLD_BUILD NEW_BUILD [RECORDING...]: whether two builds say the same of recordings, byte by byte.

Compares every format of report, analyze and export of the recordings given, or of those in tests/data, of the fuzzers'
corpora and of two that tests/tools/make_trace makes. What a build does not say twice in the same way is not compared,
and named. The page of an HTML report is compared whole, and once more without its style and script. Exit status 1:
something differs.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORMATS = {"svg": ["report", "--format", "svg"], "svg of all views": ["report", "--view", "all"],
           "aggregated": ["report", "--format", "groups"], "open groups": ["report", "--open-depth", "3", "--filter"],
           "html": ["report", "--format", "html"], "dot": ["report", "--format", "dot"],
           "graphml": ["report", "--format", "graphml"], "full graphml": ["report", "--format", "graphml", "--full"],
           "json": ["report", "--format", "json"], "csv": ["report", "--format", "csv"],
           "summary": ["analyze"], "summary as json": ["analyze", "--json"],
           "log": ["export", "--format", "log"], "perfetto": ["export", "--format", "perfetto"],
           "otf2": ["export", "--format", "otf2"]}
TO_A_FILE = "svg", "svg of all views", "open groups", "html", "perfetto", "otf2", "aggregated"
OWN_PARTS = re.compile(rb"<style>.*?</style>|<script>.*?</script>|<meta http-equiv=.*?>", re.S)


def said(build, name, recording):
    """The bytes of one output with its exit status; None: it took too long."""
    with tempfile.TemporaryDirectory() as folder:
        out = folder + "/out"
        argv = [os.path.abspath(build) + "/grainctl", *FORMATS[name], recording]
        if name in TO_A_FILE:
            argv += ["-o", out]
        if name != "summary as json" and FORMATS[name][0] != "analyze":
            argv.append("--keep-going")
        try:
            done = subprocess.run(argv, capture_output=True, timeout=120, cwd=folder, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        parts = [str(done.returncode).encode(), done.stdout.replace(folder.encode(), b"DIR"),
                 done.stderr.replace(folder.encode(), b"DIR")]
        if os.path.isdir(out):
            # An archive has a number of its own: what otf2-print reads in it.
            for options in ["-G"], []:
                text = subprocess.run(["otf2-print", *options, out + "/grains.otf2"], capture_output=True).stdout
                parts.append(text.replace(folder.encode(), b"DIR"))
        elif os.path.isfile(out):
            with open(out, "rb") as file:
                parts.append(file.read())
        return b"\0".join(parts)


def recordings(build, folder):
    """Those that come with the tests, and two that are made."""
    found = glob.glob(ROOT + "/tests/data/*.log") + glob.glob(ROOT + "/tests/data/mir_*.csv")
    found += glob.glob(ROOT + "/tests/fuzz/corpus-log/*") + glob.glob(ROOT + "/tests/fuzz/corpus-trace/*")
    for name, arguments in ("tasks", ["20000", "8"]), ("loop", ["20", "8", "2000"]):
        path = "%s/%s.grt" % (folder, name)
        subprocess.run([build + "/tests/tools/make_trace", path, *arguments], check=True, stdout=subprocess.DEVNULL)
        found.append(path)
    return sorted(found)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    old, new = sys.argv[1:3]
    counts, different, unsteady = collections.Counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        for recording in sys.argv[3:] or recordings(new, folder):
            recording = os.path.abspath(recording)
            for name in FORMATS:
                before, after = said(old, name, recording), said(new, name, recording)
                what = "%s of %s" % (name, os.path.relpath(recording, ROOT))
                if before == after:
                    counts[name] += 1
                elif said(old, name, recording) != before:
                    unsteady.append(what)
                elif name == "html" and before and after and OWN_PARTS.sub(b"", before) == OWN_PARTS.sub(b"", after):
                    counts["html, but for the page's own style and script"] += 1
                else:
                    different.append(what)
    for name, count in counts.items():
        print("equal: %4d  %s" % (count, name))
    for what in unsteady:
        print("not the same twice: %s" % what)
    for what in different:
        print("DIFFERENT: %s" % what)
    return 1 if different else 0


sys.exit(main())
