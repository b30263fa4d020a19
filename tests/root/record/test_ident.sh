#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A stripped program that clang built with -g. The strings that the compiler passed to the runtime name its
# constructs. Without -g there are no such strings.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

cat >"$T/prog.c" <<'EOF'
static volatile int sink;
static void work(int n)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp for schedule(dynamic, 3)
		for (int i = 0; i < n; i++)
			sink += i;
#pragma omp for schedule(static, 2)
		for (int i = 0; i < n; i++)
			sink += i;
#pragma omp single
		{
#pragma omp task
			sink++;
		}
	}
}
int main(void)
{
	work(10);
	return 0;
}
EOF
cd "$T" || exit 1
check "clang builds it" clang -O1 -g -fopenmp -o whole prog.c
check "and strips it" strip -s -o stripped whole
check "and builds it without -g" clang -O1 -fopenmp -o nothing prog.c
start_graind || exit 1

# text_of PROGRAM: the text lines of the trace of one run
text_of()
{
	local out job
	out=$("$GRAINCTL" run -- "$T/$1" 2>&1)
	job=$(sed -n 's/^job \([0-9]*\).*/\1/p' <<<"$out" | tail -1)
	python3 "$HERE/record/trace_text.py" "$GRAIND_STATE_DIR/jobs/$job/trace.grt" || echo "$out"
}
line_of() { grep -n "^#pragma omp $1" "$T/prog.c" | cut -d: -f1; }

for program in whole stripped; do
	text_of $program >"$T/$program.text"
	for construct in "parallel" "for schedule(dynamic" "for schedule(static" "single" "task"; do
		line=$(line_of "$construct")
		check "$program: @ident of '$construct'" \
			grep -Eq "^@ident 0x[0-9a-f]+ text=\";[^;]*prog\.c;work;$line;[0-9]+;;\"" "$T/$program.text"
	done
	for kind in parallel loop single task; do
		line=$(line_of "$kind")
		[ $kind = loop ] && line=$(line_of "for schedule(dynamic")
		check "$program: the $kind is named by it" \
			grep -Eq "^@source [0-9]+ file=\"prog\.c\" line=$line func=\"work\" kind=$kind " \
			"$T/$program.text"
	done
	check "$program: so is the static loop" grep -Eq \
		"^@source [0-9]+ file=\"prog\.c\" line=$(line_of "for schedule(static") func=\"work\" kind=loop " \
		"$T/$program.text"
done
text_of nothing >"$T/nothing.text"
check "without -g the compiler says that it does not know" \
	grep -q '^@ident 0x.* text=";unknown;unknown;0;0;;"' "$T/nothing.text"
check "and nothing is named by that" \
	grep -q '^@source [0-9]* func="main\|^@source [0-9]* func="[^"]*" kind=loop module="nothing+0x' \
	"$T/nothing.text"
is "no source is called unknown" "$(grep -c 'file="unknown"' "$T/nothing.text")" 0
check "the runtime is libomp" grep -q '^@process .* runtime=libomp ' "$T/whole.text"
stop_graind
