#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl on files: event logs written by hand, every output form, damage, full disks.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1

# One region of two threads; the first creates two tasks and runs one of them.
cat >two.log <<'LOG'
grain-log 1
@machine host=n17 cores=2 sockets=1 kernel=6.1.0
@process pid=10 uid=1000 exe=/opt/app/two cmd="two 1" runtime=libgomp threads=2
@source 0 file=two.c line=5 func=main kind=parallel
@source 1 file=two.c line=9 func=main kind=task
@source 2 file=two.c line=12 func=main kind=taskwait
100 10 0 thread-begin
1000 10 0 region-begin region=1 src=0 threads=2
1100 10 0 member-begin region=1 num=0
1200 10 0 create-begin task=1 src=1 flags=deferred
1300 10 0 create-end task=1
1400 10 0 create-begin task=2 src=1 flags=deferred
1500 10 0 create-end task=2
1600 10 0 wait-begin kind=taskwait
1700 10 0 task-begin task=2
2700 10 0 task-end task=2
3000 10 0 wait-end kind=taskwait
3100 10 0 wait-begin kind=barrier-implicit
3200 10 0 wait-end kind=barrier-implicit
3210 10 0 member-end region=1 num=0
3300 10 0 region-end region=1
3400 10 0 thread-end
1050 11 1 thread-begin
1150 11 1 member-begin region=1 num=1
1250 11 1 wait-begin kind=barrier-implicit
1350 11 1 task-begin task=1
2900 11 1 task-end task=1
3200 11 1 wait-end kind=barrier-implicit
3205 11 1 member-end region=1 num=1
3250 11 1 thread-end
LOG

"$ctl" analyze two.log --json >summary.json
is "analyze --json succeeds" $? 0
is "tasks counted" "$(json 'd["grains"]["tasks"], d["grains"]["incomplete"]' <summary.json)" "(2, 0)"
# (1200-1100)+(1400-1300)+(1600-1500)+(3100-3000)+(3210-3200) of member 0, (1250-1150)+(3205-3200) of member 1,
# (1000-100)+(3400-3300) outside, and the bodies 1000 and 1550
is "work is the sum of all fragments" "$(json 'd["work_ns"]' <summary.json)" "4065"
is "the definition's source" "$(json 'd["definitions"][0]["source"]' <summary.json)" "two.c:9"
is "summary of a file is the same" "$("$ctl" summary two.log --json | md5sum)" "$(md5sum <summary.json)"

"$ctl" analyze two.log --format json >grains.json
is "analyze --format json succeeds" $? 0
ids=$(python3 -c 'import json,sys; print(*sorted(json.loads(l)["id"] for l in open("grains.json")))')
is "one line a context, with its identifier" "$ids" "0 0.p0.0 0.p0.0.0 0.p0.0.1 0.p0.1"
"$ctl" report two.log --format json -o grains2.json
check "report of a file is the same" cmp grains.json grains2.json

"$ctl" report two.log --format groups >groups.json
is "report --format groups succeeds" $? 0
# The two tasks, their parent with them, the region with both members, the program.
is "strengths of the groups, the root first" \
	"$(python3 -c 'import json; print(*(json.loads(l)["strength"] for l in open("groups.json")))')" \
	"[2, 8] [2, 6] [2, 4] [2, 2]"
is "the root has the work and all grains" "$(head -1 groups.json | json 'd["exec_ns"], d["grains"]')" "(4065, 2)"

"$ctl" export two.log --format log >again.log
is "export succeeds" $? 0
"$ctl" analyze again.log --json >summary2.json
"$ctl" analyze again.log --format json >grains3.json
check "an exported log gives the identical summary" cmp summary.json summary2.json
check "an exported log gives the identical grains" cmp grains.json grains3.json
"$ctl" export again.log -o third.log
check "exporting again changes nothing" cmp again.log third.log

# Pictures
is "report names the picture it made" "$("$ctl" report two.log)" "two.svg"
check "the picture is well-formed XML" python3 -c 'import xml.dom.minidom as m; m.parse("two.svg")'
check "the picture is SVG" grep -q '<svg' two.svg
"$ctl" analyze two.log -o named.svg >out
is "analyze -o FILE draws and says nothing" "$? $(wc -c <out)" "0 0"
check "the same picture" cmp two.svg named.svg
"$ctl" analyze two.log --format dot -o - >two.dot
check "DOT on stdout" grep -q '^\(strict \)\?digraph' two.dot
if command -v gvpr >/dev/null; then
	check "DOT is well-formed" gvpr 'END_G { exit(0) }' two.dot
fi
while read -r view; do
	"$ctl" report two.log --view "$view" -o "view-$view.svg" 2>err
	rc=$?
	if [ "$(json "(d['numa'] if '$view' == 'node' else d['problems'].get('$view', {})).get('available', True)" \
		<summary.json)" = True ]; then
		is "report --view $view" "$rc $(cat err)" "0 "
	else
		is "report --view $view: absent, and why" "$rc $(grep -c ': no view of .*; choose another' err)" "1 1"
	fi
