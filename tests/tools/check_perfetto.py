#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether a Perfetto trace says what the JSON of the same graph says.

usage: check_perfetto.py DIRECTORY TRACE GRAINS.json

DIRECTORY has protoc's perfetto_trace_pb2.py. Prints what is wrong, at most
ten lines; nothing means that all is right: slices nest and close, fragments are
those of the JSON to the nanosecond, arrows come in pairs and lead where the
edges of the graph do, counters have every step.
"""
import collections
import json
import sys

sys.path.insert(0, sys.argv[1])
import perfetto_trace_pb2 as pb  # noqa: E402

wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


lines = [json.loads(line) for line in open(sys.argv[3])]
trace = pb.Trace()
trace.ParseFromString(open(sys.argv[2], "rb").read())
names, annotation_names, categories, locations = {}, {}, {}, {}
threads, counters, counter_names = {}, collections.defaultdict(list), {}
events = collections.defaultdict(list)
check(trace.packet[0].sequence_flags == 1, "the first packet does not begin the sequence")
for order, packet in enumerate(trace.packet):
    check(packet.trusted_packet_sequence_id == 1, "another sequence")
    check(not packet.FindInitializationErrors(), "a packet is incomplete")
    for entry in packet.interned_data.event_names:
        check(entry.iid not in names, "a name twice")
        names[entry.iid] = entry.name
    for entry in packet.interned_data.debug_annotation_names:
        annotation_names[entry.iid] = entry.name
    for entry in packet.interned_data.event_categories:
        categories[entry.iid] = entry.name
    for entry in packet.interned_data.source_locations:
        locations[entry.iid] = entry
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        if track.HasField("thread"):
            threads[track.uuid] = track.thread.tid
        elif track.HasField("counter"):
            counter_names[track.uuid] = track.name
    if packet.HasField("track_event"):
        event = packet.track_event
        if event.type == pb.TrackEvent.TYPE_COUNTER:
            counters[counter_names[event.track_uuid]].append((packet.timestamp, event.counter_value))
        elif event.type != pb.TrackEvent.TYPE_INSTANT:
            events[event.track_uuid].append((packet.timestamp, order, event))
check(len(set(threads.values())) == len(threads), "a thread has two tracks")


def value_of(annotation):
    return next(value for field, value in annotation.ListFields() if field.name.endswith("_value"))


# ---- slices
slices = []
for track, mine in events.items():
    check(track in threads, "slices on a track that is no thread")
    check([e[0] for e in mine] == sorted(e[0] for e in mine), "a track's times go back")
    stack = []
    for time, order, event in mine:
        if event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
            note = {annotation_names[a.name_iid]: value_of(a) for a in event.debug_annotations}
            stack.append({"start": time, "order": order, "tid": threads[track], "note": note,
                          "name": names[event.name_iid], "cat": [categories[c] for c in event.category_iids],
                          "out": list(event.flow_ids), "in": list(event.terminating_flow_ids)})
            if event.source_location_iid:
                check(event.source_location_iid in locations, "an unknown source location")
        else:
            check(stack, "an end without a begin")
            if stack:
                done = stack.pop()
                done["end"] = time
                check(time >= done["start"], "a slice ends before it begins")
                slices.append(done)
    check(not stack, "a slice does not end")

# ---- fragments
kinds = ("initial", "implicit", "task", "chunk")
found = collections.defaultdict(list)
first = {}
for s in slices:
    if s["cat"][0] in kinds:
        found[s["note"]["context"]].append(s)
for index, line in enumerate(lines):
    mine = sorted(found.pop(index, []), key=lambda s: s["order"])
    expected = sorted((f["start_ns"], f["end_ns"], f["tid"], f["cpu"]) for f in line["fragments"])
    check(sorted((s["start"], s["end"], s["tid"], s["note"]["cpu"]) for s in mine) == expected,
          f"{line['id']}: other fragments than the JSON's")
    check(sum(s["end"] - s["start"] for s in mine) == line["exec_ns"], f"{line['id']}: other exec_ns")
    if not mine:
        continue
    first[index] = mine[0]
    for s in mine:
        check(s["cat"][0] == line["kind"], f"{line['id']}: is a {s['cat'][0]}")
        check(("id" in s["note"]) == (s is mine[0]), f"{line['id']}: not told once, where it begins")
    note = mine[0]["note"]
    for key in ("id", "depth", "exec_ns"):
        check(note[key] == line[key], f"{line['id']}: {key} is {note[key]!r}")
    for key in ("create_ns", "wait_ns", "bookkeeping_ns"):
        check(note.get(key, 0) == line[key], f"{line['id']}: {key} is {note.get(key)!r}")
    for key in ("parallel_benefit", "load_balance", "work_deviation", "instantaneous_parallelism", "scatter",
                "memory_hierarchy_utilization", "cache_miss_ratio", "lower", "upper", "cpu_ns"):
        check(note.get(key) == line[key] or abs(note[key] - line[key]) <= 1e-8 * abs(line[key]),
              f"{line['id']}: {key} is {note.get(key)!r}, not {line[key]!r}")
    for key, value in line["counters"].items():
        check(note.get("counter_" + key) == value, f"{line['id']}: counter {key}")
    if line["source"]:
        check(line["source"].isprintable() is False or line["source"] in mine[0]["name"],
              f"{line['id']}: is called {mine[0]['name']!r}")
check(not found, "fragments of contexts that the JSON has not")

# ---- arrows
sources, targets = {}, {}
for s in slices:
    for flow in s["out"]:
        check(flow not in sources, "an arrow leaves twice")
        sources[flow] = s
    for flow in s["in"]:
        check(flow not in targets, "an arrow ends twice")
        targets[flow] = s
check(sources.keys() == targets.keys(), "an arrow has one end only")
created, depends, joined = set(), set(), set()
ids = [line["id"] for line in lines]
for flow, a in sources.items():
    b = targets.get(flow)
    if not b:
        continue
    check((a["start"], a["order"]) < (b["start"], b["order"]), "an arrow leads back")
    if a["cat"][0] == "create":
        check(b is first[b["note"]["context"]] and a["note"]["child"] == b["note"]["context"],
              "a creation leads elsewhere")
        created.add(b["note"]["context"])
    elif a["cat"][0] == "region":
        check(b is first[b["note"]["context"]] and lines[b["note"]["context"]]["kind"] == "implicit",
              "a region's start leads elsewhere")
        created.add(b["note"]["context"])
    else:
        x, y = a["note"]["context"], b["note"]["context"]
        if ids[x] in lines[y]["depends_on"] and b is first[y]:
            depends.add((x, y))
        else:
            join = lines[x]["join"]
            if join and "/j" in join and "depend_waits" not in lines[y]:
                check(join.startswith(ids[y] + "/"), f"{ids[x]}: joined by {ids[y]}, not {join}")
            joined.add(x)
by_id = {line["id"]: line for line in lines}
for index, line in enumerate(lines):
    whole = index in first and line["parent"] is not None and not line["incomplete"]
    if whole and line["kind"] in ("task", "implicit"):
        check(index in created, f"{line['id']}: no arrow from its creation")
    # Of a wait that is the last thing that was seen of its context there is nothing to lead to.
    waiter = line["join"].split("/j")[0] if line["join"] else None
    if whole and line["kind"] == "task" and waiter in by_id and (
            by_id[waiter]["fragments"][-1]["end_ns"] == by_id[waiter]["end_ns"]):
        check(index in joined, f"{line['id']}: no arrow to what joins it")
expected = {(ids.index(p), i) for i, line in enumerate(lines) for p in line["depends_on"]}
expected = {(p, i) for p, i in expected if p in first and i in first}
check(depends == expected, f"{len(depends)} dependences, not {len(expected)}")

# ---- counters
steps = collections.Counter()
alive = collections.Counter()
for line in lines:
    for f in line["fragments"]:
        steps[f["start_ns"]] += 1
        steps[f["end_ns"]] -= 1
    if line["kind"] == "task" and line["fragments"]:
        alive[line["start_ns"]] += 1
        alive[line["end_ns"]] -= 1
for name, by in (("parallelism", steps), ("tasks begun, not ended", alive)):
    told, value, expected = counters[name][1:], 0, []
    for time in sorted(by):
        if by[time]:
            value += by[time]
            expected.append((time, value))
    check(told == expected, f"{name}: {len(told)} steps, not the {len(expected)} of the fragments")
for name, told in counters.items():
    check(told == sorted(told, key=lambda t: t[0]), f"{name}: times go back")
    check(all(value >= 0 for _, value in told), f"{name}: below 0")
    if not name.endswith("of what has ended"):
        check(told[-1][1] == 0, f"{name}: not 0 at the end")
print("\n".join(wrong[:10]))
