#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Users who take connections, ask forever, or pose as another user, against a graind with the rights of its unit.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
PORT=$(free_ports 1)
GRAIND_OPTIONS=(--metrics "$PORT")
"$B/graind" --help | grep -q -e --metrics-host && GRAIND_OPTIONS+=(--metrics-host metrics.example.org)
start_service || exit
play doors "$PORT"
end_service
