#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random static loops, compiled by GCC with random options. The recording of each must be what its threads executed.
# LOOPS=10000 (make check-static): the long form. A guest has no compiler, so it uses loops that were compiled for it.
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
start_graind || exit 1
# What the rings lose of such loops is missing in the graph, although all words of libgrainshim are there.
lost_loops()
{
	cat >"$T/many.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static double a[64];
	pid_t graind = atoi(argv[argc - 1]);
	/* graind knows the threads when it stops. */
	_Pragma("omp parallel num_threads(2)")
	a[0]++;
	usleep(300000);
	kill(graind, SIGSTOP);
	_Pragma("omp parallel num_threads(2)")
	for (int round = 0; round < 400000; round++)
		_Pragma("omp for schedule(static) nowait")
		for (int i = 0; i < 64; i++)
			a[i] += round;
	kill(graind, SIGCONT);
	/* What is lost is told with the thread's next event. */
	usleep(300000);
	_Pragma("omp parallel num_threads(2)")
	usleep(1000);
	return a[3] < 0;
}
END
	gcc -O1 -fopenmp "$T/many.c" -o "$T/many"
	"$GRAINCTL" run --fast -- "$T/many" "$GRAIND_PID" 2>"$T/err"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
	lost()
	{
		"$GRAINCTL" export "$job" --format log |
			sed -nE "s/^[0-9]+ [0-9]+ -?[0-9]+ $1 .*count=([0-9]+).*/\\1/p" |
			awk '{ n += $1 } END { print n + 0 }'
	}
	check "loops that the rings lost are no lost switches" [ "$(lost lost)" -gt $((10 * $(lost lost-switches))) ]
}
# Other facts about such loops, and loops of other languages and kinds.
more_loops()
{
	# The second of two vectorised loops with one share is not understood. The job and doctor say so.
	cat >"$T/two.c" <<'C'
#include <stdio.h>
double a[1000], b[1000];
int main(int argc, char **argv)
{
	int n = 100 * argc, steps = 3 * argc;
	(void)argv;
#pragma omp parallel num_threads(2)
	for (int step = 0; step < steps; step++) {
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += b[i];
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] += a[i] * 2;
	}
	return argc > 1 && getchar() == 'x';
}
C
	gcc -O3 -fopenmp -o "$T/two" "$T/two.c"
	job=$("$GRAINCTL" run -- "$T/two" 2>&1 | sed -n 's/^job //p')
	is "the job says how many static loops are not understood" \
		"$(of_job "$job" "j['notes'][0].split(' are ')[0]")" \
		"static loops: 1 of the 2 that GCC wrote into the program"
	mkfifo "$T/waits"
	"$T/two" x <"$T/waits" &
	pid=$!
	exec 3>"$T/waits"
	"$GRAINCTL" doctor $pid >"$T/doctor" 2>&1
	is "doctor says it of a process" "$(tail -1 "$T/doctor")" \
		"/proc/$pid/exe: 1 of the 2 static loops that GCC wrote into it are understood"
	is "and in JSON" \
		"$("$GRAINCTL" doctor $pid --json | python3 -c \
			'import json, sys
l = json.load(sys.stdin)["static_loops"]
print(l["understood"], l["of"])')" \
		"1 2"
	is "the summary says it" "$("$GRAINCTL" summary "$job" | tr -s '\n ' ' ' |
		grep -o 'static loops: 1 of the 2 that GCC wrote into the program')" \
		"static loops: 1 of the 2 that GCC wrote into the program"
	exec 3>&-
	wait $pid

	# C++ and Fortran: each program has one loop with schedule(static) and one with chunks of 20, of 100 iterations.
	cat >"$T/loops.cc" <<'C'
#include <vector>
template <class Range, class Body> void each(Range &range, Body body)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp for schedule(static)
		for (auto i = range.begin(); i < range.end(); ++i)
			body(*i);
#pragma omp for schedule(static, 20)
		for (auto i = range.begin(); i < range.end(); ++i)
			body(*i);
	}
}
int main()
{
	std::vector<double> numbers(100);
	double by = numbers.size();
	each(numbers, [=](double &x) { x += by; });
	return numbers[7] != 200;
}
C
	cat >"$T/loops.f90" <<'C'
