#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind as a service under systemd, from its package: what an administrator and two users do in a day.
# usage: tests/vm/test_service.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
set -o pipefail

if [ "$(cat /proc/1/comm)" != systemd ]; then
	not_ok "systemd runs here" "process 1 is $(cat /proc/1/comm): is this a guest of guests.sh?"
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
state() { systemctl show -P "$1" "${2:-graind.service}"; }
as() { local user=$1; shift; HOME=/home/$user setpriv --reuid="$user" --regid="$user" --init-groups --inh-caps=-all -- "$@"; }
# until_is SECONDS EXPECTED COMMAND...
until_is()
{
	local end=$((SECONDS + $1)) expected=$2
	shift 2
	# Asking takes a guest most of a second.
	while [ "$SECONDS" -lt "$end" ]; do
		[ "$("$@" 2>/dev/null)" = "$expected" ] && return 0
		sleep 0.5
	done
	return 1
}
job_state() { grainctl jobs --all --json | python3 -c 'import json,sys; print({j["job"]: j["state"] for j in json.load(sys.stdin)["jobs"]}.get(int(sys.argv[1])))' "$1"; }

# --- installing ----------------------------------------------------------
check "the package installs" dpkg -i "$B"/deb/graind_*.deb
until_is 60 active state ActiveState
is "the service runs after it" "$(state ActiveState) $(state SubState graind.socket)" "active running"
if [ "$(uname -r | cut -d. -f1,2)" = 6.1 ]; then
	# perf-event uprobes; see the drop-in.
	mkdir -p /etc/systemd/system/graind.service.d
	cp /usr/share/graind/perf-uprobes.conf /etc/systemd/system/graind.service.d/
	systemctl daemon-reload
	check "it starts with the drop-in of old kernels" systemctl restart graind.service
	MORE=1
fi
PID=$(state MainPID)
is "as its own user" "$(ps -o user= -p "$PID")" graind
# Bits 39 bpf, 38 perfmon, 19 sys_ptrace, 7 setuid, 6 setgid, 2 dac_read_search, 0 chown; 21 sys_admin with the drop-in.
is "with its capabilities and no more" "$(sed -n 's/^Cap\(Eff\|Prm\|Bnd\|Amb\):\s*//p' "/proc/$PID/status" | sort -u)" "$([ "${MORE:-}" ] && echo 000000c0002800c5 || echo 000000c0000800c5)"
is "and without a way to get more" "$(sed -n 's/^NoNewPrivs:\s*//p' "/proc/$PID/status")" 1
check "doctor is content" grainctl doctor

