#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What being measured costs, as a table; tests/README.md explains it.
# usage: tests/bench/run.sh BUILD_DIRECTORY [--short] [--checks] [ROW...]
B=${1:?usage: $0 BUILD_DIRECTORY [--short] [--checks] [ROW...]}
shift
if [ "$(id -u)" -ne 0 ]; then
	echo "make bench attaches uprobes and needs root: run 'sudo make bench'" >&2
	exit 1
fi
if [ ! -x "$B/grainctl" ] || [ ! -x "$B/tests/omp/fib" ] || [ ! -x "$B/tests/tools/empty_samples" ]; then
	echo "what is measured is not built in $B: run 'sudo make bench'" >&2
	exit 1
fi
exec python3 "$(dirname "$0")/bench.py" "$B" "$@"
