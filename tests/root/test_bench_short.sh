#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The targets of the benchmark, with fewer repetitions than `make bench`.
# usage: tests/root/test_bench_short.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
"$ROOT/tests/bench/run.sh" "$B" --short --checks || true
