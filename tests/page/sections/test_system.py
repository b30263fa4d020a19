#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel saw: samples, the scheduler, counters; what is absent says why."""
from browser import main
from checks import check, same
from shown import is_count, is_percent, is_time

HEAD = """grain-log 1
@machine host=box kernel=6.1 cores=2 sockets=1
@process pid=10 uid=1000 exe=/opt/app/sort cmd="sort 5" runtime=libgomp threads=1
"""
SYSTEM = HEAD + """@capture source=uprobes scheduler=1
@counter 0 name=page-faults
@counter 1 name=cycles
@counter-share 1 share=0.5
@counter-absent name=PAPI_L3_TCM why="this machine has no such counter"
@sampling hz=99 clock=cpu-clock
@address 0x10 func=partition file=sort.c line=7 path=/src/sort.c
@address 0x20 func=sort file=sort.c line=20 path=/src/sort.c
@address 0x30 func="<b>hostile</b>" file=sort.c line=9 path=/src/sort.c
@address 0xffffffff00000005 func=clear_page module=[kernel]+0x5
@sampling lost=2
@neighbour 1 pid=77 command=cc1 cgroup=/user.slice
@source 1 file=sort.c line=30 func=main kind=parallel
@source 2 file=sort.c line=20 func=sort kind=task
1000 10 0 thread-begin
1000 10 0 region-begin region=1 src=1 threads=1
1000 10 0 member-begin region=1 num=0
1100 10 0 create-begin task=1 src=2
1200 10 0 create-end task=1
1300 10 0 wait-begin kind=barrier-implicit src=1
1400 10 0 task-begin task=1 c0=5 c1=100
1500 10 0 sample ip=0x10 stack=0x10,0x20
1600 10 0 sample ip=0xffffffff00000005 stack=0xffffffff00000005,0x10,0x20
1700 10 0 sample ip=0x30
2000 10 0 off-cpu reason=preempted by=1
3000 10 1 on-cpu reason=preempted
3400 10 1 task-end task=1 c0=12 c1=900
3450 10 1 sample ip=0x20
3500 10 1 wait-end kind=barrier-implicit src=1
3500 10 1 member-end region=1 num=0
3500 10 1 region-end region=1
3600 10 1 thread-end
"""
WITHOUT = HEAD + """@capture source=uprobes scheduler=0 scheduler_why="no right to see it"
@sampling hz=99 why="no right to sample"
@source 1 file=sort.c line=30 func=main kind=parallel
@source 2 file=sort.c line=20 func=sort kind=task
1000 10 0 region-begin region=1 src=1 threads=1
1000 10 0 member-begin region=1 num=0
1100 10 0 create-begin task=1 src=2
1200 10 0 create-end task=1
1300 10 0 wait-begin kind=barrier-implicit src=1
1400 10 0 task-begin task=1
3400 10 0 task-end task=1
3500 10 0 wait-end kind=barrier-implicit src=1
3500 10 0 member-end region=1 num=0
3500 10 0 region-end region=1
"""
ROWS = ("[...document.querySelectorAll('#%s table')].map((t) => [...t.querySelectorAll('tbody tr')].map("
        "(r) => [...r.cells].map((c) => c.innerText.trim())))")


def samples(browser, inputs):
    report = inputs.written("system", SYSTEM)
    browser.open(report)
    same("no message", browser.messages(), [])
    head = browser.js("document.querySelector('#samples .panel-head').innerText")
    check("how it was sampled",
          "4 samples, 99 a second of each CPU (cpu-clock)" in head and "in tasks and chunks" in head, head)
    check("what was lost", "2 more were lost" in browser.js("document.querySelector('#samples').innerText"))
    functions, lines = browser.js(ROWS % "samples")
    expected = report.summary["sampling"]
    check("functions as in the JSON", len(functions) == len(expected["functions"]) == 4 and all(
        row[0].split("\n")[0] == f["function"] and is_percent(row[1], 25 * f["self"]) and
        is_percent(row[2], 25 * f["total"])
        and is_count(row[3], f["self"]) for row, f in zip(functions, expected["functions"])), functions)
    check("lines as in the JSON, the kernel's time at the line that called it",
          len(lines) == len(expected["lines"]) and all(
              row[0].split("\n")[0] == "%s:%d" % (x["file"], x["line"]) and is_percent(row[1], 25 * x["samples"])
              for row, x in zip(lines, expected["lines"])) and lines[0][0].startswith("sort.c:7"), lines)
    same("a name is text", browser.js("document.querySelectorAll('#samples b').length"), 0)
    choices = browser.js("[...document.querySelectorAll('#samples option')].map((o) => o.innerText)")
    check("the choice: all, the definition, problems",
          choices[0] == "the whole program" and choices[1].startswith("sort.c:20") and
          len(choices) == 2 + len(expected["problems"]), choices)
    browser.js("{ const s = document.querySelector('#samples select'); s.selectedIndex = 1; "
               "s.dispatchEvent(new Event('change')); return 0; }")
    functions, lines = browser.js(ROWS % "samples")
    part = expected["definitions"][0]
    same("a definition's own", [[row[0].split("\n")[0] for row in functions], len(lines)],
         [[f["function"] for f in part["functions"]], len(part["lines"])])


def scheduler(browser, inputs):
    report = inputs.written("system", SYSTEM)
    browser.open(report)
    threads, neighbours = browser.js(ROWS % "scheduler")
    t = report.summary["scheduler"]["threads"][0]
    check("threads as in the JSON",
          len(threads) == 1 and threads[0][0] == "10" and is_time(threads[0][2], t["cpu_ns"]) and
          is_time(threads[0][4], t["preempted_ns"]) and is_count(threads[0][6], 1) and is_count(threads[0][8], 1),
          threads)
    check("who took the CPU", neighbours[0][0].startswith("cc1") and is_time(neighbours[0][4], 1000), neighbours)
    counters = browser.js(ROWS % "counters")[0]
    same("counters", [row[:2] + row[3:] for row in counters],
         [["page-faults", "7", ""], ["cycles", "800", "counted 50 % of the time, the rest estimated"],
          ["PAPI_L3_TCM", "–", "this machine has no such counter"]])


def absent(browser, inputs):
    browser.open(inputs.written("without", WITHOUT))
    same("no message", browser.messages(), [])
    check("why there are no samples",
          "no right to sample" in browser.js("document.querySelector('#samples').innerText"))
    check("why the scheduler is not known",
          "no right to see it" in browser.js("document.querySelector('#scheduler').innerText"))
    same("no counters were asked for", browser.js("document.querySelector('#counters').innerText"), "")
    for width in 1280, 390:
        browser.open(inputs.written("system", SYSTEM))
        browser.size(width, 800)
        browser.frames()
        same("nothing is wider than a page of %d" % width,
             browser.js("document.documentElement.scrollWidth <= %d" % width), True)
    browser.size(1280, 800)


if __name__ == "__main__":
    main(samples, scheduler, absent)
