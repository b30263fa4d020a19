#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""The grain graph: groups and their sums, opening them, views and their colours, the filter, details."""
import math
import re

from browser import main
from checks import check, same
from inputs import LOW_IS_BAD, PROBLEMS
from shown import is_count, is_ratio, is_time

CLOSED, OPEN, GRAIN, MORE, SKIPPED = 2, (0, 1), 3, 7, 8  # graph_picture.js: LOOK_...
DUMP = """const groups = app.groups, data = app.data, id = (c) => c < 0 ? null : data.id(c);
    const name = (i, of) => i < 0 ? null : of.call(data, i);
    const dump = (g) => {
        const s = groups.sums(g), named = (fn) => Object.fromEntries(a.map((p) => [p, fn(p)]));
        return {key: g.key, kind: g.kind, context: id(g.context), join: name(g.join, data.join_id),
            region: name(g.region, data.region_id), loop: name(g.loop, data.loop_id),
            strength: groups.strength_of(g), grains: s.grains, exec_ns: s.exec, create_ns: s.create,
            critical: groups.critical(g), definition: groups.definition(g),
            problems: named((p) => groups.flagged(g, p)),
            worst: named((p) => id(groups.worst(g, p))),
            members: groups.members(g).map((m) => m.group ? dump(m.group) : id(m.context))};
    };
    return dump(groups.root());"""
# Nodes in view with the middle of what is free of other nodes, in the window's coordinates.
NODES = """const g = app.graph, v = g.view, n = g.picture.nodes, box = v.canvas.getBoundingClientRect(), out = [];
    for (let i = 0; i < n.count; i++) {
        const x = (n.x[i] - v.x) * v.scale, y = (n.y[i] - v.y) * v.scale, w = n.w[i] * v.scale, h = n.h[i] * v.scale;
        const s = g.picture.of(i), inside = x >= 0 && y >= 0 && x + w <= v.width && y + h <= v.height;
        out.push({node: i, look: n.look[i], context: n.context[i] < 0 ? null : app.data.id(n.context[i]), w, h, inside,
            key: s && s.key || null, words: g.picture.words(i),
            skipped: s && s.skipped ? s.skipped.map((m) => m.group ? m.group.key : app.data.id(m.context)) : null,
            x: box.x + x + w / 2, y: box.y + y + h / 2, head: box.y + y + Math.min(8, h / 2)});
    }
    return out;"""


def pairs_of(page, lines, numbers):
    """Page's groups beside the JSON's, matched by their place in the nesting."""
    todo, out = [(page, lines[0])], []
    while todo:
        group, line = todo.pop()
        out.append((group, line))
        for a, b in zip(group["members"], line["members"]):
            if isinstance(a, dict) and isinstance(b, int):
                todo.append((a, numbers[b]))
    return out


def nesting(browser, report):
    """Every group as `report --format groups` has it."""
    browser.open(report)
    numbers = {line["group"]: line for line in report.groups}
    available = [p for p in PROBLEMS if report.summary["problems"][p]["available"]]
    pairs = pairs_of(browser.js(DUMP, available), report.groups, numbers)
    wrong = []
    for group, line in pairs:
        members = [m if isinstance(m, str) else "group" for m in group["members"]]
        expected = [m if isinstance(m, str) else "group" for m in line["members"]]
        if members != expected:
            wrong.append("members of %s: %s, expected %s" % (group["key"], members[:6], expected[:6]))
        group["definition"] = None if group["definition"] < 0 else group["definition"]
        for key in ("kind", "region", "loop", "join", "strength", "grains", "exec_ns", "create_ns", "critical",
                    "definition", "problems", "context"):
            if group[key] != line[key]:
                wrong.append("%s of %s %s: %r, expected %r" % (key, line["kind"], group["key"], group[key], line[key]))
        # Of equally bad grains it may be another one.
        for problem, grain in line["worst"].items():
            found, expected = (report.contexts[report.index[g]][problem] if g else None
                               for g in (group["worst"][problem], grain))
            if found != expected and not math.isclose(found or 0, expected or 0, rel_tol=0.006):
                wrong.append("worst %s of %s: %r, expected %r" % (problem, group["key"], found, expected))
    same(report.name + ": as many groups", len(pairs), len(report.groups))
    same(report.name + ": groups and their sums as in the JSON", wrong[:10], [])
    return {group["key"]: line for group, line in pairs}


