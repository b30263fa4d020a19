#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The package under a real systemd on this machine's own kernel, in a container. In guests: make check-vm.
# usage: tests/root/graind/test_service.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
ls "$B"/deb/graind_*.deb >/dev/null 2>&1 || make --no-print-directory -C "$ROOT" deb >/dev/null
GUEST_SECONDS=540 "$ROOT/tests/vm/run.sh" "$B" --short host-kernel
STATUS=$?
mkdir -p "$B/artifacts"
cp "$B/vm/host-kernel/out/service_transcript.txt" "$B/artifacts/" && exit $STATUS
