#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on the system's libomp, against what libomp itself reports of the same run.
# usage: tests/root/test_ompt.sh BUILD_DIRECTORY [--only PATTERN] [--threads N...]
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
start_graind || exit 1
python3 "$HERE/matrix.py" "$B" "$T" --ompt --runtime libomp "${@:2}"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
