#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""What is repeated: steps as in the JSON, the odd one is marked and leads to its time in the time-line."""
from browser import main
from checks import check, same
from shown import is_time

HEAD = """grain-log 1
@process pid=10 uid=1000 exe=/opt/app/heat cmd="heat 5" runtime=libgomp threads=1
@source 1 file=heat.c line=30 func=main kind=parallel
@source 2 file=a_rather_long_name_of_a_file_that_is_too_wide.c line=40 func=<b>hostile</b> kind=parallel
@source 3 file=heat.c line=50 func=main kind=parallel
"""
ODD = 23


def steps():
    lines, now, regions = [], 1000, 0

    def region(source, length):
        nonlocal now, regions
        regions += 1
        lines.extend(["%d 10 0 region-begin region=%d src=%d threads=1" % (now, regions, source),
                      "%d 10 0 member-begin region=%d num=0" % (now, regions),
                      "%d 10 0 member-end region=%d num=0" % (now + length, regions),
                      "%d 10 0 region-end region=%d" % (now + length, regions)])
        now += length + 100

    for step in range(1, 61):
        region(1, 20000 if step == ODD else 5000)
        for _ in range(2 + step % 3):
            region(2, 1000)
        region(3, 3000)
    return HEAD + "\n".join(lines) + "\n"


HEADS = "[...document.querySelectorAll('#steps h3')].map((e) => e.innerText)"
BARS = "[...document.querySelectorAll('#steps .step:first-child .step-bar')].map((e) => e.classList.contains('odd'))"


def repeats(browser, inputs):
    report = inputs.written("steps", steps())
    browser.open(report)
    same("no message", browser.messages(), [])
    known = report.summary["sequences"]["repeats"]
    heads = browser.js(HEADS)
    same("a head for each repeat", len(heads), len(known))
    check("the steps come first", heads[0].startswith("60 × [5 regions]"), heads)
    check("the solver is inside", heads[1].startswith("180 × [1 region] inside"), heads)
    numbers = browser.js("document.querySelector('#steps .step-numbers b').innerText")
    check("how long a step takes", is_time(numbers, known[0]["median_ns"]), numbers)
    same("the odd step is marked", browser.js(BARS), [n == ODD for n in range(1, 61)])
    odd = browser.js("document.querySelector('#steps .step-odd').innerText")
    check("the odd step and its line", "number %d" % ODD in odd and "heat.c:30" in odd, odd)
    same("a name is text", browser.js("document.querySelectorAll('#steps .step-body bdi b').length"), 0)


def leads(browser, inputs):
    report = inputs.written("steps", steps())
    browser.open(report)
    odd = report.summary["sequences"]["repeats"][0]["odd_repetitions"][0]
    browser.js("document.querySelector('#steps .step-odd button').click()")
    browser.frames()
    shown = browser.js("[app.get('time_axis').from, app.get('time_axis').to]")
    start = odd["start_ns"] - report.summary["start_ns"]
    check("a click shows the odd step in the time-line",
          shown[0] <= start and shown[1] >= start + odd["length_ns"] and
          shown[1] - shown[0] < 3 * odd["length_ns"], shown, odd)


def narrow(browser, inputs):
    for width in 1280, 390:
        browser.open(inputs.written("steps", steps()))
        browser.size(width, 800)
        browser.frames()
        same("nothing is wider than a page of %d" % width,
             browser.js("document.documentElement.scrollWidth <= %d" % width), True)
        same("nothing is cut in the steps at %d" % width,
             browser.js("[...document.querySelectorAll('#steps .step, #steps .step > *')]"
                        ".every((e) => e.scrollWidth <= e.clientWidth + 1)"), True)
    browser.size(1280, 800)


if __name__ == "__main__":
    main(repeats, leads, narrow)
