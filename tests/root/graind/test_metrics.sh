#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What graind tells Prometheus: true numbers, each user sees only what is theirs, few series. The real Prometheus
# scrapes it from three machines that differ in their network.
# usage: tests/root/graind/test_metrics.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
# The loops pause, to leave the CPUs to the tests beside this one.
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
. "$(dirname "$0")/../fleet/three_nodes.sh"

NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)
scrape() { curl -s --unix-socket "$GRAIND_SOCKET" http://graind/metrics; }
# value SAMPLE: its value in $T/metrics, where scrape has left it
value() { grep -F -- "$1 " "$T/metrics" | awk '{ print $NF }'; }

start_graind || exit 1
scrape >"$T/metrics"
is "nothing has happened yet" \
	"$(value graind_jobs_started_total) $(value graind_events_total) $(value 'graind_jobs{state="running"}')" \
	"0 0 0"
is "it is told what it is" \
	"$(curl -s -o /dev/null -w '%{content_type}' --unix-socket "$GRAIND_SOCKET" http://graind/metrics)" \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"

chmod 755 "$T" && mkdir -m 777 "$T/nobody" && cp "$B/tests/omp/demo" "$T/nobody/a\"b\\c"
check "a job" "$GRAINCTL" run -- "$B/tests/omp/demo"
(cd "$T/nobody" && check "a job of another user" "${NOBODY[@]}" "$GRAINCTL" run -- './a"b\c')
"$GRAINCTL" attach 999999999 >/dev/null 2>&1
start_loop env OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 3600000 /dev/null
"${NOBODY[@]}" "$GRAINCTL" attach "$P" >/dev/null 2>&1
"$GRAINCTL" attach "$P" --duration 3600 --ceiling 0.5 >/dev/null 2>&1 & PIDS+=($!)
has_ceiling()
{
	scrape | tee "$T/metrics"
	[ "$(value 'graind_jobs{state="running"}')" = 1 ] && [ "$(value 'graind_job_grains_total{job="3"}')" != 0 ] &&
		grep -q 'graind_job_ceiling_mode{job="3",mode="[ws]' "$T/metrics"
}
until_so "a job with a ceiling" has_ceiling
"$GRAINCTL" summary 1 --json >"$T/1" && "$GRAINCTL" summary 2 --json >"$T/2"
is "jobs" \
	"$(value graind_jobs_started_total) $(value 'graind_jobs_ended_total{state="finished"}') $(
		value 'graind_jobs{state="running"}')" "3 2 1"
is "what was refused, by reason" \
	"$(value 'graind_attach_refused_total{reason="no_process"}') $(
		value 'graind_attach_refused_total{reason="denied"}')" "1 1"
/usr/bin/python3 - "$T" <<'PY'
import json, re, sys
base = sys.argv[1]
text = open(base + "/metrics").read()
one, two = (json.load(open(base + "/" + n)) for n in "12")
values = dict(re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.M))


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:800])


def close(name, expected):
    got = float(values.get(name, "nan"))
    check("%s is what the summary says" % name, abs(got - expected) <= 1e-6 * max(1, abs(expected)), (got, expected))


close('graind_job_grains_total{job="1"}', one["grains"]["total"])
close('graind_job_events_total{job="1"}', one["events"]["seen"])
close('graind_job_average_parallelism{job="1"}', one["average_parallelism"])
close('graind_job_overhead_ratio{job="1"}', one["overhead"]["percent"] / 100)
account = one["account"]
lost = [account["causes_ns"], two["account"]["causes_ns"]]
close('graind_job_lost_ratio{job="1"}', 1 - (lost[0]["useful"] + lost[0]["serial_work"]) / account["capacity_ns"])
told = {re.search('cause="(.*)"', k).group(1): float(v) for k, v in values.items()
        if k.startswith("graind_job_lost_core_seconds_total")}
check("what the ended jobs lost, by every cause", sorted(told) == sorted(set(lost[0]) - {"useful", "serial_work"}) and
      all(abs(told[c] - sum(l[c] for l in lost) / 1e9) < 0.01 + 0.01 * told[c] for c in told), (told, lost))
check("of all their core-time", abs(float(values["graind_job_core_seconds_total"]) -
      (account["capacity_ns"] + two["account"]["capacity_ns"]) / 1e9) < 0.05, values)
for name, problem in one["problems"].items():
    if problem["available"]:
        close('graind_job_problem_ratio{job="1",problem="%s"}' % name, problem["percent"] / 100)
