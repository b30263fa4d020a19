#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What threads hand over to each other, under TSan: nothing is touched by two of them at a time.
# usage: tests/cli/sanitizers/test_threads.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
cd "$ROOT" || exit 1
build() { gcc -D_GNU_SOURCE -I. -std=gnu11 -O1 -g -fsanitize=thread "${@:2}" -o "$T/$1" -lpthread; }
# Where addresses are more random than this TSan knows it does not start.
export TSAN_OPTIONS=exitcode=66
for source in limits/thread_pool drain/event_buffer worker/runtime_finders; do
	what=${source#*/} more=(daemon/graind/base/urgency.c)
	[ $what = thread_pool ] && more+=(daemon/graind/limits/fair_share.c daemon/graind/limits/recent.c)
	[ $what = runtime_finders ] &&
		more+=(daemon/common/process/pass_fd.c daemon/graind/base/deadline.c daemon/graind/limits/turns.c
			daemon/graind/limits/fair_share.c daemon/graind/limits/recent.c)
	check "$what: built with -fsanitize=thread" \
		build $what tests/unit/graind/${source%/*}/test_$what.c daemon/graind/$source.c "${more[@]}"
	check "$what: no race" setarch -R "$T/$what"
	# The same without the lock: TSan looks at this.
	sed 's/pthread_mutex_\(un\)\?lock(&[a-z]*\(->\|\.\)lock);/;/' daemon/graind/$source.c >"$T/unlocked.c"
	check "$what: built without the lock" \
		build unlocked tests/unit/graind/${source%/*}/test_$what.c "$T/unlocked.c" "${more[@]}"
	timeout 60 setarch -R "$T/unlocked" >"$T/out" 2>&1
	check "$what: that races" grep -q 'WARNING: ThreadSanitizer: data race' "$T/out"
done
