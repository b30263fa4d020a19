#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Targets of the benchmark, with fewer repetitions than `make bench`: what an event costs, that nothing is lost, and
# that an idle graind takes nothing. With EVERY=1 (make check-every): all rows.
# usage: tests/root/grainctl/test_bench_short.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
rows=(fib1 chunks loss attaching fast-event idle)
[ "${EVERY:-}" ] && rows=()
"$ROOT/tests/bench/run.sh" "$B" --short --checks "${rows[@]}" || true
