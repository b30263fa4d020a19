#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl's command line: exit statuses, help, wrong usage.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

# status NAME EXPECTED ARG...: the exit status, and that failures say one clear line.
status()
{
	local name=$1 expected=$2 got lines
	shift 2
	"$ctl" "$@" >"$T/out" 2>"$T/err" </dev/null
	got=$?
	lines=$(wc -l <"$T/err")
	if [ "$got" != "$expected" ]; then
		not_ok "$name" "status $got instead of $expected" "$(head -3 "$T/err")"
	elif { [ "$got" = 1 ] || [ "$got" = 3 ]; } && [ "$lines" != 1 ]; then
		not_ok "$name" "$lines lines on stderr instead of one" "$(head -3 "$T/err")"
	elif [ "$got" != 0 ] && ! grep -q '^grainctl' "$T/err"; then
		not_ok "$name" "the message does not say who speaks" "$(head -3 "$T/err")"
	else
		ok "$name"
	fi
}

verbs=$(grep -oE '\{"[a-z]+", verb__' "$ROOT/daemon/grainctl/verbs/main.c" | cut -d'"' -f2)
check "there are verbs" test "$(wc -w <<<"$verbs")" -gt 12
for verb in $verbs; do
	"$ctl" "$verb" --help >"$T/help" 2>&1
	rc=$?
	if [ $rc = 0 ] && grep -q "^Example" "$T/help" && grep -q "  .*grainctl $verb" "$T/help"; then
		ok "$verb --help shows an example"
	else
		not_ok "$verb --help shows an example" "status $rc" "$(head -5 "$T/help")"
	fi
	is "$verb --help fits 80 columns" "$(awk 'length > 80' "$T/help")" ""
	status "$verb: unknown option" 2 "$verb" --no-such-option
done
"$ctl" --help >"$T/help"
is "--help succeeds" $? 0
is "--help fits 80 columns" "$(awk 'length > 80' "$T/help")" ""
for verb in $verbs; do
	check "--help lists $verb" grep -q "^  $verb" "$T/help"
done
is "--version" "$("$ctl" --version)" \
	"grainctl $(sed -n 's/^#define GRAIND_VERSION "\(.*\)"/\1/p' "$ROOT/daemon/common/programs/version.h")"
# Loading these takes longer than a short job.
is "it loads no libraries but those for talking with graind" \
	"$(ldd "$ctl" | grep -oE 'lib(curl|gvc|crypto|open-trace|ncurses|capstone|hwloc|bpf|zstd|numa)\b[^ ]*')" ""

status "no verb" 2
status "unknown verb" 2 frobnicate
status "unknown global option" 2 --frobnicate jobs
status "--color takes three words" 2 --color=sometimes jobs
status "attach --fast of no process" 1 attach --fast 4000000
check "attach --fast says so" grep -q "there is no process 4000000" "$T/err"
for args in "run" "attach" "attach x" "attach 0" "attach -1" "attach 1 2" "attach 99999999999" \
	"attach 1 --duration 0" "attach 1 --duration 1s" "attach 1 --duration" "detach" "detach x" "detach 1 2" \
	"detach 99999999999999999999" "jobs 1" "summary" "summary 1 2" "report" "report 1 --format png" \
	"report 1 --view nothing" "report 1 --view definition,nothing" "report 1 --open-depth x" \
	"report 1 --open-depth -1" "report 1 --max-nodes 3" "report 1 --filter --format csv" \
	"report 1 --open-depth 1 --format html" "export" "export 1 --format html" "analyze" \
	"analyze a --json --format dot" "top 1" "top --interval 0" "top --interval x" "top --sort nothing" "fleet x" \
	"fleet --prometheus localhost:9090" "fleet --prometheus file:///etc/passwd" "merge" "merge --batch 4711" \
	"doctor nobody" "doctor 0" "doctor 1 2" "delete" "delete 0" "status 1"; do
	# shellcheck disable=SC2086
	status "wrong usage: grainctl $args" 2 $args
done
status "analyze of an empty name" 2 analyze ""

for args in "summary 1" "report 1" "export 1" "detach 1" "delete 1" "jobs" "status" "top" "top --json" \
	"fleet --prometheus http://127.0.0.1:1" "analyze nofile" "merge 1" "merge nofile" "summary ./nofile" \
	"analyze $T"; do
	# shellcheck disable=SC2086
	status "fails: grainctl $args" 1 $args
done
check "no graind: the line says how to start it" grep -q "nofile\|directory" "$T/err"
"$ctl" status 2>"$T/err"
check "status says how to start graind" grep -q "systemctl start graind" "$T/err"
long=$(printf 'x%.0s' $(seq 200))
status "a socket path that is too long" 2 --socket "/tmp/$long" status

# Views are listed by the library that draws them.
"$ctl" report --view=help >"$T/views"
is "--view=help" "$? $(grep -c parallel_benefit "$T/views")" "0 1"

# Without rights and without a graind nothing can be started.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T"
	cp "$ctl" "$T/grainctl"
	ctl="setpriv --reuid 65534 --regid 65534 --clear-groups $T/grainctl"
	unprivileged() { $ctl "$@" >"$T/out" 2>"$T/err" </dev/null; }
elif [ "$(id -u)" != 0 ]; then
	unprivileged() { "$ctl" "$@" >"$T/out" 2>"$T/err" </dev/null; }
else
	unprivileged() { return 99; }
fi
for args in "run -- true" "attach $$"; do
	# shellcheck disable=SC2086
	unprivileged $args
	rc=$?
	if [ $rc = 99 ]; then
		skip "not permitted: $args" "no setpriv to drop root's rights with"
	else
		is "not permitted: $args" "$rc $(wc -l <"$T/err")" "3 1"
		check "and what to do: $args" grep -q "as root" "$T/err"
	fi
done
