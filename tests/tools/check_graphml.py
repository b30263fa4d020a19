#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether GraphML with positions can be drawn as it is.

usage: check_graphml.py FILE

Prints what is wrong, at most ten lines; nothing means that all is right: every
node has x and y, the yEd shape around them, no two shapes touch, edges lead
downwards, and networkx reads the same places.
"""
import sys
import xml.etree.ElementTree as ET

import networkx as nx

G = "{http://graphml.graphdrawing.org/xmlns}"
Y = "{http://www.yworks.com/xml/graphml}"
wrong = []
root = ET.parse(sys.argv[1]).getroot()
keys = {k.get("id"): k for k in root.iter(G + "key")}
if len(keys) != len(list(root.iter(G + "key"))):
    wrong.append("a key twice")
names = {}
for i, key in keys.items():
    if key.get("yfiles.type"):
        names[i] = key.get("yfiles.type")
    elif key.get("attr.type") in ("boolean", "int", "long", "float", "double", "string"):
        names[i] = key.get("attr.name")
    else:
        wrong.append(f"key {i} has no type of GraphML")
boxes, centres, ids = [], {}, set()
for node in root.iter(G + "node"):
    data = {names[d.get("key")]: d for d in node.findall(G + "data")}
    if len(data) != len(node.findall(G + "data")) or node.get("id") in ids:
        wrong.append(f"{node.get('id')}: twice")
    ids.add(node.get("id"))
    shape = data["nodegraphics"].find(Y + "ShapeNode")
    tags = [child.tag[len(Y):] for child in shape]
    if tags not in (["Geometry", "Fill", "BorderStyle", "Shape"],
                    ["Geometry", "Fill", "BorderStyle", "NodeLabel", "Shape"]):
        wrong.append(f"{node.get('id')}: {tags}")
    x, y, w, h = (float(shape.find(Y + "Geometry").get(k)) for k in ("x", "y", "width", "height"))
    at = float(data["x"].text), float(data["y"].text)
    if abs(x + w / 2 - at[0]) > .02 or abs(y + h / 2 - at[1]) > .02 or w <= 0 or h <= 0:
        wrong.append(f"{node.get('id')}: its shape is not around {at}")
    centres[node.get("id")] = at
    boxes.append((y, y + h, x, x + w, node.get("id")))
# By rows: what shares a height must not share a width.
boxes.sort()
active = []
for box in boxes:
    active = [a for a in active if a[1] > box[0]]
    for a in active:
        if a[2] < box[3] and box[2] < a[3]:
            wrong.append(f"{a[4]} and {box[4]} overlap")
    active.append(box)
edges = 0
for edge in root.iter(G + "edge"):
    data = {names[d.get("key")]: d for d in edge.findall(G + "data")}
    edges += 1
    if centres[edge.get("target")][1] <= centres[edge.get("source")][1]:
        wrong.append(f"{edge.get('source')} to {edge.get('target')} leads up")
    if data["edgegraphics"].find(Y + "PolyLineEdge").find(Y + "LineStyle") is None:
        wrong.append("an edge without a line")
graph = nx.read_graphml(sys.argv[1], force_multigraph=True)
if graph.number_of_nodes() != len(centres) or graph.number_of_edges() != edges:
    wrong.append("networkx reads another graph")
for n, d in graph.nodes(data=True):
    if (d["x"], d["y"]) != centres[n]:
        wrong.append(f"{n}: networkx reads {d['x']}, {d['y']}")
print("\n".join(wrong[:10]))
