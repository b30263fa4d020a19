#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""The time-line, parallelism over time and the distributions."""
from browser import main
from checks import check, same
from shown import count_of, is_percent, is_time

# The middle of up to a hundred boxes a row, in the window's coordinates.
BOXES = """const t = app.timeline, p = t.picture, rows = p.rows, box = t.canvas.getBoundingClientRect(), out = [];
    for (let r = 0; r < rows.rows; r++) {
        const n = rows.first[r + 1] - rows.first[r], step = Math.max(1, Math.floor(n / 100));
        for (let i = rows.first[r]; i < rows.first[r + 1]; i += step) {
            const x0 = p.x(rows.start[i]), x1 = p.x(rows.end[i]);
            if (x1 - x0 >= 3 && x0 >= p.room.left && x1 <= p.room.right)
                out.push({id: app.data.id(rows.context[i]), row: r, x: box.x + (x0 + x1) / 2,
                    y: box.y + p.y_of(r) + p.metrics.height / 2});
        }
    }
    return out;"""
PUBLISHED = """const n = window.grain_timeline_neighbours, names = (list) => Array.from(list, (c) => app.data.id(c));
    return [n.context < 0 ? null : app.data.id(n.context), names(n.predecessors), names(n.successors)];"""


def neighbours(report):
    """
    Of every context its predecessors and successors, from the JSON's parents, dependences and joins. What a taskwait or
    taskgroup joins comes before its waiter, what a barrier joins before the whole team, what the end of a region joins
    before who encountered it.
    """
    before, after = ({c["id"]: set() for c in report.contexts} for _ in range(2))
    regions = {r["id"]: r["parent"] for r in report.summary["regions"]}
    members = {}
    for c in report.contexts:
        if c["kind"] == "implicit":
            members.setdefault(c["id"].rpartition(".")[0], []).append(c["id"])

    def waiters(join):
        owner, _, name = join.rpartition("/")
        if name[0] != "b":
            return [owner] if owner in before else []
        return [regions[owner]] if join in report.region_ends else members[owner]

    def link(first, then):
        if first and then and first != then:
            after[first].add(then)
            before[then].add(first)
    for c in report.contexts:
        link(c["parent"], c["id"])
        for earlier in c["depends_on"]:
            link(earlier, c["id"])
        for wait in c.get("depend_waits", []):
            for earlier in wait["depends_on"]:
                link(earlier, c["id"])
        for waiter in waiters(c["join"]) if c["join"] else []:
            link(c["id"], waiter)
    return before, after


def hovering(browser, report):
    before, after = neighbours(report)
    browser.size(1280, 800)
    browser.open(report)
    browser.into_view("#timeline canvas")
    boxes, seen, wrong = browser.js(BOXES), set(), []
    for box in boxes:
        if box["id"] in seen or len(seen) > 40:
            continue
        seen.add(box["id"])
        browser.mouse("mouseMoved", box["x"], box["y"])
        context, predecessors, successors = browser.js(PUBLISHED)
        if context != box["id"]:
            wrong.append("over %s: shown %s" % (box["id"], context))
        elif set(predecessors) != before[context] or len(predecessors) != len(before[context]):
            wrong.append("before %s: %s, expected %s" % (context, predecessors[:6], sorted(before[context])[:6]))
        elif set(successors) != after[context] or len(successors) != len(after[context]):
            wrong.append("after %s: %s, expected %s" % (context, successors[:6], sorted(after[context])[:6]))
    check(report.name + ": grains are drawn", len(seen) >= 3, len(boxes))
    same(report.name + ": hovering shows exactly predecessors and successors", wrong[:8], [])
    drawn = browser.js(
        """const n = app.timeline.neighbours, ids = (list) => list.map((l) => app.data.id(l.context)).sort();
        return n ? [ids(n.before), ids(n.after)] : null;""")
    if drawn:
        have = browser.js("Object.fromEntries(Array.from({length: app.data.count}, (_, c) => [app.data.id(c), "
                          "!Number.isNaN(app.data.start[c])]))")
        context = browser.js(PUBLISHED)[0]
        same(report.name + ": lines lead to these only",
             [set(d) <= s for d, s in zip(drawn, (before[context], after[context]))] +
             [set(drawn[0]) | set(drawn[1]) <= {i for i in have}], [True, True, True])
    browser.picture(report.name + "-hovered")
    browser.mouse("mouseMoved", 5, 5)
    browser.frames()
    same(report.name + ": nothing is hovered, nothing is shown", browser.js(PUBLISHED), [None, [], []])


