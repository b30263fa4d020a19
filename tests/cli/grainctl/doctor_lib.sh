# SPDX-License-Identifier: BSD-2-Clause
# Sourced after lib.sh by the tests of doctor PID: a program to be asked for.
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock"
cd "$T" || exit 1
if [ "$(nproc)" -lt 2 ] || ! command -v gcc >/dev/null || ! command -v taskset >/dev/null; then
	skip "doctor PID" "it needs two CPUs, gcc and taskset"
	exit
fi
n=$(nproc)
cpus=$(awk '$1 == "Cpus_allowed_list:" { print $2 }' /proc/self/status)
first=${cpus%%[-,]*}
unset "${!OMP_@}" "${!GOMP_@}" "${!KMP_@}" "${!OPENBLAS_@}"

cat >busy.c <<'C'
#include <stdio.h>
#include <unistd.h>
void inner(void);
#ifndef INNER
void inner(void) {}
#endif
static void work(void)
{
	for (volatile long i = 0; i < 3000000; i++)
		;
}
static void says_so(void)
{
	static int said;
	if (!said++)
		puts("busy"), fflush(stdout);
}
int main(int argc, char **argv)
{
	alarm(3600);
	for (; argc > 1 && argv[1][0] == 's'; says_so())
		work();
	for (; argc > 1 && argv[1][0] == 'i';) {
#pragma omp parallel
		work();
		says_so();
		sleep(1000);
	}
	for (;;) {
#pragma omp parallel
		{
			work();
			if (argc > 1 && argv[1][0] == 'n') {
#pragma omp parallel
				work();
			}
		}
		inner();
		says_so();
	}
}
C
gcc -O1 -fopenmp busy.c -o busy || exit 1

# begin COMMAND...: starts it, with its number in $pid, and waits until it has all of its threads
begin()
{
	rm -f busy.says
	"$@" >busy.says & pid=$!
	PIDS+=($pid)
	until_so "$* is busy" grep -qs busy busy.says
}
finish() { for p in "${PIDS[@]}"; do kill "$p" && wait "$p"; done 2>/dev/null; PIDS=(); }
# asked: what doctor finds for $pid, as KIND: CURE lines
asked() {
	"$ctl" doctor "$pid" --json |
		json '"\n".join(f["kind"] + ": " + f["cure"] for f in d["settings"]["findings"])'
}
