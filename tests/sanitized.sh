#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A unit test once more, built with AddressSanitizer and UBSan: make SAN=1 B=build/san sanitized.
# usage: tests/sanitized.sh BUILD_DIRECTORY NAME, such as graind/limits/test_rate
. "$(dirname "$0")/lib.sh"
# The interceptors of strstr() and strchr() measure the whole text at each call: the tests search in large files.
# The shadow of what is freed keeps its pages: new ones are dear on some machines.
export ASAN_OPTIONS=detect_stack_use_after_return=1:intercept_strstr=0:intercept_strchr=0
ASAN_OPTIONS+=:clear_shadow_mmap_threshold=1073741824
export UBSAN_OPTIONS=print_stacktrace=1
# Graphviz keeps what it loads.
export LSAN_OPTIONS=suppressions=$ROOT/tests/lsan.supp:print_suppressions=0
"$B/san/tests/unit/$2" >"$T/out" 2>"$T/err" </dev/null
status=$?
if [ $status = 0 ] && ! grep -q 'ERROR: .*Sanitizer\|runtime error:' "$T/err"; then
	is "${2##*/} passes and says something" \
		"$(($(grep -c '^ok - ' "$T/out") > 0)) $(grep -c '^not ok - ' "$T/out")" "1 0"
else
	not_ok "${2##*/} with ASan and UBSan ends with status $status" "$(grep '^not ok' "$T/out" | head -5)" \
		"$(grep -v "^\$" "$T/err" | head -6)"
fi