def groups(browser, inputs):
    for report in inputs.logs() + [inputs.damaged(), inputs.made(500)]:
        nesting(browser, report)


def node_of(browser, key):
    return next((n for n in browser.js(NODES) if n["key"] == key), None)


def opening(browser, inputs):
    report = inputs.made(5000)
    browser.size(1280, 800)
    lines = nesting(browser, report)
    browser.open(report, "mode=groups&view=parallel_benefit")
    browser.into_view("#graph canvas")
    closed = [n for n in browser.js(NODES) if n["look"] == CLOSED and n["inside"]]
    check("closed groups are in view", len(closed) > 1, closed)
    node = max(closed, key=lambda n: lines[n["key"]]["grains"])
    line = lines[node["key"]]
    browser.hover(node["x"], node["y"])
    tip = browser.js("document.querySelector('#graph .tooltip').innerText")
    check("a closed group says how many grains and how long", "{:,} grain".format(line["grains"]) in tip and any(
        is_time(part, line["exec_ns"]) for part in tip.replace("\n", " · ").split(" · ")), tip, line)
    browser.click(node["x"], node["y"])
    opened = node_of(browser, node["key"])
    check("a click opens a group", opened and opened["look"] in OPEN, node, opened)
    check("its tool-tip goes with the closed box", browser.js("document.querySelector('#graph .tooltip').hidden"))
    drawn = [n for n in browser.js(NODES) if n["key"] and lines[n["key"]]["parent"] == line["group"]]
    inside = [m for m in line["members"] if isinstance(m, int)]
    check("its members are drawn", len(drawn) == len(inside) or len(drawn) >= 4, drawn[:3], line["members"])
    numbers = {name.strip(): value for name, value in details(browser)}
    check("its numbers are beside it", is_count(numbers.get("grains", ""), line["grains"]) and is_time(
        numbers.get("execution", ""), line["exec_ns"]) and is_time(numbers.get("creation", ""), line["create_ns"]) and
        numbers.get("strength") == "{:,}, {:,}".format(*line["strength"]), numbers, line)
    browser.picture("groups-opened")
    opened = node_of(browser, node["key"])
    browser.click(opened["x"], opened["head"])
    check("a click on its heading closes it", node_of(browser, node["key"])["look"] == CLOSED)
    by_keyboard(browser)


# Opens all groups; what sticks out of the group around it, and headings: letters on the screen where they are painted.
ALL_OPEN = """const g = app.graph, todo = [g.groups.root()], around = new Map(), out = [], n = () => g.picture.nodes;
    while (todo.length) {
        const group = todo.pop();
        g.where.open.add(group.key);
        g.where.most.set(group.key, 1e6);
        for (const m of g.groups.members(group))
            if (m.group) {
                around.set(m.group.key, group.key);
                todo.push(m.group);
            }
    }
    g.where.focus = g.groups.root();
    g.lay_out();
    for (const [key, up] of around) {
        const i = g.picture.node_of(key), o = g.picture.node_of(up), {x, y, w, h} = n();
        if (i >= 0 && o >= 0 && (x[i] < x[o] - 0.01 || y[i] < y[o] + heading(w[o]) - 0.01 ||
            x[i] + w[i] > x[o] + w[o] + 0.01 || y[i] + h[i] > y[o] + h[o] + 0.01))
            out.push(key + " in " + up);
    }
    function heading(width) { return 20 * Math.max(10.5, Math.min(56, width / 88)) / 10.5; }
    return {groups: around.size, out};"""
