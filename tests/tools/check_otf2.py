#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether an OTF2 archive, as otf2-print shows it, says what the JSON of the same graph says.

usage: check_otf2.py DEFINITIONS EVENTS GRAINS.json

DEFINITIONS is what otf2-print -G prints, EVENTS what it prints without. Prints
what is wrong, at most ten lines; nothing means that all is right: on each
location times ascend and regions nest, what a context has for itself is its
exec_ns to the nanosecond, and tasks are created, switched to and completed.
"""
import collections
import json
import re
import sys

wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


lines = [json.loads(line) for line in open(sys.argv[3])]
locations, regions = {}, {}
for text in open(sys.argv[1]):
    kind = text.split(None, 1)[:1]
    if kind == ["LOCATION"]:
        m = re.match(r'LOCATION +(\d+) +Name: "(.*?)" <\d+>, .*# Events: (\d+)', text)
        locations[m[1]] = (int(m[2].split()[-1]), int(m[3]))
    elif kind == ["REGION"]:
        m = re.match(r'REGION +(\d+) +Name: "(.*)" <\d+> \(Aka.*Role: (\w+)', text)
        regions[m[1]] = (m[2], m[3])
check(len({tid for tid, _ in locations.values()}) == len(locations), "a thread has two locations")

counts, per_location = collections.Counter(), collections.Counter()
stacks, times = collections.defaultdict(list), collections.Counter()
own, tids = collections.Counter(), collections.defaultdict(set)
current, teams = {}, collections.defaultdict(list)
created, begun, completed = set(), set(), set()
last = None
for text in open(sys.argv[2]):
    if text.lstrip().startswith("ADDITIONAL ATTRIBUTES"):
        stack, where = last
        context = int(re.search(r'"context" <\d+>; UINT32; (\d+)', text)[1])
        stack[-1][2] = context
        tids[context].add(locations[where][0])
        if lines[context]["kind"] == "task":
            check(current.get(where) == context, f"{lines[context]['id']}: entered without a switch to it")
        continue
    m = re.match(r"([A-Z_]+) +(\d+) +(\d+)(?: +(.*))?$", text)
    if not m:
        continue
    kind, where, time, rest = m[1], m[2], int(m[3]), m[4]
    counts[kind] += 1
    per_location[where] += 1
    check(time >= times[where], f"location {where}: time goes back to {time}")
    stack = stacks[where]
    # What is innermost has the time since the event before.
    if stack and stack[-1][2] is not None:
        own[stack[-1][2]] += time - times[where]
    times[where] = time
    last = (stack, where)
    if kind in ("ENTER", "LEAVE"):
        region = re.search(r"<(\d+)>$", rest)[1]
        check(region in regions, f"region {region} is not defined")
        if kind == "ENTER":
            stack.append([region, time, None])
        elif not stack or stack.pop()[0] != region:
            check(False, f"location {where}: leaves {region} at {time}, which is not the innermost")
    elif kind.startswith("THREAD_TASK"):
        number = int(re.search(r"Generation Number: (\d+)", rest)[1])
        if kind == "THREAD_TASK_CREATE":
            check(number not in created, "a task is created twice")
            created.add(number)
        elif kind == "THREAD_TASK_SWITCH":
            current[where] = number
            begun.add(number)
        else:
            check(current.get(where) == number and number in begun, "a task is completed elsewhere")
            check(number not in completed, "a task is completed twice")
            completed.add(number)
    elif kind == "THREAD_TEAM_BEGIN":
        teams[where].append(rest)
    elif kind == "THREAD_TEAM_END":
        check(teams[where] and teams[where].pop() == rest, "another team ends than began last")
for where, stack in stacks.items():
    check(not stack, f"location {where}: a region is not left")
for where, (_, events) in locations.items():
    check(events == per_location[where], f"location {where}: {per_location[where]} events, not {events}")
check(counts["THREAD_FORK"] == counts["THREAD_JOIN"], "forks without joins")
members = [l for l in lines if l["kind"] == "implicit" and l["fragments"]]
# What was not seen of a member may leave it in several parts.
check(counts["THREAD_TEAM_BEGIN"] == len(members) or
      counts["THREAD_TEAM_BEGIN"] > len(members) and any(l["incomplete"] for l in members),
      "team begins are not as many as members")
check(counts["THREAD_TEAM_BEGIN"] == counts["THREAD_TEAM_END"], "team begins without ends")
check(counts["ENTER"] == counts["LEAVE"], "as many enters as leaves")
whole = {i for i, l in enumerate(lines) if l["kind"] == "task" and not l["incomplete"]}
ran = {i for i in whole if lines[i]["fragments"]}
check(whole <= created, f"{len(whole - created)} tasks are not created")
check(ran <= begun, f"{len(ran - begun)} tasks are not switched to")
check(ran <= completed, f"{len(ran - completed)} tasks are not completed")
check(all(lines[i]["kind"] == "task" for i in completed | created), "completed what is no task")
for index, line in enumerate(lines):
    check(own[index] == line["exec_ns"], f"{line['id']}: has {own[index]} for itself, not {line['exec_ns']}")
    check({f["tid"] for f in line["fragments"]} <= tids[index] | set(),
          f"{line['id']}: not on all of its threads")
print("\n".join(wrong[:10]))
