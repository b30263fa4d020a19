#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl doctor: what it says about this machine and about runtime files.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

"$ctl" doctor >text 2>err
is "doctor succeeds and says nothing else" "$? $(cat err)" "0 "
for word in "kernel types" uprobe_multi capabilities graind "ring memory" "perf events" "hardware counters" NUMA \
	"page placement" "state directory" "recording inside"; do
	check "it tells about $word" grep -q "^$word  *\(yes\|no\|limited\) " text
done
check "the kernel's version is told" grep -q "^kernel .*$(uname -r)" text
for columns in 80 120; do
	COLUMNS=$columns "$ctl" doctor >text.$columns
	is "it fits $columns columns" "$(awk -v w=$columns 'length > w' text.$columns)" ""
done
is "no colours in a pipe" "$(grep -c $'\033' text)" "0"
check "colours when asked for" grep -q $'\033\[' <("$ctl" --color=always doctor)
is "every limit says what to do or why it is no matter" \
	"$(awk '/^[a-zA-Z].* (no|limited) /{ if (open) print open; open=$0; next } /->/{ open="" } /^$/{ exit }' \
		text)" ""

# What is missing has a command that a shell understands; what no command mends says so in words.
"$ctl" doctor --json >checks.json
json '"\n".join(c["name"] for c in d["checks"] if c["result"] == "no" and not c["command"])' <checks.json >bare
is "each no has a command" "$(cat bare)" ""
is "nobody runs here: how to start graind" \
	"$(json '[c["command"].split()[0] for c in d["checks"] if c["name"] == "graind"]' <checks.json)" "['sudo']"
check "the text shows it" grep -q '^    \$ sudo .*graind' text
# As a user without rights in a state directory that cannot be: more is missing.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T" && cp "$ctl" "$ctl-full" "$T" && chmod 755 "$T"/grainctl*
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/grainctl" --state-dir "$T/nowhere" doctor \
		--json >user.json
	json '[c["name"] for c in d["checks"] if c["result"] != "yes" and not c["command"]
		and c["name"] not in ("NUMA", "hardware counters", "memory addresses", "perf uprobes")]' \
		<user.json >bare
	is "a user's missing pieces have commands" "$(cat bare)" "[]"
	is "the missing library, too: it is no source tree" \
		"$(json '[c["command"] for c in d["checks"] if c["name"] == "recording inside"]' <user.json)" \
		"['cd GRAIND_SOURCES && sudo make install']"
else
	skip "a user's missing pieces have commands" "no setpriv to drop root's rights with"
fi
mkdir -p tree/systemd tree/build && cp "$ctl" "$ctl-full" tree/build/ && : >tree/systemd/install.mk
is "in a source tree it is built" \
	"$(tree/build/grainctl doctor --json |
		json '[c["command"] for c in d["checks"] if c["name"] == "recording inside"][0]')" \
	"make -C \"$T/tree/build/..\""
json '"\n".join(c["command"] for c in d["checks"] if c["command"])' <checks.json >commands
check "a shell understands them" bash -n commands

"$ctl" doctor --json >doctor.json 2>err
is "doctor --json" "$? $(cat err)" "0 "
is "the same checks" "$(json 'len(d["checks"])' <doctor.json)" "$(grep -cE '^[a-zA-Z_ ]+ (yes|no|limited) ' text)"
# What a graind that runs says of itself counts, not what the caller may:
# one that answers GET /v1/status with the file `status`.
cat >graind.py <<'PY'
import http.server, os, socketserver, sys


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = open("status", "rb").read()
        self.send_response(200 if self.path == "/v1/status?all=1" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "socket"

    def log_message(self, *_):
        pass


socketserver.UnixStreamServer("said.sock", Answer).serve_forever()
PY
/usr/bin/python3 graind.py & PIDS+=($!)
until_so "one answers" test -S said.sock
# said CAPABILITIES MORE: its status; asked NAME: what doctor then says of that,
# as a user without rights where that can be
said() {
	local policy='{"file":"/etc/graind/graind.conf","there":true,"error":""}'
	echo "{\"version\":\"1\",\"pid\":4711,\"method\":\"perf\",\"capabilities\":[$1],\"policy\":$policy,$2}" >status
}
nobody=()
[ "$(id -u)" = 0 ] && nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups) && chmod 666 said.sock &&
	cp "$ctl" "$ctl-full" "$T"
