/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * untouched MS: for so long regions of a team, and 16 MiB of which only the last page is touched; says at the
 * end how many pages of them there are.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 4096

int main(int argc, char **argv)
{
	double until = omp_get_wtime() + (argc > 1 ? atof(argv[1]) : 1000) / 1000;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), present = 0;
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	static uint64_t entries[PAGES];
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	/* Of a huge page one touch brings all. */
	if (memory == MAP_FAILED || madvise(memory, PAGES * page, MADV_NOHUGEPAGE) || fd < 0)
		return 1;
	memory[PAGES * page - 1] = 1;
	while (omp_get_wtime() < until) {
#pragma omp parallel
		usleep(10000);
	}
	if (pread(fd, entries, sizeof(entries), (off_t)((uintptr_t)memory / page * sizeof(entries[0]))) !=
	    (ssize_t)sizeof(entries))
		return 1;
	for (size_t i = 0; i < PAGES; i++)
		present += entries[i] >> 63;
	printf("%zu of %d pages\n", present, PAGES);
	return 0;
}
