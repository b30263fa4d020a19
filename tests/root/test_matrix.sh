#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on the system's libgomp and libomp, against what its program knows; ends with the table.
# usage: tests/root/test_matrix.sh BUILD_DIRECTORY [--all] [--markdown] [--only PATTERN,...] [--runtime PATTERN]
# --all: also on the versions of test_matrix_versions.sh; --markdown: nothing but the table.
# FEW=1: one program of each kind of event, for machines that take ten times as long.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
start_graind || exit 1
if [ "${FEW:-}" ]; then
	python3 "$HERE/matrix.py" "$B" "$T" --threads 4 --runtime libgomp --only task_depend,for_dynamic,critical
	python3 "$HERE/matrix.py" "$B" "$T" --threads 4 --runtime libomp --only taskloop,taskgroup,sections
else
	python3 "$HERE/matrix.py" "$B" "$T" "${@:2}"
fi
stop_graind
[[ " $* " == *" --markdown "* ]] || is "graind ends cleanly" "$GRAIND_STATUS" 0
