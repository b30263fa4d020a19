#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""What the time-line, parallelism over time and the distributions show, against the fragments of the JSON."""
import collections
import math
import random
import re

from browser import main
from checks import check, same
from shown import count_of, is_percent, is_time

LEAST_BOX = 1.5  # pixels from which on a fragment is a box


def fragments(report):
    """(start, end, tid, context's index) of those that took time, from the start of the recording."""
    zero = report.summary["start_ns"]
    return [(f["start_ns"] - zero, f["end_ns"] - zero, f["tid"], i) for i, c in enumerate(report.contexts)
            for f in c["fragments"] if f["end_ns"] > f["start_ns"]]


def steps(browser, inputs):
    """Parallelism at times and over ranges, as counted from scratch."""
    report, dice = inputs.made(500), random.Random(5)
    pieces, wrong = fragments(report), []
    browser.open(report)
    last = browser.js("app.timeline.axis.last")
    same("the axis ends with the recording", last, max([report.summary["wall_ns"]] + [p[1] for p in pieces]))
    borders = sorted({t for p in pieces for t in p[:2]})
    ranges = [(0, last)]
    for n in range(150):
        a, b = sorted(dice.choice(borders) + dice.choice((0, 0, dice.random() * 300)) for _ in range(2))
        ranges.append((a, min(b, last)) if n % 2 else (a, min(last, a + dice.random() * 2000)))
    ranges = [(a, b) for a, b in ranges if a < b] + list(zip(borders, borders[1:]))[:200]
    shown = browser.js("a.map(([from, to]) => app.parallelism.steps.over(from, to))", ranges)
    after = {t: sum(p[0] <= t < p[1] for p in pieces) for t in borders}
    for (a, b), got in zip(ranges, shown):
        inside = [t for t in borders if a < t < b]
        cuts = [a] + inside + [b]
        counts = [sum(p[0] <= a < p[1] for p in pieces)] + [after[t] for t in inside]
        mean = sum(n * (v - u) for n, u, v in zip(counts, cuts, cuts[1:])) / (b - a)
        if abs(got["mean"] - mean) > 1e-6 * max(1, mean) or got["least"] != min(counts) or got["most"] != max(counts):
            wrong.append((a, b, got, mean, min(counts), max(counts)))
    same("parallelism over any range: mean, least, most", wrong[:3], [])
    work = sum(p[1] - p[0] for p in pieces)
    said = browser.js("document.querySelector('#parallelism .panel-head').textContent")
    m = re.search(r"on average ([\d.]+) of (\d+) threads; all of them (.*?) of the time, one or none (.*? %)", said)
    few = sum(v - u for u, v in zip([0] + borders, borders + [last]) if sum(p[0] <= u < p[1] for p in pieces) < 2)
    check("and in words",
          m and abs(float(m.group(1)) - work / last) < 0.006 and int(m.group(2)) == report.summary["threads"] and
          is_percent(m.group(4), 100 * few / last), said, work / last, few / last)


def expected_columns(pieces, left_out, scale, width):
    """
    Per column of a row: the key with most time, None where nothing is, and how much of it was spent; left out are
    columns at the ends of boxes and where two keys have about as much.
    """
    sums, boxes = collections.defaultdict(collections.Counter), {}
    for start, end, key in pieces:
        x0, x1 = start * scale, end * scale
        if x1 - x0 >= LEAST_BOX:
            inner = range(math.ceil(x0), math.floor(x1 - 1))
            boxes.update((x, (key, 1)) for x in inner)
            left_out.update(set(range(math.floor(x0), math.ceil(x1) + 1)) - set(inner))
            continue
        for x in range(math.floor(x0), math.floor(x1) + 1):
            sums[x][key] += max(0, min(x1, x + 1) - max(x0, x))
    found = {}
    for x in range(width):
        if x in boxes:
            found[x] = boxes[x]
        elif x not in left_out:
            most = sums[x].most_common(2) + [(None, 0)]
            if len(most) > 2 and most[0][1] - most[1][1] < 1e-6 or 0 < most[0][1] < 1e-6:
                continue
            found[x] = (most[0][0], sum(sums[x].values()))
    return found


def pixels(browser, inputs):
    """Columns of the rows have the colour with most time, and are as high as the time that was spent."""
    for grains, width, height in ((5000, 1280, 800), (20000, 390, 844)):
        browser.size(width, height)
        columns(browser, inputs.made(grains))
    browser.size(1280, 800)


