#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Recordings are read by a child that has no rights: what it may, what becomes of its end.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh" "$1"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
log=$ROOT/tests/data/constructs_two_threads.log
cd "$T" || exit 1
"$B/tests/tools/make_trace" small.grt 2000 4 >/dev/null
"$B/tests/tools/make_trace" large.grt 400000 4 >/dev/null
head -c 3000 /dev/urandom >noise
{ head -c 20000 small.grt && cat noise && tail -c +23001 small.grt; } >hostile.grt
case $B in *san*) skip "the sandbox" "sanitizers need more system calls"; exit 0 ;; esac

# --- system calls --------------------------------------------------------------
# calls KIND ARG...: what the child called once it was locked, those that were refused apart. A file
# for each process: in a common one a call that another interrupts is torn in two lines.
calls()
{
	rm -f st.*
	strace -ff -o st "$ctl" "$@" >out 2>err
	awk 'FNR == 1 {on = 0} on && !/ENOSYS/ && !/^[+-]/ {sub(/\(.*/, ""); print} /PR_SET_SECCOMP.* = 0/ {on = 1}' \
		st.* | sort -u
}
usual='read|write|pread64|close|lseek|mmap|munmap|mremap|brk|madvise|exit_group|getrandom|sysinfo|getpid|fcntl|futex'
usual+='|ioctl|prctl'
if strace -o st true 2>/dev/null; then
	for args in "summary $log" "summary small.grt" "summary hostile.grt --keep-going" "summary $log --json" \
		"report small.grt -o x.svg" "report small.grt --format graphml" "report small.grt --format csv" \
		"compare $log $log" "export $log" "export small.grt --format perfetto -o x.pftrace"; do
		# shellcheck disable=SC2086
		calls $args >called
		is "$args: what is called" "$(grep -vxE "$usual" called)" ""
		check "$args: something is" grep -qxE 'write|pread64' called
	done
	calls report "$log" --format html -o x.html >called
	is "a page: files are opened for reading only" \
		"$(awk 'FNR == 1 {on = 0} /PR_SET_SECCOMP/ {on = 1} on && /open(at)?\(/ && !/ENO/ && !/O_RDONLY/' \
			st.*)" ""
	check "a page: one is opened" \
		awk 'FNR == 1 {on = 0} /PR_SET_SECCOMP/ {on = 1} on && /open(at)?\(/ {n++} END {exit !n}' st.*
	calls export small.grt --format otf2 -o x.otf2 >called
	is "an archive: what is called besides" \
		"$(grep -vxE "$usual|openat|mkdir|mkdirat|newfstatat|write|geteuid|access|readlink|uname" called)" ""
	if [ "$(id -u)" = 0 ]; then
		is "root's is written by nobody, who sees nothing else" \
			"$(strace -f -e trace=chroot,chdir,setresuid "$ctl" export small.grt --format otf2 \
				-o y.otf2 2>&1 |
			grep -oE '(chroot|chdir|setresuid).* = 0' | tr -s ' \n' ' ')" \
			'chroot(".") = 0 chdir("/") = 0 setresuid(65534, 65534, 65534) = 0 '
		check "root's recordings are read by nobody" grep -q 'setresuid(65534, 65534, 65534) = 0' \
			<(strace -f -e setresuid "$ctl" summary small.grt 2>&1)
	fi
else
	skip "the child's system calls" "no strace"
fi

# --- while it works ---------------------------------------------------------------
# busy ARG...: grainctl in the background as G, its child as C, locked and stopped. If the child was faster, again.
busy()
{
	local end=$((SECONDS + ${PATIENCE:-120}))
	while [ $SECONDS -lt $end ]; do
		"$ctl" "$@" >out 2>err & G=$!
		PIDS+=("$G")
		while kill -0 "$G" 2>/dev/null; do
			C=$(pgrep -P "$G")
			[ -n "$C" ] && grep -qsx 'Seccomp:[[:space:]]*2' "/proc/$C/status" && kill -STOP "$C" &&
				return
		done
		rm -f -- *.svg
	done
	not_ok "the child is met while it works"
}
busy report large.grt -o a.svg
is "the child is confined" \
	"$(awk '/^(Seccomp|NoNewPrivs):/ {print $2} /^CapEff:/ {print $2}' "/proc/$C/status" | tr '\n' ' ')" \
	"$([ "$(id -u)" = 0 ] && echo "0000000000000000 1 2 " ||
		echo "$(awk '/^CapEff:/ {print $2}' /proc/self/status) 1 2 ")"
kill -CONT "$C"; wait "$G"
is "and the picture is whole" "$? $(tail -c 7 a.svg) $(cat err)" "0 </svg> "
busy report large.grt -o b.svg
kill -KILL "$C"; wait "$G"
is "killed: one line, and nothing half-written" \
	"$? $(wc -l <err) $(grep -c 'ended early' err) $(find . -name '*b.svg*')" "1 1 1 "
busy report large.grt -o b.svg
kill -SEGV "$C"; kill -CONT "$C"; wait "$G"
is "a crash is told, too" "$? $(grep -c 'ended early' err) $(find . -name '*b.svg*')" "1 1 "
busy report large.grt -o b.svg
kill -TERM "$G"; wait "$G"
is "SIGTERM: nothing is left" "$? $(find . -name '*b.svg*')" "143 "
gone() { ! kill -0 "$C"; }
until_so "the child ends" gone
is "nor the child" "$(cat "/proc/$C/comm" 2>/dev/null)" ""
"$ctl" report large.grt --format json 2>err | head -1 >out
is "a closed pipe is not worth a word" "${PIPESTATUS[0]} $(cat err)" "141 "
if [ -w /dev/full ]; then
	"$ctl" summary "$log" >/dev/full 2>err
	is "a full disk is told" "$? $(wc -l <err)" "1 1"
fi
mkfifo pipe
timeout "${PATIENCE:-120}" "$ctl" summary pipe 2>err
is "a pipe without a writer is refused" "$? $(grep -c 'not a regular file' err)" "1 1"
