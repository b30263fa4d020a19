#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two users, one hostile in all ways at once, under a graind with the user, capabilities and limits of its unit:
# hostile/attack_load.py.
# usage: tests/root/hostile/load.sh BUILD_DIRECTORY [SECONDS [ATTACK...]]; make check-hostile uses 300 seconds.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"
start_service || exit
play load "${2:-15}" "$ROOT/systemd/graind.service" "${@:3}"
end_service
