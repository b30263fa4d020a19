#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fuzzes the planner for some minutes of CPU time. usage: tests/fuzz/run.sh BUILD_DIRECTORY MINUTES
# Starts from tests/fuzz/corpus-plan and from runtimes of this machine; finds are left in BUILD/fuzz.
set -eu
B=$(cd "$1" && pwd)
minutes=$2
cd "$(dirname "$0")"
work=$B/fuzz/work
mkdir -p "$work"
cp -n corpus-plan/* "$work"/ 2>/dev/null || true
for library in libgomp.so.1 libomp.so.5; do
	file=$(ldconfig -p | awk -v n="$library" '$1 == n { print $NF; exit }')
	[ -n "$file" ] && cp -n "$(realpath "$file")" "$work/$library"
done
cd "$B/fuzz"
exec nice -n 10 ./fuzz_plan -max_total_time=$((minutes * 60)) -timeout=20 -rss_limit_mb=2048 -max_len=400000 \
	-len_control=0 -print_final_stats=1 -artifact_prefix="$B/fuzz/" "$work"
