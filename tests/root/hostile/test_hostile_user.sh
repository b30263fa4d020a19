#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two unprivileged users against one graind that has only the capabilities of its unit: hostile_user.py. Also the
# members of the group graind.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
for_all_users
cp "$B/tests/omp/loop_forever" "$T/loop_forever"; chmod 755 "$T/loop_forever"
# Like systemd's RuntimeDirectory and StateDirectory: graind owns them, all users can read them.
mkdir -m 755 "$T/run"; mkdir -m 755 "$GRAIND_STATE_DIR"; chown 64000 "$T/run" "$GRAIND_STATE_DIR"
export GRAIND_SOCKET=$T/run/graind.sock
CAPS=+bpf,+perfmon,+sys_ptrace,+dac_read_search,+setuid,+setgid,+chown
# The group comes from a file of this test.
(cat /etc/group; echo "graind:x:64100:") >"$T/group"
start_service()
{
	unshare -m sh -c 'mount --bind "$0" /etc/group && exec "$@"' "$T/group" \
		setpriv --reuid=64000 --regid=64000 --clear-groups --inh-caps="$CAPS" --ambient-caps="$CAPS" \
		--bounding-set="-all,$CAPS" --no-new-privs \
		"$T/public/graind" --foreground --state-dir "$GRAIND_STATE_DIR" \
		--socket "$GRAIND_SOCKET" >>"$T/graind.log" 2>&1 &
	GRAIND_PID=$!
	PIDS+=("$GRAIND_PID")
	for _ in $(seq 2400); do "$GRAINCTL" status >/dev/null 2>&1 && return 0; sleep 0.05; done
	not_ok "graind starts with the unit's capabilities" "$(tail -5 "$T/graind.log")"
	return 1
}
start_service || exit
is "graind has no more rights than its unit gives" \
	"$(awk '/^(Uid|CapEff|CapBnd|NoNewPrivs)/ {print $2}' "/proc/$GRAIND_PID/status" | tr '\n' ' ')" \
	"64000 000000c0000800c5 000000c0000800c5 1 "
OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive LOOP_PAUSE_US=10000 "$T/loop_forever" 600000 /dev/null >/dev/null & R=$!
PIDS+=("$R")
coproc HOSTILE {
	/usr/bin/python3 -B "$HERE/hostile/hostile_user.py" "$GRAIND_SOCKET" "$GRAIND_STATE_DIR" "$T/loop_forever" \
		"$R" "$T/graind.log" 2>&1
}
exec 8<&"${HOSTILE[0]}" 9>&"${HOSTILE[1]}"
while read -r line <&8; do
	if [ "$line" = restart ]; then
		stop_graind
		start_service
		echo again >&9
	else
		echo "$line"
	fi
done
exec 8<&- 9>&-

# --- the group graind -------------------------------------------------------------
asks_as() {
	setpriv --reuid=64020 --regid="$1" "${@:2:1}" curl -s --unix-socket "$GRAIND_SOCKET" -X "$3" ${5:+-d "$5"} \
		"http://graind$4"
}
J=$(curl -s --unix-socket "$GRAIND_SOCKET" -d "{\"pid\":$R}" http://graind/v1/jobs | json "d['job']")
# The jobs of the users' processes, which have just been killed, end.
for _ in $(seq 1200); do
	[ "$("$GRAINCTL" jobs --json | json 'len(d["jobs"])')" = 1 ] && break
	sleep 0.1
done
is "who is no member does not see root's job" "$(asks_as 64020 --clear-groups GET /v1/jobs)" '{"jobs":[]}'
is "nor who has a group of another number" "$(asks_as 64020 --groups=64099,64101 GET /v1/jobs)" '{"jobs":[]}'
is "a member by a supplementary group does" \
	"$(asks_as 64020 --groups=5,64100 GET /v1/jobs | json "[j['job'] for j in d['jobs']]")" "[$J]"
is "and by its own" "$(asks_as 64100 --clear-groups GET /v1/jobs | json "[j['job'] for j in d['jobs']]")" "[$J]"
is "and may end it" "$(asks_as 64020 --groups=64100 POST "/v1/jobs/$J/detach" | json "d['state']")" finished
kill "$R"
check "graind is still the same" kill -0 "$GRAIND_PID"
stop_graind
is "and ends properly" "$GRAIND_STATUS" 0
