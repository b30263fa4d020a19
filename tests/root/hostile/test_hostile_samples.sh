#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Samples, counters and context switches that hostile users ask for, and what others notice of them:
# hostile/attack_samples.py.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
start_service || exit
play samples
end_service