HEADINGS = """const sizes = [], paint = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        if (/^(family of|parallel region|\\d+ siblings|lone child)/.test(text))
            sizes.push(parseFloat(/([\\d.]+)px/.exec(this.font)[1]) * app.graph.view.scale);
        return paint.call(this, text, ...at);
    };
    app.graph.view.scale = a;
    app.graph.view.centre_on(...app.graph.view.centre_of(app.graph.picture.node_of(app.groups.root().key)));
    app.graph.view.repaint();
    app.graph.view.paint_now();
    CanvasRenderingContext2D.prototype.fillText = paint;
    return sizes;"""


def all_open(browser, inputs):
    """However many groups are open, headings can be read or are left to the tool-tip, and nothing leaves its group."""
    browser.size(1280, 800)
    for report in (inputs.made(500), inputs.made(5000), *(r for r in inputs.logs() if "constructs" in r.name)):
        browser.open(report, "mode=groups")
        found = browser.js(ALL_OPEN)
        same("%s: all of %d groups open: each inside the one around it" % (report.name, found["groups"]),
             found["out"][:5], [])
        for scale in (0.02, 0.1, 0.3, 0.6, 1):
            letters = browser.js(HEADINGS, scale)
            same("%s: headings at zoom %s: none too small to be read" % (report.name, scale),
                 [s for s in letters if s < 8], [])
        check(report.name + ": headings are there at zoom 1", browser.js(HEADINGS, 1))
    browser.open(inputs.made(500), "mode=groups")
    browser.js(ALL_OPEN)
    browser.js("app.graph.view.fit(); return 1")
    browser.frames(10)
    browser.picture("groups-all-open")
    browser.into_view("#graph canvas")
    frames = [n for n in browser.js(NODES) if n["look"] in OPEN]
    browser.hover(frames[0]["x"] - frames[0]["w"] / 2 + 3, frames[0]["y"])
    tip = browser.js("document.querySelector('#graph .tooltip').innerText")
    check("where headings are too small the tool-tip says the group",
          any(tip.startswith(n["words"][0]) for n in frames), tip)
    browser.hover(5, 5)
    check("until the pointer leaves", browser.js("document.querySelector('#graph .tooltip').hidden"))


def by_keyboard(browser):
    browser.js("app.graph.canvas.focus()")
    for _ in range(60):
        browser.key("Tab")
        focused = browser.js("const g = app.graph; return [g.view.focus, document.activeElement === g.canvas]")
        if not focused[1]:
            break
        at = next((n for n in browser.js(NODES) if n["node"] == focused[0]), None)
        if at and at["look"] == CLOSED:
            break
    if not check("Tab comes to a closed group", focused[1] and at and at["look"] == CLOSED, focused):
        return
    check("what has the focus is said", browser.js("document.querySelector('#graph [aria-live]').textContent.trim()"))
    browser.key("Enter")
    check("Enter opens it", (node_of(browser, at["key"]) or {"look": None})["look"] in OPEN)
    browser.key("Enter")
    check("Enter closes it", (node_of(browser, at["key"]) or {"look": None})["look"] == CLOSED)
    focus = browser.js("app.graph.where.focus.key")
    browser.key("Escape")
    check("Escape goes up", browser.js("app.graph.where.focus.key !== a", focus) or browser.js(
        "app.groups.parent_of(app.graph.where.focus) === null"))
    before = browser.js("[app.graph.view.x, app.graph.view.scale]")
    browser.key("+")
    browser.key("ArrowRight")
    after = browser.js("[app.graph.view.x, app.graph.view.scale]")
    check("keys zoom and move", after[1] > before[1] and after[0] != before[0], before, after)


