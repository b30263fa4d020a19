#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two graind, each with a job of the same number. For every verb, a number means the job of the graind that was named.
# usage: tests/root/grainctl/test_one_store.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

A=$T/a B_=$T/b
# serve NAME PROGRAM ARGUMENT...: starts a graind of that name and records this program as its job 1
serve()
{
	local GRAIND_STATE_DIR=$T/$1 GRAIND_SOCKET=$T/$1.sock
	export GRAIND_STATE_DIR GRAIND_SOCKET
	start_graind || exit 1
	"$GRAINCTL" run -- "${@:2}" >/dev/null 2>"$T/$1.err" || not_ok "a job of $1" "$(cat "$T/$1.err")"
}
serve a "$B/tests/omp/fib" 12 4 1
serve b "$B/tests/omp/chunks" 100 5
unset GRAIND_STATE_DIR GRAIND_SOCKET

for name in a b; do
	program=fib other=chunks
	[ $name = b ] && program=chunks other=fib
	by=(--socket "$T/$name.sock")
	"$GRAINCTL" "${by[@]}" jobs --all --json >"$T/jobs.json"
	is "$name: jobs" "$(json '[j["exe"].rsplit("/", 1)[-1] for j in d["jobs"]]' <"$T/jobs.json")" \
		"['$program']"
	is "$name: jobs says whose" "$("$GRAINCTL" "${by[@]}" jobs --all --json | json 'd["store"]')" \
		"{'socket': '$T/$name.sock', 'state_dir': '$T/$name'}"
	for verb in summary "report --format json" "report --format csv" "export"; do
		# shellcheck disable=SC2086
		"$GRAINCTL" "${by[@]}" $verb 1 >"$T/out" 2>"$T/err"
		is "$name: $verb is of its job" "$? $(grep -c "$program\.c" "$T/out" | sed 's/^[1-9].*/some/') $(
			grep -c "$other\.c" "$T/out")" "0 some 0"
	done
	"$GRAINCTL" "${by[@]}" report 1 -o "$T/$name.svg" 2>"$T/err"
	is "$name: the picture is of its job" "$(grep -c "$program\.c" "$T/$name.svg" | sed 's/^[1-9].*/some/') $(
		grep -c "$other\.c" "$T/$name.svg")" "some 0"
	"$GRAINCTL" "${by[@]}" summary 2 >"$T/out" 2>"$T/err"
	is "$name: a job that it has not" "$? $(grep -c "job 2" "$T/err")" "1 1"
done
"$GRAINCTL" --socket "$A.sock" --state-dir "$B_" summary 1 >"$T/out" 2>"$T/err"
is "a socket and another's directory do not go together" \
	"$? $(grep -c "the graind at $A.sock keeps its jobs in $A, not in $B_; name one of them" "$T/err")" "2 1"
"$GRAINCTL" --socket "$A.sock" --state-dir "$A/" summary 1 >"$T/out" 2>"$T/err"
is "a socket and its own directory do" "$? $(grep -c 'fib\.c' "$T/out" | sed 's/^[1-9].*/some/')" "0 some"
"$GRAINCTL" --state-dir "$B_" summary 1 >"$T/out" 2>"$T/err"
is "a directory by itself" "$? $(grep -c 'chunks\.c' "$T/out" | sed 's/^[1-9].*/some/')" "0 some"

"$GRAINCTL" --socket "$B_.sock" delete 1
is "deleted is the job of the one that was named" \
	"$([ -e "$A/jobs/1" ] && echo a) $([ -e "$B_/jobs/1" ] && echo b)" "a "
for pid in "${PIDS[@]}"; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
for verb in summary report export; do
	"$GRAINCTL" --socket "$A.sock" $verb 1 >"$T/out" 2>"$T/err"
	is "nobody listens: $verb reads no other store" \
		"$? $(wc -l <"$T/err") $(grep -c 'no graind listens at' "$T/err")" "1 1 1"
done
"$GRAINCTL" --state-dir "$A" summary 1 >"$T/out" 2>"$T/err"
is "its directory can be read without it" "$? $(grep -c 'fib\.c' "$T/out" | sed 's/^[1-9].*/some/')" "0 some"
