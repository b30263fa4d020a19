#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every way of recording, asked for by users without rights of a graind that runs as its unit says: its own user, its
# capabilities, its sandbox. What is recorded is compared elsewhere;
# here it is that nothing in the unit is in the way of it.
# usage: tests/vm/test_service_recording.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/service_lib.sh"

START=$(date +%s)
install_package
users
forever alice 6000000
P=$PROGRAM

# recorded NAME USER COMMAND...: as the user, at home; the job's summary is in $T/summary
recorded()
{
	local name=$1 user=$2
	shift 2
	# shellcheck disable=SC2016
	if ! as "$user" sh -c 'cd && OMP_NUM_THREADS=2 exec "$@"' sh "$@" >"$T/out" 2>&1; then
		not_ok "$name" "$(tail -5 "$T/out")"
		return 1
	fi
	JOB=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/out" | tail -1)
	until_is 30 finished job_state "${JOB:-0}"
	as "$user" grainctl summary "${JOB:-0}" --json >"$T/summary" 2>"$T/err" || {
		not_ok "$name" "$(cat "$T/out" "$T/err")"
		return 1
	}
	is "$name: nothing lost, times add up" \
		"$(json 'd["events"]["lost"], d["conservation"]["violations"]' <"$T/summary")" "(0, 0)"
}

# doctor NAME: what it says of that to alice
doctor() { as alice grainctl doctor --json | json "[c['result'] for c in d['checks'] if c['name'] == '$1']"; }

# --- what is missing, and where that comes from ----------------------------
mv /usr/lib/graind/libgrainshim.so "$T/"
is "without the library doctor says how the package brings it" \
	"$(as alice grainctl doctor --json |
		json "[(c['result'], c['command']) for c in d['checks'] if c['name'] == 'recording inside']")" \
	"[('limited', 'sudo apt-get install --reinstall ./graind_*.deb')]"
mv "$T/libgrainshim.so" /usr/lib/graind/

# --- from inside ---------------------------------------------------------
recorded "run --fast" alice grainctl run --fast -- ./fib 16 16
is "run --fast: from inside, with every task" "$(json 'd["source"], d["grains"]["total"]' <"$T/summary")" \
	"('shim', $(sed -n 's/.*"tasks":\([0-9]*\).*/\1/p' "$T/out"))"
recorded "attach --fast" alice grainctl attach --fast "$P" --duration 1
is "attach --fast: from inside, of a program that ran" \
	"$(json 'd["source"], d["grains"]["total"] > 10' <"$T/summary")" "('shim', True)"
as bob grainctl attach --fast "$P" --duration 1 >"$T/bob" 2>&1
is "attach --fast: another user is refused, in one line" "$? $(wc -l <"$T/bob")" "3 1"
check "the program goes on" kill -0 "$P"

# --- counters and samples ------------------------------------------------
recorded "--counters" alice grainctl run --counters page-faults,task-clock -- ./fib 20 8
is "--counters: both are counted" \
	"$(json '[(c["name"], c["available"], c["sum"] > 0) for c in d["counters"]]' <"$T/summary")" \
	"[('page-faults', True, True), ('task-clock', True, True)]"
recorded "--sample" alice grainctl run --sample -- ./fib 40 10
is "--sample: samples in the program's functions, none lost" \
	"$(json '(d["sampling"]["samples"] > 20, d["sampling"]["lost"],
		any("fib" in str(f) for f in d["sampling"]["functions"]))' <"$T/summary")" "(True, 0, True)"
recorded "--sample-only" bob grainctl run --sample-only -- ./fib 40 10
is "--sample-only" "$(json 'd["source"], d["sampling"]["samples"] > 20' <"$T/summary")" "('samples', True)"

# --- the report ----------------------------------------------------------
recorded "a run" alice grainctl run -- ./fib 18 8
check "the HTML report, by grainctl" \
	as alice sh -c "cd && grainctl report $JOB --format html -o report.html && grep -qi '<html' report.html"
curl_as() { as "$1" curl -sS -o "$T/page" -w '%{http_code}' --unix-socket /run/graind/graind.sock "http://graind$2"; }
chmod 777 "$T"
is "doctor counts what graind may, not what alice may" "$(doctor capabilities) $(doctor 'recording inside')" \
	"['yes'] ['yes']"
is "and by graind's own worker, under the unit" \
	"$(curl_as alice "/v1/jobs/$JOB/report?format=html") $(grep -ci '<html' "$T/page")" "200 1"
rm -f "$T/page"
is "not for bob" "$(curl_as bob "/v1/jobs/$JOB/report?format=html")" 404

# --- settings ------------------------------------------------------------
cp /etc/graind/graind.conf "$T/before.conf"
jobs_of() { as "$1" grainctl jobs --all --json | json 'len(d["jobs"])'; }
sessions() { grainctl jobs --json | json '[(j["user"], j["state"]) for j in d["jobs"] if not j["pid"]]'; }
BOBS=$(jobs_of bob)
printf 'rule {\n  user = bob\n  profile = always\n}\n' >>/etc/graind/graind.conf
check "systemctl reload graind" systemctl reload graind
check "the settings are in force" until_is 20 1 sh -c 'grainctl status | grep -c "always: user bob"'
check "a session takes his programs" until_is 20 "[('root', 'running')]" sessions
as bob sh -c 'cd && OMP_NUM_THREADS=2 ./fib 38 10' >/dev/null
check "a program of bob's is recorded, unasked" until_is 30 $((BOBS + 1)) jobs_of bob
JOB=$(last_job bob)
until_is 30 finished job_state "$JOB"
is "all of it" "$(as bob grainctl summary "$JOB" --json | json 'd["grains"]["total"], d["events"]["lost"]')" "(2046, 0)"

