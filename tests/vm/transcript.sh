#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A session of users without rights of a machine that has graind as a service: each command as it is typed, behind the
# user's prompt, with all that it says, and its exit status where that is not 0. The package is installed, the users
# have fib and loop_forever at home; test_transcript.sh sees to that, and reads what this prints.
# usage: tests/vm/transcript.sh
export LC_ALL=C COLUMNS=100

# type USER COMMAND: a line of shell, at the user's home
type()
{
	local status
	printf '%s$ %s\n' "$1" "$2"
	if [ "$1" = root ]; then
		(cd && bash -c "$2")
	else
		HOME=/home/$1 USER=$1 setpriv --reuid="$1" --regid="$1" --init-groups --inh-caps=-all \
			-- bash -c "cd; $2"
	fi 2>&1
	status=$?
	[ $status -eq 0 ] || printf '[exit status %d]\n' $status
	echo
}
# The last job that was begun.
last() { find /var/lib/graind/jobs -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -1; }

type root "systemctl start graind"
type root "systemctl is-active graind"
type alice id
type alice "grainctl status"
type alice "grainctl run -- ./fib 22 22"
RUN=$(last)
type alice "OMP_NUM_THREADS=2 ./loop_forever 600000 /dev/null >/dev/null & echo \$! >pid; sleep 0.5"
PID=$(cat /home/alice/pid)
type alice "grainctl attach $PID --duration 2"
ATTACHED=$(last)
type alice "grainctl jobs"
sleep 3
type alice "grainctl jobs --all"
type alice "grainctl summary $RUN"
type alice "grainctl report $RUN -o fib.svg && ls -l fib.svg && head -c 5 fib.svg"
type alice "grainctl summary $ATTACHED | head -n 12"
type bob "grainctl attach $PID"
type bob "grainctl attach --fast $PID"
type bob "grainctl summary $RUN"
type bob "grainctl report $RUN -o stolen.svg"
type bob "grainctl delete $RUN"
type bob "grainctl jobs --all"
type alice "grainctl delete $ATTACHED"
type alice "kill $PID"
type alice "grainctl jobs --all"
