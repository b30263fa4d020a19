#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Constructs on libgomp and libomp, recorded from inside after `attach --fast` while their programs repeat them: exact
# inside the window. Without EVERY=1: one program of each family with 2 threads, and a few on the other versions that
# tests/runtimes.sh has fetched. With EVERY=1 (make check-every): every program, with 1, 2 and 4, and on those versions
# as in test_matrix_versions.sh. With `address` or `thread` the library is built with ASan and UBSan, or with TSan;
# then one program of each family runs.
# usage: tests/root/shim/test_shim_matrix_attached.sh BUILD_DIRECTORY [address|thread] [--only PATTERN] [--threads
# N...]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
FEW=parallel,for_dynamic_chunk,barrier,taskwait,task_untied,task_depend,taskloop_num_tasks
. "$(dirname "$0")/shim_lib.sh"
start_graind || exit 1
if [[ ${2:-} = address || ${2:-} = thread ]]; then
	sanitized_shim "$2" || exit 1
	python3 "$HERE/constructs/matrix.py" "$T/build" "$T" --attached --fast --families --threads 2 \
		--under "${CHECKED[*]@Q}" "${@:3}"
	[ "$2" = thread ] && no_races "attached"
elif [ "${EVERY:-}" ] || [ $# -gt 1 ]; then
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --attached --fast --all "${@:2}"
else
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --attached --fast --families --threads 2
	python3 "$HERE/constructs/matrix.py" "$B" "$T" --attached --fast --versions --only $FEW
fi
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
