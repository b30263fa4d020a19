#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The demo names its deliberate mistake first and draws it.
# usage: tests/root/grainctl/test_demo.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
cd "$T" || exit 1
mkdir -p build/tests/omp
ln -s "$B/graind" "$B/grainctl" build/
ln -s "$B/tests/omp/demo" "$B/tests/omp/demo_loop" build/tests/omp/
check "the demo runs" "$ROOT/tests/demo.sh" build
line=$(grep -n '^#pragma omp task shared(part)' "$ROOT/tests/omp/demo.c" | cut -d: -f1)
head -5 build/demo/summary.txt >head
check "the first line of the summary names the line of the small tasks" \
	grep -q "^demo.c:$line add_up: parallel benefit" <(head -1 head)
check "the first five lines say what to do" grep -q '^ *do  *create fewer' head
check "it says that all was seen" grep -q '^  trust  yes: 0 events lost' build/demo/summary.txt
is "the report is an SVG" "$(head -c 300 build/demo/report.svg | grep -o '<svg\|<?xml' | head -1)" "<?xml"
check "that is well-formed" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' build/demo/report.svg
check "and mentions the line" grep -q "demo.c:$line" build/demo/report.svg
loop=$(grep -n '^#pragma omp for schedule(dynamic, 128)' "$ROOT/tests/omp/demo_loop.c" | cut -d: -f1)
# A loop's line is the line of its for.
loop=$((loop + 1))
check "the summary of the loops names the line of the large chunks" \
	grep -q "demo_loop.c:$loop" <(head -7 build/demo/summary-loop.txt)
check "their picture mentions it, too" grep -q "demo_loop.c:$loop" build/demo/report-loop.svg
for name in report report-loop; do
	check "$name.html is one page" test "$(grep -c '^</body></html>$' build/demo/$name.html)" = 1
	check "$name.html loads nothing" grep -q "default-src 'none'" build/demo/$name.html
	check "$name.html shows the source" grep -q '"excerpts":\[{"definition"' build/demo/$name.html
done
check "the page of the tasks names their line" grep -q "demo.c:$line" build/demo/report.html
check "the page of the loops names theirs" grep -q "demo_loop.c:$loop" build/demo/report-loop.html
