# SPDX-License-Identifier: BSD-2-Clause
# Sourced after root_lib.sh by the tests of hostile users: a graind that has only the user and the capabilities of its
# unit, and users who come to it with bad intentions (hostile/attacker.py).
for_all_users
mkdir -p -m 755 "$T/run" "$T/programs"
# Like systemd's RuntimeDirectory and StateDirectory: graind owns them, all users can read them.
mkdir -p -m 755 "$GRAIND_STATE_DIR"
chown 64000 "$T/run" "$GRAIND_STATE_DIR"
export GRAIND_SOCKET=$T/run/graind.sock
GRAIND_OPTIONS=()
CAPS=+bpf,+perfmon,+sys_ptrace,+dac_read_search,+setuid,+setgid,+chown

# LimitNICE=-10 and LimitRTPRIO=2, if this machine allows them.
LIMITED=()
for limit in --nice=30 --rtprio=2; do
	prlimit "$limit" true 2>/dev/null && LIMITED+=(prlimit "$limit")
done

# start_service [ENV=VALUE...]: starts graind as the unit does, with the options in GRAIND_OPTIONS. The group graind
# has the number 64100. Ids from 700000 on belong to user 64001.
start_service()
{
	(grep -v '^graind:' /etc/group; echo "graind:x:64100:") >"$T/group"
	(grep -s '' /etc/subuid; echo "64001:700000:65536") >"$T/subuid"
	unshare -m sh -c 'mount --bind "$0" /etc/group && { touch /etc/subuid; mount --bind "$1" /etc/subuid; } &&
		shift && exec "$@"' "$T/group" "$T/subuid" \
		"${LIMITED[@]}" setpriv --reuid=64000 --regid=64000 --clear-groups --inh-caps="$CAPS" \
		--ambient-caps="$CAPS" --bounding-set="-all,$CAPS" --no-new-privs \
		env "$@" "$T/public/graind" --foreground --state-dir "$GRAIND_STATE_DIR" --socket "$GRAIND_SOCKET" \
		"${GRAIND_OPTIONS[@]}" >>"$T/graind.log" 2>&1 &
	GRAIND_PID=$!
	PIDS+=("$GRAIND_PID")
	until_so "graind starts with the unit's capabilities" "$GRAINCTL" status && return
	tail -5 "$T/graind.log" | sed 's/^/# /'
	return 1
}

# play NAME [ARGUMENT...]: runs hostile/attack_NAME.py, which prints a line for each check, and "restart" if graind is
# to be ended and started again
play()
{
	local line name=$1
	shift
	coproc HOSTILE {
		GRAIND_PID=$GRAIND_PID GRAIND_LOG=$T/graind.log PROGRAMS=$T/programs TESTS_BUILD=$B \
			/usr/bin/python3 -B "$HERE/hostile/attack_$name.py" "$@" 2>&1
		echo "ended with $?"
	}
	exec 8<&"${HOSTILE[0]}" 9>&"${HOSTILE[1]}"
	while read -r line <&8; do
		if [ "$line" = restart ]; then
			stop_graind
			start_service
			echo "$GRAIND_PID" >&9
		elif [ "$line" = "ended with 0" ]; then
			break
		elif [[ $line == "ended with "* ]]; then
			not_ok "attack_$name.py reaches its end" "it $line"
			break
		else
			echo "$line"
		fi
	done
	exec 8<&- 9>&-
}
# end_service: checks that graind has lived through all of it and ends properly
end_service()
{
	check "graind is still the same" kill -0 "$GRAIND_PID"
	stop_graind
	is "and ends properly" "$GRAIND_STATUS" 0
}
