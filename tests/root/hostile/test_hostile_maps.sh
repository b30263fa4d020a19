#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Very many open calls of one user in a session of all processes,
# and what is recorded of others: hostile/attack_maps.py.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
start_service || exit
play maps
end_service
