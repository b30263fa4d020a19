#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a shared object over which who reads its names spends minutes: each of many names is sought for its end
through megabytes. usage: make_slow_elf.py FILE"""
import struct
import sys

STRINGS, SYMBOLS = 4 << 20, 400000


def section(kind, at, size, link=0, each=0):
    return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, link, 0, 8, each)


def main(path):
    strings = b"\0" + b"a" * (STRINGS - 1)
    # A function in section 1, called by what begins at the second byte.
    symbols = struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x1000, 16) * SYMBOLS
    at = 64 + 56
    sections = at + len(symbols) + len(strings)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, sections, 0, 64, 56, 1, 64, 3, 0)
    with open(path, "wb") as out:
        out.write(head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, at, at, 4096) + symbols + strings)
        out.write(section(0, 0, 0) + section(11, at, len(symbols), 2, 24) + section(3, at + len(symbols), STRINGS))


main(sys.argv[1])
