#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl optout: whose wish it is, what it ends and prevents, that it lasts, and that nobody else can decide it.
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
chmod 755 "$T"
# The loops pause, to leave the CPUs to the tests beside this one.
export LOOP_PAUSE_US=3000 OMP_WAIT_POLICY=passive
export OMP_NUM_THREADS=2 GRAIND_CONFIG=$T/graind.conf
json() { /usr/bin/python3 -c 'import json,sys; d=json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
cp "$B/tests/omp/loop_forever" "$T/program"; cp "$B/grainctl" "$T/grainctl"; chmod 755 "$T/program" "$T/grainctl"
ANN=65534 BOB=64002
printf '' >"$GRAIND_CONFIG"
as() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
# ctl UID ARGUMENT...: runs grainctl as that user; its status is in STATUS, its output in SAID
ctl() { SAID=$(as "$1" "$T/grainctl" "${@:2}" 2>&1) && STATUS=0 || STATUS=$?; }
# asks UID METHOD PATH [BODY]: leaves status and answer in CODE and BODY
asks() {
	BODY=$(as "$1" curl -s -w '\n%{http_code}' --unix-socket "$GRAIND_SOCKET" -X "$2" ${4:+-d "$4"} \
		"http://graind$3")
	CODE=${BODY##*$'\n'} BODY=${BODY%$'\n'*}
}
runs() { start_loop setpriv --reuid="$1" --regid="$1" --clear-groups "$T/program" 3600000 /dev/null; }
# jobs_of PID: states and reasons of its jobs, the oldest first
jobs_of() {
	asks 0 GET '/v1/jobs?all=1'
	json "[(j['state'], j['reason']) for j in sorted(d['jobs'], key=lambda j: j['job']) if j['pid'] == $1]" \
		<<<"$BODY"
}
# jobs_become PID EXPECTED NAME: waits for these states and reasons
jobs_become()
{
	until_so "$3" eval "jobs_of $1; [ \"\$(jobs_of $1)\" = \"$2\" ]"
	is "$3" "$(jobs_of "$1")" "$2"
}
# leaves_out PID: whether a session has decided to leave it out. The kernel then passes over it.
leaves_out() { bpftool map dump name refused 2>/dev/null | grep -E "\"key\": $1\b"; }

start_graind || exit
ctl $ANN optout
is "nobody has opted out at first" "$STATUS ${SAID%%;*}" \
	"0 graind records processes of $(id -un $ANN) as the administrator's settings say"
runs $ANN; A=$P
runs $BOB; O=$P
asks $ANN POST /v1/jobs "{\"pid\":$A}"; J=$(json "d['job']" <<<"$BODY")
asks $BOB POST /v1/jobs "{\"pid\":$O}"
becomes "$J" 'j["grains"] > 0' >/dev/null
ctl $ANN optout on
is "on: tells what it has done" "$STATUS $(sed -n 1p <<<"$SAID")" \
	"0 graind records no process of $(id -un $ANN), whoever asks for it; grainctl optout off undoes that"
is "and what ends" "$(sed -n '2s/;.*//p' <<<"$SAID")" "1 recording ends now"
jobs_become "$A" "[('finished', 'optout')]" "the recording ends"
is "that of another goes on" "$(jobs_of "$O")" "[('running', '')]"
asks $ANN GET "/v1/jobs/$J/summary"
is "what was recorded is kept" "$CODE $(json "d['grains']['total'] > 0" <<<"$BODY")" "200 True"
ctl $ANN attach "$A"
is "who has opted out cannot attach" "$STATUS $SAID" \
	"3 grainctl: attach: you have opted out of being recorded; grainctl optout off undoes that"
asks 0 POST /v1/jobs "{\"pid\":$A}"
is "nor can root" "$CODE $(json "d['error']" <<<"$BODY")" \
	"403 process $A is not recorded: its user, $ANN, has opted out (grainctl optout off, by that user, undoes it)"
asks $ANN GET /v1/status
is "one sees one's own wish" "$(json "(d['opted_out'], 'optouts' in d)" <<<"$BODY")" "(True, False)"
asks $BOB GET /v1/status
is "and not that of others" "$(json "(d['opted_out'], 'optouts' in d)" <<<"$BODY")" "(False, False)"
ctl $ANN status
check "grainctl status says so" \
	grep -qx "you have opted out of being recorded; grainctl optout off undoes that" <<<"$SAID"
ctl 0 status
check "the administrator sees who" grep -qx "not recorded, as they have opted out: $(id -un $ANN)" <<<"$SAID"

# --- sessions -------------------------------------------------------------------
asks 0 POST /v1/jobs '{"all":true}'; S=$(json "d['job']" <<<"$BODY")
runs $BOB; O2=$P
runs $ANN; A2=$P
jobs_become "$O2" "[('running', '')]" "a session records others"
until_so "it has seen the one who has opted out" leaves_out "$A2"
is "and nothing of who has opted out" "$(jobs_of "$A2") $(jobs_of "$A")" "[] [('finished', 'optout')]"
ctl $ANN optout off
is "off" "$STATUS ${SAID%% as *}" "0 graind records processes of $(id -un $ANN)"
jobs_become "$A2" "[('running', '')]" "from then on the session records it"
ctl $ANN optout on
jobs_become "$A2" "[('finished', 'optout')]" "and no longer after another on"
ctl $ANN optout off
jobs_become "$A2" "[('finished', 'optout'), ('running', '')]" "and again after another off"
ctl $ANN optout on
asks 0 POST "/v1/jobs/$S/detach"
settings "rule {" "  user = $ANN" "  profile = always" "}"
reload
runs $ANN; A3=$P
until_so "the session of that rule has seen it" leaves_out "$A3"
is "a rule with always does not bind either" "$(jobs_of "$A3")" "[]"

# --- it lasts -------------------------------------------------------------------
stop_graind KILL; start_graind
asks $ANN GET /v1/optout
is "after kill -9 it holds" "$(json "(d['uid'], d['opted_out'])" <<<"$BODY")" "($ANN, True)"
stop_graind; start_graind
asks $ANN POST /v1/jobs "{\"pid\":$A}"
is "and after a restart" "$CODE" 403
settings ""
reload

# --- what was root's becomes theirs ---------------------------------------------
become="setpriv --reuid=$ANN --regid=$ANN --clear-groups"
# newest EXPRESSION: its value for the job j that has begun last
newest() { asks 0 GET '/v1/jobs?all=1'; json "(lambda j: $1)(max(d['jobs'], key=lambda j: j['job']))" <<<"$BODY"; }
# newest_is EXPRESSION: waits until it holds. J, P: that job and its process
newest_is()
{
	until_so "the newest job: $1" eval "newest '(j, $1)'; [ \"\$(newest '$1')\" = True ]"
	J=$(newest 'j["job"]') P=$(newest 'j["pid"]')
}
mkfifo "$T/go"
before=$(newest 'j["job"]')
"$GRAINCTL" run -- sh -c "read -r _ <'$T/go'; exec $become '$T/program' 3600000 /dev/null >/dev/null" 2>"$T/run" &
RUN=$!
PIDS+=("$RUN")
newest_is "j[\"job\"] > $before and j[\"state\"] == \"waiting\""
echo >"$T/go"
newest_is 'j["state"] in ("failed", "finished")'
check "it runs on" kill -0 "$P"
kill "$P"; wait "$RUN"
asks 0 GET "/v1/jobs/${J:-0}"
is "a program that root starts as them is not recorded" "$(json "(d['events'], d['error'])" <<<"$BODY")" \
	"(0, 'the process has become that of a user who has opted out of being recorded (grainctl optout)')"

before=$J
"$GRAINCTL" run -- "$B/tests/root/programs/gives_up" $ANN "$T/theirs" "$T/over" >"$T/counts" 2>"$T/run" &
RUN=$!
PIDS+=("$RUN")
newest_is "j[\"job\"] > $before and j[\"grains\"] > 100"
touch "$T/theirs"
newest_is 'j["state"] in ("failed", "finished")'
# It goes on for a while, and counts what it does before and after the end of the recording.
touch "$T/over"
wait "$RUN"
read -r ROOTS THEIRS AFTER <"$T/counts"
asks 0 GET "/v1/jobs/${J:-0}/summary"
TASKS=$(json "d['grains']['tasks']" <<<"$BODY")
check "nor a program that becomes theirs: $TASKS tasks, $ROOTS of root's, $THEIRS of theirs, $AFTER after that" \
	test "$TASKS" -ge "$ROOTS" -a "$TASKS" -le $((ROOTS + THEIRS)) -a "$AFTER" -gt 0

# --- others' wishes -------------------------------------------------------------
for body in "{\"on\":true,\"uid\":$ANN}" '{"on":1}' '{"on":"true"}' '[true]' 'true' '{}' '{"on":true,"on":false}' \
	'{"on":true' ''; do
	asks $BOB POST /v1/optout "$body"
	is "refused: ${body:-nothing}" "$CODE" 400
done
for method in PUT DELETE; do asks $BOB "$method" /v1/optout; is "$method" "$CODE" 405; done
asks $BOB POST "/v1/optout/$ANN" '{"on":false}'; is "no path for others" "$CODE" 404
asks $BOB POST "/v1/optout?uid=$ANN" '{"on":false}'
asks $ANN GET /v1/optout
is "bob cannot opt ann in" "$(json "d['opted_out']" <<<"$BODY")" True
asks $ANN POST "/v1/optout?uid=$BOB" '{"on":true}'
asks $BOB POST /v1/jobs "{\"pid\":$O}"
is "nor ann bob out" "$CODE" 201
for what in "touch $GRAIND_STATE_DIR/optout/$BOB" "rm -f $GRAIND_STATE_DIR/optout/$ANN" "ls $GRAIND_STATE_DIR/optout" \
	"mv $GRAIND_STATE_DIR/optout $T/elsewhere" "sh -c ': >$GRAIND_STATE_DIR/optout/$ANN'"; do
	as $BOB $what 2>/dev/null && not_ok "what is kept is out of reach: ${what%% *}" ||
		ok "what is kept is out of reach: ${what%% *}"
done
ctl $BOB optout perhaps
is "a wrong word" "$STATUS $(sed -n 1p <<<"$SAID")" "2 grainctl optout: on, off or status, not 'perhaps'"

# --- files that are wrong -------------------------------------------------------
# wrong WHAT UID: checks that this user has not opted out, and that graind says so
wrong()
{
	asks "$2" GET /v1/optout
	is "$1: not trusted" "$(json "d['opted_out']" <<<"$BODY")" False
	ctl 0 status
	is "$1: reported" \
		"$(grep -c "optout are not as graind wrote them and count for nothing, among them" <<<"$SAID")" 1
}
D=$GRAIND_STATE_DIR/optout
cp "$D/$ANN" "$D/$BOB"; wrong "another's file" $BOB
rm "$D/$BOB"; : >"$D/$BOB"; wrong "an empty file" $BOB
printf 'user %d is not to be recorded\n' $BOB >"$D/$BOB"
asks $BOB GET /v1/optout; is "(a right one is trusted)" "$(json "d['opted_out']" <<<"$BODY")" True
echo more >>"$D/$BOB"; wrong "a longer file" $BOB
printf 'user %d is not to be recorded\n' $BOB >"$D/$BOB"
chmod 666 "$D/$BOB"; wrong "a file that others may write" $BOB
chmod 600 "$D/$BOB"; chown $BOB "$D/$BOB"; wrong "a file of the user's own" $BOB
mv "$D/$BOB" "$T/away"; chown 0 "$T/away"; ln -s "$T/away" "$D/$BOB"; wrong "a link" $BOB
rm "$D/$BOB"; mkfifo "$D/$BOB"; wrong "a pipe" $BOB
stop_graind; start_graind
check "at the start it is logged" \
	grep -q "1 of the files in the state directory's optout are not as graind wrote them.*among them $BOB" \
	"$T/graind.log"
ctl $BOB optout on
is "a user's own on mends it" "$STATUS $(cat "$D/$BOB")" "0 user $BOB is not to be recorded"
ctl $BOB optout off
is "and off takes it away" "$STATUS $(ls "$D")" "0 $ANN"
ln -s nowhere "$D/"$'\xff\n\e'"odd"
ctl 0 status
is "an odd name is one line of text" "$(grep -c 'among them ' <<<"$SAID") $(grep -c "$(id -un $ANN)" <<<"$SAID")" "1 1"
rm "$D/"*odd
stop_graind
chmod 777 "$D"; start_graind
ctl 0 status
check "a directory that others may write is not used" \
	grep -q "nobody's wish not to be recorded is known: .* move it away" <<<"$SAID"
ctl $ANN optout on
is "which is said to who asks" "$STATUS ${SAID%%: Op*}" "1 grainctl: optout: cannot keep that in the state directory"
stop_graind
chmod 700 "$D"; start_graind
# This number is larger than any user id of this machine.
/usr/bin/python3 - "$D" <<'P'
import os, sys
for uid in range(200000, 201100):
    fd = os.open("%s/%d" % (sys.argv[1], uid), os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(fd, b"user %d is not to be recorded\n" % uid)
P
ctl 210000 optout on
is "beyond a thousand nobody knows" "$STATUS $(grep -c 'too many have opted out' <<<"$SAID")" "1 1"
ctl 1 optout on
is "who has an account may" "$STATUS" 0
asks 0 GET /v1/status
is "the list is bounded" \
	"$(json "(d['optouts']['count'], len(d['optouts']['users']), d['optouts']['error'])" <<<"$BODY")" \
	"(1102, 100, '')"
for p in "$A" "$A2" "$A3" "$O" "$O2"; do kill "$p" 2>/dev/null; done
stop_graind
is "ends properly" "$GRAIND_STATUS" 0
