#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost ceiling if probes cannot be paused, as on kernels without uprobe_multi. A program that costs too much is no
# longer recorded, and samples go on. This test runs alone, because such probes take long.
# usage: tests/root/record/test_ceiling_perf.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
PROGRAMS=$B/tests/omp
export GRAIND_CONFIG=$T/graind.conf GRAIND_ATTACH=perf
settings "keep-days = 30"
start_graind || exit 1
# With 5 percent, samples are possible on slow machines, too.
"$PROGRAMS/fib" 36 36 50 >/dev/null & P=$!
PIDS+=("$P")
sleep 0.2
job=$("$GRAINCTL" attach --ceiling 5 "$P" 2>/dev/null | sed -n 's/^job //p')
is "perf: only samples are left, which nobody had to ask for" \
	"$(becomes "$job" "j['method'] == 'perf' and bool(j['ceiling']) and j['ceiling']['mode'] == 'samples'")" True
check "perf: a note tells" grep -q "tasks and loops are recorded no more" <(of_job "$job" "j['notes']")
settings "process-ceiling-percent = 50"
reload
# Waits until it has used a second of CPU time from now on, however many other programs run.
used() { awk '{ print $14 + $15 }' "/proc/$P/stat"; }
until_used=$(($(used) + $(getconf CLK_TCK)))
for _ in $(seq 1200); do [ "$(used)" -lt "$until_used" ] || break; sleep 0.1; done
is "perf: and it stays so, whatever is reloaded" \
	"$(of_job "$job" "(j['ceiling']['mode'], j['ceiling']['windows'], j['ceiling']['percent'])")" \
	"('samples', 1, 5.0)"
"$GRAINCTL" detach "$job" >/dev/null
kill "$P"
"$GRAINCTL" summary "$job" --json >"$T/samples.summary"
is "perf: one window, nothing wrong in it" \
	"$(json 'd["recording"]["mode"], d["conservation"]["violations"]' <"$T/samples.summary")" "('windows', 0)"
is "perf: samples of the time after it, too" "$(json 'd["sampling"]["samples"] > 40' <"$T/samples.summary")" True
stop_graind
is "graind ends well" "$GRAIND_STATUS" 0
