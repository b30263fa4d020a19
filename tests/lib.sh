# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the shell tests. Every check prints one line: "ok - NAME", "not ok - NAME" (with details as "# " lines)
# or "skip - NAME: reason". tests/runner counts those lines. A test that prints none counts as failed. Lines that begin
# with "= " are shown as they are. tests/README.md has the rules for tests of the gate.
set -u
B=${1:?usage: $0 BUILD_DIRECTORY}
B=$(cd "$B" && pwd)
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
T=$(mktemp -d "${TMPDIR:-/tmp}/graind-test.XXXXXX")
trap 'cleanup' EXIT
PIDS=()
cleanup()
{
	for p in "${PIDS[@]:-}"; do [ -n "$p" ] && kill "$p" 2>/dev/null; done
	wait 2>/dev/null
	rm -rf "$T"
}
ok() { printf 'ok - %s\n' "$1"; }
not_ok()
{
	printf 'not ok - %s\n' "$1"
	shift
	[ $# -gt 0 ] && printf '%s\n' "$@" | sed 's/^/# /'
	return 0
}
skip() { printf 'skip - %s: %s\n' "$1" "$2"; }
# check NAME COMMAND ARG...: passes when the command succeeds.
check()
{
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "command: $*" "$out"; fi
}
# is NAME ACTUAL EXPECTED
is()
{
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got:      $2" "expected: $3"; fi
}
# until_so WHAT COMMAND ARG...: waits until the command succeeds, for at most $PATIENCE seconds, which run.py scales
# with the machine. If it never does, this is a failed check, with what the command has printed last.
until_so()
{
	local what=$1 end=$((SECONDS + ${PATIENCE:-120})) out
	shift
	until out=$("$@" 2>&1); do
		if [ $SECONDS -ge $end ]; then
			not_ok "$what" "not within ${PATIENCE:-120} s: $*" "$out"
			return 1
		fi
		sleep 0.05
	done
}
# finishes COMMAND ARG...: runs a command that prints its own checks. It fails if the command does not reach its end.
finishes()
{
	local status
	"$@"
	status=$?
	[ $status -eq 0 ] || not_ok "reaches its end: $*" "status $status"
}
# Debian's Python, which has Debian's modules, whatever else is installed. In slow guests it runs without them.
python3() { /usr/bin/python3 ${FEW:+-SE} "$@"; }
# json EXPRESSION: the value of the expression for the JSON document d on standard input
json() { /usr/bin/python3 -SE -c 'import json,sys; d=json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
# sanitized TARGET...: make with ASan and UBSan. Several tests need this, so only one of them runs it at a time.
sanitized() { flock "$B" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -j "$(nproc)" SAN=1 B="$B/san" "$@"; }