def variable_of(report, context, view, tids, ranks):
    """The palette's name for a context's colour in a view; None: too near to a border, or not drawn."""
    outside = context["kind"] in ("initial", "implicit")
    if view in PROBLEMS:
        if not report.has_problem(context, view):
            return "implicit" if outside else "dim"
        threshold, value = report.summary["problems"][view]["threshold"], context[view]
        ratio = value / threshold if view in LOW_IS_BAD else threshold / value
        steps = 4 * (1 - max(0, min(0.999, ratio)))
        return None if abs(steps - round(steps)) < 0.03 else "h%d" % (3 - min(3, int(steps)))
    if view in ("thread", "node"):
        first = [f for f in sorted(context["fragments"], key=lambda f: f["start_ns"]) if f["end_ns"] > f["start_ns"]]
        if not first:
            return None
        rank = tids.index(first[0]["tid"]) if view == "thread" else \
            [n["node"] for n in report.summary["numa"]["nodes"]].index(first[0]["node"])
        return "d%d" % rank if rank < 10 else "other"
    if outside:
        return "implicit"
    if view == "definition":
        if context["definition"] is None:
            return "chunk" if context["kind"] == "chunk" else "other"
        rank = ranks[context["definition"]] if context["definition"] in ranks else 10
        return "d%d" % rank if rank < 10 else "other"
    times = [d["exec_ns"] for d in report.summary["definitions"]]
    shortest = max(1, min(t["min"] for t in times))
    longest = max(max(t["max"] for t in times), 2 * shortest)
    step = 5 * math.log(max(1, context["exec_ns"]) / shortest) / math.log(longest / shortest)
    return None if abs(step - round(step)) < 1e-6 and 0 < step < 5 else "q%d" % max(0, min(4, int(math.floor(step))))


def views(browser, inputs):
    """In all views and both themes, every context has the colour that its metrics and the thresholds give it."""
    for report in [inputs.log("constructs_two_threads"), inputs.made(500), inputs.sourced()]:
        browser.open(report, "mode=grains")
        ranks = {}
        for i, d in enumerate(report.summary["definitions"]):
            ranks.setdefault(d["definition"], i)
        tids = browser.js("app.data.report.tids")
        available = [p for p in PROBLEMS if report.summary["problems"][p]["available"]]
        for theme in ("light", "dark"):
            for view in available + ["definition", "thread", "time"] + ["node"] * report.summary["numa"]["available"]:
                browser.js("app.choose_theme(a), app.set('view', b)", theme, view)
                colours(browser, report, view, theme, tids, ranks)
    browser.media("light")


def colours(browser, report, view, theme, tids, ranks):
    got = browser.js("""const style = getComputedStyle(document.documentElement), names = {};
        for (const name of a) (names[style.getPropertyValue("--" + name).trim().toLowerCase()] ||= []).push(name);
        return Array.from({length: app.data.count}, (_, c) =>
            names[app.colours.css(app.colours.of(c)).toLowerCase()] || []);""",
                     ["dim", "implicit", "chunk", "other"] + ["h%d" % i for i in range(4)] +
                     ["d%d" % i for i in range(10)] + ["q%d" % i for i in range(5)])
    wrong = []
    for context, names in zip(report.contexts, got):
        want = variable_of(report, context, view, tids, ranks)
        if want and want not in names:
            wrong.append("%s: %s, expected %s" % (context["id"], names, want))
    same("%s, %s, %s: every context has its colour" % (report.name, view, theme), wrong[:10], [])
    shown = browser.js(
        """const g = app.graph, v = g.view, ink = v.canvas.getContext("2d"), n = g.picture.nodes, wrong = [];
        let seen = 0;
        for (let i = 0; i < n.count; i++) {
            const x = (n.x[i] + n.w[i] / 2 - v.x) * v.scale, y = (n.y[i] + n.h[i] / 2 - v.y) * v.scale;
            if (n.look[i] !== 3 || n.context[i] < 0 || n.w[i] * v.scale < 8 || n.h[i] * v.scale < 8) continue;
            if (x < 4 || y < 4 || x > v.width - 4 || y > v.height - 4) continue;
            seen++;
            const want = app.colours.css(app.colours.of(n.context[i])).toLowerCase();
            const box = ink.getImageData(Math.round(x * v.ratio) - 3, Math.round(y * v.ratio) - 3, 7, 7).data,
                found = new Set();
            for (let k = 0; k < box.length; k += 4)
                found.add("#" + [0, 1, 2].map((j) => box[k + j].toString(16).padStart(2, "0")).join(""));
            if (!found.has(want)) wrong.push([app.data.id(n.context[i]), want, [...found].slice(0, 4)]);
        }
        return [seen, wrong];""") if browser.until("app.graph.view.job === null && !app.graph.view.stale") else [
            0, ["never painted"]]
    same("%s, %s, %s: and is painted so" % (report.name, view, theme), shown[1][:5], [])


