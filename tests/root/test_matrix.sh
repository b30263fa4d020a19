#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on every runtime, against what its program knows; ends with the table.
# usage: tests/root/test_matrix.sh BUILD_DIRECTORY [--markdown] [--only PATTERN] [--runtime PATTERN]
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
start_graind || exit 1
python3 "$HERE/matrix.py" "$B" "$T" "${@:2}"
stop_graind
[[ " $* " == *" --markdown "* ]] || is "graind ends cleanly" "$GRAIND_STATUS" 0
