#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl doctor: what it says about this machine and about runtime files.
. "$(dirname "$0")/../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

"$ctl" doctor >text 2>err
is "doctor succeeds and says nothing else" "$? $(cat err)" "0 "
for word in "kernel types" uprobe_multi capabilities graind "ring memory" "perf events" "hardware counters" NUMA "page placement" "state directory" "recording inside"; do
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
	"$(awk '/^[a-zA-Z].* (no|limited) /{ if (open) print open; open=$0; next } /->/{ open="" } /^$/{ exit }' text)" ""

# What is missing has a command that a shell understands; what no command mends says so in words.
"$ctl" doctor --json >checks.json
json '"\n".join(c["name"] for c in d["checks"] if c["result"] == "no" and not c["command"])' <checks.json >bare
is "each no has a command" "$(cat bare)" ""
is "nobody runs here: how to start graind" "$(json '[c["command"].split()[0] for c in d["checks"] if c["name"] == "graind"]' <checks.json)" "['sudo']"
check "the text shows it" grep -q '^    \$ sudo .*graind' text
# As a user without rights in a state directory that cannot be: more is missing.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T" && cp "$ctl" "$T/grainctl" && chmod 755 "$T/grainctl"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/grainctl" --state-dir "$T/nowhere" doctor --json >user.json
	json '[c["name"] for c in d["checks"] if c["result"] != "yes" and not c["command"] and c["name"] not in ("NUMA", "hardware counters", "memory addresses", "perf uprobes")]' <user.json >bare
	is "a user's missing pieces have commands" "$(cat bare)" "[]"
	check "the missing library, too" grep -q 'make install' user.json
else
	skip "a user's missing pieces have commands" "no setpriv to drop root's rights with"
fi
json '"\n".join(c["command"] for c in d["checks"] if c["command"])' <checks.json >commands
check "a shell understands them" bash -n commands

"$ctl" doctor --json >doctor.json 2>err
is "doctor --json" "$? $(cat err)" "0 "
is "the same checks" "$(json 'len(d["checks"])' <doctor.json)" "$(grep -cE '^[a-zA-Z_ ]+ (yes|no|limited) ' text)"
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
		objdump -d --no-show-raw-insn "$libgomp" | awk -F: '/^ *[0-9a-f]+:\t/ { gsub(/ /, "", $1); print $1 }' >boundaries
		"$ctl" doctor --runtime "$libgomp" --json | json '"\n".join("%x" % p["address"] for p in d["plan"]["points"])' >points
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
