#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""grainctl top on a terminal: what the screen shows after which keys.

usage: top_screen.py GRAINCTL PID1 PID2 GRAIND_PID; jobs 1 and 2 are those of PID1 and PID2. Detaches job 2.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte

GRAINCTL, FIRST, SECOND, GRAIND = sys.argv[1:5]


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("\n".join("# " + str(line) for line in ([detail] if isinstance(detail, str) else detail)))


class Terminal:
    def __init__(self, rows, columns, args, term="xterm-256color", locale="C.UTF-8"):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            # Not before the terminal has its size.
            os.read(0, 1)
            os.environ.update(TERM=term, LC_ALL=locale)
            os.environ.pop("COLUMNS", None)
            # This is the default of a shell on a terminal. A program in the background may ignore the signal.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execv(args[0], args)
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.size(rows, columns)
        os.write(self.fd, b"\n")

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def until(self, condition, seconds=15):
        """Reads until the condition holds for the lines. Returns whether it did."""
        end = time.time() + seconds
        while time.time() < end:
            ready, _, _ = select.select([self.fd], [], [], 0.05)
            if ready:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    return condition(self.lines())
                self.stream.feed(data)
            elif condition(self.lines()):
                return True
        return condition(self.lines())

    def key(self, keys):
        os.write(self.fd, keys)

    def chosen(self):
        """The lines that are shown reversed, except the last."""
        return [line for y, line in enumerate(self.lines()[:-1]) if self.screen.buffer[y][0].reverse]

    def end(self):
        end = time.time() + 10
        while time.time() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.until(lambda lines: False, 0.3)
                return os.waitstatus_to_exitcode(status)
            self.until(lambda lines: False, 0.05)
            # A process that ends closes its terminal some time before it is over.
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return "did not end"


def has(text, lines):
    return any(text in line for line in lines)


t = Terminal(24, 80, [GRAINCTL, "top", "--interval", "0.5"])
check("it starts with both jobs and the threads of the first",
      t.until(lambda l: has(FIRST + "  loop", l) and has(SECOND + "  loop", l) and has("job 1 for", l) and
              has("PREEMPTED/S", l)), t.lines())
check("with rates soon",
      t.until(lambda l: all(l[y].split()[6] not in "-0" and l[y].split()[7] not in "-0" for y in (4, 5))), t.lines())
lines = t.lines()
for line in lines:
    print("# |%-80s|" % line)
check("what graind costs is above", "2 running" in lines[0] and "% of a CPU" in lines[1], lines)
check("the keys are below", "q quit" in lines[23] and "every 0.5 s" in lines[23], lines)
check("nothing is wider than the screen", all(not line.endswith("~") or line.count("~") <= 2 for line in lines), lines)
check("the first job is marked", len(t.chosen()) == 1 and t.chosen()[0].split()[:1] == ["1"], t.chosen())
t.key(b"j")
check("j: the next one, and its threads",
      t.until(lambda l: has("job 2 for", l) and has(SECOND + "  loop_forever  ", l)) and
      t.chosen()[0].split()[:1] == ["2"], t.lines())
t.key(b"k")
check("k: the one before", t.until(lambda l: has("job 1 for", l)), t.lines())
t.key(b"\x1bOB")
check("arrow down", t.until(lambda l: has("job 2 for", l)), t.lines())
t.key(b"\x1bOA")
check("arrow up", t.until(lambda l: has("job 1 for", l)), t.lines())
t.key(b"r")
check("r: the other way round", t.until(lambda l: has("job, reversed", l) and l[4].split()[:1] == ["2"]), t.lines())
t.key(b"rsss")
check("s: by the next column", t.until(lambda l: has("s sort: grains", l)), t.lines())
t.key(b"sss-")
check("-: less often", t.until(lambda l: has("every 1.0 s", l) and has("s sort: job", l)), t.lines())
t.key(b"++")
check("+: more often", t.until(lambda l: has("every 0.2 s", l)), t.lines())
t.key(b"?")
check("?: the keys and columns", t.until(lambda l: has("GRN/S", l) and has("PgDn", l)), t.lines())
t.key(b"?")
for rows, columns in ((10, 60), (5, 20), (50, 160), (24, 80)):
    t.size(rows, columns)
    os.kill(t.pid, signal.SIGWINCH)
    check("%d lines of %d columns" % (rows, columns),
          t.until(lambda l: len(l) == rows and "q quit" in l[-1] and (rows < 10 or has("loop_for", l))), t.lines())
    if columns >= 100:
        check("more columns where there is room", has("LOST", t.lines()) and has("TIME", t.lines()), t.lines())
t.key(b"jd")
check("d: it asks", t.until(lambda l: "stop profiling job 2?" in l[23]), t.lines())
t.key(b"n")
check("any other key: not", t.until(lambda l: "q quit" in l[23]) and has("2 running", t.lines()), t.lines())
t.key(b"d")
t.until(lambda l: "stop profiling" in l[23])
t.key(b"y")
check("y: the job has ended and its problems are told",
      t.until(lambda l: has("job 2 has ended", l) and has("1 running", l) and has("finished", l) and
              has("problems: ", l), 30), t.lines())
os.kill(int(GRAIND), signal.SIGSTOP)
t.until(lambda l: False, 1)
os.kill(int(GRAIND), signal.SIGCONT)
check("graind that does not answer for a moment is no end", t.until(lambda l: has("1 running", l)), t.lines())
t.key(b"q")
check("q: it ends, the terminal is as it was", t.end() == 0 and t.screen.cursor.hidden is False, t.lines())

t = Terminal(24, 80, [GRAINCTL, "top"], locale="C")
check("in a locale without UTF-8", t.until(lambda l: has("job 1 for", l)), t.lines())
t.key(b"\x03")
check("ctrl-C: it ends, too", t.end() != "did not end")
t = Terminal(24, 80, [GRAINCTL, "top"], term="no-such-terminal")
check("a terminal that nobody knows gets the table", t.end() == 0 and has(FIRST, t.lines()), t.lines())
