#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Profiles tests/omp/demo.c and draws its grain graph.
# usage: tests/demo.sh BUILD_DIRECTORY
set -eu
B=${1:?usage: tests/demo.sh BUILD_DIRECTORY}
if [ "$(id -u)" -ne 0 ]; then
	echo "the demo attaches uprobes and needs root: run 'sudo make demo'" >&2
	exit 1
fi
D=$B/demo
rm -rf "$D"
mkdir -p "$D"
export GRAIND_STATE_DIR=$PWD/$D/state GRAIND_SOCKET=$PWD/$D/graind.sock
case $D in /*) GRAIND_STATE_DIR=$D/state GRAIND_SOCKET=$D/graind.sock ;; esac
T=$(mktemp)
trap 'rm -f "$T"' EXIT

step() { printf '\n$ %s\n' "$*"; }
step "grainctl run -- $B/tests/omp/demo"
OMP_NUM_THREADS=${OMP_NUM_THREADS:-$(nproc)} "$B/grainctl" run -- "$B/tests/omp/demo" 2>"$T" || {
	cat "$T" >&2
	exit 1
}
cat "$T" >&2
job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T" | tail -1)
if [ -z "$job" ]; then
	echo "grainctl run named no job" >&2
	exit 1
fi
step "grainctl summary $job"
"$B/grainctl" summary "$job" >"$D/summary.txt"
sed -n '1,24p' "$D/summary.txt"
[ "$(wc -l <"$D/summary.txt")" -le 24 ] || echo "... ($(wc -l <"$D/summary.txt") lines in $D/summary.txt)"
step "grainctl report $job -o $D/report.svg"
"$B/grainctl" report "$job" -o "$D/report.svg"
[ -s "$D/report.svg" ]
# Whoever called sudo can open and delete what it made.
if [ -n "${SUDO_UID:-}" ]; then chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$D"; fi
printf '\nThe grain graph of the demo: %s\n' "$D/report.svg"
echo "Look at it with a web browser: hover a node for its numbers; red is the critical path."