threads = one["scheduler"]["threads"]
close('graind_job_preempted_ratio{job="1"}',
      sum(t["preempted_ns"] for t in threads) / sum(t["last_ns"] - t["first_ns"] for t in threads))
# While the job runs. How near this is to the summary: record/test_live_numbers.sh.
live = json.load(open(base + "/state/jobs/1/job.json"))
check("threads that executed its code as it was said live: %.3f of %d" % (live["busy_threads"], len(threads)),
      0 < live["busy_threads"] <= len(threads))
check("the same to Prometheus", abs(float(values['graind_job_busy_threads{job="1"}']) - live["busy_threads"]) < 1e-6)
check("preempted as it was said live: %.3f %%" % live["preempted_percent"], 0 <= live["preempted_percent"] < 100)
three = {k.split("{")[0]: float(v) for k, v in values.items() if 'job="3"' in k}
check("of a job that runs: busy threads, preempted", 0 < three["graind_job_busy_threads"] <= 2 and
      0 <= three["graind_job_preempted_ratio"] < 1 and "graind_job_average_parallelism" not in three, three)
check("what its ceiling allows and what is recorded", three["graind_job_ceiling_ratio"] == 0.005 and
      0 < three["graind_job_recorded_ratio"] < 1 and 0 < three["graind_job_ceiling_cost_ratio"] < 1, three)
check("and how, of one alone", [k for k in values if k.startswith("graind_job_ceiling")] and not
      [k for k in values if k.startswith("graind_job_ceiling") and 'job="3"' not in k], values)
check("jobs with a ceiling, by how they are recorded",
      [values['graind_jobs_ceiling{mode="%s"}' % m] for m in ("all", "windows", "samples")] ==
      (["0", "1", "0"] if '"windows"' in "".join(k for k in values if "ceiling_mode" in k)
       else ["0", "0", "1"]) and values['graind_ceiling_ratio{of="process"}'] == "0", values)
check("what was lost, by cause", {re.search('cause="(.*)"', k).group(1): v for k, v in values.items()
                                  if k.startswith("graind_lost_events_total")} ==
      dict.fromkeys(("ring-full", "ring-overwritten", "thread-state", "unknown-bodies", "not-written", "shim"), "0") and
      one["events"]["lost"] == two["events"]["lost"] == 0, values)
check("the totals are of all jobs", float(values["graind_grains_total"]) >=
      one["grains"]["total"] + two["grains"]["total"] +
      float(values['graind_job_grains_total{job="3"}']) > 9200, values)
check("a name that is no label is escaped", r'command="a\"b\\c"' in text, re.findall("graind_job_info.*", text))
check("it ends as it has to", text.endswith("# EOF\n"))
series = [l for l in text.splitlines() if l and l[0] != "#"]
of = {}
for line in series:
    job = re.search(r'[{,]job="(\d+)"', line)
    of[job and job.group(1)] = of.get(job and job.group(1), 0) + 1
check("at most 300 series of the node and of what has ended, 30 of a job that runs",
      of[None] + of["1"] + of["2"] <= 300 and of["3"] <= 30 and 8 * max(of["1"], of["2"]) + of[None] <= 300, of)
check("no series twice", len(set(l.rsplit(" ", 1)[0] for l in series)) == len(series))
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    families = list(text_string_to_metric_families(text))
    check("the parser of Prometheus' client library reads it (%d families)" % len(families), len(families) > 15)
except ImportError:
    print("skip - the parser of Prometheus' client library reads it: no python3-prometheus-client: run 'make deps'")
except ValueError as error:
    check("the parser of Prometheus' client library reads it", False, error)