def columns(browser, report):
    browser.open(report, "theme=light")
    page = browser.js("""const p = app.timeline.picture, rows = p.rows, m = p.metrics, out = [];
        app.timeline.set_mode("definition");
        p.paint_base();
        const image = p.base.getContext("2d").getImageData(0, 0, p.base.width, p.base.height);
        for (let r = 0; r < rows.rows; r++) {
            const top = p.y_of(r) + m.pad, columns = [];
            for (let x = 0; x < Math.floor(p.room.width); x++) {
                const at = (y) => 4 * (y * p.base.width + x + p.room.left), bottom = at(top + m.box - 1),
                    lane = at(p.y_of(r) + m.height - m.lane);
                let height = 0;
                while (height < m.box && image.data[at(top + m.box - 1 - height) + 3] === 255) height++;
                columns.push([image.data[bottom + 3] ? "#" + [0, 1, 2].map((k) =>
                    image.data[bottom + k].toString(16).padStart(2, "0")).join("") : null,
                    height, image.data[lane + 3] > 0]);
            }
            out.push(columns);
        }
        const colour = (c) => app.timeline.classes.css(rows.class_of[c]);
        return {tids: app.data.report.tids, columns: out, box: m.box, scale: p.room.width / (p.axis.to - p.axis.from),
            colours: Array.from({length: app.data.count}, (_, c) => colour(c))};""")
    wrong, looked, heights = [], 0, []
    by_tid = collections.defaultdict(list)
    for start, end, tid, c in fragments(report):
        by_tid[tid].append((start, end, page["colours"][c]))
    for r, tid in enumerate(page["tids"]):
        expected = expected_columns(by_tid[tid], set(), page["scale"], len(page["columns"][r]))
        for x, (colour, spent) in expected.items():
            got, height, _ = page["columns"][r][x]
            looked += colour is not None
            if got != colour:
                wrong.append("row %d, column %d: %s, expected %s (%.3f)" % (r, x, got, colour, spent))
            elif colour and abs(height - max(1.5, min(1, spent) * page["box"])) > 1.01:
                heights.append("row %d, column %d: %d high, expected %.1f" % (r, x, height, spent * page["box"]))
    check(report.name + ": enough columns are looked at", looked > 1000, looked)
    same(report.name + ": columns have the colour with most time", wrong[:5], [])
    same(report.name + ": and are as high as what was spent of them", heights[:5], [])
    colours = {d["definition"]: browser.js("app.colours.css(app.colours.of_definition(a))", d["definition"])
               for d in report.summary["definitions"]}
    same("definitions have the page's colours",
         [page["colours"][i] for i, c in enumerate(report.contexts) if report.is_grain(c)],
         [colours[c["definition"]] for c in report.contexts if report.is_grain(c)])
    critical(page, browser.js("""const f = app.data.fragments, out = [];
        for (let i = 0; i < f.count; i++)
            if (f.critical[i])
                out.push([f.thread[i], f.start[i], f.end[i]]);
        return out;"""))
    speeds(browser, report)


def critical(page, pieces):
    """The red line is below what is on the critical path, and nowhere else but half a pixel after it."""
    drawn = {(r, x) for r, row in enumerate(page["columns"]) for x, column in enumerate(row) if column[2]}
    there = {(r, x) for r, start, end in pieces
             for x in range(math.floor(start * page["scale"]), math.ceil(end * page["scale"]))}
    there = {(r, x) for r, x in there if x < len(page["columns"][r])}
    check("something is critical", len(there) > 10, len(there))
    same("the critical path is marked", there - drawn, set())
    same("and nothing else", {(r, x) for r, x in drawn - there if (r, x - 1) not in there}, set())


def speeds(browser, report):
    times = collections.defaultdict(list)
    for c in report.contexts:
        if report.is_complete(c):
            times[c["definition"]].append(c["exec_ns"])
    usual = {definition: median(values) for definition, values in times.items()}
    shown = browser.js("Array.from({length: app.data.count}, (_, c) => app.timeline.classes.speed(c))")
    wrong = [(c["id"], got) for c, got in zip(report.contexts, shown) if report.is_complete(c) and
             abs(got - c["exec_ns"] / usual[c["definition"]]) > 1e-9 * got]
    same("speed is execution time over the median of the definition", wrong[:3], [])


def median(values):
    values, middle = sorted(values), (len(values) - 1) / 2
    return (values[math.floor(middle)] + values[math.ceil(middle)]) / 2


