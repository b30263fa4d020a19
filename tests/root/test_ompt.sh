#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on the system's libomp, against what libomp itself reports of the same run: recorded by probes, and
# from inside, where libgrainshim is libomp's tool beside the one that tells. From inside one program of each family with
# 2 threads; with FULL=1 (make check-full) every one with 1, 2 and 4.
# usage: tests/root/test_ompt.sh BUILD_DIRECTORY [--only PATTERN] [--threads N...]
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
start_graind || exit 1
python3 "$HERE/matrix.py" "$B" "$T" --ompt --runtime libomp "${@:2}"
few=(--families --threads 2)
[ "${FULL:-}" ] && few=()
[ $# -gt 1 ] && few=("${@:2}")
python3 "$HERE/matrix.py" "$B" "$T" --ompt --fast --runtime libomp "${few[@]}"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
