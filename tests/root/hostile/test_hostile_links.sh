#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A user whose programs fork without end while they are recorded: hostile/attack_links.py.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
start_service || exit
play links
end_service
