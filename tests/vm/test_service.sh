#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind as a service under systemd, from its package: what an administrator and two users do in a day.
# usage: tests/vm/test_service.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/service_lib.sh"

# --- installing ----------------------------------------------------------
install_package
is "the socket listens, too" "$(state SubState graind.socket)" running
PID=$(state MainPID)
is "as its own user" "$(ps -o user= -p "$PID")" graind
# Bits 39 bpf, 38 perfmon, 19 sys_ptrace, 7 setuid, 6 setgid, 2 dac_read_search, 0 chown.
is "with its capabilities and no more" "$(sed -n 's/^Cap\(Eff\|Prm\|Bnd\|Amb\):\s*//p' "/proc/$PID/status" | sort -u)" \
	000000c0000800c5
is "and without a way to get more" "$(sed -n 's/^NoNewPrivs:\s*//p' "/proc/$PID/status")" 1
check "doctor is content" grainctl doctor

# --- users ---------------------------------------------------------------
users
forever alice 6000000
P=$PROGRAM
as bob grainctl attach "$P" --duration 2 >"$T/bob" 2>&1
is "another user may not attach: exit status" "$?" 3
is "he is told so in one line" "$(wc -l <"$T/bob")" 1
check "alice attaches to her process" as alice sh -c "cd && grainctl attach $P --duration 3"
JOB=$(as alice grainctl jobs --all --json | json 'd["jobs"][0]["job"]')
until_is 60 finished job_state "$JOB"
is "it is her job" "$(as alice grainctl jobs --all --json | json '[(j["user"], j["state"]) for j in d["jobs"]]')" \
	"[('alice', 'finished')]"
check "she gets its summary" as alice grainctl summary "$JOB"
as alice grainctl summary "$JOB" --json >"$T/summary"
is "which lost nothing" \
	"$(json 'd["events"]["lost"], d["conservation"]["violations"], d["grains"]["total"] > 100' <"$T/summary")" \
	"(0, 0, True)"
check "and its report" as alice sh -c "cd && grainctl report $JOB -o report.svg && grep -q '<svg' report.svg"
as bob sh -c "cd && grainctl summary $JOB" >/dev/null 2>&1
check "bob does not" [ $? -ne 0 ]
is "bob does not even see it" "$(as bob grainctl jobs --all --json | json 'd["jobs"]')" "[]"
as bob grainctl delete "$JOB" >/dev/null 2>&1
check "bob cannot delete it" [ "$(job_state "$JOB")" = finished ]
as bob cat "/var/lib/graind/jobs/$JOB/trace.grt" >/dev/null 2>&1
is "bob cannot read its files, which are there" "$? $(stat -c %U "/var/lib/graind/jobs/$JOB/trace.grt")" "1 graind"
is "carol of the group graind sees it" "$(as carol grainctl jobs --all --json | json '[j["job"] for j in d["jobs"]]')" \
	"[$JOB]"
check "bob records a program of his own" as bob sh -c 'cd && grainctl run -- ./fib 16 6 2'
is "of which alice sees nothing" "$(as alice grainctl jobs --all --json | json 'len(d["jobs"])')" 1

# --- stopping, restarting, dying -----------------------------------------
as alice sh -c "cd && grainctl attach $P --duration 100" >"$T/long" 2>&1 &
LONG=$!
until_is 60 running job_state $((JOB + 2))
check "restart" systemctl restart graind.service
wait $LONG
is "a job that ran is finished by it, and kept" "$(job_state $((JOB + 2)))" finished
sed "s,^,# ," "$T/long"
check "what it recorded is readable" as alice grainctl summary $((JOB + 2))
is "so are the jobs before" "$(grainctl jobs --all --json | json 'sorted((j["job"], j["state"]) for j in d["jobs"])')" \
	"[($JOB, 'finished'), ($((JOB + 1)), 'finished'), ($((JOB + 2)), 'finished')]"

as alice sh -c "cd && grainctl attach $P --duration 100" >"$T/long" 2>&1 &
LONG=$!
until_is 60 running job_state $((JOB + 3))
PID=$(state MainPID)
kill -KILL "$PID"
wait $LONG
check "killed, systemd starts it again" \
	until_is 20 1 sh -c "systemctl show -P MainPID graind.service | grep -cvx -e 0 -e $PID"
check "it answers" until_is 20 0 sh -c 'grainctl status >/dev/null 2>&1; echo $?'
check "the job that ran then is marked" \
	sh -c "case '$(job_state $((JOB + 3)))' in finished | failed) ;; *) exit 1 ;; esac"
is "the others are as they were" "$(job_state "$JOB") $(job_state $((JOB + 2)))" "finished finished"

