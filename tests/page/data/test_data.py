#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""Reports open without complaint or request, and what they decode is what grainctl's JSON says."""
import http.server
import math
import os
import re
import resource
import threading

from browser import main
from checks import check, same
from inputs import PROBLEMS, ROOT

EMPTY = """grain-log 1
@process pid=10 uid=1000 exe=/opt/app/nothing cmd="nothing" runtime=libgomp threads=2
100 10 0 thread-begin
3400 10 0 thread-end
"""
FLAGS = {"critical": 8, "incomplete": 16, "discarded": 32, "runtime": 64}


def opens(browser, report):
    """From its file, without an error, a refusal of the policy, or a request."""
    browser.open(report)
    name = report.name + ": "
    same(name + "every part could be made",
         browser.js("[...document.querySelectorAll('.failed')].map((e) => e.innerText)"), [])
    same(name + "no message on the console", browser.messages(), [])
    same(name + "nothing is requested but the file", [u for u in browser.requests() if not u.startswith("data:")],
         ["file://" + report.html])
    program = (report.summary["exe"] or "program").rpartition("/")[2]
    check(name + "its title names the program", program[:20] in browser.js("document.title"),
          browser.js("document.title"))
    policy = browser.js("(document.querySelector('meta[http-equiv=Content-Security-Policy]') || {content: ''}).content")
    check(name + "its policy lets it load nothing",
          "default-src 'none'" in policy and not re.search(r"https?:|\*|eval", policy), policy)
    same(name + "nothing in it loads or embeds anything",
         browser.js("document.querySelectorAll('img, iframe, object, embed, base, form, script[src], [onerror]')"
                    ".length"), 0)


def page_contexts(browser):
    """What the page has of every context, with numbers as it has them; NaN as null."""
    return browser.js("""const r = window.report, known = (v) => v === undefined || Number.isNaN(v) ? null : v,
            start = r.report.start_ns;
        return Array.from({length: r.count}, (_, i) => ({id: r.id(i), kind: r.kind[i], parent: r.parent[i],
            definition: r.definition[i], depth: r.depth[i], exec_ns: r.exec[i], create_ns: r.create[i],
            wait_ns: r.wait[i], bookkeeping_ns: r.bookkeeping[i], lock_ns: r.lock[i],
            cpu_ns: r.on_cpu ? known(r.on_cpu[i]) : null, flags: r.flags[i] & 0x78, problems: r.problems[i],
            join: r.join[i] < 0 ? null : r.join_id(r.join[i]), loop: r.loop[i] < 0 ? null : r.loop_id(r.loop[i]),
            lower: r.lower ? known(r.lower[i]) : null, upper: r.upper ? known(r.upper[i]) : null,
            start: known(r.start[i]), end: known(r.end[i]), found: r.find(r.id(i)) === i,
            children: Array.from(r.children(i), (k) => r.id(k)),
            fragments: Array.from(r.fragments_of(i), (f) => [r.fragments.start[f], r.fragments.end[f],
                r.report.tids[r.fragments.thread[f]], r.fragments.cpu[f]]),
            counters: Object.fromEntries((r.counters || []).map((k) => [k.name, known(k.value[i])])),
            metrics: a.map((name) => known(r.metric(name, i)))}));""", PROBLEMS)


def expected_context(report, context, base, children):
    kinds = ["initial", "implicit", "task", "chunk"]
    # Of what never ran 0 means that it was not seen.
    seen = context["fragments"] or context["start_ns"] > 0
    return {"id": context["id"], "kind": kinds.index(context["kind"]),
            "parent": report.index.get(context["parent"], -1),
            "definition": -1 if context["definition"] is None else context["definition"], "depth": context["depth"],
            "exec_ns": context["exec_ns"], "create_ns": context["create_ns"], "wait_ns": context["wait_ns"],
            "bookkeeping_ns": context["bookkeeping_ns"],
            "lock_ns": context.get("lock_ns", 0), "cpu_ns": context["cpu_ns"],
            "join": context["join"], "loop": context.get("loop"), "lower": context["lower"], "upper": context["upper"],
            "start": context["start_ns"] - base if seen else None,
            "end": context["end_ns"] - base if context["fragments"] or context["end_ns"] > 0 else None,
            "found": True, "children": children.get(context["id"], []), "counters": context["counters"],
            # What took no time is not drawn.
            "fragments": sorted([f["start_ns"] - base, f["end_ns"] - base, f["tid"], f["cpu"]]
                                for f in context["fragments"] if f["end_ns"] > f["start_ns"]),
            "problems": sum(1 << i for i, p in enumerate(PROBLEMS) if report.has_problem(context, p)),
            "flags": sum(bit for name, bit in FLAGS.items() if context.get(name))}


