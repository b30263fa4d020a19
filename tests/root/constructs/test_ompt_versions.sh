#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Like test_ompt.sh, for the versions of libomp that tests/runtimes.sh has fetched and that get every construct.
# Without EVERY=1: one program of each family with 4 threads. With EVERY=1 (make check-every): with 1, 2 and 4.
# usage: tests/root/constructs/test_ompt_versions.sh BUILD_DIRECTORY [--only PATTERN] [--runtime PATTERN] [--threads
# N...]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
[ "${EVERY:-}" ] || [ $# -gt 1 ] || set -- "$1" --families --threads 4
start_graind || exit 1
python3 "$HERE/constructs/matrix.py" "$B" "$T" --ompt --versions "${@:2}"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
