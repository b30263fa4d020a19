#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The state directory against users who could write in an older one: hostile/attack_state.py.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$HERE/hostile/hostile_lib.sh"
export GRAIND_CONFIG=$T/graind.conf
touch "$GRAIND_CONFIG"; chmod 644 "$GRAIND_CONFIG"
start_service || exit
play state
# The graind that was started last.
GRAIND_PID=${PIDS[-1]}
end_service