# --- users ---------------------------------------------------------------
for user in alice bob carol; do useradd --create-home "$user"; done
usermod --append --groups graind carol
for user in alice bob carol; do cp "$B/tests/omp/fib" "$B/tests/omp/loop_forever" "/home/$user/"; done
as alice sh -c 'cd && OMP_NUM_THREADS=2 exec ./loop_forever 6000000 /dev/null' >/dev/null &
until_is 20 loop_forever sh -c 'pgrep -u alice -l loop_forever | cut -d" " -f2 | tail -1'
P=$(pgrep -u alice -x loop_forever | tail -1)
as bob grainctl attach "$P" --duration 2 >"$T/bob" 2>&1
is "another user may not attach: exit status" "$?" 3
is "he is told so in one line" "$(wc -l <"$T/bob")" 1
check "alice attaches to her process" as alice sh -c "cd && grainctl attach $P --duration 3"
JOB=$(as alice grainctl jobs --all --json | json 'd["jobs"][0]["job"]')
until_is 60 finished job_state "$JOB"
is "it is her job" "$(as alice grainctl jobs --all --json | json '[(j["user"], j["state"]) for j in d["jobs"]]')" "[('alice', 'finished')]"
check "she gets its summary" as alice grainctl summary "$JOB"
as alice grainctl summary "$JOB" --json >"$T/summary"
is "which lost nothing" "$(json 'd["events"]["lost"], d["conservation"]["violations"], d["grains"]["total"] > 100' <"$T/summary")" "(0, 0, True)"
check "and its report" as alice sh -c "cd && grainctl report $JOB -o report.svg && grep -q '<svg' report.svg"
as bob sh -c "cd && grainctl summary $JOB" >/dev/null 2>&1
check "bob does not" [ $? -ne 0 ]
is "bob does not even see it" "$(as bob grainctl jobs --all --json | json 'd["jobs"]')" "[]"
as bob grainctl delete "$JOB" >/dev/null 2>&1
check "bob cannot delete it" [ "$(job_state "$JOB")" = finished ]
as bob cat "/var/lib/graind/jobs/$JOB/trace.grt" >/dev/null 2>&1
is "bob cannot read its files, which are there" "$? $(stat -c %U "/var/lib/graind/jobs/$JOB/trace.grt")" "1 alice"
is "carol of the group graind sees it" "$(as carol grainctl jobs --all --json | json '[j["job"] for j in d["jobs"]]')" "[$JOB]"
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
check "killed, systemd starts it again" until_is 20 1 sh -c "systemctl show -P MainPID graind.service | grep -cvx -e 0 -e $PID"
check "it answers" until_is 20 0 sh -c 'grainctl status >/dev/null 2>&1; echo $?'
check "the job that ran then is marked" sh -c "case '$(job_state $((JOB + 3)))' in finished | failed) ;; *) exit 1 ;; esac"
is "the others are as they were" "$(job_state "$JOB") $(job_state $((JOB + 2)))" "finished finished"

mkdir -p /run/systemd/system/graind.service.d
printf '[Service]\nWatchdogSec=4\nMemoryMax=400M\nCPUQuota=50%%\n' >/run/systemd/system/graind.service.d/test.conf
systemctl daemon-reload
systemctl restart graind.service
PID=$(state MainPID)
GROUP=/sys/fs/cgroup$(state ControlGroup)
if grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
	is "limits of an administrator are those of its cgroup" "$(cat "$GROUP/memory.max" "$GROUP/cpu.max" | tr '\n' ' ')" "419430400 50000 100000 "
else
	skip "limits of an administrator" "no controllers are delegated to this container; the guest of Linux 6.12 has them"
fi
check "within them a job is recorded" as bob sh -c 'cd && grainctl run -- ./fib 16 6 2'
[ ! -e "$GROUP/memory.events" ] || check "without having been killed for memory" grep -qx 'oom_kill 0' "$GROUP/memory.events"
kill -STOP "$PID"
check "one that hangs is replaced (watchdog)" until_is 40 1 sh -c "systemctl show -P MainPID graind.service | grep -cvx -e 0 -e $PID"
check "it answers again" until_is 20 0 sh -c 'grainctl status >/dev/null 2>&1; echo $?'

# --- the socket, upgrading, removing -------------------------------------
systemctl stop graind.service
is "stopped" "$(state ActiveState)" inactive
check "a question starts it (socket activation)" as alice grainctl jobs
check "it runs again" until_is 20 active state ActiveState
as alice sh -c "cd && grainctl attach $P --duration 100" >"$T/long" 2>&1 &
LONG=$!
LAST=$((JOB + 5))
until_is 60 running job_state $LAST
check "the package is upgraded" dpkg -i "$B"/deb/graind_*.deb
wait $LONG
until_is 60 active state ActiveState
is "the job that ran is finished, the older ones are there" "$(job_state $LAST) $(job_state "$JOB")" "finished finished"
kill "$P"
is "what it says in the journal are lines of one kind" "$(journalctl -q -u graind.service -o cat | grep -ci -e 'assert' -e 'traceback' -e 'sanitizer')" 0
check "the package is removed" dpkg -r graind
is "nothing of it runs" "$(pgrep -c -x graind) $(systemctl is-active graind.service graind.socket | sort -u)" "0 inactive"
check "jobs are kept" test -d "/var/lib/graind/jobs/$JOB"
