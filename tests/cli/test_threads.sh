#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What threads hand over to each other, under TSan: nothing is touched by two of them at a time.
# usage: tests/cli/test_threads.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 1
build() { gcc -D_GNU_SOURCE -I. -std=gnu11 -O1 -g -fsanitize=thread "${@:2}" -o "$T/$1" -lpthread; }
# Where addresses are more random than this TSan knows it does not start.
export TSAN_OPTIONS=exitcode=66
for what in scouts reservoir finders; do
	more=(daemon/graind/urgency.c)
	[ $what = finders ] && more+=(daemon/common/pass_fd.c)
	check "$what: built with -fsanitize=thread" build $what tests/unit/test_$what.c daemon/graind/$what.c "${more[@]}"
	check "$what: no race" setarch -R "$T/$what"
	# The same without the lock: TSan looks at this.
	sed 's/pthread_mutex_\(un\)\?lock(&[a-z]*\(->\|\.\)lock);/;/' daemon/graind/$what.c >"$T/unlocked.c"
	check "$what: built without the lock" build unlocked tests/unit/test_$what.c "$T/unlocked.c" "${more[@]}"
	timeout 60 setarch -R "$T/unlocked" >"$T/out" 2>&1
	check "$what: that races" grep -q 'WARNING: ThreadSanitizer: data race' "$T/out"
done
