#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Compares every construct on the system's libgomp and libomp with what its program knows. Ends with the table.
# usage: tests/root/constructs/test_matrix.sh BUILD_DIRECTORY [--all] [--markdown] [--only PATTERN,...] [--runtime
# PATTERN]
# --all: also on the versions of test_matrix_versions.sh; --markdown: only the table.
# Without EVERY=1: every construct with 2 threads, one of each family with 1 and 4. With EVERY=1 (make check-every): all
# with all.
# FEW=1: one program of each kind of event, for machines that are ten times slower.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit 1
if [ "${FEW:-}" ]; then
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --threads 4 --runtime libgomp \
		--only task_depend,for_dynamic,critical
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --threads 4 --runtime libomp --only taskloop,taskgroup,sections
elif [ "${EVERY:-}" ] || [ $# -gt 1 ]; then
	python3 "$HERE/constructs/matrix.py" "$B" "$T" "${@:2}"
else
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --threads 2
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --threads 1 4 --families
fi
stop_graind
[[ " $* " == *" --markdown "* ]] || is "graind ends cleanly" "$GRAIND_STATUS" 0
