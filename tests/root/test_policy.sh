#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# graind.conf(5): who is profiled, reload, what grainctl status shows.
. "$(dirname "$0")/../lib.sh" "$1"
. "$(dirname "$0")/root_lib.sh"
chmod 755 "$T"
export GRAIND_CONFIG=$T/graind.conf OMP_NUM_THREADS=2
cp "$B/tests/omp/loop_forever" "$T/allowed"; cp "$B/tests/omp/loop_forever" "$T/forbidden"; chmod 755 "$T/allowed" "$T/forbidden"
touch "$T/nobody"; chown 65534 "$T/nobody"
NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# nobody_runs PROGRAM: as that user; its process in P.
nobody_runs() { "${NOBODY[@]}" "$T/$1" 90000 /dev/null >/dev/null & P=$!; PIDS+=("$P"); sleep 0.2; }
# nobody_asks METHOD PATH [BODY]: as that user; CODE and BODY of the answer.
nobody_asks() { CODE=$("${NOBODY[@]}" curl -s -o "$T/nobody" -w '%{http_code}' --unix-socket "$GRAIND_SOCKET" -X "$1" ${3:+-d "$3"} "http://graind$2") BODY=$(cat "$T/nobody"); }
root_asks() { CODE=$(curl -s -o "$T/body" -w '%{http_code}' --unix-socket "$GRAIND_SOCKET" -X "$1" ${3:+-d "$3"} "http://graind$2") BODY=$(cat "$T/body"); }
settings() { printf '%s\n' "$@" >"$GRAIND_CONFIG"; }
reload()
{
	local was
	was=$(grep -c 'settings' "$T/graind.log")
	kill -HUP "$GRAIND_PID"
	for _ in $(seq 100); do [ "$(grep -c 'settings' "$T/graind.log")" -gt "$was" ] && return; sleep 0.02; done
}
policy() { root_asks GET /v1/status; json "d['policy']$1" <<<"$BODY"; }

settings "keep-days = 30" "rule {" "  exe = \"$T/forbidden\"" "  profile = off" "}"
start_graind || exit
is "what is read at the start" "$(policy "['keep_s'], d['policy']['rules'][0]['profile'], d['policy']['error']")" "(2592000, 'off', '')"
nobody_runs forbidden; F=$P
nobody_runs allowed; A=$P
nobody_asks POST /v1/jobs "{\"pid\":$F}"
is "off: the owner is refused" "$CODE $(grep -c 'administrator has turned that off' <<<"$BODY")" "403 1"
nobody_asks POST /v1/jobs "{\"pid\":$A}"
is "others are not" "$CODE" 201
J=$(json "d['job']" <<<"$BODY")
root_asks POST /v1/jobs "{\"pid\":$F}"
is "root is not bound" "$CODE" 201
root_asks POST "/v1/jobs/$(json "d['job']" <<<"$BODY")/detach"

"$GRAINCTL" status >"$T/status"
is "grainctl status shows the rules" "$(sed -n 's/^  off: *//p' "$T/status")" "exe $T/forbidden"
is "and what is kept" "$(sed -n 's/^  kept: //p' "$T/status")" "30 days"
check "and the file" grep -q "settings: $GRAIND_CONFIG, read 20" "$T/status"

settings "keep-days = 31" "rule {" "  profile = sometimes" "}"
reload
is "a wrong file is refused as a whole" "$(policy "['keep_s'], d['policy']['rules'][0]['profile']")" "(2592000, 'off')"
is "and the line is told" "$(policy "['error']")" "$GRAIND_CONFIG:3: profile is off, on-request or always"
check "in the log, too" grep -q "graind.conf:3: profile is off.*stay as they were" "$T/graind.log"
check "by grainctl status as well" sh -c "'$GRAINCTL' status | grep -q 'refused since: .*graind.conf:3'"
root_asks GET "/v1/jobs/$J"
is "jobs go on" "$(json "d['state']" <<<"$BODY")" running
rm "$GRAIND_CONFIG"
reload
is "a file that is gone changes nothing" "$(policy "['keep_s']")" 2592000
settings "rule {" "  user = nobody" "  exe = \"*/allowed\"" "  profile = off" "}"
reload
is "a right one is taken" "$(policy "['keep_s'], d['policy']['error']")" "(0, '')"
root_asks GET "/v1/jobs/$J"
is "jobs go on, then, too" "$(json "d['state']" <<<"$BODY")" running
root_asks POST "/v1/jobs/$J/detach"
is "and end as they should" "$(json "d['state'], d['lost']" <<<"$BODY")" "('finished', 0)"
nobody_asks POST /v1/jobs "{\"pid\":$A}"
is "the new rules hold" "$CODE" 403
nobody_asks POST /v1/jobs "{\"pid\":$F}"
is "and the old ones do not" "$CODE" 201
stop_graind
is "ends properly" "$GRAIND_STATUS" 0
