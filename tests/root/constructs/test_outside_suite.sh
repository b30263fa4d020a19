#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs tools/outside_suite.py on a suite of six programs: two have no faults, one has some, three are left out.
# usage: tests/root/constructs/test_outside_suite.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
mkdir -p "$T/suite/own" "$T/scratch"
cp "$ROOT/tests/omp/constructs/taskwait.c" "$ROOT/tests/omp/constructs/cxx_loops.cc" "$T/suite/own/"
# Its region has no end.
cat >"$T/suite/leaves.c" <<'C'
#include <unistd.h>
int main(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp barrier
#pragma omp master
		_exit(0);
	}
}
C
echo 'int main(void) { return nobody_has_this(); }' >"$T/suite/unbuilt.c"
cat >"$T/suite/device.c" <<'C'
#include <stdio.h>
int main(void)
{
	puts("there is no device");
	return 1;
}
C
cat >"$T/suite/varies.c" <<'C'
#include <stdio.h>
int main(void)
{
	FILE *f = fopen("ran", "a");
	return f && ftell(f) == 0 && fputc('x', f) == 'x' ? 0 : 3;
}
C
suite()
{
	python3 "$ROOT/tests/tools/outside_suite.py" "$B" "$T/suite" --include "$ROOT/tests/omp/constructs" \
		--threads 2 --bare 2 --results "$T/results" "$@"
}
start_graind || exit 1
suite --only own/ >"$T/own"
is "flawless programs: status" "$?" 0
is "of each compiler, each way" \
	"$(awk '$1 ~ /^(gcc|clang),$/ { print $1, $2, $3, $4 }' "$T/own")" \
	"$(printf '%s\n' 'gcc, probes 2 2' 'gcc, inside 2 2' 'clang, probes 2 2' 'clang, inside 2 2')"
suite >"$T/all"
is "one that is not: status" "$?" 1
for compiler in gcc clang; do
	for way in probes inside; do
		check "$compiler, $way: its region is incomplete" \
			grep -q "^leaves.c.$compiler $way: incomplete 1 regions: parallel leaves.c:" "$T/all"
	done
	check "$compiler: what varies is named" grep -q "^varies.c.$compiler: varies, ends with \[0, 3\]" "$T/all"
done
is "what is left out is counted" \
	"$(grep -c '1 does not build, 2 flawless, 1 needs a device, 1 not flawless, 1 varies' "$T/all")" 2
is "what was done before is not done again" "$(sort "$T/results" | uniq -d | wc -l) $(wc -l <"$T/results")" "0 12"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
