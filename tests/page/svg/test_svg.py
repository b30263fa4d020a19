#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""The SVG with all views in a browser: which view a link shows."""
from browser import main
from checks import check, same

VIEWS = "[...document.querySelectorAll('.view')].filter((e) => getComputedStyle(e).display !== 'none').map((e) => e.id)"
# Of every node the views whose problem it has, by number, the first view's included.
NODES = """[...document.querySelectorAll(".node")].map((e) => ({id: e.id,
    own: [...e.classList].filter((c) => /^o\\d+$/.test(c)),
    flagged: [...e.classList].filter((c) => /^f\\d+$/.test(c) || c === "flagged")
        .map((c) => c === "flagged" ? 0 : Number(c.slice(1)))}))"""
FILL = "getComputedStyle(document.getElementById(a)).fill"


def show(browser, path, target):
    browser.driver.get("about:blank")
    browser.driver.get("file://%s#%s" % (path, target))


def own_views(browser, inputs):
    """A link to a node shows it with the problem that it has."""
    for report in inputs.logs() + [inputs.made(500)]:
        path = report.html.replace(".html", ".svg")
        report.run("report", "--format", "svg", "--view", "all", "-o", path)
        show(browser, path, "")
        views = browser.js("[...document.querySelectorAll('.view')].map((e) => e.id)")[::-1]
        same(report.name + ": the first view is shown at first", browser.js(VIEWS), views[:1])
        seen, problem_first = set(), views[0] not in ("view-definition", "view-thread", "view-time")
        for node in browser.js(NODES):
            own = min(node["flagged"], default=0) if problem_first else 0
            if node["own"] != (["o%d" % own] if own else []):
                check("%s: %s is of one view" % (report.name, node["id"]), False, node)
            if own in seen:
                continue
            seen.add(own)
            show(browser, path, node["id"])
            same("%s: a link to %s shows %s" % (report.name, node["id"], views[own]), browser.js(VIEWS), [views[own]])
            fill = browser.js(FILL, node["id"])
            show(browser, path, views[own])
            same("%s: in its colours" % report.name, fill, browser.js(FILL, node["id"]))


if __name__ == "__main__":
    main(own_views)
