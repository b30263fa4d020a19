#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""NUMA nodes: what ran and lay there, what is misplaced; what is absent says why."""
from browser import main
from checks import check, same
from shown import is_percent, is_size, is_time

HEAD = """grain-log 1
@process pid=10 uid=1000 exe=/opt/app/heat cmd="heat 5" runtime=libgomp threads=4
@capture source=uprobes scheduler=1
@source 1 file=heat.c line=30 func=main kind=parallel
@source 2 file=heat.c line=40 func=sweep kind=task
"""
ONE = "@cpu 0 core=0 socket=0 node=0\n@node 0 memory=1048576\n"
FOUR = "".join("@cpu %d core=%d socket=%d node=%d\n@node %d memory=1073741824\n" % (n, n, n // 2, n, n)
               for n in range(4)) + """\
@distance 0 10 12 21 23
@distance 1 12 10 23 21
@distance 2 21 23 10 14
@distance 3 23 21 14 10
@allowed cpus=0-3 nodes=0-3
"""
PAGES = """@placement first_ns=1500 last_ns=9000
@area 0 kind=data name="<b>serial_grid</b>" module="heat" bytes=33554432
@pages 0 look=first step=1 absent=8192 nodes=none
@pages 0 look=last step=1 absent=0 nodes=0:8192
@area 1 kind=data name="parallel_grid" module="heat" bytes=33554432
@pages 1 look=last step=1 absent=0 nodes=0:2048,1:2048,2:2048,3:2048
@area 2 kind=allocation name="" module="" bytes=16777216
@pages 2 look=last step=2 absent=0 hidden=96 nodes=2:1952
"""
ROWS = ("[...document.querySelectorAll('#numa table')].map((t) => [...t.querySelectorAll('tbody tr')].map("
        "(r) => [...r.cells].map((c) => c.innerText.trim())))")
TEXT = "document.querySelector('#numa').innerText"


def run_of(threads):
    """A task on each thread; the last one goes on on CPU 0 in the middle of it."""
    lines = ["1000 10 0 region-begin region=1 src=1 threads=%d" % threads]
    for n in range(threads):
        where = "%d %d" % (10 + n, n)
        after = "%d %d" % (10 + n, 0 if n == 3 else n)
        lines += ["1000 %s member-begin region=1 num=%d" % (where, n),
                  "1000 %s create-begin task=%d src=2" % (where, n + 1),
                  "1100 %s create-end task=%d" % (where, n + 1),
                  "1100 %s wait-begin kind=barrier-implicit src=1" % where,
                  "1200 %s task-begin task=%d" % (where, n + 1)]
        if n == 3:
            lines += ["5200 %s off-cpu reason=blocked" % where, "5300 %s on-cpu ready=5300" % after]
        lines += ["9200 %s task-end task=%d" % (after, n + 1), "9300 %s wait-end kind=barrier-implicit src=1" % after,
                  "9300 %s member-end region=1 num=%d" % (after, n)]
    return "\n".join(lines + ["9300 10 0 region-end region=1", ""])


def nodes(browser, inputs):
    report = inputs.written("numa", HEAD + FOUR + PAGES + run_of(4))
    browser.open(report)
    numa = report.summary["numa"]
    same("no message", browser.messages(), [])
    text = browser.js(TEXT)
    check("how much is remote",
          "At least 18 % of the teams' accesses are remote" in text and "70 % if every thread" in text, text[:400])
    check("by what it is judged, and what could be used", "Addresses of accesses are not sampled" in text and
          "CPUs 0-3 and nodes 0-3" in text and "1 grain ran on several" in text, text[:400])
    tables = browser.js(ROWS)
    same("nodes, memory, accesses, threads", [len(t) for t in tables], [4, 3, 4, 4])
    check("nodes as in the JSON", all(is_size(row[2], n["memory_bytes"]) and is_time(row[3], n["team_ns"]) and
                                      is_size(row[5], n["bytes_last"]) and [int(x) for x in row[6:]] == n["distances"]
                                      for row, n in zip(tables[0], numa["nodes"])), tables[0])
    areas = numa["pages"]["areas"]
    check("memory as in the JSON", all(is_size(row[2], a["bytes"]) and is_percent(row[5], a["far_percent"])
                                       for row, a in zip(tables[1], areas)), tables[1])
    same("what is misplaced", [row[6] for row in tables[1]], ["misplaced first touch", "", "misplaced first touch"])
    same("an area's nodes", tables[1][1][4].split(), "0: 25 % 1: 25 % 2: 25 % 3: 25 %".split())
    check("what is hidden is in memory, on no node that is known", areas[2]["last"]["hidden"] == 192 and
          is_size(tables[1][2][3], 16 << 20) and "On which node 768 KiB of them lie this kernel did not tell" in text,
          (tables[1][2], text))
    check("names as text", tables[1][0][0].startswith("<b>serial_grid</b>") and tables[1][2][0] == "an allocation",
          tables[1])
    check("accesses as in the JSON", all(is_percent(row[i + 1], percent[i]) for row, percent in
                                         zip(tables[2], numa["remote"]["accesses_percent"]) for i in range(4)),
          tables[2])
    check("threads as in the JSON", all(is_time(row[i + 1], t["node_ns"][i]) for row, t in
                                        zip(tables[3], numa["threads"]) for i in range(4)), tables[3])
    verdict = browser.js("document.querySelector('#verdict').innerText")
    check("the verdict", "lies on one NUMA node, while 63 % of the teams' time" in verdict and
          "<b>serial_grid</b>" in verdict, verdict)


SAMPLED = """@accesses hz=99 event="<b>loads</b>"
@accesses lost=2
"""


def sampled(browser, inputs):
    """The share is what was sampled, where it was."""
    run = run_of(4).replace("9200 10 0 task-end", "3000 10 0 access addr=0x7001000 node=0\n9200 10 0 task-end").replace(
        "9200 11 1 task-end", "3000 11 1 access node=0\n3100 11 1 access node=0\n3200 11 1 access node=1\n"
        "3300 11 1 access why=absent\n9200 11 1 task-end")
    report = inputs.written("sampled", HEAD + FOUR + PAGES.replace("bytes=16777216", "bytes=16777216 start=0x7000000") +
                            SAMPLED + run)
    browser.open(report)
    same("no message", browser.messages(), [])
    numa, text = report.summary["numa"], browser.js(TEXT)
    same("by addresses", (numa["remote"]["by"], numa["remote"]["percent"]), ("addresses", 50))
    check("which is said, and not what follows from pages", "50 % of the teams' sampled accesses are remote" in text and
          "At least" not in text and "between nodes, as sampled" in text, text[:600])
    check("by which event, and what is not known",
          "Addresses were sampled by <b>loads</b>: 5 samples, of 1 the page's node is not known; 2 were lost" in text,
          text[:600])
    tables = browser.js(ROWS)
    same("of the allocation one, which is local", (numa["pages"]["areas"][2]["accesses"]["samples"], tables[1][2][6:8]),
         (1, ["1", "0 %"]))
    parts = numa["addresses"]["definitions"] + numa["addresses"]["problems"]
    same("nodes, memory, accesses, samples, threads", [len(t) for t in tables], [4, 3, 4, len(parts), 4])
    same("of the construct", [(row[1], is_percent(row[2], 50)) for row in tables[3] if row[0] == "heat.c:40"],
         [("5", True)])
    check("accesses as in the JSON", all(is_percent(row[i + 1], percent[i]) for row, percent in
                                         zip(tables[2], numa["remote"]["accesses_percent"]) for i in range(4)),
          tables[2])


def view(browser, inputs):
    """Grains have the colour of the node that they began on."""
    browser.open(inputs.written("numa", HEAD + FOUR + PAGES + run_of(4)), "mode=grains")
    browser.js("app.set('view', 'node')")
    same("a colour for each node",
         browser.js("[0, 1, 2, 3].map((n) => "
                    "app.colours.of([...app.data.cpu].lastIndexOf(n)) - app.colours.of_node(0))"),
         [0, 1, 2, 3])
    same("the legend", browser.js("app.colours.legend().map((e) => e.label)"), ["node 0", "node 1", "node 2", "node 3"])
    same("it can be chosen", browser.js("document.querySelector('#graph option[value=node]').disabled"), False)
    browser.open(inputs.written("one", HEAD + ONE + run_of(1)))
    check("with one node it says why not",
          "one NUMA node" in browser.js("document.querySelector('#graph option[value=node]').innerText"))


def absent(browser, inputs):
    browser.open(inputs.written("one", HEAD + ONE + run_of(1)))
    same("no message", browser.messages(), [])
    check("one node", "One NUMA node: nothing can be remote." in browser.js(TEXT), browser.js(TEXT))
    browser.open(inputs.written("unseen", HEAD + FOUR + "@placement why=\"no right to see it\"\n" + run_of(4)))
    text = browser.js(TEXT)
    check("pages that are not known", "Remote accesses are not known: no right to see it." in text and
          "Where its memory lay is not known: no right to see it." in text, text)
    same("nodes and threads are shown all the same", [len(t) for t in browser.js(ROWS)], [4, 4])
    browser.open(inputs.written("unknown", HEAD + run_of(1)))
    check("no machine", "The capture does not describe the machine's cores." in browser.js(TEXT), browser.js(TEXT))
    for width in 1280, 390:
        browser.open(inputs.written("numa", HEAD + FOUR + PAGES + run_of(4)))
        browser.size(width, 800)
        browser.frames()
        same("nothing is wider than a page of %d" % width,
             browser.js("document.documentElement.scrollWidth <= %d" % width), True)
    browser.size(1280, 800)


if __name__ == "__main__":
    main(nodes, sampled, view, absent)
