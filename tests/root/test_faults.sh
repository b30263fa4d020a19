#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind killed at random moments or standing still, a program killed, a full and a read-only disk, damaged state, many processes and many clients at once.
# usage: tests/root/test_faults.sh BUILD_DIRECTORY
# FULL=1 (make check-faults): killed 200 times, a thousand processes, 200 at once.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/root_lib.sh"
kills=3 short=100 at_once=40
[ "${FULL:-}" ] && kills=200 short=1000 at_once=200
mkdir "$T/kill" "$T/many" "$T/disk" "$T/target"
finishes python3 -B "$HERE/faults_disk.py" "$B" "$T/disk"
finishes python3 -B "$HERE/faults_target.py" "$B" "$T/target"
finishes python3 -B "$HERE/faults_many.py" "$B" "$T/many" $short $at_once 50
finishes python3 -B "$HERE/faults_kill.py" "$B" "$T/kill" $kills
