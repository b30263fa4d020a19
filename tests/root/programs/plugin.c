// SPDX-License-Identifier: BSD-2-Clause
/* run(N): a region in which one thread makes N tasks. Built as a library, by either compiler. */
static volatile int sink;

void run(int count);

void run(int count)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < count; i++) {
#pragma omp task
		for (int k = 0; k < 500; k++)
			sink += k;
	}
}
