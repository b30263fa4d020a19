#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""How fast a report of a million grains is there, how large it is, and how smoothly large graphs move."""
import os
import statistics

from browser import main
from checks import BUSY, Others, check, not_ok, note, ok, same, skip

MEGABYTE = 1e6
TIMES = 4  # that a target which is missed is tried


def row(browser, what, measure, unit, target, good):
    """
    The best of a few tries, as a line that is always shown. A miss counts as
    skipped only if other processes used the machine during every try.
    """
    results, others = [], []
    while not results or not any(map(good, results)) and len(results) < TIMES:
        meter = Others(browser.processes)
        results.append(measure())
        others.append(meter.percent())
    best = next(filter(good, results), None)
    if best is None:
        best = min(results, key=lambda r: r if good(0) else -r)
    text = "%s: %.3g %s, target %s" % (what, best, unit, target)
    if len(results) > 1:
        text += "; tries " + ", ".join("%.3g" % r for r in results)
    note(text + ("; others used %.0f %% of the machine" % min(others) if min(others) > BUSY else ""))
    if good(best):
        ok(what)
    elif min(others) > BUSY:
        skip(what,
             "MISSED, %.3g %s, target %s, but others used %.0f %% of the machine" % (best, unit, target, min(others)))
    else:
        not_ok(what, text)


def first_paint(browser, report):
    """Milliseconds from the start of the navigation until something of the content is there to be seen; median of 3."""
    times = []
    for _ in range(3):
        browser.open(report, ready=False)
        times.append(browser.until("performance.getEntriesByName('first-contentful-paint').map((e) => e.startTime)[0]"))
        check_tiles = browser.until("document.querySelector('#tiles').textContent.trim().length > 0")
        if not check_tiles:
            times[-1] = float("inf")
    return statistics.median(times)


def million(browser, inputs):
    report = inputs.made(1000000)
    size = os.path.getsize(report.html) / MEGABYTE
    note("file of 1,000,000 grains: %.1f MB, target <= 15" % size)
    check("file of 1,000,000 grains <= 15 MB", size <= 15, "%.1f MB" % size)
    row(browser, "first contentful paint of 1,000,000 grains", lambda: first_paint(browser, report), "ms", "<= 1500",
        lambda ms: ms <= 1500)
    browser.open(report)
    ready = browser.js("window.app ? performance.now() : 0")
    note("1,000,000 grains ready after at most %.2g s" % (ready / 1000))
    check("a million grains: no message on the console", not browser.messages())
    browser.load_checks()
    same("a million grains: no text leaves its box", browser.js("window.page_checks.spilling()"), [])
    browser.picture("million")


MOVE = """const done = arguments[1], canvas = app.graph.canvas, box = canvas.getBoundingClientRect(),
        stats = window.grain_view_stats;
    const send = (type, x, y, more) => canvas.dispatchEvent(type === "wheel" ?
        new WheelEvent(type, {clientX: x, clientY: y, deltaY: more, cancelable: true, bubbles: true}) :
        new PointerEvent(type, {clientX: x, clientY: y, pointerId: 1, button: type === "pointermove" ? -1 : 0,
            buttons: 1, bubbles: true}));
    canvas.setPointerCapture = () => {};
    const x = box.x + box.width / 2, y = box.y + box.height / 2, began = performance.now(),
        drawn = stats.frames, redraws = stats.redraws;
    let frames = 0, last = began, longest = 0;
    send("pointerdown", x, y);
    const next = () => {
        const now = performance.now(), t = (now - began) / 1000;
        if (frames) longest = Math.max(longest, now - last);
        last = now;
        if (t > arguments[0]) {
            send("pointerup", x, y);
            return done({fps: frames / t, drawn: (stats.frames - drawn) / t, longest,
                redraws: stats.redraws - redraws});
        }
        frames++;
        send("pointermove", x + 150 * Math.sin(3 * t), y + 80 * Math.sin(5 * t));
        send("wheel", x, y, 40 * Math.cos(2 * t));
        requestAnimationFrame(next);
    };
    requestAnimationFrame(next);"""


