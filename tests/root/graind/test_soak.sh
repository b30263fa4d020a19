#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind beside programs that come and go. At the end it holds no more than at the begin.
# usage: tests/root/graind/test_soak.sh BUILD_DIRECTORY [SECONDS]    make check-soak: 20 minutes
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
finishes python3 -B "$HERE/graind/faults_soak.py" "$B" "$T" "${2:-5}"
