#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the page's scripts decode from a report is what --format json says; a full disk leaves nothing of a page.
# usage: tests/cli/render/test_page_data.sh BUILD_DIRECTORY [LOG...]
. "$(dirname "$0")/../../lib.sh"
shift
"$B/tests/tools/make_trace" "$T/tree.grt" 3000 4 >/dev/null
"$B/grainctl" report "$T/tree.grt" --format html -o /dev/full 2>"$T/err"
is "full device" "$? $(wc -l <"$T/err") $(grep -c 'No space left on device; free some' "$T/err")" "1 1 1"
if [ "$(id -u)" = 0 ] && mkdir "$T/disk" && mount -t tmpfs -o size=64k none "$T/disk" 2>/dev/null; then
	"$B/grainctl" report "$T/tree.grt" --format html -o "$T/disk/page.html" 2>"$T/err"
	is "full disk" \
		"$? $(wc -l <"$T/err") $(grep -c 'No space left on device; free some' "$T/err") $(ls -A "$T/disk")" \
		"1 1 1 "
	umount "$T/disk"
else
	skip "full disk" "only root can make a small one"
fi
"$B/grainctl" report "$T/tree.grt" --format html -o - >"$T/page.html"
"$B/grainctl" report "$T/tree.grt" --format html -o "$T/again.html"
check "the same trace gives the same page" cmp "$T/page.html" "$T/again.html"
if ! command -v node >/dev/null; then
	skip "the page's data" "there is no node"
	exit 0
fi
if [ $# -eq 0 ]; then
	set -- "$ROOT"/tests/data/*.log "$ROOT"/tests/fuzz/corpus-log/*
	"$B/tests/tools/make_trace" "$T/folded.grt" 40000 4 >/dev/null
	"$B/tests/tools/make_trace" "$T/rounded.grt" 210000 4 >/dev/null
	set -- "$@" "$T"/*.grt
fi
for log; do
	name=$(basename "$log")
	"$B/grainctl" report --keep-going "$log" --format html -o "$T/page.html" 2>"$T/err" &&
		"$B/grainctl" report --keep-going "$log" --format json -o "$T/grains.json" 2>>"$T/err" ||
		{ not_ok "$name: reports" "$(cat "$T/err")"; continue; }
	check "$name: the page has the numbers of the JSON" \
		node --max-old-space-size=4096 "$ROOT/tests/tools/page_data.mjs" "$ROOT/render/page/ui/data" \
		"$T/page.html" "$T/grains.json"
	[ -f "$T/first.html" ] || cp "$T/page.html" "$T/first.html"
done
if node "$ROOT/tests/tools/page_data.mjs" "$ROOT/render/page/ui/data" "$T/first.html" \
	"$T/grains.json" >/dev/null 2>&1; then
	not_ok "the page of another run is told from it"
else
	ok "the page of another run is told from it"
fi
