#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A hostile user's own runtimes: hostile/attack_plans.py.
# usage: tests/root/hostile/test_hostile_plans.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
start_service || exit
play plans
end_service
