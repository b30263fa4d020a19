#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Rules and dashboards meet a real graind in a real Prometheus. They name only metrics that exist, Prometheus
# understands every expression, and expressions about a job that ran have values.
# usage: tests/root/fleet/test_dashboards.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
# The loops pause, to leave the CPUs to the tests beside this one.
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
command -v prometheus >/dev/null || {
	skip "rules and dashboards in Prometheus" "no prometheus: run 'make deps'"
	exit 0
}

read -r GRAIND_PORT PROMETHEUS_PORT < <(free_ports 2)
mkdir -p "$GRAIND_STATE_DIR"
"$B/graind" --foreground --state-dir "$GRAIND_STATE_DIR" --socket "$GRAIND_SOCKET" \
	--metrics "127.0.0.1:$GRAIND_PORT" >"$T/graind.log" 2>&1 &
PIDS+=($!)
for _ in $(seq 2400); do "$GRAINCTL" status >/dev/null 2>&1 && break; sleep 0.05; done
cat >"$T/prometheus.yml" <<EOF
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: ['$ROOT/systemd/prometheus/*.rules.yml']
scrape_configs:
  - job_name: graind
    static_configs: [{targets: ['127.0.0.1:$GRAIND_PORT']}]
EOF
prometheus --config.file="$T/prometheus.yml" --storage.tsdb.path="$T/tsdb" \
	--web.listen-address="127.0.0.1:$PROMETHEUS_PORT" --log.level=warn >"$T/prometheus.log" 2>&1 &
PIDS+=($!)
check "a job that ends" "$GRAINCTL" run -- "$B/tests/omp/demo"
OMP_NUM_THREADS=2 "$B/tests/omp/loop_forever" 60000 /dev/null >/dev/null & P=$!; PIDS+=("$P")
check "and one that runs, which has a ceiling" "$GRAINCTL" attach --ceiling 90 "$P"
sleep 8
curl -s --unix-socket "$GRAIND_SOCKET" http://graind/metrics >"$T/metrics"
/usr/bin/python3 -B "$HERE/fleet/dashboards.py" "$ROOT" "$T/metrics" "http://127.0.0.1:$PROMETHEUS_PORT" \
	"127.0.0.1:$GRAIND_PORT"
