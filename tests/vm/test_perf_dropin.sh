#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The drop-in that gives the service CAP_SYS_ADMIN, on a kernel that wants it for perf-event uprobes: without it a user
# is told what is missing, with it the service records, with that one capability more.
# usage: tests/vm/test_perf_dropin.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/service_lib.sh"

install_package
users
DROPINS=/etc/systemd/system/graind.service.d
capabilities() { sed -n 's/^Cap\(Eff\|Prm\|Bnd\|Amb\):\s*//p' "/proc/$(state MainPID)/status" | sort -u; }
mkdir -p $DROPINS
printf '[Service]\nEnvironment=GRAIND_ATTACH=perf\n' >$DROPINS/perf.conf
systemctl daemon-reload
check "as on an old kernel: perf-event uprobes" systemctl restart graind
forever alice 6000000
P=$PROGRAM
as alice grainctl attach "$P" --duration 1 >"$T/out" 2>&1
STATUS=$?
if [ $STATUS -eq 0 ]; then
	skip "without the drop-in" "this kernel allows perf-event uprobes without CAP_SYS_ADMIN"
else
	is "without the drop-in: refused in one line" "$STATUS $(wc -l <"$T/out")" "1 1"
	check "which says what is missing, where, and who tells how to mend it" \
		grep -q 'libgomp.*CAP_SYS_ADMIN.*grainctl doctor' "$T/out"
	sed 's/^/# /' "$T/out"
	as alice sh -c 'cd && exec grainctl run -- ./fib 16 6' >"$T/out" 2>&1
	is "a program runs all the same" "$? $(grep -c '"correct":true' "$T/out") $(grep -c '^job' "$T/out")" "0 1 0"
fi

# As doctor says it where the kernel is such a one.
install -D -t $DROPINS /usr/share/graind/perf-uprobes.conf
systemctl daemon-reload
check "it starts with the drop-in" systemctl restart graind
is "with one capability more" "$(capabilities)" 000000c0002800c5
is "and waits for probes that are detached slowly" "$(state TimeoutStopUSec)" 10min
check "doctor sees what the service has" \
	[ "$(as alice grainctl doctor --json |
		json '[c["result"] for c in d["checks"] if c["name"] == "perf uprobes"]')" = "['yes']" ]
JOB=$(as alice grainctl attach "$P" --duration 2 | sed -n 's/^job //p')
# The last of its probes is gone long after its time is over.
check "alice's program is recorded" until_is 240 finished job_state "${JOB:-0}"
is "by perf events, exactly" \
	"$(grainctl jobs --all --json |
		json "[j['method'] for j in d['jobs'] if j['job'] == ${JOB:-0}]") $(
		as alice grainctl summary "${JOB:-0}" --json |
			json 'd["events"]["lost"], d["conservation"]["violations"], d["grains"]["total"] > 10')" \
	"['perf'] (0, 0, True)"
kill "$P"
rm -r $DROPINS
systemctl daemon-reload
systemctl restart graind
is "without it: the unit's own capabilities again" "$(capabilities)" 000000c0000800c5
check "the package is purged" dpkg -P graind
