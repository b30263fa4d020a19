#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""What the page says of the whole run is what `grainctl summary --json` says."""
import re

from browser import main
from checks import check, same
from inputs import PROBLEMS
from shown import count_of, is_percent, is_ratio, is_time

TILES = """[...document.querySelectorAll("#tiles [data-problem]")].map((e) => ({
    problem: e.dataset.problem, text: e.innerText, absent: e.classList.contains("absent"), title: e.title,
    number: (e.querySelector(".tile-number") || {firstChild: null}).firstChild?.data,
    small: e.querySelector(".tile-number small")?.innerText, pressed: e.getAttribute("aria-pressed")}))"""


def tiles(browser, report):
    summary, name = report.summary["problems"], report.name + ": "
    shown = {t["problem"]: t for t in browser.js(TILES)}
    same(name + "a tile for each problem", set(shown), set(PROBLEMS))
    wrong = []
    for problem in PROBLEMS:
        tile, known = shown[problem], summary[problem]
        if not known["available"]:
            if not (tile["absent"] and known["why"] in tile["text"] and tile["number"] is None):
                wrong.append("%s is absent: %s; tile: %s" % (problem, known["why"], tile))
            continue
        percent, _, threshold = (tile["small"] or "").partition("%")
        if tile["absent"] or count_of(tile["number"]) != known["grains"] \
                or not is_percent(percent + "%", known["percent"] or 0) \
                or not is_ratio(threshold.strip(" <>"), known["threshold"]):
            wrong.append("%s is %s; tile: %s" % (problem, known, tile))
    same(name + "tiles as in the JSON, absent ones with the reason", wrong, [])


def lost_of(part):
    return part["capacity_ns"] - part["causes_ns"]["useful"] - part["causes_ns"]["serial_work"]


def worst_loss(summary):
    """To what most of the threads' time is lost, and by how much all of them are delayed; None: not noticeably."""
    account = summary["account"]
    if account["why"] or not account["capacity_ns"] or lost_of(account) < 0.05 * account["capacity_ns"]:
        return None
    ns, cause = max((ns, -n, cause) for n, (cause, ns) in enumerate(account["causes_ns"].items())
                    if cause not in ("useful", "serial_work"))[::2]
    return cause, ns / account["threads"]


KEYS = """[...document.querySelectorAll("#account [data-cause]")].map((e) => [e.dataset.cause,
    e.querySelector("b").innerText])"""


def account(browser, report):
    known, name = report.summary["account"], report.name + ": "
    shown = dict(browser.js(KEYS))
    if known["why"] or not known["capacity_ns"]:
        same(name + "no account where there is none", shown, {})
        return
    # What is less than that is not shown.
    wanted = {cause: ns for cause, ns in known["causes_ns"].items() if ns >= 0.0005 * known["capacity_ns"]}
    same(name + "the account has every cause", set(shown), set(wanted))
    wrong = [(cause, shown[cause]) for cause in shown
             if not is_percent(shown[cause], 100 * wanted[cause] / known["capacity_ns"])]
    same(name + "each with its part of the threads' time", wrong, [])
    worst = max(known["causes_ns"], key=lambda cause: known["causes_ns"][cause])
    browser.js("document.querySelector('#account [data-cause=%s]').click()" % worst)
    most = max((part["causes_ns"][worst] for part in known["parts"]), default=0)
    first = browser.js("document.querySelector('#account .account-parts b')?.innerText")
    check(name + "a click on a cause shows where most of it is", first and is_time(first, most), (first, most))


