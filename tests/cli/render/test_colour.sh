#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Colours and the drawn parts of the summary: on terminals, in pipes, in other locales and widths.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh" "$1"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
unset NO_COLOR COLUMNS LC_ALL LC_CTYPE LANG
log=$ROOT/tests/data/fib_two_threads.log
mkdir -p "$T/state/jobs"
cd "$T" || exit 1
escapes() { grep -c $'\033' "$1"; }

verbs=("summary $log" "analyze $log" "compare $log $log" "jobs --all" "doctor" "--help" "summary --help")
for verb in "${verbs[@]}"; do
	# shellcheck disable=SC2086
	"$ctl" $verb >out 2>&1 </dev/null
	is "${verb%% *}${verb#*"$log"}: no escapes in a pipe" "$(escapes out)" 0
done
for verb in "summary $log" "compare $log $log" "doctor"; do
	# shellcheck disable=SC2086
	"$ctl" --color=always $verb >out 2>&1 </dev/null
	check "${verb%% *}: colours when asked for before the verb" grep -q $'\033\[' out
	# shellcheck disable=SC2086
	"$ctl" $verb --color=always >out 2>&1 </dev/null
	check "${verb%% *}: and behind it" grep -q $'\033\[' out
	# Every colour that is begun ends on its line.
	is "${verb%% *}: none is left on" "$(sed 's/\x1b\[[1-9][0-9;]*m[^\x1b]*\x1b\[0m//g' out | grep -c $'\033')" 0
done
"$ctl" summary "$log" >plain
"$ctl" summary "$log" --color=always | sed 's/\x1b\[[0-9;]*m//g' >stripped
check "colours change nothing else" cmp plain stripped
"$ctl" summary "$log" --color=rainbow >out 2>err
is "--color takes three words" "$? $(grep -c 'not .rainbow' err)" "2 1"

# --- terminals ---------------------------------------------------------------
if command -v script >/dev/null; then
	# tty COLUMNS COMMAND...: on a terminal as wide as that
	tty()
	{
		local columns=$1
		shift
		script -qec "stty cols $columns; $*" /dev/null </dev/null | tr -d '\r' >out
	}
	for columns in 80 120; do
		TERM=xterm LC_ALL=C.UTF-8 tty $columns "$ctl" summary "$log"
		check "$columns: colours on a terminal" grep -q $'\033\[1m' out
		check "$columns: bars of blocks in UTF-8" grep -q '█' out
		is "$columns: every line fits" "$(sed 's/\x1b\[[0-9;]*m//g' out | python3 -c '
import sys
print(*[l for l in open(0, encoding="utf-8") if len(l.rstrip("\n")) > int(sys.argv[1])])' $columns)" ""
		is "$columns: and all the width is used" "$(sed 's/\x1b\[[0-9;]*m//g' out | python3 -c '
import sys
print(max(len(l.rstrip("\n")) for l in open(0, encoding="utf-8")) > int(sys.argv[1]) * 0.8)' $columns)" True
	done
	TERM=xterm NO_COLOR=1 tty 80 "$ctl" summary "$log"
	is "NO_COLOR is heard" "$(escapes out)" 0
	TERM=xterm NO_COLOR='' tty 80 "$ctl" summary "$log"
	check "an empty NO_COLOR says nothing" grep -q $'\033' out
	TERM=dumb tty 80 "$ctl" summary "$log"
	is "a dumb terminal gets none" "$(escapes out)" 0
	TERM=xterm tty 80 "$ctl" --color=never summary "$log"
	is "--color=never is heard" "$(escapes out)" 0
	TERM=xterm tty 80 "$ctl" summary "$log" --color=never
	is "behind the verb, too" "$(escapes out)" 0
	TERM=dumb tty 80 "$ctl" summary "$log" --color=always
	check "--color=always is stronger than the terminal" grep -q $'\033\[' out
	TERM=xterm tty 80 "$ctl summary $log | cat"
	is "no escapes in a pipe on a terminal" "$(escapes out)" 0
else
	skip "colours on a terminal" "no script"
fi

# --- locales -------------------------------------------------------------------
locale_of() {
	env "$@" "$ctl" summary "$log" >out
	if LC_ALL=C grep -q '[^ -~]' out; then echo blocks; else grep -q '###' out && echo ascii; fi
}
is "no locale: ASCII" "$(locale_of LC_ALL=)" ascii
is "C: ASCII" "$(locale_of LC_ALL=C)" ascii
is "UTF-8: blocks" "$(locale_of LANG=en_GB.UTF-8)" blocks
is "utf8 is the same" "$(locale_of LC_CTYPE=de_DE.utf8)" blocks
is "LC_ALL is stronger than LANG" "$(locale_of LANG=en_GB.UTF-8 LC_ALL=POSIX)" ascii
