#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The rules for Prometheus do what they say, each alert with a case in which it comes and one in which it does not; the
# dashboards are well-formed.
# usage: tests/cli/systemd/test_prometheus_rules.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
cd "$ROOT" || exit 1

if command -v promtool >/dev/null; then
	check "promtool accepts the rules" promtool check rules systemd/prometheus/*.rules.yml
	for file in tests/prometheus/*.test.yml; do
		check "promtool test rules ${file##*/}" promtool test rules "$file"
	done
	# The tests can fail.
	mkdir -p "$T/tests/prometheus" "$T/systemd"
	cp tests/prometheus/*.yml "$T/tests/prometheus" && cp -r systemd/prometheus "$T/systemd"
	sed -i 's/up{job="graind"} == 0/up{job="graind"} == 2/' "$T/systemd/prometheus/graind-alerts.rules.yml"
	if promtool test rules "$T/tests/prometheus/alerts.test.yml" >/dev/null 2>&1; then
		not_ok "a broken rule is found"
	else
		ok "a broken rule is found"
	fi
else
	skip "the rules for Prometheus" "no promtool: run 'make deps'"
fi
/usr/bin/python3 - <<'PY'
import glob, json, re
rules = open("systemd/prometheus/graind-alerts.rules.yml").read()
tests = open("tests/prometheus/alerts.test.yml").read()


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:800])


alerts = re.findall(r"- alert: (\w+)", rules)
untested = [a for a in alerts if "name: %s\n" % a not in tests or "name: %s, all is well" % a not in tests]
check("each of the %d alerts is tested, both ways" % len(alerts), len(alerts) > 8 and not untested, untested)
blocks = re.split(r"- alert: ", rules)[1:]
bare = [b.split("\n")[0] for b in blocks if "summary:" not in b or "action:" not in b or "severity:" not in b]
check("each alert says what and what to do", not bare, bare)
boards = {f: json.load(open(f)) for f in sorted(glob.glob("systemd/grafana/*.json"))}
uids = [b["uid"] for b in boards.values()]
check("dashboards for the fleet, a node and a job", sorted(uids) == ["graind-fleet", "graind-job", "graind-node"], uids)
for name, board in boards.items():
    panels, taken, wrong = board["panels"], set(), []
    for p in panels:
        g = p["gridPos"]
        cells = {(x, y) for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])}
        if cells & taken or g["x"] + g["w"] > 24 or not cells:
            wrong.append("%s lies on another or outside" % p["title"])
        taken |= cells
        if not p["targets"] or len({t["refId"] for t in p["targets"]}) != len(p["targets"]):
            wrong.append("%s: targets" % p["title"])
        wrong += [p["title"] for d in [p["datasource"]] + [t["datasource"] for t in p["targets"]]
                  if d["uid"] != "${datasource}"]
    if len({p["id"] for p in panels}) != len(panels) or len({p["title"] for p in panels}) != len(panels):
        wrong.append("panels' ids and titles")
    variables = {v["name"] for v in board["templating"]["list"]} | {"__rate_interval"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(board)))
    if used - variables:
        wrong.append("variables that are not there: %s" % (used - variables))
    wrong += [l["url"] for l in board["links"] if l["url"].split("/")[-1] not in uids]
    check("%s: %d panels in their places, links and variables that are there"
          % (name.split("/")[-1], len(panels)), not wrong, wrong)
PY
