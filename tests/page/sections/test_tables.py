#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""The tables, what to do, the address, and what the page says when there is nothing or something is broken."""
import json
import os
import re
import statistics

from browser import main
from checks import check, same
from shown import count_of, is_count, is_percent, is_ratio, is_time

HELD = 1000  # rows of a list that a report holds
SHOWN = 50  # rows that a table shows at first
REGIONS = HELD + 100
CHUNKS = ((0, 0), (1, 4), (5, 6))
NOTHING = """grain-log 1
@process pid=10 uid=1000 exe=/opt/app/nothing cmd="nothing" runtime=libgomp threads=1
100 10 0 thread-begin
3400 10 0 thread-end
"""
HEADS = "[...document.querySelectorAll('#%s thead th')].map((e) => [e.innerText.trim(), e.getAttribute('aria-sort')])"
CELLS = "[...document.querySelectorAll('#%s tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))"


def many_regions():
    """Regions of one thread with a loop each, whose lengths do not follow their order."""
    lines = ["grain-log 1", '@process pid=10 uid=1000 exe=/opt/app/many cmd="many" runtime=libgomp threads=1',
             "@source 1 file=many.c line=10 func=main kind=parallel",
             "@source 2 file=many.c line=11 func=main kind=for"]
    now = 1000
    for region in range(1, REGIONS + 1):
        work = 100 + 7919 * region % 5003

        def event(text):
            lines.append("%d 10 0 %s" % (now, text))

        event("region-begin region=%d src=1 threads=1" % region)
        event("member-begin region=%d num=0" % region)
        event("loop-begin loop=%d src=2 sched=dynamic lower=0 upper=6 step=1 chunk=1" % region)
        for lower, upper in CHUNKS:
            now += 10
            event("chunk-begin loop=%d lower=%d upper=%d" % (region, lower, upper))
            now += work * (upper - lower + 1)
            event("chunk-end loop=%d" % region)
        event("loop-end loop=%d" % region)
        event("wait-begin kind=barrier-implicit src=1")
        now += 5
        event("wait-end kind=barrier-implicit src=1")
        event("member-end region=%d num=0" % region)
        event("region-end region=%d" % region)
        now += 50
    return "\n".join(lines) + "\n"


def column(browser, section, title):
    heads = [head[0] for head in browser.js(HEADS % section)]
    return heads.index(title), [row[heads.index(title)] for row in browser.js(CELLS % section)]


def sorting(browser, inputs):
    report = inputs.written("many", many_regions())
    browser.open(report)
    walls = sorted((r["wall_ns"] for r in report.summary["regions"]), reverse=True)
    same("a table shows its first rows", len(browser.js(CELLS % "regions")), SHOWN)
    check("and says how many there are",
          "1,000 of 1,100 regions" in browser.js("document.querySelector('#regions').innerText"),
          browser.js("document.querySelector('#regions .panel-head').innerText"))
    same("sorted by nothing before a click", [h for h in browser.js(HEADS % "regions") if h[1]], [])
    at, _ = column(browser, "regions", "wall")
    browser.click_on("#regions thead th:nth-child(%d) button" % (at + 1))
    _, shown = column(browser, "regions", "wall")
    check("a click on a head sorts, largest first", len(shown) == SHOWN and all(map(is_time, shown, walls)),
          shown[:5], walls[:5])
    same("the sorted column says so", [h for h in browser.js(HEADS % "regions") if h[1]], [["wall", "descending"]])
    browser.key("Enter")
    browser.frames()
    _, shown = column(browser, "regions", "wall")
    held = sorted(walls[:HELD])
    check("the Enter key turns it around", all(map(is_time, shown, held)), shown[:5], held[:5])
    same("and that is said", [h for h in browser.js(HEADS % "regions") if h[1]], [["wall", "ascending"]])
    browser.click_on("#regions .more button")
    _, shown = column(browser, "regions", "wall")
    check("all rows on request", len(shown) == HELD and all(map(is_time, shown, held)), len(shown))
    check("the focus stays", browser.js("document.activeElement.closest('#regions .more') !== null"))
    browser.click_on("#regions .more button")
    same("and the first again", len(browser.js(CELLS % "regions")), SHOWN)


def apart(browser, inputs):
    """Wherever the page is scrolled to, no section lies over another."""
    browser.open(inputs.log("hostile_names"))
    same("sections stay apart", browser.js("""const found = new Set();
        for (let y = 0; y < document.documentElement.scrollHeight; y += 300) {
            scrollTo({top: y, behavior: "instant"});
            const boxes = [...document.querySelectorAll("main section")].map((e) => [e.id, e.getBoundingClientRect()]);
            for (const [a, r] of boxes)
                for (const [b, s] of boxes)
                    if (a < b && r.left < s.right && s.left < r.right && r.top < s.bottom - 1 && s.top < r.bottom - 1)
                        found.add(a + " and " + b);
        }
        scrollTo(0, 0);
        return [...found];"""), [])