# --- opting out ----------------------------------------------------------
check "bob opts out" as bob grainctl optout on
as bob sh -c 'cd && OMP_NUM_THREADS=2 ./fib 38 10' >/dev/null
as bob sh -c 'cd && exec grainctl run -- ./fib 16 6' >"$T/out" 2>&1
is "his program runs all the same, unrecorded, and he is told why" \
	"$? $(grep -c '"correct":true' "$T/out") $(grep -c 'you have opted out' "$T/out") $(jobs_of bob)" \
	"0 1 1 $((BOBS + 1))"
check "root is told" sh -c 'grainctl status | grep -qx "not recorded, as they have opted out: bob"'
check "it lasts over a restart" systemctl restart graind
is "whoever asks" "$(as bob grainctl status --json | json 'd["opted_out"]')" True
check "bob opts in again" as bob grainctl optout off
cp "$T/before.conf" /etc/graind/graind.conf
echo 'keep-days = many' >>/etc/graind/graind.conf
systemctl reload graind
check "settings that are wrong are told, the old ones stay" until_is 20 "1 1" \
	sh -c 'echo $(grainctl status | grep -c keep-days) $(grainctl status | grep -c "always: user bob")'
is "doctor tells it, too" "$(doctor settings)" "['no']"
cp "$T/before.conf" /etc/graind/graind.conf
# shellcheck disable=SC2016
echo 'report-directory = "/home/%u/graind"' >>/etc/graind/graind.conf
systemctl reload graind
check "right again" until_is 20 0 sh -c 'grainctl status | grep -c -e keep-days -e always:'

# --- report-directory ----------------------------------------------------
is "doctor sees that the unit does not let summaries out" "$(doctor settings) $(doctor 'report directory')" \
	"['yes'] ['no']"
mkdir -p /run/systemd/system/graind.service.d
printf '[Service]\nProtectHome=no\n' >/run/systemd/system/graind.service.d/reports.conf
systemctl daemon-reload
check "with what graind.conf(5) says for /home" systemctl restart graind
is "it does" "$(doctor 'report directory')" "['yes']"
recorded "a rank of an MPI job" alice env PMIX_RANK=0 PMIX_NAMESPACE=prterun-guest-1@1 OMPI_COMM_WORLD_RANK=0 \
	OMPI_COMM_WORLD_SIZE=1 grainctl run -- ./fib 16 6
is "its summary is alice's, in her own directory" "$(find /home/alice/graind -name '*.json' -printf '%u\n')" alice
rm -r /run/systemd/system/graind.service.d
cp "$T/before.conf" /etc/graind/graind.conf
systemctl daemon-reload
systemctl restart graind

# --- metrics -------------------------------------------------------------
METRICS=http://127.0.0.1:9464
curl -sS --max-time 5 $METRICS/metrics >/dev/null 2>&1
is "no metrics for everybody unless an administrator wants it" $? 7
is "doctor says how to have them" "$(doctor metrics)" "['limited']"
check "graind-metrics.socket is enabled" systemctl enable graind-metrics.socket
check "which a restart brings along" systemctl restart graind
is "the service and both its sockets" \
	"$(state SubState) $(state SubState graind.socket) $(state SubState graind-metrics.socket)" \
	"running running running"
is "doctor sees them" "$(doctor metrics)" "['yes']"
scrape() { curl -sS --max-time 10 $METRICS/metrics; }
recorded "a run beside it" alice grainctl run -- ./fib 16 6
is "the job of a user is in them" \
	"$(scrape | grep -c "^graind_job_grains_total{job=\"$JOB\".*} 126$\|^graind_jobs_started_total 1$\|^# EOF$")" 3
is "nothing else is there" "$(curl -sS -o /dev/null -w '%{http_code}' --max-time 5 $METRICS/v1/jobs)" 404
systemctl stop graind
check "a scrape starts a graind that was stopped" sh -c "curl -sS --max-time 20 $METRICS/metrics | grep -q '^# EOF'"
is "it runs" "$(state ActiveState)" active
check "off again" sh -c 'systemctl disable graind-metrics.socket && systemctl stop graind-metrics.socket &&
	systemctl restart graind'
curl -sS --max-time 5 $METRICS/metrics >/dev/null 2>&1
is "and closed" "$? $(state ActiveState)" "7 active"

# --- names ---------------------------------------------------------------
unit_of() { grainctl jobs --all --json | json "[j['batch'] for j in d['jobs'] if j['job'] == $1][0]"; }
check "a program in a scope" systemd-run --quiet --scope --unit=simulation --uid=alice \
	sh -c 'cd /home/alice && exec grainctl run -- ./fib 16 6'
JOB=$(last_job alice)
is "has the scope's name" "$(unit_of "$JOB")" unit:simulation.scope
BEFORE=$(last_job alice)
check "one in a service" systemd-run --quiet --unit=nightly --uid=alice --working-directory=/home/alice \
	grainctl run -- ./fib 16 6
until_is 30 $((BEFORE + 1)) last_job alice
JOB=$((BEFORE + 1))
until_is 30 finished job_state $JOB
is "has the service's" "$(unit_of "$JOB")" unit:nightly.service

kill "$P"
is "nothing of the sandbox was in the way" \
	"$(journalctl -q -u graind.service -o cat --since "@$START" |
		grep -i -e 'not permitted' -e 'permission denied')" ""
check "the package is purged" dpkg -P graind
