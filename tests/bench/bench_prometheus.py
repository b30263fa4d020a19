#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One real Prometheus and a fleet of many nodes: what it takes.

A real graind runs JOBS jobs; two scrapes of it, an interval apart, are what every simulated node answers, its counters
going on as they did between the two. One server answers for all nodes, which are addresses 127.x.y.z.

usage: bench_prometheus.py BUILD_DIRECTORY [NODES [SECONDS [JOBS]]]; root, for the jobs. Prints one line a number.
"""
import glob
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

B = os.path.abspath(sys.argv[1])
NODES, SECONDS, JOBS = (int(a) for a in (sys.argv[2:] + ["2000", "180", "4"][len(sys.argv) - 2:]))
INTERVAL = 15
GIB_PER_NODE = 2 / 2000


def available_gib():
    return int(re.search(r"MemAvailable: +(\d+)", open("/proc/meminfo").read()).group(1)) / 1048576


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class Recording:
    """What a graind with live jobs says, now and an interval later, and how it goes on."""

    def __init__(self, base):
        path, state = base + "/graind.sock", base + "/state"
        os.mkdir(state)
        graind = subprocess.Popen([B + "/graind", "--foreground", "--state-dir", state, "--socket", path],
                                  stderr=subprocess.DEVNULL)
        while not os.path.exists(path):
            time.sleep(0.05)
        programs = []
        ctl = [B + "/grainctl", "--socket", path, "--state-dir", state]
        subprocess.run(ctl + ["run", "--", B + "/tests/omp/demo"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for _ in range(JOBS):
            program = subprocess.Popen(["nice", B + "/tests/omp/loop_forever", "120000", "/dev/null"],
                                       stdout=subprocess.DEVNULL, env=dict(os.environ, OMP_NUM_THREADS="2"))
            programs.append(program)
            time.sleep(0.2)
            subprocess.run(ctl + ["attach", str(program.pid)], check=True, stdout=subprocess.DEVNULL)
        first = self.scrape(path)
        time.sleep(INTERVAL)
        second = self.scrape(path)
        for process in programs + [graind]:
            process.terminate()
        for process in programs + [graind]:
            process.wait()
        self.lines = []
        later = dict(self.sample(line) for line in second if line[:1] != "#")
        for line in first:
            name, value = self.sample(line) if line[:1] != "#" else (line, None)
            self.lines.append((name, value, later.get(name, value)))
        self.series = sum(value is not None for _, value, _ in self.lines)
        self.made = {}

    @staticmethod
    def sample(line):
        name, value = line.rsplit(" ", 1)
        return name, float(value)

    @staticmethod
    def scrape(path):
        return subprocess.run(["curl", "-s", "--unix-socket", path, "http://graind/metrics"], check=True,
                              capture_output=True, text=True).stdout.splitlines()

    def at(self, tick):
        if tick not in self.made:
            text = []
            for name, first, second in self.lines:
                if first is None:
                    text.append(name)
                elif "_total" in name:
                    text.append("%s %.17g" % (name, first + (second - first) * tick))
                else:
                    text.append("%s %.17g" % (name, (first, second)[tick % 2]))
            self.made = {tick: ("\n".join(text) + "\n").encode()}
        return self.made[tick]


def serve(recording):
    start = time.monotonic()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            body = recording.at(int((time.monotonic() - start) / INTERVAL))
            self.send_response(200)
            self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True

        def handle_error(self, *_):
            """Prometheus closes what it keeps when it ends."""

    server = Server(("0.0.0.0", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def ask(url, query):
    text = urllib.request.urlopen(url + "/api/v1/query?" + urllib.parse.urlencode({"query": query}), timeout=30).read()
    result = json.loads(text)["data"]["result"]
    return float(result[0]["value"][1]) if result else float("nan")


def size_of(pattern):
    return sum(os.path.getsize(f) for f in glob.glob(pattern, recursive=True) if os.path.isfile(f))


def show(what, value):
    print("= %-52s %s" % (what, value), flush=True)


def measure(base, recording):
    port, web = serve(recording), free_port()
    url, rules = ("http://127.0.0.1:%d" % web,
                  os.path.dirname(os.path.abspath(__file__)) + "/../../systemd/prometheus/*.rules.yml")
    targets = ["127.%d.%d.%d:%d" % (1 + i // 62500, i // 250 % 250, 1 + i % 250, port) for i in range(NODES)]
    with open(base + "/prometheus.yml", "w") as f:
        json.dump({"global": {"scrape_interval": "%ds" % INTERVAL, "evaluation_interval": "%ds" % INTERVAL},
                   "rule_files": [rules],
                   "scrape_configs": [{"job_name": "graind", "static_configs": [{"targets": targets}]}]}, f)
    prometheus = subprocess.Popen(["nice", "prometheus", "--config.file=" + base + "/prometheus.yml",
                                   "--storage.tsdb.path=" + base + "/tsdb",
                                   "--web.listen-address=127.0.0.1:%d" % web,
                                   "--web.enable-admin-api", "--log.level=error"])
    try:
        time.sleep(SECONDS)
        pid = prometheus.pid
        status = open("/proc/%d/status" % pid).read()
        ticks = sum(int(x) for x in open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[11:13])
        appended = float(re.search(r"^prometheus_tsdb_head_samples_appended_total(?:\{.*\})? (\S+)",
                                   urllib.request.urlopen(url + "/metrics").read().decode(), re.M).group(1))
        show("nodes, and of them up", "%d, %d" % (NODES, ask(url, 'sum(up{job="graind"})')))
        show("series of a node, %d live jobs and one that ended" % JOBS, recording.series)
        scraped = ask(url, "sum(scrape_samples_scraped)")
        show("samples a second, at %d s between scrapes" % INTERVAL, "%.0f" % (scraped / INTERVAL))
        show("scrape, mean and 99 of 100", "%.0f ms, %.0f ms" %
             (1e3 * ask(url, "avg(scrape_duration_seconds)"),
              1e3 * ask(url, "quantile(0.99, scrape_duration_seconds)")))
        show("CPUs of Prometheus, mean of %d s" % SECONDS, "%.2f" % (ticks / os.sysconf("SC_CLK_TCK") / SECONDS))
        show("memory of Prometheus, largest",
             "%.2f GB" % (int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) * 1024 / 1e9))
        began = time.monotonic()
        nodes = json.loads(subprocess.run([B + "/grainctl", "fleet", "--json", "--prometheus", url], check=True,
                                          capture_output=True).stdout)
        show("grainctl fleet, %d nodes and %d jobs" % (len(nodes["nodes"]), len(nodes["jobs"])),
             "%.1f s" % (time.monotonic() - began))
        urllib.request.urlopen(urllib.request.Request(url + "/api/v1/admin/tsdb/snapshot", method="POST"),
                               timeout=120).read()
        chunks, index = size_of(base + "/tsdb/snapshots/**/chunks/*"), size_of(base + "/tsdb/snapshots/**/index")
        # A block holds two hours; its index is as large as this one, its chunks grow with the samples.
        day = chunks / appended * scraped / INTERVAL * 86400 + 12 * index
        show("bytes of a sample on disk, without the index", "%.2f" % (chunks / appended))
        show("index of a block", "%.0f MB" % (index / 1e6))
        show("disk a day, extrapolated", "%.1f GB" % (day / 1e9))
    finally:
        prometheus.terminate()
        prometheus.wait()


def main():
    if os.geteuid() != 0 or not shutil.which("prometheus"):
        sys.exit("bench_prometheus.py: needs root for the jobs, and Prometheus: run 'make deps'")
    if available_gib() < 2 + NODES * GIB_PER_NODE:
        sys.exit("bench_prometheus.py: %.1f GiB of memory are too little for %d nodes" % (available_gib(), NODES))
    with tempfile.TemporaryDirectory(prefix="graind-bench.") as base:
        measure(base, Recording(base))


main()
