#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Profiles tests/omp/demo.c, a program of tasks, and tests/omp/demo_loop.c, one of loops, and writes the report of
# each as a picture and as a page.
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

# show PROGRAM NAME LINES: profiles PROGRAM, prints the first LINES lines of its summary, writes NAME.svg and NAME.html.
show()
{
	local program=$1 name=$2 lines=$3 job summary=$D/${2/report/summary}.txt
	step "grainctl run -- $program"
	OMP_NUM_THREADS=${OMP_NUM_THREADS:-$(nproc)} "$B/grainctl" run -- "$program" 2>"$T" || {
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
	"$B/grainctl" summary "$job" >"$summary"
	sed -n "1,${lines}p" "$summary"
	[ "$(wc -l <"$summary")" -le "$lines" ] || echo "... ($(wc -l <"$summary") lines in $summary)"
	step "grainctl report $job -o $D/$name.svg"
	"$B/grainctl" report "$job" -o "$D/$name.svg"
	step "grainctl report $job --format html -o $D/$name.html"
	"$B/grainctl" report "$job" --format html -o "$D/$name.html"
	[ -s "$D/$name.svg" ] && [ -s "$D/$name.html" ]
}

show "$B/tests/omp/demo" report 24
show "$B/tests/omp/demo_loop" report-loop 12
# The user who called sudo must be able to open and delete the files.
if [ -n "${SUDO_UID:-}" ]; then chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$D"; fi
printf '\nThe grain graphs of the demos as pictures: %s %s\n' "$D/report.svg" "$D/report-loop.svg"
echo "Look at the reports with a web browser: they lead from the worst problem to its source line."
printf 'The reports: %s %s\n' "$D/report.html" "$D/report-loop.html"
