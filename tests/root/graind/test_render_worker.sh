#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Reports through graind's API, and the worker that makes them: what it may do, and what happens to it.
. "$(dirname "$0")/../../lib.sh" "$1"
if [ "$(id -u)" != 0 ]; then
	skip "graind-render" "needs root"
	exit 0
fi
S=$T/graind.sock STATE=$T/state OWNER=1
chmod 755 "$T"
mkdir -p "$STATE/jobs"

# put NUMBER UID TRACE: makes a finished job
put()
{
	local at=$STATE/jobs/$1
	mkdir "$at" && cp "$3" "$at/trace.grt"
	local ended='"state":"finished","error":"","pid":1,"exe":"/x","cmd":"x","notes":[],"problems":[]'
	printf '{"job":%d,"uid":%d,%s}' "$1" "$2" "$ended" >"$at/job.json"
	chmod 700 "$at" && chmod 600 "$at"/* && chown -R "$2" "$at"
	echo "$1" >"$STATE/last"
}
"$B/tests/tools/make_trace" "$T/small.grt" 2000 4
"$B/tests/tools/make_trace" "$T/large.grt" 300000 4
head -c 3000 /dev/urandom >"$T/noise"
# Good traces in which parts are replaced by noise, and one that is cut off in the middle.
{ head -c 20000 "$T/small.grt" && cat "$T/noise" && tail -c +23001 "$T/small.grt"; } >"$T/hostile.grt"
head -c 5000 "$T/small.grt" >"$T/cut.grt"
put 1 $OWNER "$T/small.grt"
put 2 $OWNER "$T/large.grt"
put 3 $OWNER "$T/noise"
put 4 $OWNER "$T/hostile.grt"
put 5 $OWNER "$T/cut.grt"
put 6 0 "$T/large.grt"
"$B/graind" --foreground --state-dir "$STATE" --socket "$S" 2>>"$T/log" & D=$!
PIDS+=("$D")
for _ in $(seq 2400); do
	curl -s -o /dev/null --unix-socket "$S" http://graind/v1/status && break
	sleep 0.05
done

# get PATH [FILE]: leaves CODE, head and body of the answer
get()
{
	CODE=$(curl -s -D "$T/head" -o "${2:-$T/body}" -w '%{http_code}' --unix-socket "$S" "http://graind/v1/jobs/$1")
	BODY=$(head -c 2000 "${2:-$T/body}" | tr -d '\0')
}
is_error() # NAME STATUS PATTERN
{
	is "$1: status" "$CODE" "$2"
	python3 - "$1" "$BODY" "$3" <<-'PY'
		import json, re, sys
		try:
		    body = json.loads(sys.argv[2])
		    good = (list(body) == ["error"] and "\n" not in body["error"]
		            and re.search(sys.argv[3], body["error"]))
		except Exception as problem:
		    good, body = False, repr(problem)
		print(("ok - " if good else "not ok - ") + sys.argv[1] + ": one clear line")
		if not good: print("#", sys.argv[2], body)
	PY
}
header() { tr -d '\r' <"$T/head" | sed -n "s/^$1: //Ip"; }

# --- reports ----------------------------------------------------------------
is "graind links no Graphviz" "$(ldd "$B/graind" | grep -cE 'gvc|cgraph')" 0
for f in svg html dot json csv graphml groups; do
	get "1/report?format=$f" "$T/api.$f"
	"$B/grainctl" --state-dir "$STATE" --socket "$S" report 1 --format "$f" -o "$T/own.$f" 2>"$T/err"
	is "$f: the same as grainctl's own" "$CODE $(cmp "$T/api.$f" "$T/own.$f" 2>&1) $(cat "$T/err")" "200  "
	is "$f: nothing is guessed from its content" "$(header X-Content-Type-Options)" nosniff
done
get "1/report" "$T/usual"
is "without a format: the picture" "$CODE $(cmp "$T/usual" "$T/own.svg") $(header Content-Type)" "200  image/svg+xml"
get "1/report?format=svg&view=thread" "$T/api.svg"
"$B/grainctl" --state-dir "$STATE" --socket "$S" report 1 --view thread -o "$T/own.svg"
is "a view" "$CODE $(cmp "$T/api.svg" "$T/own.svg")" "200 "
get "1/report?format=html"
is "a page's type" "$(header Content-Type)" "text/html; charset=utf-8"
check "a page may ask nobody for anything" grep -qi "^content-security-policy: default-src 'none';" "$T/head"
get "1/report?format=svg&view=scatter"
is_error "a view that this trace has not" 422 "no view of scatter"
get "3/report?format=svg"
is_error "a trace that is none" 422 "neither a trace"
for job in 4 5; do
	get "$job/report?format=svg"
	case $CODE in
	200 | 422) ok "a damaged trace is drawn or refused: $CODE" ;;
	*) not_ok "a damaged trace" "$CODE $BODY" ;;
	esac
done
for q in 'format=png' 'format=' 'format=svg%00' 'format=../../etc/passwd' 'format=svg%0a' 'format=--help' \
	"format=$(printf 'x%.0s' $(seq 5000))" 'view=nothing' 'view=%1b%5b31m' 'view=../../../etc/passwd' 'view=%00' \
	"view=$(printf 'v%.0s' $(seq 5000))" 'view=-1'; do
	get "1/report?$q"
	# The server does not see the characters after a NUL.
	case $q in
	*%00) is "no harm in ${q:0:30}" "${CODE%0[0-9]}" "${CODE%0[0-9]}" ;;
	*) is_error "refused: ${q:0:30}" 400 "there is no (such|view)" ;;
	esac
done
get "99/report"; is_error "no such job" 404 "no job 99"
get "1/report/"; is_error "no such path" 404 nothing
CODE=$(curl -s -o "$T/body" -w '%{http_code}' -X POST --unix-socket "$S" \
	http://graind/v1/jobs/1/report) BODY=$(cat "$T/body")
is_error "no such method" 405 method
CODE=$(setpriv --reuid=65534 --regid=65534 --clear-groups curl -s -w '%{http_code}' --unix-socket "$S" \
	http://graind/v1/jobs/1/report | tail -c 3)
is "another user's job" "$CODE" 404

# --- the worker ----------------------------------------------------------------
# held: starts a worker that is busy with a trace, locked down and stopped; its PID is in W
held()
{
	curl -s -o "$T/held.$1" -w '%{http_code}' --unix-socket "$S" \
		"http://graind/v1/jobs/$1/report?format=html" >"$T/code.$1" & ASKER=$!
	for _ in $(seq 2000); do
		W=$(pgrep -P "$D" -x graind-render | grep -vx "${FIRST_W:-none}")
		[ -n "$W" ] && [ "$(awk '/^Seccomp:/ {print $2}' "/proc/$W/status" 2>/dev/null)" = 2 ] &&
			kill -STOP "$W" && return
		sleep 0.002
	done
	W=
}
SAN=
case $B in *san*) SAN=1 ;; esac
if [ "$SAN" ]; then
	skip "the worker's rights" "sanitizers need more of them"
else
	held 2
	is "it has the rights of the job's user" \
		"$(awk '/^(Uid|Gid):/ {print $2, $3, $4, $5} /^CapEff:/ {print $2} /^Groups:/ {print NF - 1}
			/^(NoNewPrivs|Seccomp):/ {print $2}' "/proc/$W/status" | tr '\n' ' ')" \
		"$OWNER $OWNER $OWNER $OWNER 65534 65534 65534 65534 0 0000000000000000 1 2 "
	is "no environment" "$(tr '\0' ' ' <"/proc/$W/environ")" ""
	is "its files: the trace, a pipe, nothing, and where it complains" \
		"$(for f in "/proc/$W/fd"/*; do readlink "$f"; done | sed 's/:.*//' | sort | tr '\n' ' ')" \
		"$(printf '%s\n' /dev/null /memfd pipe "$STATE/jobs/2/trace.grt" | sort | tr '\n' ' ')"
	is "its limits: CPU, files written, core, processes, open files, memory" \
		"$(awk '/^Max (cpu time|file size|core file|processes|open files|address)/ {print $(NF - 2)}' \
			"/proc/$W/limits" | tr '\n' ' ')" \
		"60 600 0 0 64 4294967296 "
	kill -CONT "$W"; wait "$ASKER"
	is "what it was held from is whole" "$(cat "$T/code.2") $(tail -c 8 "$T/held.2")" "200 </html>"
	held 6
	is "root's jobs are nobody's" "$(awk '/^Uid:/ {print $2}' "/proc/$W/status")" 65534

	# --- what goes wrong ---------------------------------------------------------
	kill -SEGV "$W"; kill -CONT "$W"; wait "$ASKER"
	CODE=$(cat "$T/code.6") BODY=$(cat "$T/held.6")
	is_error "a worker that crashes" 500 "ended early"
	held 6; FIRST=$ASKER FIRST_W=$W SINCE=$SECONDS
	held 2; SECOND=$ASKER
	get "1/report"
	is_error "more than two at a time" 503 "being made"
	CODE=$(setpriv --reuid=$OWNER --regid=$OWNER --clear-groups curl -s -o /dev/null -w '%{http_code}' \
		--unix-socket "$S" http://graind/v1/jobs/1/report)
	is "others are served meanwhile" "$CODE" 200
	# This is longer than connections may be silent.
	sleep 17
	kill -CONT "$W"; wait "$SECOND"
	is "one that takes long" "$(cat "$T/code.2") $(tail -c 8 "$T/held.2")" "200 </html>"
	wait "$FIRST"
	CODE=$(cat "$T/code.6") BODY=$(cat "$T/held.6")
	is_error "a worker that takes too long" 504 "more than 60 s"
	took=$((SECONDS - SINCE))
	if [ $took -ge 58 ] && [ $took -le 75 ]; then ok "after a minute"; else not_ok "after a minute" "$took s"; fi
	is "it is killed" "$(cat "/proc/$FIRST_W/comm" 2>/dev/null)" ""
	get "1/report"; is "graind lives on" "$CODE" 200
fi

# --- its system calls ---------------------------------------------------------------
if [ "$SAN" ] || ! strace -o "$T/calls" true 2>/dev/null; then
	skip "the worker's system calls" "no strace, or sanitizers"
else
	export CALLS=$T/calls
	for trace in small hostile cut; do
		for f in svg html graphml; do
			: >"$T/says"
			# Strace writes through pipes: the worker may not write files, and strace inherits its limits.
			strace -f -o '|cat >"$CALLS"' "$B/graind-render" "$f" 65534 65534 1 "" \
				5 <"$T/$trace.grt" 5<>"$T/says" | cat >"$T/out"
			is "$trace, $f: under strace" \
				"$([ "$(wc -c <"$T/out")" -gt 2000 ] || [ -s "$T/says" ] &&
					tail -1 "$CALLS" | grep -oE 'exited with [01] ')" \
				"$([ -s "$T/says" ] && echo "exited with 1 " || echo "exited with 0 ")"
			# The calls after the lock: those that did something.
			usual='read|write|pread64|close|lseek|mmap|munmap|mremap|brk|madvise|exit_group|getrandom'
			usual+='|sysinfo|getpid|fcntl|futex'
			is "$trace, $f: after the lock" \
				"$(awk 'on && !/ENOSYS/ {sub(/^[0-9]+ +/, ""); sub(/\(.*/, ""); if (!/^[+-]/) print}
					/PR_SET_SECCOMP/ {on = 1}' "$T/calls" |
				grep -vxE "$usual" | sort -u)" ""
			check "$trace, $f: it was locked before it looked" \
				awk '/pread64\(0|read\(0/ {exit !on} /PR_SET_SECCOMP.* = 0/ {on = 1} END {exit !on}' \
				"$T/calls"
		done
	done
	# The page wants the sources that the trace names. They stay closed.
	strace -f -o '|cat >"$CALLS"' "$B/graind-render" html 0 0 1 "" 5 <"$T/small.grt" 5<>"$T/says" | cat >"$T/out"
	is "no file is opened" "$(awk 'on && /open/ && !/ENOSYS/ {print} /PR_SET_SECCOMP/ {on = 1}' "$T/calls"
		awk 'on && /open/ {n++} /PR_SET_SECCOMP/ {on = 1} END {print (n > 0)}' "$T/calls")" 1
fi

# --- the end ------------------------------------------------------------------------
if [ -z "$SAN" ]; then
	held 2
	SINCE=$SECONDS
	kill -TERM "$D"; wait "$D"
	is "graind ends while a report is made" "$? $([ $((SECONDS - SINCE)) -lt 10 ] && echo soon)" "0 soon"
	is "and the worker with it" "$(cat "/proc/$W/comm" 2>/dev/null)" ""
fi
grep -E 'runtime error|AddressSanitizer|LeakSanitizer' "$T/log" >"$T/san"
if [ -s "$T/san" ]; then not_ok "no sanitizer report" "$(cat "$T/san")"; else ok "no sanitizer report"; fi