def distributions(browser, inputs):
    """A plot for each definition with its numbers; iterations of chunks."""
    for report in inputs.logs() + [inputs.made(500)]:
        browser.open(report)
        cells = browser.js("""[...document.querySelectorAll("#distributions .dist-cell")].map((cell) => ({
            place: cell.querySelector(".place bdi").textContent,
            count: cell.querySelector(".dist-head > :last-child").textContent,
            said: cell.querySelector(".dist-numbers").textContent,
            sizes: [...cell.querySelectorAll(".dist-numbers")].map((e) => e.textContent)[1] || null}))""")
        complete = collections.defaultdict(list)
        for c in report.contexts:
            if report.is_complete(c) and c["definition"] is not None:
                complete[c["definition"]].append(c)
        wanted = [complete[d["definition"]] for d in report.summary["definitions"] if complete[d["definition"]]][:12]
        same(report.name + ": a plot for each definition", [count_of(cell["count"]) for cell in cells],
             [len(w) for w in wanted])
        wrong = []
        for cell, grains in zip(cells, wanted):
            times = sorted(c["exec_ns"] for c in grains)
            m = re.match(r"median (.*?) · 95 % within (.*?)( · |$)", cell["said"])
            place = 0.95 * (len(times) - 1)
            if m:
                p95 = times[math.floor(place)] + (times[math.ceil(place)] - times[math.floor(place)]) * (place % 1)
                good = is_time(m.group(1), median(times)) and is_time(m.group(2), p95)
            else:
                ends = cell["said"].split(" to ")
                good = len(times) < 5 and is_time(ends[0], times[0]) and is_time(ends[-1], times[-1])
            sizes = sorted(c["upper"] - c["lower"] + 1 for c in grains if c["kind"] == "chunk" and
                           c["lower"] is not None and "/l" in c["id"])
            if sizes and sizes[0] < sizes[-1]:
                m = re.search(r"median ([\d,]+) · most ([\d,]+)", cell["sizes"] or "")
                good = good and m and count_of(m.group(2)) == sizes[-1]
            elif sizes:
                good = good and "every chunk has %d iteration" % sizes[0] in (cell["sizes"] or "")
            else:
                good = good and cell["sizes"] is None
            if not good:
                wrong.append((cell, times[:3], times[-3:], sizes[:3], sizes[-3:]))
        same(report.name + ": with its numbers", wrong[:3], [])


def lines(browser, inputs):
    """Where the lines to neighbours begin and end: at their fragments' ends and starts, never back in time."""
    for report in inputs.logs() + [inputs.made(500), inputs.dependent()]:
        browser.open(report)
        found = browser.js("""const t = app.timeline, out = [];
            for (let c = 0; c < app.data.count; c++) {
                app.set("hovered", c);
                for (const [list, before] of [[t.neighbours.before, true], [t.neighbours.after, false]])
                    for (const { context, from, to, link } of list)
                        out.push({ link, from: before ? context : c, to: before ? c : context, start: from, end: to });
            }
            app.set("hovered", -1);
            return {links: out, tids: app.data.report.tids};""")
        zero, tids, wrong = report.summary["start_ns"], found["tids"], []
        pieces = [[(f["start_ns"] - zero, f["end_ns"] - zero, tids.index(f["tid"])) for f in c["fragments"]
                   if f["end_ns"] > f["start_ns"]] for c in report.contexts]
        for link in found["links"]:
            start, end = link["start"], link["end"]
            begins = (start["time"], start["row"]) in {p[1:] for p in pieces[link["from"]]}
            ends = (end["time"], end["row"]) in {(p[0], p[2]) for p in pieces[link["to"]]}
            # What made it took no time: the line begins where it ends.
            if not (begins or start["time"] == end["time"]) or not ends or start["time"] > end["time"]:
                wrong.append((report.contexts[link["from"]]["id"], report.contexts[link["to"]]["id"], link))
        check(report.name + ": there are lines", found["links"])
        same(report.name + ": they lead from an end to a start", wrong[:3], [])


def rest(browser, inputs):
    """The wheel, panning, the table."""
    browser.open(inputs.made(500))
    box = browser.into_view("#timeline canvas")
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2
    at = browser.js("app.timeline.picture.time(a)", x - box["x"])
    browser.hover(x, y)
    browser.js("new Promise((done) => setTimeout(done, 500))")
    browser.wheel(x, y, -240)
    check("the wheel zooms", browser.until("!app.timeline.axis.is_whole()"))
    off = abs(browser.js("app.timeline.picture.x(a)", at) + box["x"] - x)
    check("around the pointer", off < 1, off)
    browser.js("app.timeline.axis.fit()")
    browser.drag([(x, y), (x - 40, y), (x - 80, y)])
    check("all of it is shown: nothing to pan to", browser.js("app.timeline.axis.is_whole()"))
    rows = browser.js("document.querySelector('#timeline details').open = true; return 1") and browser.until(
        "document.querySelectorAll('#timeline details tbody tr').length")
    same("the rows are there as a table", rows, browser.js("app.timeline.rows.rows"))


if __name__ == "__main__":
    main(steps, pixels, distributions, lines, rest)
