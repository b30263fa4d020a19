#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Like test_matrix.sh, for the other versions of libgomp and libomp that tests/runtimes.sh has fetched. Without
# EVERY=1: one program of each family on the versions in matrix_runtimes.FEW. With EVERY=1 (make check-every): on every
# version, and all programs on the versions in matrix_runtimes.WHOLE.
# usage: tests/root/constructs/test_matrix_versions.sh BUILD_DIRECTORY [--markdown] [--only PATTERN] [--runtime
# PATTERN]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
[ "${EVERY:-}" ] || [ $# -gt 1 ] || set -- "$1" --families
start_graind || exit 1
python3 "$HERE/constructs/matrix.py" "$B" "$T" --versions "${@:2}"
stop_graind
[[ " $* " == *" --markdown "* ]] || is "graind ends cleanly" "$GRAIND_STATUS" 0