def columns(browser, report):
    """Every context is in the page, as grainctl's JSON has it."""
    opens(browser, report)
    got = page_contexts(browser)
    base, children = browser.js("window.report.report.start_ns"), {}
    for c in report.contexts:
        children.setdefault(c["parent"], []).append(c["id"])
    expected = [expected_context(report, c, base, children) for c in report.contexts]
    metrics = [g.pop("metrics") for g in got]
    for g, e in zip(got, expected):
        g["fragments"].sort()
    same(report.name + ": times are exact", browser.js("window.report.tick"), 1)
    wrong = ["%s of %s: %r, expected %r" % (key, e["id"], g[key], e[key]) for g, e in zip(got, expected)
             for key in e if g[key] != e[key]]
    same(report.name + ": as many contexts", len(got), len(expected))
    same(report.name + ": every context as in the JSON", wrong[:10], [])
    wrong = []
    for values, c in zip(metrics, report.contexts):
        for name, value in zip(PROBLEMS, values):
            want = c[name]
            if (value is None) != (want is None) or want and not math.isclose(value, want, rel_tol=0.00501):
                wrong.append("%s of %s: %r, JSON %r" % (name, c["id"], value, want))
    same(report.name + ": every metric as in the JSON, absent ones too", wrong[:10], [])
    dependences(browser, report)


def dependences(browser, report):
    pairs = browser.js("""const d = window.report.dependences;
        return Array.from({length: d.count}, (_, i) => [d.from[i], d.to[i], d.is_join[i]])
            .filter((e) => !e[2]).map((e) => e.slice(0, 2));""")
    same(report.name + ": the dependences", sorted(map(tuple, pairs)), sorted(
        (report.index[before], i) for i, c in enumerate(report.contexts) for before in c["depends_on"]))


def examples(browser, inputs):
    for report in inputs.logs():
        columns(browser, report)
    for report in (inputs.written("empty", EMPTY), inputs.damaged(), inputs.dependent()):
        columns(browser, report)


def made(browser, inputs):
    columns(browser, inputs.made(500))
    columns(browser, inputs.made(5000))
    opens(browser, inputs.made(100000))


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def deep(browser, inputs):
    """Identifiers that grow with the depth: neither the report nor its making grow with the square of it."""
    seconds, sizes = [], []
    for tasks in (10000, 40000):
        before = cpu_seconds()
        report = inputs.chain(tasks)
        seconds.append(cpu_seconds() - before)
        sizes.append(os.path.getsize(report.html))
    check("a chain of four times as many tasks takes no more than eight times as long",
          seconds[1] <= 8 * seconds[0] + 0.1, seconds)
    check("and its report is not much larger", sizes[1] < sizes[0] + 40 * 30000, sizes)
    report = inputs.chain(20000)
    browser.open(report)
    same("20,000 tasks in each other: no message on the console", browser.messages(), [])
    last = "0" + 20000 * ".0"
    same("the innermost has its whole name", browser.js("report.id(report.count - 1)"), last)
    same("and is found by it", browser.js("report.find(a)", last), 20000)
    browser.js("app.set('selected', report.count - 1)")
    check("its details are shown",
          browser.until("document.querySelector('#details .details-id').textContent.length > 40000"))
    same("no message on the console then", browser.messages(), [])


def served(browser, inputs):
    """As graind sends it: in a sandbox without an origin of its own, where addresses and storage are refused."""
    with open(ROOT + "/daemon/graind/api/api.c") as source:
        policy = "".join(re.findall(r'"([^"]*)"',
                                    re.search(r"#define REPORT_POLICY((?:.*\\\n)*.*)", source.read()).group(1)))
    check("graind's policy is a sandbox", "sandbox" in policy, policy)
    report = inputs.made(500)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            with open(report.html, "rb") as page:
                self.wfile.write(page.read())

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.open("http://127.0.0.1:%d/" % server.server_port)
        browser.click_on("#tiles [data-problem=parallel_benefit]")
        browser.click_on("#theme")
        browser.js("app.set('selected', 5)")
        browser.until("location.hash.includes('selected')")
        same("served: no message on the console", browser.messages(), [])
        same("served: every part could be made",
             browser.js("[...document.querySelectorAll('.failed')].map((e) => e.innerText)"), [])
        check("served: views change", browser.js("app.get('view') === 'parallel_benefit'"))
        server.shutdown()


if __name__ == "__main__":
    main(examples, made, deep, served)
