#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on libomp, recorded from inside: as with uprobes. On other versions one program of each family, with
# FULL=1 (make check-full) every one.
# usage: tests/root/test_shim_matrix_libomp.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
export OMP_NUM_THREADS=2
start_graind || exit 1
python3 "$HERE/matrix.py" "$B" "$T" --fast --runtime libomp
[ "${FULL:-}" ] && families= || families=--families
python3 "$HERE/matrix.py" "$B" "$T" --fast --versions $families --runtime 'omp-*'
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