def depths(browser, inputs):
    report = inputs.made(500)
    browser.open(report)
    expected = report.summary["depths"]
    values = [column(browser, "depths", title)[1] for title in ("depth", "grains", "time", "mean", "longest")]
    wrong = [(row, d) for row, d in zip(zip(*values), expected) if not (
        is_count(row[0], d["depth"]) and is_count(row[1], d["grains"]) and is_time(row[2], d["exec_ns"]["sum"]) and
        is_time(row[3], d["exec_ns"]["mean"]) and is_time(row[4], d["exec_ns"]["max"]))]
    check("depths as in the JSON", len(values[0]) == len(expected) > 1 and not wrong, wrong[:3])
    definitions = sorted(report.summary["definitions"], key=lambda d: -d["exec_ns"]["sum"])
    shares = column(browser, "definitions", "parallel benefit")[1]
    check("definitions and their problems as in the JSON", len(shares) == len(definitions) and all(
        is_percent(share, d["problems"]["parallel_benefit"]["percent"]) for share, d in zip(shares, definitions)),
          shares)


def loops(browser, inputs):
    """Their chunks' times and sizes, from the chunks themselves."""
    for report in (inputs.log("ppopp16_figure3_loop"), inputs.log("hostile_names")):
        browser.open(report)
        browser.into_view("#loops")
        browser.until("document.querySelector('#loops .histogram')")
        rows = browser.js("""[...document.querySelectorAll("#loops tbody tr")].map((r) =>
            [r.cells[0].innerText.trim(), ...[...r.querySelectorAll(".histogram")].map((h) => [
                h.getAttribute("aria-label"), [...h.querySelectorAll("rect title")].map((t) => t.textContent)])])""")
        wrong = []
        for row, loop in zip(rows, report.summary["loops"]):
            chunks = [c for c in report.contexts if c["kind"] == "chunk" and c["loop"] == loop["id"]]
            lists = [[c["exec_ns"] for c in chunks]]
            if all(c["lower"] is not None for c in chunks):
                lists.append([(c["upper"] - c["lower"] + 1) * c["chunks"] for c in chunks])
            if row[0] != loop["id"] or len(row) != 1 + len(lists):
                wrong.append([row, loop["id"]])
                continue
            for (label, bars), values, known in zip(row[1:], lists, (is_time, is_count)):
                numbers = re.fullmatch(r"[a-z ]+: (.*) to (.*), median (.*)", label).groups()
                facts = (min(values), max(values), statistics.median(values))
                if not all(known(a, b) for a, b in zip(numbers[:2], facts)) \
                        or (known is is_time and not known(numbers[2], facts[2])) \
                        or sum(count_of(bar.rpartition(": ")[2]) for bar in bars) != len(values):
                    wrong.append([label, bars, facts])
        check(report.name + ": histograms of loops are of their chunks",
              len(rows) == len(report.summary["loops"]) and not wrong, len(rows), *wrong[:3])
        at = column(browser, "loops", "load balance")[1]
        check(report.name + ": load balance as in the JSON",
              all(map(is_ratio, at, (l["load_balance"] for l in report.summary["loops"]))), at)


def advice(browser, inputs):
    report = inputs.log("hostile_names")
    browser.open(report)
    expected = report.summary["advice"]
    shown = browser.js("[...document.querySelectorAll('#advice li')].map((e) => e.innerText)")
    wrong = [(text, a) for text, a in zip(shown, expected) if not (
        (a["source"] or "whole program") in text and
        is_time(re.search(r"up to (.*?)(?: \(|$)", text, re.M).group(1), a["saves_ns"]))]
    check("what to do, in the order of the JSON", len(shown) == len(expected) > 0 and not wrong, wrong)
    worst = [a["evidence"]["worst"] for a in expected if a["evidence"].get("worst")]
    for n, name in enumerate(worst):
        browser.js("[...document.querySelectorAll('#advice li > button')][a].click()", n)
        browser.frames()
        same("the worst grain is selected: " + name, browser.js("app.data.id(app.get('selected'))"), name)
    for n, source in ((n, a["source"]) for n, a in enumerate(expected) if a["source"]):
        browser.click_on("#advice li:nth-child(%d) h3 button" % (n + 1))
        same("its source line is selected, be it a region's: " + source, browser.js(
            "[app.place(app.get('definition')).source, document.querySelector('#lines .half + .half h2').innerText]"),
            [source, source])


