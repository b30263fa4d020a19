#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# libgrainshim, as it is and built with ASan and UBSan, in difficult programs: signals that jump, threads that come,
# go and are cancelled, forks, ends and new programs from inside tasks, no memory, no room. Also the constructs with
# the sanitized library.
# usage: tests/root/shim/test_shim_rough.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

# A grainctl with the sanitized library beside it. Everything else is unchanged.
asan=$(gcc -print-file-name=libasan.so)
if sanitized "$B/san/libgrainshim.so" >"$T/make" 2>&1 &&
	nm -D "$B/san/libgrainshim.so" | grep -q ' U __asan_report'; then
	ok "the library is built with the sanitizers"
else
	not_ok "the library is built with the sanitizers" "$(tail -5 "$T/make")"
	exit 1
fi
mkdir "$T/build"
for file in "$B"/*; do ln -s "$file" "$T/build/"; done
rm "$T/build/grainctl" "$T/build/libgrainshim.so"
cp "$B/grainctl" "$B/san/libgrainshim.so" "$T/build/"
checked() {
	env LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:abort_on_error=1 \
		UBSAN_OPTIONS=halt_on_error=1 "$@"
}

start_graind || exit 1
# rough LIBRARY BUILD MODE RUNTIME [COMMAND...]
rough()
{
	local what="$3, $4, $1" program=$B/tests/root/programs/rough options=(--fast)
	# One of its threads does nothing but regions during the whole run.
	[ "$3" = fork ] && options+=(--lossless)
	# Each event asks the kernel.
	[ "$3" = pending ] && options+=(--counters task-clock,page-faults)
	[ "$4" = libomp ] && program=$program.clang
	"${@:5}" timeout 100 "$2/grainctl" run "${options[@]}" -- "$program" "$3" >"$T/out" 2>"$T/err"
	is "$what: the program's own account" "$? $(tail -1 "$T/out" | json 'd["correct"]' 2>&1)" "0 True"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -1)
	[ "$3" = exec ] && return
	# A task that forks and 50 more tasks, eight times: the parent's tasks, and none of its children's.
	[ "$3" = within ] && is "$what: the parent's tasks" \
		"$("$GRAINCTL" summary "$job" --json |
			json '(d["grains"]["total"], d["grains"]["incomplete"], d["incomplete_regions"],
				d["events"]["unmatched_ends"])' 2>&1)" \
		"(408, 0, 0, 0)"
	is "$what: recorded from inside, nothing lost or wrong" \
		"$("$GRAINCTL" summary "$job" --json |
			json '(d["source"], d["events"]["lost"], d["conservation"]["violations"],
				d["grains"]["total"] > 0)' 2>&1)" \
		"('shim', 0, 0, True)"
}
# libomp 14 fails by itself when threads that had teams come and go: an assertion in its allocator fails.
for mode in signals/libgomp signals/libomp threads/libgomp cancel/libgomp cancel/libomp fork/libgomp within/libgomp \
	within/libomp pending/libgomp pending/libomp exit/libgomp exit/libomp exec/libgomp exec/libomp; do
	rough "as it is" "$B" "${mode%/*}" "${mode#*/}"
	# A child of a process with other threads may not allocate with the sanitizer's allocator.
	[[ ${mode%/*} =~ ^(fork|within)$ ]] || rough "with sanitizers" "$T/build" "${mode%/*}" "${mode#*/}" checked
done
# A process has 256 rings. The first thread has one, and 300 threads come.
for runtime in "" .clang; do
	"$GRAINCTL" run --fast --lossless -- "$B/tests/root/programs/rough$runtime" crowd >"$T/out" 2>"$T/err"
	is "a crowd of threads$runtime: the program's own account" \
		"$? $(tail -1 "$T/out" | json 'd["correct"]' 2>&1)" "0 True"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -1)
	is "a crowd of threads$runtime: 45 had no ring, and all of the others' tasks are there" \
		"$("$GRAINCTL" summary "$job" --json |
			json 'd["grains"]["tasks"], d["grains"]["incomplete"], d["events"]["losses"]' 2>&1)" \
		"(25550, 0, {'shim-no-ring': 45})"