def verdict(browser, report):
    summary, name = report.summary, report.name + ": "
    text = browser.js("document.getElementById('verdict').innerText")
    best, loss = summary["advice"][0] if summary["advice"] else None, worst_loss(summary)
    same(name + "JSON says of what kind the verdict is", summary["verdict"],
         "advice" if best else "no_grains" if not summary["grains"]["total"] else "lost" if loss else "none")
    if summary["verdict"] == "lost":
        account = summary["account"]
        share = re.search(r"^([\d.]+) % of the threads' time is lost, most of it to (.+)\.$", text, re.M)
        check(name + "the verdict says how much of the threads' time is lost, and to what",
              share and is_percent(share[1] + " %", 100 * lost_of(account) / account["capacity_ns"]) and
              share[2] == next(c["lost_to"] for c in account["causes"] if c["cause"] == loss[0]), text)
    elif best:
        check(name + "the verdict names the place and what to do",
              (best["source"] or "") in text and best["text"] in text, text)
    else:
        check(name + "the verdict says that there is nothing to do", re.search("^No ", text), text)
    facts = dict(re.findall(r"^(wall|work|span|average parallelism)\s+(.*)$", browser.js(
        "[...document.querySelectorAll('.facts span')].map((e) => e.innerText).join('\\n')"), re.M))
    check(name + "wall, work, span and average parallelism",
          len(facts) == 4 and is_time(facts["wall"], summary["wall_ns"]) and
          is_time(facts["work"], summary["work_ns"]) and is_time(facts["span"], summary["span_ns"]) and
          is_ratio(facts["average parallelism"], summary["average_parallelism"]), facts)
    lost, incomplete = (re.search(r"([\d,]+) %ss? %s" % what, text)
                        for what in (("event", "lost"), ("grain", "incomplete")))
    check(name + "the truth line: lost events, incomplete grains, the cost",
          lost and incomplete and "measuring cost" in text and
          count_of(lost.group(1)) == summary["events"]["lost"] and
          count_of(incomplete.group(1)) == summary["grains"]["incomplete"], text)


def examples(browser, inputs):
    for report in inputs.logs() + [inputs.made(500), inputs.damaged()]:
        browser.open(report)
        tiles(browser, report)
        account(browser, report)
        verdict(browser, report)


def parts(browser, inputs):
    """That it is a part of the run that is shown stands above the facts; of a whole one nothing does."""
    def shown(report):
        browser.open(report)
        browser.picture("part-" + report.name)
        report.run("report", "--format", "svg", "-o", report.html + ".svg")
        with open(report.html + ".svg") as file:
            svg = file.read()
        return (browser.js("""[...document.querySelectorAll('#verdict .part')].map((e) =>
            e.getBoundingClientRect().height > 10 && e.nextElementSibling.className === 'facts'
            ? e.innerText : 'hidden').join('|')"""),
                re.findall(r'class="part strong"[^>]*>([^<]*)<', svg), report.run("summary"))

    page, svg, text = shown(inputs.made(500))
    check("of a whole run nothing is said", not page and not svg and "  part   " not in text, page, svg)
    report = inputs.windowed()
    page, svg, text = shown(report)
    recording = report.summary["recording"]
    share = re.search(r"Recorded in 3 windows: (\S+ %) of (.*?), to cost", page)
    busy = re.search(r"threads busy (\d+) %", browser.js("document.querySelector('#verdict .facts').innerText"))
    check("what lies between windows is nobody's", busy and int(busy.group(1)) <= 100, busy)
    check("in windows: how many, which part of what time", share and is_percent(share.group(1),
          100 * recording["recorded_ns"] / recording["whole_ns"]) and is_time(share.group(2), recording["whole_ns"]),
          page, recording)
    check("and what the work may have been", re.search(r"about (.*?) of work in all", page) and
          is_time(re.search(r"about (.*?) of work in all", page).group(1), recording["estimated"]["work_ns"]["value"]),
          page, recording)
    check("the drawing says it, too", svg and "recorded in 3 windows: " + share.group(1) in " ".join(svg), svg)
    check("and the summary's first screen",
          "  part   recorded in 3 windows: " + share.group(1) in text.split("\n\n")[0], text[:600])
    report = inputs.partial()
    page, svg, text = shown(report)
    coverage = report.summary["coverage"]
    first = re.search(r"are of the first (.*?), ([\d,]+) of ([\d,]+) grains", page)
    check("of a long job: what is of its first part, and how much that is",
          first and is_time(first.group(1), coverage["graph_wall_ns"]) and
          count_of(first.group(2)) == coverage["graph_grains"] and
          count_of(first.group(3)) == report.summary["grains"]["total"], page, coverage)
    check("the drawing of the long job says it", svg and "graph and problems of the first" in " ".join(svg), svg)
    check("and its summary's first screen", "  part   graph and problems of the first" in text.split("\n\n")[0],
          text[:600])
    report = inputs.kept()
    page, svg, text = shown(report)
    coverage, which = report.summary["coverage"], " and 2 parallel regions after it (the slowest, the last, every 4th)"
    first = re.search(r"are of the first (.*?) and 2 parallel", page)
    check("regions that are kept of a long job: how many after which part, and why", which in page and first and
          is_time(first.group(1), coverage["graph_first_ns"]) and "Recorded in" not in page, page, coverage)
    check("its summary says it, and that it was recorded all the time", which in " ".join(text.split()) and
          report.summary["recording"]["mode"] == "all", text[:600])


