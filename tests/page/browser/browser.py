# SPDX-License-Identifier: BSD-2-Clause
"""
Headless Chromium with a report in it. No function here sleeps and hopes that this was long enough: `until` waits for a
condition of the page.

A test file has functions that take a Browser and Inputs, and ends with main(FUNCTION...). They share one browser. A
function that raises an exception has failed. tests/runner sets PYTHONPATH, so that tests in all folders find this one.
"""
import atexit
import base64
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback

from checks import not_ok, skip
from inputs import Inputs, ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
PATIENCE = 180  # seconds until a condition that has not come true has failed, also beside others on a machine
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "Escape": (27, ""), "ArrowLeft": (37, ""),
        "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, ""), "Home": (36, ""), "End": (35, "")}


class Browser:
    def __init__(self, artifacts):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        from selenium.webdriver.remote.remote_connection import RemoteConnection

        # How long an answer of the driver's may take: longer than any wait in the page.
        RemoteConnection.set_timeout(3 * PATIENCE)
        options = Options()
        options.binary_location = CHROMIUM
        arguments = ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,800",
                     "--disable-background-networking", "--disable-extensions", "--no-first-run"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        for argument in arguments:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.service = Service(DRIVER)
        self.driver = webdriver.Chrome(service=self.service, options=options)
        self.driver.set_script_timeout(2 * PATIENCE)
        self.driver.set_page_load_timeout(2 * PATIENCE)
        self.artifacts = artifacts
        os.makedirs(artifacts, exist_ok=True)

    def quit(self):
        self.driver.quit()

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        """The value of an expression, or of statements that return one; arguments are a, b, c."""
        text = script if "return" in script else "return (%s);" % script
        names = "const [a, b, c] = arguments; "
        return self.driver.execute_script(names + text, *arguments)

    def until(self, condition, *arguments):
        """Waits for an expression to become true, looking after every frame; its value, or None in the end."""
        return self.driver.execute_async_script(
            """const [a, b, c] = [...arguments].slice(1), done = arguments[arguments.length - 1];
            const end = performance.now() + arguments[0] * 1000;
            const look = () => {
                let value = null;
                try { value = (%s); } catch (error) { value = null; }
                if (value) done(value);
                else if (performance.now() > end) done(null);
                else setTimeout(look, 10);
            };
            look();""" % condition, PATIENCE, *(list(arguments) + [None] * (3 - len(arguments))))

    def frames(self, count=2):
        """Until so many frames have been drawn: what the last event changed is to be seen."""
        self.driver.execute_async_script(
            """let left = arguments[0]; const done = arguments[1];
            const next = () => left-- > 0 ? requestAnimationFrame(next) : done();
            next();""", count)

    def open(self, report, state="", ready=True):
        """A report with a state of App in the hash; `ready`: with all of its data loaded."""
        path = report if isinstance(report, str) else report.html
        self.driver.get("about:blank")
        self.messages()
        self.driver.get_log("performance")
        self.driver.get(("" if path.startswith("http") else "file://") + path + ("#" + state if state else ""))
        if not ready:
            return
        if not self.until("""document.readyState === "complete" && window.app && app.get("ready") &&
            (document.querySelector("#graph > .failed") || app.graph && app.graph.picture)"""):
            raise RuntimeError("%s did not become ready: %s" % (path, self.messages()))
        self.frames()

    def load_checks(self):
        """Puts page_checks.js into the page."""
        with open(os.path.dirname(os.path.abspath(__file__)) + "/page_checks.js") as script:
            self.driver.execute_script(script.read())

    def messages(self):
        """What the console has got since the last call, refused content and uncaught errors included."""
        return [entry["level"] + " " + entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that were asked for since the page was opened."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                params = message["params"]
                found.append(params.get("url") or params["request"]["url"])
        return found

    def size(self, width, height, mobile=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def media(self, scheme="light", medium="screen"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.cdp("Emulation.setEmulatedMedia", media="" if medium == "screen" else medium, features=features)

    def mouse(self, kind, x, y, **more):
        self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.frames()

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        for n in range(count):
            self.mouse("mousePressed", x, y, button="left", clickCount=n + 1)
            self.mouse("mouseReleased", x, y, button="left", clickCount=n + 1)
        self.frames()

    def drag(self, points):
        """Along points (x, y), the button held."""
        self.mouse("mouseMoved", *points[0])
        self.mouse("mousePressed", *points[0], button="left", clickCount=1)
        for x, y in points[1:]:
            self.mouse("mouseMoved", x, y, button="left", buttons=1)
        self.mouse("mouseReleased", *points[-1], button="left", clickCount=1)
        self.frames()

    def wheel(self, x, y, delta):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)

    def key(self, name, shift=False):
        code, text = KEYS.get(name, (ord(name[0].upper()), name))
        event = {"key": name, "code": name, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.cdp("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event,
                 **({"text": text} if text else {}))
        self.cdp("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.cdp("Input.insertText", text=text)
        self.frames()

    def into_view(self, selector):
        """Scrolls an element to the middle; its rectangle in the window, None: there is none."""
        return self.js("""const e = typeof a === "string" ? document.querySelector(a) : a;
            if (!e) return null;
            e.scrollIntoView({block: "center", behavior: "instant"});
            const r = e.getBoundingClientRect();
            return {x: r.x, y: r.y, width: r.width, height: r.height};""", selector)

    def click_on(self, selector):
        box = self.into_view(selector)
        if not box:
            raise RuntimeError("there is no " + str(selector))
        self.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def picture(self, name, whole=False):
        """A screenshot among the artifacts; whole: of all of the page, however long."""
        if whole:
            # What is made when it is seen for the first time is made.
            self.driver.execute_async_script(
                """const done = arguments[0], sections = [...document.querySelectorAll("section")];
                const next = () => {
                    if (!sections.length) { scrollTo(0, 0); return done(); }
                    sections.shift().scrollIntoView({behavior: "instant"});
                    requestAnimationFrame(() => requestAnimationFrame(next));
                };
                next();""")
        self.frames()
        data = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open("%s/%s.png" % (self.artifacts, name), "wb") as out:
            out.write(base64.b64decode(data))

    def processes(self):
        """The driver's and all of the browser's."""
        parents, found = {}, [self.service.process.pid]
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                parents.setdefault(int(open("/proc/%s/stat" % pid).read().rpartition(")")[2].split()[1]),
                                   []).append(int(pid))
            except OSError:
                pass
        for pid in found:
            found += parents.get(pid, [])
        return found


def main(*tests):
    """usage: test_NAME.py BUILD_DIRECTORY"""
    name = os.path.relpath(sys.argv[0], ROOT + "/tests")
    if len(sys.argv) != 2:
        sys.exit(main.__doc__)
    build = os.path.abspath(sys.argv[1])
    missing = [what for what, there in (("chromium", CHROMIUM), ("chromium-driver", DRIVER),
                                        ("python3-selenium", importlib.util.find_spec("selenium"))) if not there]
    if missing:
        return skip(name, "NOTHING OF THE PAGE IS TESTED without " + ", ".join(missing))
    folder = tempfile.mkdtemp(prefix="graind-page.")
    atexit.register(shutil.rmtree, folder, True)
    # The profile goes with the rest, also when the test is ended.
    os.environ["TMPDIR"] = folder
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        browser = Browser(build + "/artifacts/page")
    except Exception as error:
        return not_ok(name + ": Chromium starts", error)
    try:
        inputs = Inputs(build, folder)
        for test in tests:
            try:
                test(browser, inputs)
            except Exception as error:
                not_ok("%s: %s ends" % (name, test.__name__), "%s: %s" % (type(error).__name__, error),
                       "".join(traceback.format_tb(error.__traceback__)[-3:]))
    finally:
        browser.quit()
