#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Users who want graind to use memory and time for them: hostile/attack_memory.py.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$HERE/hostile/hostile_lib.sh"
# Freed memory is overwritten.
start_service MALLOC_PERTURB_=90 || exit
play memory
end_service
