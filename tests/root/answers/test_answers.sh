#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Whether the first advice is right for programs that each have one problem (tests/answers). With --long also whether
# what it predicts comes true; that takes some minutes, and a machine that does little else.
# usage: tests/root/answers/test_answers.sh BUILD_DIRECTORY [--long] [PROGRAM...]
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

shift
form=--short
[ "${1:-}" = --long ] && { form=; shift; }
start_graind || exit 1
# shellcheck disable=SC2086
finishes python3 "$ROOT/tests/answers/answers.py" "$B" $form "$@"
