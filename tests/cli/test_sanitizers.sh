#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The unit tests once more, built with AddressSanitizer and UBSan.
# usage: tests/cli/test_sanitizers.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 1
tests=$(for t in tests/unit/test_*.c; do [ -e "$t" ] && echo "${t%.c}"; done)
if [ -z "$tests" ]; then
	not_ok "there are unit tests"
	exit 0
fi
if ! sanitized sanitized >"$T/make" 2>&1; then
	not_ok "builds with ASan and UBSan" "$(tail -20 "$T/make")"
	exit 0
fi
ok "builds with ASan and UBSan"
# The interceptors of strstr() and strchr() measure the whole text at each call: the tests search in large files.
# The shadow of what is freed keeps its pages: new ones are dear on some machines.
export ASAN_OPTIONS=detect_stack_use_after_return=1:intercept_strstr=0:intercept_strchr=0:clear_shadow_mmap_threshold=1073741824 UBSAN_OPTIONS=print_stacktrace=1
# Graphviz keeps what it loads.
export LSAN_OPTIONS=suppressions=$ROOT/tests/lsan.supp:print_suppressions=0
# Two at a time; each leaves what it said, and its status.
run_test() { "$B/san/$1" >"$T/${1##*/}.out" 2>"$T/${1##*/}.err" </dev/null; echo $? >"$T/${1##*/}.status"; }
export -f run_test
export B T
xargs -n 1 -P "$(nproc)" bash -c 'run_test "$1"' bash <<<"$tests"
for t in $tests; do
	t=${t##*/}
	name="sanitizers: $t"
	if [ "$(cat "$T/$t.status")" = 0 ] && ! grep -q 'ERROR: .*Sanitizer\|runtime error:' "$T/$t.err"; then
		is "$name passes and says something" "$(($(grep -c '^ok - ' "$T/$t.out") > 0)) $(grep -c '^not ok - ' "$T/$t.out")" "1 0"
	else
		not_ok "$name" "$(grep '^not ok' "$T/$t.out" | head -5)" "$(grep -v "^\$" "$T/$t.err" | head -6)"
	fi
done
