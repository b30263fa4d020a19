#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fuzzes for some minutes. usage: tests/fuzz/run.sh BUILD_DIRECTORY MINUTES
# [plan|find|loops|log|trace|words|shim|policy|api|adopt]
# plan: the probe planner, starts from tests/fuzz/corpus-plan and from runtimes of this machine; find: the search for
# runtimes, from tests/fuzz/corpus-find; loops: the search for static loops, from tests/fuzz/corpus-loops; log and
# trace: the analysis, start from tests/fuzz/corpus-log and corpus-trace, log also from tests/data; words: the analysis
# on what a process wrote by itself; shim: the rings that it shares; policy: graind.conf and what cgroups are called;
# api: requests; adopt: job.json of an older graind, which its user could write. Finds are left in BUILD/fuzz.
set -eu
B=$(cd "$1" && pwd)
minutes=$2
what=${3:-plan}
cd "$(dirname "$0")"
work=$B/fuzz/work-$what
mkdir -p "$work"
cp -n "corpus-$what"/* "$work"/ 2>/dev/null || true
options=(-max_total_time=$((minutes * 60)) -timeout=120 -rss_limit_mb=2048 -print_final_stats=1)
case $what in
plan)
	for library in libgomp.so.1 libomp.so.5; do
		file=$(ldconfig -p | awk -v n="$library" '$1 == n { print $NF; exit }')
		[ -n "$file" ] && cp -n "$(realpath "$file")" "$work/$library"
	done
	options+=(-max_len=400000 -len_control=0)
	;;
log)
	cp -n ../data/*.log ../data/mir_*.csv "$work"/
	options+=(-max_len=12000 -dict="$PWD/log.dict")
	;;
find | loops) options+=(-max_len=20000) ;;
trace) options+=(-max_len=32000) ;;
words) options+=(-max_len=4000) ;;
shim) options+=(-max_len=1000) ;;
policy | api | adopt) options+=(-max_len=4000) ;;
esac
cd "$B/fuzz"
exec nice -n 10 "./fuzz_$what" "${options[@]}" -artifact_prefix="$B/fuzz/" "$work"
