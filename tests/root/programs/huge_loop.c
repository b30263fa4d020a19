/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop of more iterations than a signed number counts; nobody lives to see the second of a chunk. */
#include <stdio.h>

int main(void)
{
	unsigned long long begun = 0;

#pragma omp parallel for num_threads(2) schedule(monotonic : dynamic, 1ull << 62)
	for (unsigned long long i = 5; i < 18446744073709551610ull; i++) {
		__atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
#pragma omp cancel for
	}
	printf("%llu\n", begun);
	return 0;
}
