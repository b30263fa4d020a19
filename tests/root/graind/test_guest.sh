#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A few of the tests in a real guest: Linux 6.1 with four NUMA nodes. All of them: make check-vm.
# usage: tests/root/graind/test_guest.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
GUEST_SECONDS=540 "$ROOT/tests/vm/run.sh" "$B" --short linux-6.1
