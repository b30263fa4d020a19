#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Perfetto traces and OTF2 archives: what other programs read in them is what the JSON says.
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1
data=$ROOT/tests/data
python=/usr/bin/python3

"$B/tests/tools/make_trace" tree.grt 20000 8 >out 2>&1 || not_ok "make_trace" "$(cat out)"
cp "$data/untied_counters.log" untied.log
# A task whose end, and a wait whose begin, were not seen.
cat >torn.log <<'LOG'
grain-log 1
@process pid=7 uid=0 exe=/a cmd=a runtime=libgomp threads=1
@source 2 file=a.c line=20 func=f kind=task
1 1 0 create-begin task=1 src=2 flags=deferred
2 1 0 create-end task=1
3 1 0 wait-begin kind=taskwait
4 1 0 task-begin task=1
6 1 0 task-suspend task=1
9 1 0 wait-end kind=taskwait
LOG

cp "$ROOT/tests/fuzz/corpus-log/everything" "$ROOT/tests/fuzz/corpus-log/late" .
inputs=("$data"/*.log "$data"/mir_fib.csv "$data"/mir_loop.csv torn.log everything late tree.grt)
if command -v protoc >/dev/null && $python -c 'import google.protobuf' 2>/dev/null; then
	check "protoc takes the format's description" \
		protoc --proto_path="$data" --python_out=. perfetto_trace.proto
	for in in "${inputs[@]}"; do
		name=$(basename "$in")
		"$ctl" analyze "$in" --keep-going --format json >grains.json
		"$ctl" export "$in" --keep-going --format perfetto -o trace.pftrace >out 2>err
		is "$name: Perfetto" "$? $(cat out err)" "0 "
		is "$name: slices, arrows and counters are those of the graph" \
			"$($python "$ROOT/tests/tools/check_perfetto.py" . trace.pftrace grains.json 2>&1)" ""
	done
	"$ctl" export untied.log --format perfetto -o - | protoc --proto_path="$data" \
		--decode=perfetto.protos.Trace perfetto_trace.proto >text
	check "a counter of the capture is a track" grep -q 'name: "PAPI_TOT_CYC of what has ended"' text
	check "names are as they are" grep -qF 'f<T&>(\"x\")' text
else
	skip "Perfetto traces" "protobuf-compiler or python3-protobuf is not installed"
fi

if command -v otf2-print >/dev/null; then
	for in in "${inputs[@]}"; do
		name=$(basename "$in")
		"$ctl" analyze "$in" --keep-going --format json >grains.json
		rm -rf archive
		"$ctl" export "$in" --keep-going --format otf2 -o archive >out 2>err
		is "$name: OTF2" "$? $(cat out err)" "0 "
		otf2-print -G archive/grains.otf2 >definitions 2>err
		otf2-print archive/grains.otf2 >events 2>>err
		is "$name: otf2-print has nothing to complain about" "$(cat err)" ""
		is "$name: what was entered, left and created is the graph's" \
			"$($python "$ROOT/tests/tools/check_otf2.py" definitions events grains.json 2>&1)" ""
	done
	rm -rf archive
	"$ctl" export untied.log --format otf2 -o archive
	otf2-print -G archive/grains.otf2 >definitions
	otf2-print archive/grains.otf2 >events
	check "counters are metrics" grep -q '^METRIC_MEMBER .*"PAPI_TOT_CYC".*ACCUMULATED_START' definitions
	check "their values are sums over what has ended" grep -q '^METRIC .*("PAPI_TOT_CYC" <0>; UINT64; 30)' events
	check "names are as they are" grep -qF 'f<T&>("x")' definitions
else
	skip "OTF2 archives" "otf2-tools is not installed"
fi

# Where they go.
"$ctl" export untied.log --format perfetto >out 2>err
is "without -o a name is chosen and printed" "$? $(cat out err) $(ls untied.pftrace)" "0 untied.pftrace untied.pftrace"
"$ctl" export untied.log --format otf2 >out 2>err
is "of an archive as well" "$? $(cat out err) $(ls -d untied.otf2)" "0 untied.otf2 untied.otf2"
"$ctl" export untied.log --format otf2 -o untied.otf2 2>err
is "what exists is not replaced by an archive" "$? $(wc -l <err) $(grep -c 'File exists; remove it' err)" "1 1 1"
"$ctl" export untied.log --format otf2 -o - >out 2>err
is "an archive does not fit stdout" "$? $(wc -l <err) $(wc -c <out)" "2 1 0"
"$ctl" export untied.log --format xml >out 2>err
is "an unknown format is wrong usage" "$? $(grep -c 'use log, perfetto, otf2 or talp' err)" "2 1"
"$ctl" export untied.log --format otf2 -o nowhere/x 2>err
is "no such directory: one line with the next step" "$? $(wc -l <err) $(grep -c 'make the directory' err)" "1 1 1"
printf 'grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=1\n' >empty.log
"$ctl" export empty.log --format otf2 -o none.otf2 2>err
is "an archive of nothing: one line, no archive" "$? $(wc -l <err) $(ls -d none.otf2 2>/dev/null)" "1 1 "
"$ctl" export --help >out
check "the help has an example" grep -q 'grainctl export 1 --format perfetto -o fib.pftrace' out
"$ctl" export untied.log --format perfetto -o one.pftrace && "$ctl" export untied.log --format perfetto -o two.pftrace
check "the same input gives the same trace" cmp one.pftrace two.pftrace

# A full disk leaves nothing.
"$ctl" export tree.grt --format perfetto -o /dev/full 2>err
is "full device" "$? $(wc -l <err) $(grep -c 'No space left' err)" "1 1 1"
if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=256k none disk 2>/dev/null; then
	for format in perfetto otf2; do
		"$ctl" export tree.grt --format $format -o disk/x >out 2>err
		is "full disk: $format" \
			"$? $(wc -l <err) $(grep -c 'No space left on device; free some' err) $(ls -A disk)" "1 1 1 "
	done
	umount disk
else
	skip "full disk" "only root can make a small one"
fi

# A signal leaves nothing.
"$B/tests/tools/make_trace" large.grt 200000 8 >/dev/null 2>&1
mkdir signals
nothing() { [ -z "$(ls -A signals)" ]; }
something() { ! nothing; }
# If it was faster than the signal, again.
for _ in $(seq 50); do
	"$ctl" export large.grt --format otf2 -o signals/x 2>err &
	pid=$!
	until_so "an archive begins" something
	kill -TERM $pid
	wait $pid
	status=$?
	[ $status = 0 ] || break
	rm -rf signals/*
done
until_so "the archive is removed" nothing
is "SIGTERM in the middle of an archive leaves nothing" "$status $(ls -A signals)" "143 "
