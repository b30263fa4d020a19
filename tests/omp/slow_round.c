// SPDX-License-Identifier: BSD-2-Clause
/*
 * slow_round ROUNDS TASKS SLOW_US: so many regions of so many short tasks; in one of them, after nine tenths
 * of all, the tasks take so much longer, and there is one more.
 */
#include <omp.h>

#include "truth.h"

static void busy(unsigned long long ns)
{
	unsigned long long until = now_ns() + ns;

	while (now_ns() < until)
		;
}

int main(int argc, char **argv)
{
	long arg[3] = {1000, 500, 100}, slow, tasks = 0;
	unsigned long long slow_ns = 0;

	program__args(argc, argv, arg, 3);
	slow = arg[0] * 9 / 10;
	for (long round = 0; round < arg[0]; round++) {
		long count = arg[1] + (round == slow);
		unsigned long long ns = round == slow ? (unsigned long long)arg[2] * 1000 : 0,
				   begin = now_ns();

#pragma omp parallel
#pragma omp single
		for (long task = 0; task < count; task++) {
#pragma omp task
			if (ns)
				busy(ns);
		}
		begin = now_ns() - begin;
		if (round == slow)
			slow_ns = begin;
		tasks += count;
	}
	printf("{\"program\":\"slow_round\",\"tasks\":%ld,\"rounds\":%ld,\"tasks_per_round\":%ld,"
	       "\"slow_round\":%ld,\"slow_tasks\":%ld,\"slow_ns\":%llu,\"threads\":%d}\n",
	       tasks, arg[0], arg[1], slow, arg[1] + 1, slow_ns, omp_get_max_threads());
	return 0;
}
