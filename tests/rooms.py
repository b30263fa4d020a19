#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""rooms.py BUILD_DIRECTORY: what of the sources does not keep to the table of rooms (rooms.txt), one line each.

A room is a folder of sources. Its files include and call only what is in it and in the rooms that the table allows;
calls are those of the objects in BUILD_DIRECTORY. The README of a room names the rooms of the same folder that it may
use, as the table does. --write prints the table as the sources are.
"""
import collections
import os
import re
import subprocess
import sys

FOLDERS = "bpf", "uprobes", "analysis", "render", "runtime-shim", "daemon"
FEWEST, MOST = 4, 25        # files of a room
MOST_IN_CIRCLE = 6          # files of one room that call each other in a circle
TABLE = os.path.join(os.path.dirname(__file__), "rooms.txt")


def sources():
    """Every C source and header, by room."""
    rooms = collections.defaultdict(list)
    for top in FOLDERS:
        for folder, _, names in os.walk(top):
            names = sorted(name for name in names if name.endswith((".c", ".h")) and name != "vmlinux.h")
            rooms[folder] += [folder + "/" + name for name in names]
    return {room: files for room, files in rooms.items() if files}


def table():
    """{room: rooms that it may use}, and the rooms that may be smaller."""
    allowed, small, folder = {}, set(), ""

    def whole(name):
        return name if "/" in name or name in FOLDERS or folder == "." else folder + "/" + name
    for line in open(TABLE):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0].startswith("["):
            folder = words[0].strip("[]")
            continue
        if not line[0].isspace():
            room = whole(words.pop(0).rstrip(":"))
            allowed[room] = set()
        for word in words:
            if word == "small":
                small.add(room)
            else:
                allowed[room].add(whole(word))
    return allowed, small


def includes(files):
    """(file, header of the project) of each."""
    for path in files:
        with open(path) as source:
            for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', source.read(), re.M):
                if os.path.exists(header):
                    yield path, header


def calls(files, build):
    """(file, file whose function or variable it uses) of each, by the objects."""
    defines, needs = collections.defaultdict(set), {}
    for path in files:
        if not path.endswith(".c") or path.endswith(".bpf.c"):
            continue
        symbols = subprocess.run(["gcc-nm", "%s/%s.o" % (build, path[:-2])], capture_output=True, text=True)
        if symbols.returncode:
            yield path, None
            continue
        needs[path] = set()
        for words in map(str.split, symbols.stdout.splitlines()):
            if words[-2] in "TDBRVWC":
                defines[words[-1]].add(path)
            elif words[-2] == "U":
                needs[path].add(words[-1])
    for path, names in needs.items():
        for name in names & defines.keys():
            others = defines[name]
            # Programs have functions of the same name; each calls its own, or that of a library.
            nearest = max(others, key=lambda other: len(os.path.commonpath((path, other))))
            if path not in others:
                yield path, nearest


def circles(arrows):
    """Strongly connected parts of more than one (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in sorted(arrows.get(node, ())):
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            part = set()
            while node not in part:
                part.add(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return found


def told(room, rooms):
    """The rooms of the same folder that the room's README says it uses; None: it refers to the table."""
    folder = os.path.dirname(room)
    near = {other for other in rooms if other != room and os.path.dirname(other) == folder}
    with open(room + "/README.md") as page:
        text = " ".join(re.sub(r"\([^)]*\)|`", "", page.read()).split())
    rest = r"\b((?:[^.]|\.(?!\s|$))*)"
    sentence = re.search(r"\bIt may use" + rest, text) or re.search(r"\bIt uses" + rest, text)
    if not sentence:
        return set()
    if "rooms.txt" in sentence[1]:
        return None
    words = set(re.findall(r"[\w/.-]*[\w-]", sentence[1]))
    named = {other for other in near if words & {other, os.path.basename(other)}}
    return near - named if re.search(r"\b(?:all|every)\b", sentence[1]) else named


def write(rooms, used):
    """The table: what is in the same folder by its name alone."""
    folder = None
    for room in sorted(rooms):
        top = os.path.dirname(room)
        if top != folder:
            folder = top
            print("\n[%s]" % top)
        near = [os.path.basename(other) for other in sorted(used[room]) if os.path.dirname(other) == top]
        far = [other for other in sorted(used[room]) if os.path.dirname(other) != top]
        print("%s: %s" % (os.path.basename(room), " ".join(near + far)))


def main():
    build, rooms = sys.argv[1], sources()
    files = [path for room in rooms.values() for path in room]
    room_of = {path: room for room, paths in rooms.items() for path in paths}
    why, inside = collections.defaultdict(dict), collections.defaultdict(set)
    for path, header in includes(files):
        if header in room_of and room_of[header] != room_of[path]:
            why[room_of[path], room_of[header]].setdefault(path, "%s includes %s" % (path, header))
    for path, other in calls(files, build):
        if other is None:
            print("%s: no object of it in %s" % (path, build))
        elif room_of[other] != room_of[path]:
            why[room_of[path], room_of[other]].setdefault(path, "%s calls %s" % (path, other))
        else:
            inside[path].add(other)
    used = collections.defaultdict(set)
    for room, other in why:
        used[room].add(other)
    if "--write" in sys.argv:
        return write(rooms, used)
    allowed, small = table()
    for room, paths in sorted(rooms.items()):
        if room not in allowed:
            print("%s: not a room of tests/rooms.txt" % room)
        if not (FEWEST <= len(paths) <= MOST or room in small):
            print("%s: %d files; a room has %d to %d" % (room, len(paths), FEWEST, MOST))
        if not os.path.exists(room + "/README.md"):
            print("%s: no README.md" % room)
        else:
            said = told(room, rooms)
            near = {other for other in allowed.get(room, ()) if os.path.dirname(other) == os.path.dirname(room)}
            for other in sorted(near ^ said if said is not None else ()):
                print("%s/README.md %s %s; tests/rooms.txt does%s" % (
                    (room, "does not say that it may use", other, "") if other in near else
                    (room, "says that it may use", other, " not")))
    for (room, other), reasons in sorted(why.items()):
        for reason in sorted(reasons.values()):
            if other not in allowed.get(room, ()):
                print("%s may not use %s: %s" % (room, other, reason))
    for room, others in sorted(allowed.items()):
        for other in sorted(others):
            if (room, other) not in why:
                print("tests/rooms.txt: nothing in %s uses %s" % (room, other))
    for circle in circles(allowed):
        print("rooms in a circle: %s" % " ".join(circle))
    for circle in circles(inside):
        if len(circle) > MOST_IN_CIRCLE:
            print("%d files that call each other in a circle: %s" % (len(circle), " ".join(circle)))


main()
