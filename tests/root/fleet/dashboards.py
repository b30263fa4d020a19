#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Asks a Prometheus that scrapes a graind with jobs for every expression of rules and dashboards.

usage: dashboards.py ROOT METRICS_FILE PROMETHEUS_URL INSTANCE
"""
import glob
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

ROOT, METRICS, URL, INSTANCE = sys.argv[1:5]
# A metric that Prometheus itself adds to a scrape.
OF_PROMETHEUS = {"up"}
# Without loss, failure or an expensive job these have no value. Whether Prometheus understands them is checked
# anyway.
MAY_BE_EMPTY = ("lost", "failed", "refused", "== 0")


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:1500])


def ask(path, **arguments):
    try:
        return json.load(urllib.request.urlopen("%s/api/v1/%s?%s" % (URL, path, urllib.parse.urlencode(arguments)),
                                                timeout=10))
    except urllib.error.HTTPError as error:
        return json.load(error)


def names(expression):
    """The metrics of an expression: words before a brace, a bracket or no parenthesis, among the names that we
    use."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    return set(re.findall(r"\b((?:instance:|job:)?graind_[a-z_]+(?::[a-z0-9]+)?|up)\b", bare))


exported = set(re.findall(r"^([a-z_]+)(?:\{| )", open(METRICS).read(), re.M)) | OF_PROMETHEUS
rules = ask("rules")["data"]["groups"]
recorded = {r["name"] for g in rules for r in g["rules"] if r["type"] == "recording"}
alerts = [r for g in rules for r in g["rules"] if r["type"] == "alerting"]
check("Prometheus has the rules, all well (%d recorded, %d alerts)" % (len(recorded), len(alerts)),
      len(recorded) > 5 and len(alerts) > 8 and all(r["health"] == "ok" for g in rules for r in g["rules"]),
      [(r["name"], r["health"], r.get("lastError")) for g in rules for r in g["rules"]])
for rule in [r for g in rules for r in g["rules"]]:
    unknown = names(rule["query"]) - exported - recorded
    check("%s asks for what graind exports" % rule["name"], names(rule["query"]) and not unknown,
          (rule["query"], unknown))
jobs = [r["metric"]["exported_job"] for r in ask("query", query="graind_job_info")["data"]["result"]]
check("its label for a job is exported_job", sorted(jobs) == ["1", "2"], jobs)
for file in sorted(glob.glob(ROOT + "/systemd/grafana/*.json")):
    board = json.load(open(file))
    wrong, empty, used = [], [], set()
    for panel in board["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            used |= names(expression)
            # A job that has ended has values that a running job lacks, and vice versa.
            results = []
            for number in jobs:
                text = expression.replace("$__rate_interval", "1m").replace(
                    "$instance", INSTANCE).replace("$number", number)
                answer = ask("query", query=text)
                if answer["status"] != "success":
                    wrong.append((panel["title"], answer.get("error")))
                    continue
                results += answer["data"]["result"]
            if not results and not any(word in expression for word in MAY_BE_EMPTY):
                empty.append((panel["title"], expression))
            used_labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            if results and not used_labels <= set(results[0]["metric"]):
                wrong.append((panel["title"], "legend", used_labels - set(results[0]["metric"])))
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            selector = re.fullmatch(r"label_values\((.*), \w+\)", variable["query"]["query"]).group(1)
            used |= names(selector)
            if not ask("query", query=selector.replace("$instance", INSTANCE))["data"]["result"]:
                empty.append((variable["name"], selector))
    base = file.split("/")[-1]
    check("%s: metrics that graind exports" % base, used and not used - exported - recorded, used - exported - recorded)
    check("%s: every expression is understood" % base, not wrong, wrong)
    check("%s: and has values" % base, not empty, empty)
