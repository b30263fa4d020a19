#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-2-Clause
"""Large and small windows, dark and light, without a mouse, without eyes, and on paper."""
from browser import main
from checks import check, note, same

LEAST_CONTRAST = 4.5
LEAST_TARGET = 24  # CSS pixels, WCAG 2.2 success criterion 2.5.8
MOST_STOPS = 600
DESKTOP, PHONE = (1280, 800), (390, 844)
NAMED_ROLES = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "Canvas",
               "img", "image", "spinbutton", "switch", "tab", "listbox", "region", "figure", "grid", "treegrid",
               "application"}


def load(browser, report, state=""):
    browser.open(report, state)
    browser.load_checks()


def fits(browser, name):
    same(name + ": nothing beyond the window's edge", browser.js("window.page_checks.sticking_out()")[:10], [])
    same(name + ": no text leaves its box", browser.js("window.page_checks.spilling()")[:10], [])
    width, window = browser.js("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    check(name + ": no scrolling sideways", width <= window, "%d of %d" % (width, window))


def readable(browser, name):
    found = browser.js("window.page_checks.faint(a)", LEAST_CONTRAST)
    check(name + ": texts have a contrast of %s at least" % LEAST_CONTRAST, found["texts"] > 20 and not found["faint"],
          "%d texts" % found["texts"], *found["faint"][:20])


def windows(browser, inputs):
    reports = [inputs.made(500), inputs.sourced()] + [r for r in inputs.logs() if "hostile" in r.name]
    for report in reports:
        for scheme in ("light", "dark"):
            browser.media(scheme)
            browser.size(*DESKTOP)
            load(browser, report)
            name = "%s, %s" % (report.name, scheme)
            readable(browser, name)
            if scheme == "light":
                fits(browser, name + ", 1280x800")
                first_screen(browser, name)
            browser.picture("%s-%s" % (report.name, scheme))
            browser.picture("%s-%s-whole" % (report.name, scheme), whole=True)
        browser.media("light")
        browser.size(*PHONE, mobile=True)
        load(browser, report)
        fits(browser, report.name + ", 390x844")
        same(report.name + ", 390x844: a finger hits every control",
             browser.js("window.page_checks.small(a)", LEAST_TARGET)[:10], [])
        browser.picture(report.name + "-phone")
        browser.picture(report.name + "-phone-whole", whole=True)
        browser.size(*DESKTOP)


def source_lines(browser, inputs):
    """However long names are, no number of a source line is cut, and something of the name is left."""
    report = next(r for r in inputs.logs() if "hostile" in r.name)
    for width in (700, 1101, 1280, 1920):
        browser.size(width, 800)
        load(browser, report)
        room, table, names = browser.js("""const t = document.querySelector(".lines");
            return [t.parentElement.clientWidth, t.scrollWidth, t.querySelector("tbody th").clientWidth];""")
        check("source lines of %s, %d wide: all columns are in view" % (report.name, width), table <= room, table, room)
        check("source lines of %s, %d wide: names have some room" % (report.name, width), names >= 120, names)
    browser.size(*DESKTOP)


def first_screen(browser, name):
    bottoms = browser.js("""["verdict", "tiles", "lines"].map((id) =>
        [id, Math.round(document.getElementById(id).getBoundingClientRect().bottom)])""")
    same(name + ": verdict, problems and source lines in the first screen", [b for b in bottoms if not 0 < b[1] <= 800],
         [])


def keyboard(browser, inputs):
    browser.size(*DESKTOP)
    browser.media("light")
    load(browser, inputs.sourced())
    browser.js("document.activeElement.blur(), scrollTo(0, 0)")
    stops, unmarked = [], []
    while len(stops) < MOST_STOPS:
        browser.key("Tab")
        at = browser.js("window.page_checks.focused()")
        if not at:
            break
        stops.append(at["what"])
        if not at["marked"]:
            unmarked.append(at["what"])
    note("the page's controls: %d, reached by Tab: %d" %
         (browser.js("window.page_checks.controls().length"), len(stops)))
    check("Tab goes through the page and out of it", 3 < len(stops) < MOST_STOPS, "%d stops" % len(stops), *stops[-3:])
    same("Tab reaches every control", browser.js("window.page_checks.not_focused()")[:10], [])
    same("what has the focus is marked", unmarked[:10], [])
    same("nothing is for the mouse alone", browser.js("window.page_checks.mouse_only()")[:10], [])


def names(browser, inputs):
    load(browser, inputs.sourced())
    browser.cdp("Accessibility.enable")
    nodes = browser.cdp("Accessibility.getFullAXTree")["nodes"]
    roles = [(n["role"]["value"], (n.get("name") or {}).get("value", "").strip()) for n in nodes
             if not n.get("ignored") and n.get("role", {}).get("value") in NAMED_ROLES]
    browser.cdp("Accessibility.disable")
    check("there is something to name", len(roles) > 5, roles)
    same("everything that can be used or looked at has a name", sorted({role for role, name in roles if not name}), [])
    same("one heading of the first level", browser.js("document.querySelectorAll('h1').length"), 1)
    same("the language is said", browser.js("document.documentElement.lang"), "en")
    ids = browser.js("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    same("identifiers are used once", sorted({i for i in ids if ids.count(i) > 1}), [])


# The ground of every picture, at its upper left corner; "painted" counts them.
GROUNDS = """[...document.querySelectorAll("canvas")].map((c) => [...c.getContext("2d").getImageData(1, 1, 1, 1).data])
    .map(([r, g, b, alpha]) => alpha ? Math.min(r, g, b) : null)"""


def printing(browser, inputs):
    """Pictures are painted anew for the paper, at once, and again for the screen afterwards."""
    report = inputs.made(500)
    for state, scheme in (("theme=dark", "light"), ("", "dark")):
        browser.media(scheme)
        load(browser, report, state)
        what = "printed from a %s: " % ("page chosen dark" if state else "dark desktop")
        dark = browser.js(GROUNDS)
        browser.js("""addEventListener("beforeprint", () => window.on_paper = {grounds: %s,
            ink: app.colours.variable("ink"), theme: document.documentElement.dataset.theme}); return 1""" % GROUNDS)
        browser.cdp("Page.printToPDF", printBackground=True)
        paper = browser.js("window.on_paper")
        check(what + "the graph was dark", any(g is not None and g < 60 for g in dark), dark)
        check(what + "no picture is dark on paper", paper and all(g is None or g > 240 for g in paper["grounds"]),
              paper)
        same(what + "ink is dark on paper", paper["ink"], "#1d2330")
        check(what + "it is dark again on the screen",
              browser.until("app.get('theme') === 'dark' && app.colours.variable('ink') === '#e7eaf0'"))
        browser.frames(10)
        same(what + "and so are its pictures", browser.js(GROUNDS), dark)
        check(what + "the address says what was chosen", ("theme=dark" in browser.js("location.hash")) == bool(state))
    browser.media("light", "print")
    browser.frames()
    same("on paper: no controls, no labels of controls, nothing that is empty",
         browser.js("""[...document.querySelectorAll(
            ".graph-choice, .segments, #theme, #details, .graph-searching, .dist-said")]
            .filter((e) => e.checkVisibility()).map((e) => e.id || e.className)"""), [])
    browser.js("app.set('selected', report.count - 1)")
    check("on paper: the details of what is selected",
          browser.js("document.getElementById('details').checkVisibility()"))
    browser.media("light")


def paper(browser, inputs):
    """Printed from a dark page it is still ink on white."""
    browser.media("dark", "print")
    load(browser, inputs.sourced(), "theme=dark")
    readable(browser, "on paper")
    background = browser.js("getComputedStyle(document.body).backgroundColor")
    check("paper is white", background in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"), background)
    browser.size(750, 1060)
    browser.frames()
    fits(browser, "on paper")
    browser.picture("paper", whole=True)
    browser.media("light")
    browser.size(*DESKTOP)


if __name__ == "__main__":
    main(windows, source_lines, keyboard, names, printing, paper)