PY
# Values of a running job that need a graph: the same by each way. They are of its latest part, and a new one comes
# every ten seconds: the first and the last of these looks are at the same.
start_loop env OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 3600000 /dev/null
"$GRAINCTL" attach "$P" >"$T/out"
ask_job() { curl -s --unix-socket "$GRAIND_SOCKET" http://graind/v1/jobs/4; }
seen_each_way()
{
	ask_job >"$T/job"
	scrape >"$T/running"
	COLUMNS=160 "$GRAINCTL" top --once >"$T/top"
	json 'd["average_parallelism"]' <"$T/job"
	[ "$(json 'd["average_parallelism"]' <"$T/job")" != None ] &&
		[ "$(ask_job | json 'd["average_parallelism"]')" = "$(json 'd["average_parallelism"]' <"$T/job")" ]
}
until_so "a job that runs has been analysed" seen_each_way
"$GRAINCTL" detach 4 >/dev/null && "$GRAINCTL" summary 4 --json >"$T/4"
scrape >"$T/metrics"
/usr/bin/python3 - "$T" <<'PY'
import json, re, sys
base = sys.argv[1]
running, ended = (dict(re.findall(r'^([a-z_]+\{job="4".*\}) (\S+)$', open(base + "/" + n).read(), re.M))
                  for n in ("running", "metrics"))
job, summary = (json.load(open(base + "/" + n)) for n in ("job", "4"))


def check(what, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print("# " + str(detail)[:800])


par = 'graind_job_average_parallelism{job="4"}'
check("a job that runs", running.get('graind_job_running{job="4"}') == "1"
      and ended.get('graind_job_running{job="4"}') == "0", running)
check("its average parallelism: %s, that of the whole: %s" % (running.get(par), ended.get(par)),
      0 < float(running.get(par, "nan")) <= 2, running)
whole = summary["average_parallelism"]
check("that of the whole is what the summary says", abs(float(ended.get(par, "nan")) - whole) < 1e-6 * whole, ended)
check("the same in JOB", job["average_parallelism"]
      and abs(job["average_parallelism"] - float(running.get(par, "nan"))) < 1e-6 * job["average_parallelism"], job)
available = {n for n, p in summary["problems"].items() if p["available"]}
shares = {re.search('problem="(.*?)"', k).group(1): float(v) for k, v in running.items() if "problem_ratio" in k}
check("its problems are those that the summary has: %s" % sorted(available),
      set(shares) == available and len(available) >= 3, shares)
check("parts of the grains: %s" % shares, all(0 <= share <= 1 for share in shares.values()), shares)
check("30 series at most: %d" % len(running), len(running) <= 30, sorted(running))
top = open(base + "/top").read()
check("top shows it", re.search(r"\bPAR\b", top) and
      re.search(r"^ +4 .* %.1f " % job["average_parallelism"], top, re.M), top)
PY
"${NOBODY[@]}" curl -s --unix-socket "$GRAIND_SOCKET" http://graind/metrics >"$T/metrics"
is "a user sees its own jobs" "$(grep -o '^graind_job_[a-z_]*{job="[0-9]*"' "$T/metrics" | sed 's/.*{//' | sort -u)" \
	'job="2"'
is "and of others how many there are" "$(value graind_jobs_started_total)" 4
# of_fib EXPRESSION: whether it holds for the job j of the program fib that runs
of_fib()
{
	"$GRAINCTL" jobs --json | json "[(lambda j: $1)(j) for j in d['jobs'] if 'fib' in j['cmd']]" |
		grep -x '\[True\]'
}
loses()
{
	kill -STOP "$GRAIND_PID"
	sleep 1 # pace: the program fills the rings, now or the next time
	kill -CONT "$GRAIND_PID"
	of_fib 'j["lost"] > 0'
}
# graind is stopped for a while. Events are then lost, by probes and from inside. Each of them counts for one cause.
for way in --no-fast --fast; do
	"$GRAINCTL" run $way -- "$B/tests/omp/fib" 30 30 100 >/dev/null 2>"$T/err" & RUN=$!
	PIDS+=("$RUN")
	until_so "fib $way is recorded" of_fib 'j["grains"] > 1000'
	until_so "events of fib $way are lost" loses
	"$GRAINCTL" detach \
		"$("$GRAINCTL" jobs --json | json '[j["job"] for j in d["jobs"] if "fib" in j["cmd"]][0]')" >/dev/null
	kill $(pgrep -P "$RUN" -x fib); wait "$RUN"
done
scrape >"$T/metrics"
"$GRAINCTL" jobs --all --json >"$T/jobs"
is "lost by probes and from inside: each by its cause" \
	"$(json '[sorted(j["lost_by"]) for j in sorted(d["jobs"], key=lambda j: j["job"]) if "fib" in j["cmd"]]' \
		<"$T/jobs")" "[['ring-full'], ['shim']]"
for job in \
	$(json '" ".join(str(j["job"]) for j in sorted(d["jobs"], key=lambda j: j["job"]) if "fib" in j["cmd"])' \
		<"$T/jobs"); do
	"$GRAINCTL" summary "$job" --json >"$T/lossy"
	# The summary has a finer name for what was lost from inside. It also counts what was left open because of the
	# loss.
	is "its summary says the same of job $job" \
		"$(json 'd["events"]["losses"] and max(d["events"]["losses"], key=d["events"]["losses"].get)' \
			<"$T/lossy") $(json '(sum(n for c, n in d["events"]["losses"].items()
				if not c.startswith(("unclosed-", "unmatched-", "mismatched-")))
				== d["events"]["lost"])' <"$T/lossy")" \
		"$(json "[max(j['lost_by'], key=j['lost_by'].get) for j in d['jobs']
			if j['job'] == $job][0].replace('shim', 'shim-ring-full')" <"$T/jobs") True"
