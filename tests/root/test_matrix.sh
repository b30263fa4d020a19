#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on the system's libgomp and libomp, against what its program knows; ends with the table.
# usage: tests/root/test_matrix.sh BUILD_DIRECTORY [--all] [--markdown] [--only PATTERN,...] [--runtime PATTERN]
# --all: also on the versions of test_matrix_versions.sh; --markdown: nothing but the table.
# FEW=1: one program of each kind of event, for machines that take ten times as long.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
[ "${FEW:-}" ] && set -- "$@" --threads 4 --only task_depend,taskloop,taskgroup,for_dynamic,sections,critical
start_graind || exit 1
python3 "$HERE/matrix.py" "$B" "$T" "${@:2}"
stop_graind
[[ " $* " == *" --markdown "* ]] || is "graind ends cleanly" "$GRAIND_STATUS" 0