def views(browser, inputs):
    """A click on a tile shows its problem everywhere, and the address says so."""
    browser.open(inputs.made(500))
    for problem in ("load_balance", "parallel_benefit"):
        browser.click_on("#tiles [data-problem=%s]" % problem)
        # The address follows a moment later, so that a drag does not change it a hundred times.
        browser.until("location.hash.includes('view=' + a)", problem)
        same("a click on a tile sets the view: " + problem,
             browser.js("[app.get('view'), location.hash.includes('view=' + a)]", problem), [problem, True])
        same("that tile alone is pressed: " + problem,
             [t["problem"] for t in browser.js(TILES) if t["pressed"] == "true"], [problem])
    browser.open(inputs.made(500), "view=scatter&theme=dark")
    same("the view and the theme of the address are shown",
         browser.js("[app.get('view'), document.documentElement.dataset.theme]"), ["scatter", "dark"])
    browser.click_on("#theme")
    same("the theme can be changed", browser.js("document.documentElement.dataset.theme"), "light")


def lines(browser, inputs):
    report = inputs.sourced()
    browser.open(report, "view=instantaneous_parallelism")
    rows = browser.js("""[...document.querySelectorAll("#lines tbody tr")].map((r) =>
        [r.dataset.definition, ...[...r.cells].map((c) => c.innerText)])""")
    definitions = {str(d["definition"]): d for d in report.summary["definitions"]}
    wrong, flagged = [], []
    for row in rows:
        d = definitions[row[0]]
        flagged.append(d["problems"]["instantaneous_parallelism"]["grains"])
        if d["source"].rpartition("/")[2] not in row[1] or count_of(row[2]) != d["instances"] or not is_time(
                row[4], d["exec_ns"]["sum"]) or not is_time(row[5], d["exec_ns"]["mean"]) or not is_time(
                row[6], d["critical_path_ns"]) or not is_percent(
                row[3], d["problems"]["instantaneous_parallelism"]["percent"]):
            wrong.append("%s: %s" % (row, d))
    same("source lines as in the JSON", wrong, [])
    check("all source lines, worst first",
          len(rows) == min(8, len(definitions)) and flagged == sorted(flagged, reverse=True), flagged)
    browser.click_on("#lines tbody tr:nth-child(2) button")
    source = definitions[rows[1][0]]["source"]
    line = int(source.rpartition(":")[2])
    marked = browser.js("[...document.querySelectorAll('#lines .marked')].map((e) => e.innerText.trim())")
    check("the excerpt is that of the line clicked, whose text is text",
          len(marked) == 1 and re.match(r'%d\s+line_%d\("<b>&amp;"\); /\* of a.c \*/' % (line, line), marked[0]),
          source, marked)
    check("lines around it", browser.js("document.querySelectorAll('#lines .line').length") == 10)
    same("its definition is selected everywhere", browser.js("app.get('definition')"), int(rows[1][0]))


if __name__ == "__main__":
    main(examples, parts, views, lines)