def verdicts(browser, inputs):
    """A sentence for each kind of advice, with the numbers that it rests on."""
    report = inputs.log("hostile_names")
    evidence = {"grains": 30, "of": 40, "idle_percent": 61, "deviation": 2.25, "minimum_cores": 3, "threads": 8,
                "stalled_percent": 62, "wait_ns": 63000, "elsewhere_percent": 64}
    numbers = {"small_tasks": "10 %", "small_chunks": "75 %", "little_parallelism": "61 %", "few_grains": "61 %",
               "creation_bottleneck": "61 %", "imbalance": "3 of 8", "work_inflation": "2.25 times",
               "memory_stalls": "62 %", "lock_waiting": "63.0 µs", "first_touch": "64 %"}
    with open(report.html) as page:
        text = page.read()
    at = (text.index('<script type="application/json" id="summary">') +
          len('<script type="application/json" id="summary">'))
    summary = json.loads(text[at:text.index("</script>", at)])
    wrong = []
    for kind, number in numbers.items():
        summary["advice"] = [{"problem": "parallel_benefit" if "small" in kind else None, "kind": kind,
                              "source": "loop&<sched>.c:31", "finding": "f", "text": "t", "saves_ns": 5000,
                              "evidence": evidence}]
        changed = report.html.replace(".html", ".%s.html" % kind)
        with open(changed, "w") as page:
            page.write(text[:at] + json.dumps(summary).replace("<", "\\u003c") + text[text.index("</script>", at):])
        browser.open(changed, ready=False)
        said = browser.until("document.querySelector('#verdict h1').innerText")
        if (not (said and number in said and "loop&<sched>.c:31" in said and said.endswith(".")) or
            re.search("–|undefined|NaN", said)):
            wrong.append([kind, said])
    same("a verdict for each kind of advice", wrong, [])


def hostile(browser, inputs):
    """Names are text; those that turn the direction of writing do not."""
    browser.open(inputs.log("hostile_names"))
    same("no element comes from a name",
         browser.js("document.querySelectorAll('img, td > h1, main script, header script, i > i').length"), 0)
    text = browser.js("[...document.body.children].filter((e) => e.tagName !== 'SCRIPT').map((e) => e.innerText)"
                      ".join(' ')")
    same("nothing turns the direction of writing", re.findall("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), [])
    check("markup is shown as it is", "<img src=x onerror=alert(2)>" in text and "</td></table><h1>task" in text)
    long = max((d["func"] for d in inputs.log("hostile_names").summary["definitions"]), key=len)
    check("a long name is whole in a tool-tip", len(long) > 390 and browser.js(
        "[...document.querySelectorAll('#lines [title]')].some((e) => e.title.includes(a))", long))


def address(browser, inputs):
    report = inputs.made(500)
    name = next(c["id"] for c in reversed(report.contexts) if c["kind"] == "task")
    browser.open(report, "view=load_balance&definition=0&brush=0:100-2000.5&filter=1&selected=" + name)
    same("the address says what is shown",
         browser.js("""[app.get("view"), app.get("definition"), app.get("brush"), app.get("filter"),
        app.data.id(app.get("selected"))]"""),
         ["load_balance", 0, {"definition": 0, "from": 100, "to": 2000.5}, True, name])
    browser.js("app.set('selected', -1), app.set('brush', null), app.set('filter', false)")
    check("and follows it",
          browser.until("!/selected|brush|filter/.test(location.hash) && /view=load_balance/.test(location.hash)"),
          browser.js("location.hash"))
    browser.open(report, "view=nonsense&definition=x&brush=1&theme=pink&selected=nobody")
    same("nonsense in the address is left alone",
         [browser.messages(), browser.js("[app.get('definition'), app.get('brush'), app.get('selected')]")],
         [[], [-1, None, -1]])


def nothing(browser, inputs):
    browser.open(inputs.written("nothing", NOTHING))
    same("no message without grains", browser.messages(), [])
    check("a program without grains: what to do",
          "observe" in browser.js("document.querySelector('#verdict').innerText") and
          "Observe" in browser.js("document.querySelector('#advice').innerText"))


def broken(browser, inputs):
    """Numbers that cannot be read leave the overview as it is."""
    report = inputs.made(500)
    with open(report.html) as page:
        text = page.read()
    damaged = os.path.dirname(report.html) + "/damaged.html"
    with open(damaged, "w") as page:
        page.write(re.sub(r'(id="column-parent">)[^<]*', r"\1AAAA", text))
    browser.open(damaged, ready=False)
    check("damaged numbers are said to be",
          browser.until("/damaged/.test(document.querySelector('#graph .failed').innerText)"),
          browser.js("document.body.innerText")[:300])
    check("beside the overview", browser.js("document.querySelectorAll('#tiles [data-problem]').length") == 7 and
          browser.js("document.querySelectorAll('#lines tbody tr').length") > 0)


if __name__ == "__main__":
    main(sorting, apart, depths, loops, advice, verdicts, hostile, address, nothing, broken)