done
is "the causes of a job add up to what it lost" \
	"$(json 'all(sum(j["lost_by"].values()) == j["lost"] for j in d["jobs"])' <"$T/jobs")" True
is "to Prometheus: the sums over jobs" \
	"$(value 'graind_lost_events_total{cause="ring-full"}') $(value 'graind_lost_events_total{cause="shim"}')" \
	"$(json '" ".join(str(sum(j["lost_by"].get(c, 0) for j in d["jobs"])) for c in ("ring-full", "shim"))' \
		<"$T/jobs")"
is "and top's sum is of all causes" "$("$GRAINCTL" top --once --json | json 'int(d["graind"]["lost_events"])')" \
	"$(json 'sum(j["lost"] for j in d["jobs"])' <"$T/jobs")"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0

for where in nonsense:x :1 1.2.3.4.5:80 localhost:80 127.0.0.1: 99999 ''; do
	timeout "${PATIENCE:-120}" "$B/graind" --foreground --state-dir "$T/state" --socket "$T/x.sock" \
		--metrics "$where" >"$T/out" 2>&1
	is "--metrics '$where': refused in one line" "$? $(wc -l <"$T/out")" "1 1"
done

# --- three machines, one Prometheus --------------------------------------
PORT=$(free_ports 1)
start_nodes "scraped by Prometheus" graind 10.213 "$PORT"
ask() {
	curl -sG http://127.0.0.1:$PORT/api/v1/query --data-urlencode "query=$1" |
		json '" ".join(sorted("%s:%s" % (r["metric"].get("instance", "").split(":")[0][-3:], r["value"][1])
			for r in d["data"]["result"]))'
}
# asks EXPECTED QUERY: waits until the query has this answer. A later one may be another: Prometheus asks each second,
# and waits for a second.
asks() { until_so "Prometheus: $2" answers "$@" && ok "Prometheus: $2"; }
answers()
{
	local answer
	answer=$(ask "$2")
	echo "$answer"
	[ "$answer" = "$1" ]
}
asks "1.2:1 2.2:1 3.2:1" 'up{job="graind"}'
check "a job on the second of them" on 2 run -- "$B/tests/omp/demo"
asks "1.2:0 2.2:4600 3.2:0" graind_grains_total
asks "2.2:1" 'graind_job_problem_ratio{problem="parallel_benefit"} > bool 0.5'
kill -KILL "${NODE[3]}"
asks "1.2:1 2.2:1 3.2:0" 'up{job="graind"}'
is "nothing but metrics is there" "$(curl -s -o /dev/null -w '%{http_code} ' http://10.213.1.2:9464/v1/jobs
	curl -s -o /dev/null -w '%{http_code}' -X POST http://10.213.1.2:9464/metrics)" "404 405"
# Clients that say nothing, or too much, stop nobody else from asking. They are let go after some time.
HANG=()
for _ in $(seq 20); do
	{ exec 3<>/dev/tcp/10.213.1.2/9464 && exec cat <&3; } >/dev/null 2>&1 &
	HANG+=($!)
done
PIDS+=("${HANG[@]}")
get() { curl -sf -m "${PATIENCE:-120}" -o /dev/null http://10.213.1.2:9464/metrics; }
head -c 100000 /dev/zero | tr '\0' a | curl -s -m "${PATIENCE:-120}" -o /dev/null -H @- http://10.213.1.2:9464/metrics
check "beside clients that hang it answers" get
until_so "clients that hang are let go" eval '! kill -0 "${HANG[@]}" 2>/dev/null'
check "after clients that hang it still answers" get
for i in 1 2; do
	kill -TERM "${NODE[i]}"
	wait "${NODE[i]}"
	is "node $i ends cleanly" "$?" 0
done