program loops
  integer :: i
  real(8) :: a(100)
  a = 0
  !$omp parallel num_threads(2)
  !$omp do schedule(static)
  do i = 1, 100
    a(i) = a(i) + i
  end do
  !$omp do schedule(static, 20)
  do i = 1, 100
    a(i) = a(i) + i
  end do
  !$omp end parallel
  if (a(7) /= 14) stop 1
end program
C
	# chunks_of NAME COMPILER ARG...: what is recorded of the program
	chunks_of()
	{
		local name="static loops in $1"
		shift
		if ! command -v "$1" >/dev/null; then
			skip "$name" "no $1"
			return
		fi
		if ! "$@" -w -fopenmp -o "$T/loops" >"$T/out" 2>&1; then
			skip "$name" "cannot be compiled: $(head -1 "$T/out")"
			return
		fi
		job=$("$GRAINCTL" run -- "$T/loops" 2>&1 | sed -n 's/^job //p')
		is "$name" "$("$GRAINCTL" export --format log "$job" |
			sed -n 's/.* chunk-begin .*lower=\([0-9]*\) upper=\([0-9]*\).*/\1-\2/p' | sort -n |
			tr '\n' ' ')" \
			"0-19 0-49 20-39 40-59 50-99 60-79 80-99 "
	}
	for options in -O0 -O1 -O2 -O3 "-O2 -static -s" "-O2 -flto"; do
		# shellcheck disable=SC2086
		chunks_of "C++, $options" g++ $options "$T/loops.cc"
		# shellcheck disable=SC2086
		chunks_of "Fortran, $options" gfortran $options "$T/loops.f90"
	done

	# Leagues of two teams of two threads. 100 iterations are distributed by halves and by 30, and then within
	# each team.
	cat >"$T/teams.c" <<'C'
double a[1000];
int main(int argc, char **argv)
{
	int n = 100 * argc;
	(void)argv;
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute parallel for num_threads(2) schedule(static)
	for (int i = 0; i < n; i++)
		a[i] += 1;
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute parallel for num_threads(2) dist_schedule(static, 30) schedule(static, 10)
	for (int i = 0; i < n; i++)
		a[i] += 1;
	return a[5] != 2;
}
C
	for options in -O0 -O1 -O2 -O3; do
		for how in "" --fast; do
			gcc $options -fopenmp -o "$T/teams" "$T/teams.c"
			# shellcheck disable=SC2086
			job=$("$GRAINCTL" run $how -- "$T/teams" 2>&1 | sed -n 's/^job //p')
			"$GRAINCTL" export --format log "$job" >"$T/log"
			is "distributed loops, $options $how" "$(sed -n \
				's/.* chunk-begin .*lower=\([0-9]*\) upper=\([0-9]*\).*/\1-\2/p' "$T/log" |
				sort -n | uniq -c |
				sed 's/^ *\([0-9]*\) /\1:/' | tr '\n' ' ')" \
				"2:0-24 1:0-29 1:0-49 4:0-9 3:10-19 3:20-29 2:25-49 1:30-59 1:50-99 1:60-89 1:90-99 "
			is "their kinds, $options $how" "$(grep -c ' loop-begin .*distribute=1' "$T/log")" 4
		done
	done
}
made=$B/tests/omp/static_loops
loops() { python3 "$HERE/constructs/static_loops.py" "$B" "$@" --each 10; }
if [ -d "$made" ]; then
	loops "$made" --made --loops "$(cat "$made/loops")" --least 85
else
	more_loops
	loops "$T" --loops "${LOOPS:-300}" --least 93
	loops "$T" --loops "$((${LOOPS:-300} / 4))" --least 70 --seed 500 --steps
	loops "$T" --loops "$((${LOOPS:-300} / 4))" --least 55 --seed 2000 --narrow
	loops "$T" --loops "$((${LOOPS:-300} / 4))" --least 90 --seed 1000 --fast
	lost_loops
fi
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
