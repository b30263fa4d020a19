#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every construct on libomp with 2 threads, recorded from inside: as with uprobes. On other versions one program of
# each family. With EVERY=1 (make check-every) every program, and also with 1 and 4 threads.
# usage: tests/root/shim/test_shim_matrix_libomp.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
start_graind || exit 1
families=--families threads=(--threads 2)
[ "${EVERY:-}" ] && families= threads=()
python3 "$HERE/constructs/matrix.py" "$B" "$T" --fast --runtime libomp "${threads[@]}"
python3 "$HERE/constructs/matrix.py" "$B" "$T" --fast --versions $families --runtime 'omp-*'
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
