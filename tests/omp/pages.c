/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages GRAINS ROUNDS: grains that write to exactly so many fresh pages, so that
 * what their counter of page faults must be is known. In each round task k of a
 * single, and after them chunk k of a dynamic loop, touches k pages.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char *fresh;
static size_t page;

/* Every grain has its own place; a little computing, so that it may be interrupted in the midst. */
static __attribute__((noinline)) void touch(size_t place, long pages)
{
	for (long i = 0; i < pages; i++) {
		*(volatile char *)(fresh + (place + (size_t)i) * page) = 1;
		for (volatile int k = 0; k < 2000; k++)
			;
	}
}

int main(int argc, char **argv)
{
	long grains = argc > 1 ? atol(argv[1]) : 20, rounds = argc > 2 ? atol(argv[2]) : 1;
	size_t each = (size_t)(grains * (grains - 1) / 2), all;

	page = (size_t)sysconf(_SC_PAGESIZE);
	all = 2 * (size_t)rounds * each * page;
	fresh = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED || madvise(fresh, all, MADV_NOHUGEPAGE))
		return 1;
	for (long round = 0; round < rounds; round++) {
		size_t base = 2 * (size_t)round * each;

#pragma omp parallel
		{
#pragma omp single
			for (long k = 0; k < grains; k++) {
#pragma omp task firstprivate(k, base)
				touch(base + (size_t)(k * (k - 1) / 2), k);
			}
#pragma omp for schedule(dynamic, 1)
			for (long k = 0; k < grains; k++)
				touch(base + each + (size_t)(k * (k - 1) / 2), k);
		}
	}
	printf("pages %zu\n", 2 * (size_t)rounds * each);
	return 0;
}
