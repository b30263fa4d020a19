#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The planner on Debian's own libgomp and libomp for arm64, on whatever machine this is.
# usage: tests/cli/uprobes/test_plan_aarch64.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"

tree=$B/runtimes-arm64
gomp=$tree/usr/lib/aarch64-linux-gnu/libgomp.so.1
omp=$tree/usr/lib/llvm-14/lib/libomp.so.5
check "Debian's runtimes for arm64 can be had" "$ROOT/tests/foreign_tree.sh" --only arm64 "$tree" libgomp1 libomp5-14 ||
	exit 1

# count EVENT: points of it in $T/plan
count() { awk -F '\t' -v e="$1" '$1 == e' "$T/plan" | wc -l; }
# at_least EVENT N: so many points
at_least() { check "$runtime: $1 has $(count "$1") points" [ "$(count "$1")" -ge "$2" ]; }

runtime=libgomp
check "libgomp for arm64 is planned" "$B/tests/tools/show_plan" "$gomp"
"$B/tests/tools/show_plan" "$gomp" >"$T/plan" 2>"$T/err"
is "libgomp: nothing is missing" "$(grep ^missing "$T/plan")" ""
while read -r event n; do at_least "$event" "$n"; done <<'EOF'
task-create 1
task-create-end 1
task-begin 4
task-end 4
undeferred-call 1
undeferred-begin 1
undeferred-end 1
taskloop-begin/-end 2
taskloop-create 2
taskloop-created 2
taskloop-undeferred 4
region-begin/-end 7
teams-begin/-end 1
next-team 1
team-start/-ed 1
member-begin 2
region-end-wait 3
region-end-waited 1
taskwait 1
taskgroup-end 1
wait-end 4
barrier 3
taskwait-depend 1
depend-wait 1
cancel 2
fulfill 1
target-begin 1
target-end 1
target-nowait 1
single 2
loop-begin/chunk-begin 20
chunk-next/-begin 6
chunk-next 2
loop-end 3
sections-begin/section-begin 1
section-next 1
single-copy-wait 1
lock-wait 5
ordered-wait 3
static-share 1
EOF
is "libgomp: what happens once a task is cheap to probe" \
	"$(awk -F '\t' '$1 ~ /^(task-|undeferred|wait-end|chunk-next)/ && $2 !~ /ordered/ && $3 != "emulated"' \
		"$T/plan")" ""

runtime=libomp
check "libomp for arm64 is planned" "$B/tests/tools/show_plan" "$omp"
"$B/tests/tools/show_plan" "$omp" >"$T/plan" 2>"$T/err"
# Of no build there is a function __kmpc_atomic_start to probe.
is "libomp: nothing is missing" "$(grep ^missing "$T/plan" | grep -v __kmpc_atomic_start)" ""
while read -r event n; do at_least "$event" "$n"; done <<'EOF'
task-create 3
task-create-end 3
task-begin 1
task-end 2
taskloop-begin 2
taskloop-tasks 1
region-begin 10
member-begin/region-end-wait 1
member-begin 8
league-member 1
taskwait 1
taskgroup-end 1
barrier 10
static-loop/-chunk 12
chunk-next/-begin 4
lock-wait 8
EOF

# No probe stands on, or between, an exclusive load and its store: the traps would let it fail for ever.
for library in "$gomp" "$omp"; do
	is "$(basename "$library"): no probe in an exclusive sequence" \
		"$("$B/tests/tools/show_plan" "$library" |
			awk -F '\t' '$4 ~ /^(ld|st)l?a?xr|^ld[a-z]*x[rp]|^st[a-z]*x[rp]/')" ""
done
"$B/grainctl" doctor --runtime "$gomp" >"$T/out" 2>&1
is "a runtime of another machine is not offered" "$?" 1
check "and it is said why" grep -q "not an ELF file of" "$T/out"