def cpu_seconds(browser):
    """Of all of the browser's processes until now."""
    ticks = 0
    for pid in browser.processes():
        try:
            ticks += sum(map(int, open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[11:13]))
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def moving(browser, report, what, elements):
    """Frames a second while it is dragged and zoomed at once."""
    seen = {}

    def measure():
        before = cpu_seconds(browser)
        seen.update(browser.driver.execute_async_script(MOVE, 2.5))
        seen["cpu"] = (cpu_seconds(browser) - before) / max(1, 2.5 * seen["fps"])
        return min(seen["fps"], seen["drawn"])
    row(browser, "%s, %s elements: pan and zoom" % (what, "{:,}".format(elements)), measure, "frames/s", ">= 30",
        lambda fps: fps >= 30)
    note("    a frame takes %.0f ms of CPU time in all of the browser, the longest was %.0f ms; "
         "painted anew %d times meanwhile" % (1000 * seen["cpu"], seen["longest"], seen["redraws"]))


def frames(browser, inputs):
    report = inputs.made(100000)
    browser.size(1280, 800)
    browser.open(report, "mode=grains&view=definition")
    browser.into_view("#graph canvas")
    browser.js("app.graph.view.fit()")
    browser.until("!app.graph.view.job && window.grain_view_stats.redraws > 0")
    elements = browser.js("app.graph.picture.nodes.count + app.graph.picture.edges.count")
    painted = browser.js("window.grain_view_stats.elements")
    note("100,000 grains drawn as %s boxes and lines, %s of them in view at first" %
         ("{:,}".format(elements), "{:,}".format(painted)))
    moving(browser, report, "100,000 grains", elements)
    browser.js("app.graph.view.fit()")
    browser.until("!app.graph.view.job")
    browser.picture("hundred-thousand")
    timeline(browser)
    opened(browser, inputs)


def opened(browser, inputs):
    """Every group of a program open: a hundred thousand boxes and lines at once."""
    report = inputs.made(18000)
    browser.open(report, "mode=groups&view=definition")
    browser.into_view("#graph canvas")
    browser.js("""const {groups, graph} = app, todo = [groups.root()];
        while (todo.length) {
            const group = todo.pop();
            graph.where.open.add(group.key);
            graph.where.most.set(group.key, Infinity);
            for (const m of groups.members(group)) if (m.group) todo.push(m.group);
        }
        graph.where.focus = groups.root();
        graph.lay_out();
        graph.view.fit();
        return true;""")
    browser.until("!app.graph.view.job && window.grain_view_stats.elements > 1000")
    elements = browser.js("app.graph.picture.nodes.count + app.graph.picture.edges.count")
    check("100,000 elements can be in view", elements >= 100000, elements)
    moving(browser, report, "all groups open", elements)
    browser.js("app.graph.view.fit()")
    browser.until("!app.graph.view.job")
    browser.picture("all-open")


def timeline(browser):
    """The time-line of 100,000 grains, dragged along."""
    browser.into_view("#timeline canvas")

    def measure():
        return browser.driver.execute_async_script(
            """const done = arguments[0], t = app.timeline, began = performance.now();
            const all = t.axis.to - t.axis.from;
            let frames = 0;
            t.axis.zoom((t.axis.from + t.axis.to) / 2, 0.25);
            const next = () => {
                const s = (performance.now() - began) / 1000;
                if (s > 2) { t.axis.fit(); return done(frames / s); }
                frames++;
                t.axis.pan(all / 100 * Math.sin(4 * s));
                requestAnimationFrame(next);
            };
            requestAnimationFrame(next);""")
    row(browser, "time-line of 100,000 grains: panning", measure, "frames/s", ">= 30", lambda fps: fps >= 30)


if __name__ == "__main__":
    main(frames, million)
