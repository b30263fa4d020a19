#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Compares every construct on the system's libomp with what libomp itself reports of the same run. It is recorded by
# probes, and from inside: libgrainshim is then libomp's tool beside the tool that reports. With 2 threads; from
# inside, one program of each family. With EVERY=1 (make check-every): every program, with 1, 2 and 4 threads.
# usage: tests/root/constructs/test_ompt.sh BUILD_DIRECTORY [--only PATTERN] [--threads N...]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit 1
all=(--threads 2) few=(--families --threads 2)
[ "${EVERY:-}" ] && all=() few=()
[ $# -gt 1 ] && all=("${@:2}") few=("${@:2}")
python3 "$HERE/constructs/matrix.py" "$B" "$T" --ompt --runtime libomp "${all[@]}"
python3 "$HERE/constructs/matrix.py" "$B" "$T" --ompt --fast --runtime libomp "${few[@]}"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
