#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Users who want graind to look where the kernel does not let them look: hostile/attack_looks.py.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$HERE/hostile/hostile_lib.sh"
start_service || exit
play looks
end_service
