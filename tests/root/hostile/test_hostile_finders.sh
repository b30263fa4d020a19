#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A user who keeps workers busy that look for runtimes, against a graind with the rights of its unit.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
start_service || exit
play finders
end_service
