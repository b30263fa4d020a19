#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind is killed at random moments or stopped, a program is killed, the disk is full or read-only, state is damaged,
# and there are many processes and many clients at once.
# usage: tests/root/graind/test_faults.sh BUILD_DIRECTORY
# EVERY=1 (make check-faults): killed 200 times, a thousand processes, 200 at once.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
kills=2 short=50 at_once=20
[ "${EVERY:-}" ] && kills=200 short=1000 at_once=200
mkdir "$T/kill" "$T/many" "$T/disk" "$T/target"
finishes python3 -B "$HERE/graind/faults_disk.py" "$B" "$T/disk"
finishes python3 -B "$HERE/graind/faults_target.py" "$B" "$T/target"
finishes python3 -B "$HERE/graind/faults_many.py" "$B" "$T/many" $short $at_once 50
finishes python3 -B "$HERE/graind/faults_kill.py" "$B" "$T/kill" $kills
