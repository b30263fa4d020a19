#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on the system's runtimes, attached to while its program repeats it: exact inside the window. Without
# EVERY=1: one program of each family with 2 threads. With EVERY=1 (make check-every): all, with 1, 2 and 4.
# usage: tests/root/constructs/test_matrix_attached.sh BUILD_DIRECTORY [--only PATTERN] [--runtime PATTERN] [--threads
# N...]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
[ "${EVERY:-}" ] || [ $# -gt 1 ] || set -- "$1" --families --threads 2
start_graind || exit 1
python3 "$HERE/constructs/matrix.py" "$B" "$T" --attached "${@:2}"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