def filtering(browser, inputs):
    """The filter leaves only what has the problem. In the place of the rest it shows how much was left out."""
    report = inputs.made(500)
    lines = nesting(browser, report)
    browser.open(report, "mode=groups&view=parallel_benefit")
    flagged = {c["id"] for c in report.contexts if report.has_problem(c, "parallel_benefit")}
    check("some have the problem, some do not", 0 < len(flagged) < len(report.contexts))
    button = "#graph .graph-head button[aria-pressed='false']:not([data-mode])"
    browser.click_on(button)
    check("the filter is on", browser.js("app.get('filter')"))
    browser.until("!app.graph.view.job")
    browser.js("app.graph.focus_on(app.groups.root()), a.forEach((key) => app.graph.where.open.add(key)), "
               "app.graph.lay_out()", list(lines))
    nodes = browser.js(NODES)
    bad = [n for n in nodes if n["look"] == CLOSED and not lines[n["key"]]["problems"]["parallel_benefit"] and
           not browser.js("app.graph.where.open.has(a)", n["key"])]
    same("no closed group without the problem is left", [n["key"] for n in bad], [])
    skips = [n for n in nodes if n["look"] == SKIPPED]
    check("there are fast-forward edges", skips, [n["look"] for n in nodes])
    wrong = []
    for n in skips:
        of = [lines[m] if m in lines else None for m in n["skipped"]]
        if any(line["problems"]["parallel_benefit"] if line else m in flagged for m, line in zip(n["skipped"], of)):
            wrong.append("skipped with the problem: %s" % n["skipped"][:5])
        grains = sum(line["grains"] if line else report.is_grain(report.contexts[report.index[m]])
                     for m, line in zip(n["skipped"], of))
        if n["words"][0] != "» %d" % (grains or len(n["skipped"])):
            wrong.append("%s for %d grains" % (n["words"], grains))
    same("each says how many grains it skips, none of them with the problem", wrong[:5], [])
    browser.picture("filtered")
    where(browser, report, skips)


def where(browser, report, skips):
    """From what is filtered out, and from details, to its place among the others."""
    if skips:
        browser.js("app.graph.view.go_to(a)", skips[0]["node"])
        browser.into_view("#graph canvas")
        skip = browser.js(NODES)[skips[0]["node"]]
        browser.click(skip["x"], skip["y"])
        check("a click on it leaves the filter", not browser.js("app.get('filter')"))
    deep = max((c for c in report.contexts if c["kind"] == "task"), key=lambda c: c["depth"])
    browser.js("app.set('filter', true), app.set('selected', app.data.find(a))", deep["id"])
    browser.click_on("#details .details-where")
    found = next((n for n in browser.js(NODES) if n["context"] == deep["id"] and n["look"] == GRAIN), None)
    check("'show where this is' leads to it", found and found["inside"] and not browser.js("app.get('filter')"),
          deep["id"], found)
    check("the bread-crumbs lead there", browser.js("document.querySelectorAll('.graph-crumb').length") > 1)
    browser.picture("where")


