#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Root's grainctl used on what users have made: recordings, processes, sockets, directories
# (hostile/attack_clients.py).
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
start_service || exit
mkdir -m 755 "$T/clients"
play clients "$T/clients" ${ATTACKS:-}
end_service
