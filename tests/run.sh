#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs every test of the tree and ends with "N passed, N failed, N skipped".
# usage: tests/run.sh BUILD_DIRECTORY [PATTERN]
set -u
B=${1:?usage: tests/run.sh BUILD_DIRECTORY [PATTERN]}
pattern=${2:-}
cd "$(dirname "$0")/.." || exit 1
# Graphviz keeps what it loads; everything else must be freed.
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
passed=0 failed=0 skipped=0 failures=()
run()
{
	local name=$1 out status p f s start=$SECONDS
	shift
	[[ -n $pattern && $name != *$pattern* ]] && return
	out=$(timeout -k 10 ${FULL:+3}600 "$@" 2>&1 </dev/null)
	status=$?
	p=$(grep -c '^ok - ' <<<"$out")
	f=$(grep -c '^not ok - ' <<<"$out")
	s=$(grep -c '^skip - ' <<<"$out")
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		out+=$'\n'"not ok - $name ended with status $status"
		f=1
	fi
	if [ $((p + f + s)) -eq 0 ]; then
		out+=$'\n'"not ok - $name checked nothing"
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-34s %4d passed %3d failed %3d skipped  %3d s\n' "$name" "$p" "$f" "$s" $((SECONDS - start))
	grep '^= ' <<<"$out" | sed 's/^= /    /'
	[ "$s" -gt 0 ] && grep '^skip - ' <<<"$out" | sed 's/^/    /'
	if [ "$f" -gt 0 ]; then
		failures+=("$name")
		grep -v -e '^ok - ' -e '^skip - ' -e '^= ' <<<"$out" | head -60 | sed 's/^/    /'
	fi
}
run lint tests/lint.sh "$B"
for t in tests/unit/test_*.c; do
	t=${t##*/}
	run "unit/${t%.c}" "$B/tests/unit/${t%.c}"
done
for t in tests/cli/test_*.sh tests/root/test_*.sh; do
	[ -e "$t" ] || continue
	run "${t#tests/}" bash "$t" "$B"
done
for t in tests/page/test_*.py; do
	run "${t#tests/}" /usr/bin/python3 -B "$t" "$B"
done
[ ${#failures[@]} -gt 0 ] && echo "failed: ${failures[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