asked() {
	"${nobody[@]}" "$T/grainctl" --socket "$T/said.sock" doctor --json |
		json "[(c['result'], c['command'].split('/')[0][:30]) for c in d['checks'] if c['name'] == '$1']"
}
[ -e "$T/grainctl" ] || cp "$ctl" "$ctl-full" "$T"
if [ -e /sys/bus/event_source/devices/uprobe/type ]; then
	said '"CAP_BPF"' '"metrics":false'
	is "a service that lacks CAP_SYS_ADMIN for perf uprobes: the drop-in" "$(asked 'perf uprobes')" \
		"[('limited', 'sudo install -D -t ')]"
	said '"CAP_BPF","CAP_SYS_ADMIN"' '"metrics":false'
	is "one that has it" "$(asked 'perf uprobes')" "[('yes', '')]"
else
	skip "a service that has or lacks CAP_SYS_ADMIN" "this kernel has no perf-event uprobes"
fi
said '"CAP_BPF","CAP_CHOWN"' '"metrics":false,"opted_out":true'
is "its capabilities are those that count" "$(asked capabilities)" "[('yes', '')]"
is "who has opted out is told" "$(asked 'opted out')" "[('limited', 'grainctl optout off')]"
is "metrics: how they are had" "$(asked metrics | sed 's/sudo [^)]*/sudo/')" "[('limited', 'sudo)]"
is "settings that are in force" "$(asked settings)" "[('yes', '')]"
is "no report-directory: nothing of it" "$(asked 'report directory')" "[]"
said '"CAP_BPF"' '"metrics":true,"opted_out":false'
is "served metrics" "$(asked metrics) $(asked 'opted out')" "[('yes', '')] []"
sed -i -e 's|"error":""|"error":"line 3: no such thing","report_directory":"/home/%u"|' \
	-e 's|}$|,"report_directory_error":"/home is read-only"}|' status
is "settings that were refused" "$(asked settings | sed 's/sudo [^)]*/sudo/')" "[('no', 'sudo)]"
is "a report-directory that the unit does not open" "$(asked 'report directory')" \
	"[('no', 'sudo systemctl edit graind && ')]"
sed -i 's|/home is read-only||' status
is "one that it does" "$(asked 'report directory')" "[('yes', '')]"

libgomp=$(gcc -print-file-name=libgomp.so)
if [ -e "$libgomp" ]; then
	libgomp=$(readlink -f "$libgomp")
	"$ctl" doctor --runtime "$libgomp" >plan
	is "the plan of the compiler's libgomp" "$?" "0"
	for event in task-create task-begin task-end undeferred-begin region-begin taskwait taskgroup barrier single; do
		check "it has a point for $event" grep -q "^ *0x[0-9a-f]* *$event" plan
	done
	is "text and JSON have the same points" "$(grep -cE '^ +0x[0-9a-f]+ ' plan)" \
		"$("$ctl" doctor --runtime "$libgomp" --json | json 'len(d["plan"]["points"])')"
	# The instructions as another disassembler sees them.
	if command -v objdump >/dev/null; then
		objdump -d --no-show-raw-insn "$libgomp" |
			awk -F: '/^ *[0-9a-f]+:\t/ { gsub(/ /, "", $1); print $1 }' >boundaries
		"$ctl" doctor --runtime "$libgomp" --json |
			json '"\n".join("%x" % p["address"] for p in d["plan"]["points"])' >points
		is "every point is an instruction for objdump too" "$(grep -vxFf boundaries points)" ""
	fi
else
	skip "the plan of the compiler's libgomp" "gcc has no libgomp here"
fi

head -c 5000 /dev/urandom >noise
: >empty
for file in noise empty nofile "$T" /proc/self/mem /bin/sh; do
	"$ctl" doctor --runtime "$file" >out 2>err
	is "doctor --runtime ${file##*/} fails with one line" "$? $(wc -l <err)" "1 1"
done
head -c 60000 "${libgomp:-/bin/sh}" >cut
"$ctl" doctor --runtime cut >out 2>err
is "a cut-off runtime fails with one line" "$? $(wc -l <err)" "1 1"