mkdir -p /run/systemd/system/graind.service.d
printf '[Service]\nWatchdogSec=4\nMemoryMax=400M\nCPUQuota=50%%\n' >/run/systemd/system/graind.service.d/test.conf
systemctl daemon-reload
systemctl restart graind.service
PID=$(state MainPID)
GROUP=/sys/fs/cgroup$(state ControlGroup)
if grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
	is "limits of an administrator are those of its cgroup" \
		"$(cat "$GROUP/memory.max" "$GROUP/cpu.max" | tr '\n' ' ')" "419430400 50000 100000 "
else
	skip "limits of an administrator" \
		"no controllers are delegated to this container; the guest of Linux 6.12 has them"
fi
check "within them a job is recorded" as bob sh -c 'cd && grainctl run -- ./fib 16 6 2'
[ ! -e "$GROUP/memory.events" ] || check "without having been killed for memory" \
	grep -qx 'oom_kill 0' "$GROUP/memory.events"
kill -STOP "$PID"
check "one that hangs is replaced (watchdog)" \
	until_is 40 1 sh -c "systemctl show -P MainPID graind.service | grep -cvx -e 0 -e $PID"
check "it answers again" until_is 20 0 sh -c 'grainctl status >/dev/null 2>&1; echo $?'

# --- a state directory that it may not write ------------------------------
systemctl stop graind.socket graind.service
chown root: /var/lib/graind/jobs
systemctl start graind.service 2>/dev/null
sleep 1
is "it does not start, nor again and again" \
	"$(state ActiveState) $(state ExecMainStatus) $(state NRestarts)" "failed 3 0"
said() { journalctl -q -o cat "_SYSTEMD_INVOCATION_ID=$(state InvocationID)"; }
# The journal reads what a service said when it gets to it.
journalctl --sync
until_is 20 1 eval 'said | wc -l'
said >"$T/said"
is "it says why in one line" \
	"$(wc -l <"$T/said") $(grep -c 'jobs/ in the state directory /var/lib/graind: Permission denied' "$T/said")" \
	"1 1"
sed 's/^/# /' "$T/said"
chown graind: /var/lib/graind/jobs
systemctl reset-failed graind.service
check "mended, it starts" systemctl start graind.socket graind.service
is "the jobs are as they were" "$(job_state "$JOB") $(job_state $((JOB + 2)))" "finished finished"

# --- the socket, upgrading, removing -------------------------------------
systemctl stop graind.service
is "stopped" "$(state ActiveState)" inactive
check "a question starts it (socket activation)" as alice grainctl jobs
check "it runs again" until_is 20 active state ActiveState
as alice sh -c "cd && grainctl attach $P --duration 100" >"$T/long" 2>&1 &
LONG=$!
LAST=$((JOB + 5))
until_is 60 running job_state $LAST
# The same with a higher number: what is new in it does not matter to dpkg, nor to systemd.
OLD=$(dpkg-query -W -f '${Version}' graind)
dpkg-deb -R "$B"/deb/graind_*.deb "$T/newer"
sed -i "s/^Version: .*/Version: $OLD+newer/" "$T/newer/DEBIAN/control"
dpkg-deb -Znone --root-owner-group -b "$T/newer" "$T/newer.deb" >/dev/null
check "the package is upgraded" dpkg -i "$T/newer.deb"
is "to the newer version" "$(dpkg-query -W -f '${Status} ${Version}' graind)" "install ok installed $OLD+newer"
wait $LONG
until_is 60 active state ActiveState
is "the job that ran is finished, the older ones are there" "$(job_state $LAST) $(job_state "$JOB")" "finished finished"
is "and all that it saw is in it" \
	"$(as alice grainctl summary $LAST --json |
		json 'd["events"]["lost"], d["conservation"]["violations"], d["grains"]["total"] > 100')" "(0, 0, True)"
check "the newer one records" as alice sh -c 'cd && grainctl run -- ./fib 16 6'
kill "$P"
is "what it says in the journal are lines of one kind" \
	"$(journalctl -q -u graind.service -o cat | grep -ci -e 'assert' -e 'traceback' -e 'sanitizer')" 0
check "the package is removed" dpkg -r graind
is "nothing of it runs" "$(pgrep -c -x graind) $(systemctl is-active graind.service graind.socket | sort -u)" \
	"0 inactive"
check "jobs and settings are kept" test -d "/var/lib/graind/jobs/$JOB" -a -e /etc/graind/graind.conf
check "purged" dpkg -P graind
is "nothing of it is left" "$(ls -d /var/lib/graind /etc/graind /run/graind 2>/dev/null)" ""