done < <("$ctl" report --view=help)

# Text
"$ctl" analyze two.log >text
is "the text summary succeeds" $? 0
check "it names the source" grep -q 'two\.c:9' text
for columns in 80 100 132; do
	COLUMNS=$columns "$ctl" analyze two.log >text.$columns
	is "the text summary fits $columns columns" \
		"$(python3 -c 'import sys; print(*[l for l in open(sys.argv[1])
			if len(l.rstrip("\n")) > int(sys.argv[2])])' text.$columns $columns)" ""
done
is "no colours and no progress in a pipe" "$("$ctl" analyze two.log 2>&1 | grep -c $'\033')" "0"
check "colours when asked for" grep -q $'\033\[' <("$ctl" --color=always analyze two.log)
if command -v script >/dev/null; then
	on_terminal() { TERM=xterm script -qec "$*" /dev/null </dev/null; }
	check "colours on a terminal" grep -q $'\033\[' <(on_terminal "$ctl" analyze two.log)
	is "NO_COLOR is heard" "$(NO_COLOR=1 on_terminal "$ctl" analyze two.log | grep -c $'\033')" "0"
	is "--color=never is heard" "$(on_terminal "$ctl" --color=never analyze two.log | grep -c $'\033')" "0"
fi

# Damage
sed '12s/create-begin/create-bogus/' two.log >unknown.log
head -c 700 two.log >cut.log
: >empty.log
head -c 4096 /dev/urandom >noise.log
for file in unknown cut empty noise; do
	"$ctl" analyze $file.log >out 2>err
	is "$file.log: fails with one line" "$? $(wc -l <err) $(wc -c <out)" "1 1 0"
	check "$file.log: the line names the file" grep -q "$file.log" err
done
"$ctl" analyze unknown.log 2>err
check "unknown event: the line number is said" grep -q '12' err
for file in unknown cut; do
	"$ctl" analyze $file.log --keep-going --json >out 2>err
	is "$file.log: --keep-going analyses the rest" "$? $(json 'd["damaged"]' <out)" "0 True"
done
"$ctl" report unknown.log 2>err
is "no picture of a damaged file" "$? $(ls unknown.svg 2>/dev/null)" "1 "
printf '%s\n' 'grain-log 1' '@process pid=1 exe="/tmp/\033[31mred" cmd="x"' \
	"$(printf '5 1 0 \033[2Jthread-begin')" >escape.log
"$ctl" analyze escape.log >out 2>err
is "control characters of a file do not reach the terminal" "$(cat out err | grep -c $'\033')" "0"

# Outputs are whole or absent.
echo old >kept.svg
"$ctl" report unknown.log -o kept.svg 2>/dev/null
is "a failure leaves the old output alone" "$(cat kept.svg)" "old"
ln -s target.svg link.svg
echo old >target.svg
"$ctl" report two.log -o link.svg
is "an output's symbolic link survives" "$(test -L link.svg && echo link) $(grep -c '<svg' target.svg)" "link 1"
"$ctl" report two.log -o nowhere/x.svg 2>err
is "no directory for the output: one line" "$? $(wc -l <err)" "1 1"
"$ctl" report two.log -o "$T" 2>err
is "a directory as output: one line" "$? $(wc -l <err)" "1 1"
for args in "report two.log --format json -o -" "analyze two.log --json" "analyze two.log" "export two.log" \
	"jobs --help"; do
	# shellcheck disable=SC2086
	"$ctl" $args >/dev/full 2>err
	rc=$?
	[ "$args" = "jobs --help" ] && continue
	is "full disk: grainctl $args" "$rc $(wc -l <err) $(grep -c 'No space left' err)" "1 1 1"
done
if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
	python3 -c '
print("grain-log 1\n@source 0 file=a.c line=1 func=f kind=task\n1 1 0 thread-begin")
t = 10
for i in range(2000):
    for e in ("create-begin task=%d src=0 flags=deferred", "create-end task=%d", "task-begin task=%d",
            "task-end task=%d"):
        print(t, 1, 0, e % i if "src" not in e else e % i); t += 10
print(t, 1, 0, "thread-end")' >many.log
	echo old >small/kept.json
	"$ctl" report many.log --format json -o small/kept.json 2>err
	is "full file system: one line" "$? $(wc -l <err) $(grep -c 'No space left' err)" "1 1 1"
	is "full file system: nothing half-written" "$(ls -A small) $(cat small/kept.json)" "kept.json old"
	umount small
else
	skip "full file system" "no small tmpfs can be mounted here"
fi
is "no temporary files are left" "$(find "$T" -name '.*.??????' -o -name 'grainctl.??????')" ""
