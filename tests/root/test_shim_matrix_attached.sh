#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Constructs on libgomp, recorded from inside after `attach --fast` while their programs repeat them: exact inside the window.
# By itself one program of each family with 2 threads; with FULL=1 (make check-full) every program, with 1, 2 and 4.
# usage: tests/root/test_shim_matrix_attached.sh BUILD_DIRECTORY [--only PATTERN] [--threads N...]
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
[ "${FULL:-}" ] || [ $# -gt 1 ] || set -- "$1" --families --threads 2
start_graind || exit 1
python3 "$HERE/matrix.py" "$B" "$T" --attached --fast --runtime libgomp "${@:2}"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
