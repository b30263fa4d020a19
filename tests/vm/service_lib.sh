# SPDX-License-Identifier: BSD-2-Clause
# Sourced after lib.sh by the tests of graind as a service: the package under systemd, and users.
set -o pipefail
if [ "$(cat /proc/1/comm)" != systemd ]; then
	not_ok "systemd runs here" "process 1 is $(cat /proc/1/comm): is this a guest of guests.sh?"
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
state() { systemctl show -P "$1" "${2:-graind.service}"; }
as() {
	local user=$1
	shift
	HOME=/home/$user setpriv --reuid="$user" --regid="$user" --init-groups --inh-caps=-all -- "$@"
}
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
job_state() {
	grainctl jobs --all --json |
		python3 -c 'import json,sys; print({j["job"]: j["state"]
			for j in json.load(sys.stdin)["jobs"]}.get(int(sys.argv[1])))' "$1"
}
# The user's own newest job.
last_job() { as "$1" grainctl jobs --all --json | json 'max(j["job"] for j in d["jobs"])'; }
# users: alice, bob, and carol of the group graind, each with programs at home; those of an earlier test are kept
users()
{
	local user
	for user in alice bob carol; do
		id -u "$user" >/dev/null 2>&1 || useradd --create-home "$user"
		cp "$B/tests/omp/fib" "$B/tests/omp/loop_forever" "/home/$user/"
	done
	usermod --append --groups graind carol
}
# forever USER MILLISECONDS: a program of the user's that goes on; its PID in PROGRAM
forever()
{
	# shellcheck disable=SC2016
	as "$1" sh -c 'cd && OMP_NUM_THREADS=2 exec ./loop_forever "$0" /dev/null' "$2" >/dev/null &
	until_is 20 loop_forever sh -c "pgrep -u $1 -l loop_forever | cut -d' ' -f2 | tail -1"
	PROGRAM=$(pgrep -u "$1" -x loop_forever | tail -1)
}
install_package()
{
	check "the package installs" dpkg -i "$B"/deb/graind_*.deb
	check "the service runs after it" until_is 60 active state ActiveState
}
