#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest, in the unpacked tree: runs the given tests, else those named on the
# kernel's command line, and writes what they said as a tar to the given disk or file.
# usage: tests/vm/in_guest.sh DISK [TEST...]
disk=$1
shift
mkdir out
named=()
# No script of the packages ran when the disk was made.
ldconfig
libgvc6-config-update -c
[ $# -gt 0 ] || IFS=, read -ra named < <(sed -n 's/.*graind\.tests=\([^ ]*\).*/\1/p' /proc/cmdline)
# Threads that spin would take the CPUs of the host from those that work.
export FEW=1 OMP_WAIT_POLICY=passive LOOP_PAUSE_US=20000
for test in "$@" "${named[@]}"; do
	start=$(cut -d. -f1 /proc/uptime)
	timeout -k 10 600 bash "tests/$test" build 2>&1 </dev/null | tee "out/${test//\//_}.out"
	echo "${PIPESTATUS[0]} $(($(cut -d. -f1 /proc/uptime) - start))" >"out/${test//\//_}.status"
	# What has ended is known even if the guest does not.
	tar -cf "$disk" out && sync
	echo "ended: $test ($(cat "out/${test//\//_}.status"))"
done
dmesg >out/dmesg
cat /proc/uptime >out/uptime
echo 0 >out/rc
tar -cf "$disk" out && sync