def details(browser):
    return browser.js("""[...document.querySelectorAll("#details dl > div")].map((e) =>
        [e.querySelector("dt").innerText, e.querySelector("dd").innerText])""")


def numbers(browser, inputs):
    """A click shows all numbers of a grain."""
    report = inputs.sourced()
    browser.open(report, "mode=grains&view=definition")
    browser.until("!app.graph.view.job")
    seen = {}
    for node in [n["node"] for n in browser.js(NODES) if n["look"] == GRAIN]:
        browser.into_view("#graph canvas")
        n = browser.js(NODES)[node]
        c = report.contexts[report.index[n["context"]]]
        if n["inside"] and n["w"] > 5 and n["h"] > 5 and c["kind"] not in seen:
            browser.click(n["x"], n["y"])
            seen[c["kind"]] = c
            one_grain(browser, report, c)
    check("tasks and chunks can be clicked", {"task", "chunk"} <= set(seen), seen.keys())


def one_grain(browser, report, c):
    name = "details of a %s: " % c["kind"]
    same(name + "its identifier", browser.js("document.querySelector('#details h2').innerText.trim()"), c["id"])
    check(name + "the address links to it",
          browser.until("new URLSearchParams(location.hash.slice(1)).get('selected') === a",
                        c["id"]), browser.js("location.hash"))
    shown, wrong = dict(details(browser)), []
    expected = {"execution": c["exec_ns"], "waiting": c["wait_ns"]}
    if c["kind"] == "task":
        expected["creation"] = c["create_ns"]
    if c["kind"] == "chunk":
        expected["book-keeping"] = c["bookkeeping_ns"]
    for key, ns in expected.items():
        if not is_time(re.match(r"([^ ]+ [^ ]+)?", shown.get(key, "")).group(), ns):
            wrong.append("%s: %r, expected %d ns" % (key, shown.get(key), ns))
    for problem, known in report.summary["problems"].items():
        text = next((v for k, v in shown.items() if k.replace(" ", "_").startswith(problem[:9])), "")
        if not known["available"]:
            if known["why"] not in text:
                wrong.append("%s: %r, absent: %s" % (problem, text, known["why"]))
        elif (c[problem] is not None and
              (not is_ratio(text, c[problem]) or ("problem" in text) != report.has_problem(c, problem))):
            wrong.append("%s: %r, expected %r" % (problem, text, c[problem]))
    same(name + "all numbers", wrong, [])


def search(browser, inputs):
    report = inputs.sourced()
    definition = next(d for d in report.summary["definitions"] if d["kind"] == "task")
    task = next(c for c in report.contexts if c["kind"] == "task" and c["exec_ns"])
    function = max((d["func"] for d in report.summary["definitions"]), key=len)
    for what, text in (("a source line", definition["source"].rpartition("/")[2]), ("a function", function),
                       ("an identifier", task["id"]), ("nothing", "no such line")):
        browser.open(report)
        browser.click_on("#graph input[type=search]")
        browser.type(text)
        found = browser.until("[...document.querySelectorAll('#graph [role=option], #graph [role=listbox] li')]"
                              ".map((e) => e.innerText).join('|')")
        if what == "nothing":
            check("searching for what is not there says so", "nothing" in (found or ""), found)
            continue
        check("searching finds " + what, text.lower() in (found or "").lower(), found)
        browser.key("Enter")
        browser.frames()
        if what == "an identifier":
            same("Enter selects it", browser.js("app.data.id(app.get('selected'))"), task["id"])
            check("its numbers are shown", task["id"] in browser.js("document.getElementById('details').innerText"))
        elif what == "a source line":
            same("Enter selects the definition", browser.js("app.get('definition')"), definition["definition"])


if __name__ == "__main__":
    main(groups, opening, all_open, views, filtering, numbers, search)
