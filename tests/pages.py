#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""pages.py: what is wrong with the pages (*.md), one line each: links that lead nowhere, files that are not there."""
import os
import re
import subprocess

FILES = [f for f in subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True,
                                   text=True).stdout.split("\n") if os.path.isfile(f)]
NAMES = {os.path.basename(f) for f in FILES}
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
# A source by its name, or by a path from the root or from the page.
SOURCE = re.compile(r"(?<![\w/.*%<~-])((?:[\w.-]+/)*)([a-z][a-z0-9_]*\.(?:c|h|js|sh|py|mk))(?![\w*-])")
TOPS = {f.split("/")[0] for f in FILES if "/" in f}
# Headers of the system, and files of examples.
FOREIGN = {"omp.h", "fib.c", "a.c", "app.c", "loop.c", "prog.c", "main.c", "omp-tools.h", "heat.c", "solver.c"}

for page in FILES:
    if not page.endswith(".md"):
        continue
    here = os.path.dirname(page)
    with open(page) as lines:
        for number, line in enumerate(lines, 1):
            for target in LINK.findall(line):
                if not os.path.exists(os.path.join(here, target)):
                    print("%s:%d: the link leads nowhere: %s" % (page, number, target))
            for folder, name in SOURCE.findall(line):
                path = folder + name
                known = os.path.exists(path) or os.path.exists(os.path.join(here, path))
                if folder and folder.split("/")[0] in TOPS | {".."} and not known:
                    print("%s:%d: there is no %s" % (page, number, path))
                elif not folder and name not in NAMES | FOREIGN:
                    print("%s:%d: there is no %s" % (page, number, name))
