#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A recording knows of settings: the advice on threads without a CPU names the one that cures it.
# usage: tests/root/record/test_settings.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"

start_graind || exit 1
n=$(nproc)
cat >"$T/busy.c" <<'C'
int main(void)
{
	for (int round = 0; round < 20; round++) {
#pragma omp parallel
		for (volatile long i = 0; i < 20000000; i++)
			;
	}
}
C
gcc -O1 -g -fopenmp "$T/busy.c" -o "$T/busy" || exit 1

# advised SETTING...: the texts of the advice of a run with these settings
advised() {
	local job
	job=$(env "$@" "$GRAINCTL" run -- "$T/busy" 2>&1 | sed -n 's/^job \([0-9]*\)$/\1/p' | tail -1)
	"$GRAINCTL" export "$job" --format log 2>/dev/null | grep '^@settings' >"$T/line"
	"$GRAINCTL" summary "$job" --json | json '"\n".join(a["kind"] + ": " + a["text"] for a in d["advice"])'
}
advised OMP_NUM_THREADS=$((4 * n)) >"$T/advice"
check "more threads than CPUs: the number that fits" grep -q "^oversubscription: .*OMP_NUM_THREADS=$n" "$T/advice"
is "nothing else is set: no line of settings" "$(cat "$T/line")" ""
if [ "$n" -gt 1 ]; then
	advised OMP_NUM_THREADS="$n" OMP_PLACES="{0}" >"$T/advice"
	check "one place: OMP_PLACES" grep -q "^oversubscription: .*OMP_PLACES=cores" "$T/advice"
	is "the line says what binds" "$(cat "$T/line")" "@settings binds=\"OMP_PLACES={0}\""
fi
advised OMP_NUM_THREADS=$((2 * n)) OMP_WAIT_POLICY=active >"$T/advice"
check "too many that spin: both settings" \
	grep -q "^oversubscription: .*OMP_NUM_THREADS=$n, and OMP_WAIT_POLICY=passive" "$T/advice"
