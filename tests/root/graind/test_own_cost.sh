#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind's threads have names of their own. What they take of the program's CPUs is counted as the cost of measuring.
# usage: tests/root/graind/test_own_cost.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit

export OMP_WAIT_POLICY=active OMP_NUM_THREADS
OMP_NUM_THREADS=$(nproc)
"$B/tests/omp/fib" 24 24 1000 >/dev/null 2>&1 & FIB=$!
PIDS+=("$FIB")
for _ in $(seq 2400); do grep -q libgomp "/proc/$FIB/maps" && break; sleep 0.05; done
sleep 0.2
"$GRAINCTL" attach "$FIB" >"$T/job"
JOB=$(sed -n 's/^job //p' "$T/job")
"$GRAINCTL" jobs >/dev/null
names=$(cat /proc/"$GRAIND_PID"/task/*/comm | grep -v '^graind' | sort -u | tr '\n' ' ')
is "all of graind's threads have names of their own" "$names" ""
check "the one that empties rings is one of them" grep -qx graind-drain /proc/"$GRAIND_PID"/task/*/comm
sleep 1
"$GRAINCTL" detach "$JOB" >/dev/null
kill "$FIB"
wait "$FIB" 2>/dev/null
"$GRAINCTL" summary "$JOB" --json >"$T/summary"
own=$(json '[n["command"] for n in d["scheduler"]["neighbours"] if n["measuring"]]' <"$T/summary")
check "graind is among those that took the program's CPUs, and known as such" grep -q graind- <<<"$own"
# A worker is called exe until it has named itself.
is "nobody else is taken for it" "$(json '" ".join(n["command"] for n in d["scheduler"]["neighbours"]
	if n["measuring"] and n["command"][:6] != "graind" and n["command"] != "exe")' <"$T/summary")" ""
stop_graind
is "graind ends properly" "$GRAIND_STATUS" 0
