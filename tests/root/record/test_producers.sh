#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Probes and libgrainshim are interchangeable: a program has the same graph, whichever of them records it. Without
# EVERY=1: some constructs. With EVERY=1 (make check-every): all whose graph is the same in each run.
# usage: tests/root/record/test_producers.sh BUILD_DIRECTORY [CONSTRUCT...]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
few=(nested for_dynamic_chunk sections single_copyprivate task_depend task_reduction taskloop_large taskgroup)
[ "${EVERY:-}" ] && few=()
[ $# -gt 1 ] && few=("${@:2}")
start_graind || exit 1
python3 "$HERE/record/producers.py" "$B" "${few[@]}"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
