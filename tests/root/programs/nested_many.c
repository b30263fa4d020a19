/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Four threads begin and end small regions again and again: libomp hands the team of one that ends to the
 * next thread that wants one, before it says that the region is over. usage: nested_many ROUNDS
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	long members = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4) reduction(+ : members)
	for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(2) reduction(+ : members)
		members++;
	}
	printf("{\"correct\": %s}\n", members == 8L * rounds ? "true" : "false");
	return members != 8L * rounds;
}