done
# graind does not search for threads that have ended. In a PID namespace, threads are known by their numbers outside
# it.
strace -f -o "$T/strace" -e trace=openat -p "$GRAIND_PID" 2>"$T/strace.err" &
tracer=$!
until grep -q attached "$T/strace.err"; do sleep 0.05; done
"$GRAINCTL" run --fast -- "$B/tests/root/programs/rough" threads >"$T/out" 2>"$T/err"
kill "$tracer"
wait "$tracer" 2>/dev/null
check "graind was watched" grep -q '/proc/[0-9]*/' "$T/strace"
is "hundreds of threads that end: graind lists them never" "$(grep -c '/proc/[0-9]*/task"' "$T/strace")" 0
"$GRAINCTL" run --fast -- unshare --pid --fork --kill-child "$B/tests/root/programs/rough" plain >"$T/out" 2>"$T/err"
job=$(sed -n 's/.*: job \([0-9]*\): process .*rough plain$/\1/p' "$T/err")
"$GRAINCTL" export "$job" --format log -o "$T/log"
pid=$(sed -n 's/^@process pid=\([0-9]*\) .*/\1/p' "$T/log")
# Inside the namespace the numbers are 1 to about ten. Outside, the kernel starts again from 300 when it has used all
# numbers. A thread that ended before graind looked has none of these.
is "in a PID namespace: the threads of its events are those that it has here, the first is its own" \
	"$(awk '/^[0-9]+ [0-9]+ / && $4 ~ /^(create|member)-begin$/ { own += $2 == '"$pid"'; low += $2 < 300 }
		END { print (own > 0), low + 0 }' "$T/log")" "1 0"
# alone NAME MODE COMMAND...: runs with the library and whichever program listens at $T/rings.sock
alone()
{
	LD_PRELOAD="$B/libgrainshim.so" GRAIND_SHIM_SOCKET="$T/rings.sock" timeout 100 "${@:3}" \
		"$2" >"$T/out" 2>"$T/err"
	is "$1: the program's own account" "$? $(tail -1 "$T/out" | json 'd["correct"]' 2>&1)" "0 True"
}
rough=$B/tests/root/programs/rough
alone "a thread that is to be cancelled asks in vain" pending "$rough"
alone "children of a process in which the library is being attached" busy "$rough"
# The library gets no memory when it looks up where a call goes.
gcc -x c -shared -fPIC -o "$T/poor.so" - <<-EOF
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <stddef.h>
	#include <string.h>
	void *__libc_calloc(size_t number, size_t size);
	void *calloc(size_t number, size_t size)
	{
		Dl_info info;
		if (dladdr(__builtin_return_address(0), &info) && strstr(info.dli_fname, "libgrainshim")) return NULL;
		return __libc_calloc(number, size);
	}
EOF
for runtime in "" .clang; do
	alone "without memory$runtime" plain env LD_PRELOAD="$T/poor.so $B/libgrainshim.so" "$rough$runtime"
done
"$B/tests/tools/rings_only" "$T/rings.sock" 4 4096 full >"$T/rings" &
PIDS+=($!)
until [ -S "$T/rings.sock" ]; do sleep 0.01; done
for runtime in "" .clang; do
	: >"$T/rings"
	alone "a thread that is to be cancelled waits for room$runtime" pending sh -c 'exec "$0" "$1" 60' \
		"$rough$runtime"
	for _ in $(seq 6000); do [ -s "$T/rings" ] && break; sleep 0.02; done
	check "it had to wait: $(tr -d '\0' <"$T/rings")" \
		test "$(tr -d '\0' <"$T/rings" | json 'd["words"] > 4000')" = True
done
checked python3 "$HERE/constructs/matrix.py" "$T/build" "$T" --fast --families --threads 2 >"$T/matrix" 2>&1
grep -E '^(not ok|#)' "$T/matrix"
check "the constructs with the sanitized library: $(grep -c '^ok' "$T/matrix") checks" \
	[ "$(grep -c '^ok' "$T/matrix")" -gt 50 ]
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
