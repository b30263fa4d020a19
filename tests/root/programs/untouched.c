/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * untouched: until SIGTERM comes regions of a team, and 16 MiB of which only the last page is touched; says
 * at the end how many pages of them there are. When it has been touched, it makes the file that LOOP_BEGUN of
 * its environment names.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 4096

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	const char *begun = getenv("LOOP_BEGUN");
	size_t page = (size_t)sysconf(_SC_PAGESIZE), present = 0;
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	static uint64_t entries[PAGES];
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	/* Of a huge page one touch brings all. */
	if (memory == MAP_FAILED || madvise(memory, PAGES * page, MADV_NOHUGEPAGE) || fd < 0)
		return 1;
	sigaction(SIGTERM, &action, NULL);
	memory[PAGES * page - 1] = 1;
	if (begun)
		fclose(fopen(begun, "we"));
	while (!stop) {
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
