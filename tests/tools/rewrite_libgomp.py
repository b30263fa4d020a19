#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A libgomp that does the same as another but is written in instructions that graind does not know.

usage: rewrite_libgomp.py GRAINCTL LIBGOMP OUT tasks|members...

tasks: where the bodies of deferred tasks are called, `test fn, fn` becomes `or fn, fn`;
members: where workers call the body of a region, `mov rdi, data` becomes `push data; pop rdi`.
Same length, same effect, another pattern; and another build-id, as a copy of what is known is taken for that.
"""
import json
import subprocess
import sys

grainctl, library, out, *what = sys.argv[1:]
plan = json.loads(subprocess.run([grainctl, "doctor", "--json", "--runtime", library],
                                 stdout=subprocess.PIPE).stdout)["plan"]
code = bytearray(open(library, "rb").read())
changed = dict.fromkeys(what, 0)


def change(kind, at, new):
    code[at:at + len(new)] = bytes(new)
    changed[kind] += 1


for point in plan["points"]:
    at = point["offset"]
    before = code[at - 3:at]
    if "tasks" in what and point["event"] == "task-begin" and before[0] & 0xfa == 0x48 and before[1] == 0x85:
        change("tasks", at - 2, [0x09])
    # mov rdi, reg
    if "members" in what and point["event"] == "member-begin" and point["instruction"].startswith("call") and \
            before[0] & 0xfb == 0x48 and before[1] == 0x89 and before[2] & 0xc7 == 0xc7:
        reg = before[2] >> 3 & 7
        change("members", at - 3, [0x41, 0x50 + reg, 0x5f] if before[0] & 4 else [0x50 + reg, 0x5f, 0x90])
if not what or not all(changed.values()):
    sys.exit("%s: the instructions to change were not found: %s" % (library, changed))
note = code.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
if note < 0:
    sys.exit("%s: it has no build-id" % library)
code[note + 16] ^= 0xff
open(out, "wb").write(code)
print(", ".join("%s: %d" % x for x in changed.items()))
