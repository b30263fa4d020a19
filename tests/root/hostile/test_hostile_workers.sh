#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A user who stops the workers that have his rights, against a graind with the rights of its unit.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/hostile_lib.sh"
echo "job-bytes = 8M" >"$T/graind.conf"
chmod 644 "$T/graind.conf"
start_service GRAIND_CONFIG="$T/graind.conf" || exit
play workers
end_service
