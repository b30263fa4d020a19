# SPDX-License-Identifier: BSD-2-Clause
# Sourced after root_lib.sh by the tests that run libgrainshim built with sanitizers.

# Sets the options of the sanitizers' runtime. TSan checks only the library: it sees only half of what the program and
# the OpenMP runtime do with each other. Its memory layout needs addresses that are not random.
sanitizer_options()
{
	case $1 in
	address)
		export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:abort_on_error=1
		export UBSAN_OPTIONS=halt_on_error=1
		FIRST=()
		;;
	thread)
		export TSAN_OPTIONS=ignore_noninstrumented_modules=1:die_after_fork=0:exitcode=0:log_path=$T/races
		FIRST=(setarch -R)
		;;
	esac
}

# sanitized_shim address|thread [UNSAID]: builds the library with this sanitizer, and a grainctl in $T/build beside
# it; "${CHECKED[@]}" COMMAND... runs a command that gets the library. UNSAID: TSan is not told of hand-overs.
sanitized_shim()
{
	local to=$B/san file runtime preloaded
	[ "$1" = thread ] && to=$B/tsan${2:+-unsaid}
	if ! flock "$B" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$ROOT" -s -j "$(nproc)" \
		SAN="${1/address/1}" B="$to" \
		CC="gcc ${2:+-DHAND_OVER_UNSAID}" "$to/libgrainshim.so" >"$T/make" 2>&1; then
		not_ok "the library is built with -fsanitize=$1" "$(tail -5 "$T/make")"
		return 1
	fi
	runtime=$(gcc -print-file-name="lib${1:0:1}san.so")
	# In a program that already runs, the sanitizer must be there, active, and without its own thread, on which
	# nothing of the program can run.
	[ "$1" = address ] && preloaded=$runtime || preloaded="$runtime $T/awake.so"
	gcc -x c -shared -fPIC -fsanitize=thread -o "$T/awake.so" - <<-EOF || return 1
		#include <pthread.h>
		#include <sanitizer/common_interface_defs.h>
		static void *nothing(void *unused) { return unused; }
		static __attribute__((constructor)) void wake(void)
		{
			pthread_t thread;
			if (!pthread_create(&thread, 0, nothing, 0)) pthread_join(thread, 0);
			__sanitizer_sandbox_on_notify(0);
		}
	EOF
	rm -rf "$T/build"
	mkdir -p "$T/build/checked"
	for file in "$B"/*; do ln -s "$file" "$T/build/"; done
	rm "$T/build/grainctl" "$T/build/libgrainshim.so"
	cp "$B/grainctl" "$to/libgrainshim.so" "$T/build/checked/"
	sanitizer_options "$1"
	CHECKED=("${FIRST[@]}" env LD_PRELOAD="$preloaded")
	# The program gets the environment that grainctl was started with.
	cat >"$T/build/grainctl" <<-EOF
		#!/bin/sh
		case \$1 in
		run) exec ${FIRST[*]} env LD_PRELOAD="$preloaded" "$T/build/checked/grainctl" "\$@" ;;
		attach) exec "$T/build/checked/grainctl" "\$@" ;;
		esac
		exec "$B/grainctl" "\$@"
	EOF
	chmod +x "$T/build/grainctl"
}

# races: the number of races that TSan has reported so far
races() { cat "$T"/races.* 2>/dev/null | grep -c '^WARNING: ThreadSanitizer: data race'; }
no_races() {
	is "$1: no race" "$(races)$(cat "$T"/races.* 2>/dev/null | sed -n 's/^SUMMARY: /\n/p' | sort -u | head -9)" 0
}