def hover(browser, inputs):
    for report in inputs.logs() + [inputs.made(500), inputs.dependent()]:
        hovering(browser, report)


def keys(browser, inputs):
    """Everything by keyboard: along a row, to another, zoom, and what is there is said."""
    report = inputs.made(500)
    browser.open(report)
    browser.into_view("#timeline canvas")
    browser.js("app.timeline.canvas.focus({preventScroll: true})")
    browser.key("ArrowRight")
    browser.key("ArrowRight")
    first = browser.js("[app.get('selected'), document.querySelector('#timeline [aria-live]').textContent]")
    check("arrows select what a row ran", first[0] >= 0 and first[1], first)
    row = browser.js("app.timeline.rows.row_of_place[app.timeline.place]")
    browser.key("ArrowDown")
    same("arrows go to the next row", browser.js("app.timeline.rows.row_of_place[app.timeline.place]"), row + 1)
    wide = browser.js("app.timeline.axis.to - app.timeline.axis.from")
    browser.key("+")
    check("plus zooms", browser.js("app.timeline.axis.to - app.timeline.axis.from") < wide)
    check("the parallelism above has the same axis",
          browser.js("!app.parallelism || app.parallelism.axis === app.timeline.axis"))
    browser.key("0")
    same("0 shows all", browser.js("app.timeline.axis.to - app.timeline.axis.from"), wide)
    cpus = {f["cpu"] for c in report.contexts for f in c["fragments"] if f["end_ns"] > f["start_ns"]}
    threads = {f["tid"] for c in report.contexts for f in c["fragments"] if f["end_ns"] > f["start_ns"]}
    same("a row for each thread", browser.js("app.timeline.rows.rows"), len(threads))
    browser.js("[...document.querySelectorAll('#timeline [role=group] button')].find((e) => e.textContent === 'CPUs')"
               ".click()")
    same("a row for each CPU", browser.js("app.timeline.rows.rows"), len(cpus))


def brushing(browser, inputs):
    """A range of the density plot lights up these grains, and no others, everywhere."""
    report = inputs.made(500)
    browser.open(report, "view=definition")
    box = browser.into_view("#distributions .dist-plot")
    y = box["y"] + box["height"] / 2
    browser.drag([(box["x"] + box["width"] * part, y) for part in (0.3, 0.4, 0.5, 0.6)])
    brush = browser.until("app.get('brush')")
    if not check("dragging chooses a range", brush and brush["from"] < brush["to"], brush):
        return
    inside = {c["id"] for c in report.contexts if c["definition"] == brush["definition"] and
              brush["from"] <= c["exec_ns"] <= brush["to"]}
    everything = [c for c in report.contexts if c["definition"] == brush["definition"] and report.is_complete(c)]
    check("some grains are in it, some are not", 0 < len(inside) < len(everything), len(inside), len(everything))
    dim = browser.js("app.colours.variable('dim')")
    lit = browser.js(
        """Array.from({length: app.data.count}, (_, c) => c).filter((c) => app.colours.css(app.colours.of(c)) !== a)
        .map((c) => app.data.id(c))""", dim)
    same("exactly the grains in the range are not dimmed", set(lit), inside)
    said = browser.js("document.querySelector('#distributions [aria-live]').innerText")
    time = sum(c["exec_ns"] for c in report.contexts if c["id"] in inside)
    parts = said.replace(":", ",").split(", ")
    check("how many and how long is said", count_of(said) == len(inside) and any(
        is_time(part.replace("together ", "").strip(), time) for part in parts) and is_percent(
        said.partition("(")[2], 100 * len(inside) / len(everything)), said, len(inside), time)
    check("the address keeps it", browser.until("location.hash.includes('brush=')"))
    browser.picture("brushed", whole=True)
    fragment = browser.js("location.hash.slice(1)")
    browser.open(report, fragment)
    same("and brings it back", browser.js("app.get('brush')"), brush)
    browser.into_view("#distributions .dist-plot")
    browser.js("document.querySelector('#distributions .dist-plot').focus()")
    browser.key("Escape")
    check("Escape clears it", browser.until("app.get('brush') === null"))
    browser.key("ArrowRight", shift=True)
    check("arrows choose a range, too", browser.until("app.get('brush')"))


if __name__ == "__main__":
    main(hover, keys, brushing)
