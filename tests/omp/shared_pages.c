// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: shared_pages MILLISECONDS PAGES HOME CPU...
 * Memory that is first touched on one CPU and then used on others, with one page fault a page: the initial
 * thread writes to all of it on CPU HOME and maps it anew; then task k, which goes to the k-th CPU, writes to
 * (k + 1) * PAGES pages of its own. Tasks of another construct do the same before, so that what a first task
 * needs is there. Prints where the memory is. Rests for so many milliseconds after both, or until there are
 * the files NAME.0 and NAME.1, if RESTS_FOR of its environment is NAME.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN_NODE 4 /* MPOL_LOCAL */
#define PAGE 4096

static char *memory;

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0) {
		perror("sched_setaffinity");
		exit(1);
	}
}

/* Writing: a page that is read brings its neighbours. */
static __attribute__((noinline)) void touch(size_t first, size_t pages)
{
	for (size_t i = first; i < first + pages; i++) {
		*(volatile char *)(memory + i * PAGE) = 1;
		for (volatile int k = 0; k < 500; k++)
			;
	}
}

static __attribute__((noinline)) void work(char **cpus, int k, size_t pages)
{
	go_to(atoi(cpus[k]));
	touch(pages * (size_t)(k * (k + 1) / 2), pages * (size_t)(k + 1));
}

static void map(int file, size_t bytes)
{
	/* Where it was before, if it was. */
	memory = mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (memory ? MAP_FIXED : 0), file, 0);
	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
}

/* On its home all of it is placed; no page of it is mapped then. */
static void place(int file, size_t bytes, int home)
{
	go_to(home);
	map(file, bytes);
	touch(0, bytes / PAGE);
	map(file, bytes);
}

static void rest(int which, long ms)
{
	const char *name = getenv("RESTS_FOR");
	char file[4096];

	if (!name) {
		nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
		return;
	}
	snprintf(file, sizeof(file), "%s.%d", name, which);
	while (access(file, F_OK) != 0)
		usleep(1000);
}

int main(int argc, char **argv)
{
	int count = argc - 4, file = memfd_create("shared_pages", 0), home = argc > 3 ? atoi(argv[3]) : 0;
	size_t pages = argc > 2 ? (size_t)atol(argv[2]) : 0, bytes;
	char **cpus = argv + 4;
	long ms = argc > 1 ? atol(argv[1]) : 0;

	bytes = pages * PAGE * (size_t)(count * (count + 1) / 2);
	if (count < 1 || file < 0 || ftruncate(file, (off_t)bytes) != 0)
		return 1;
	/* With a policy of the program's own the kernel does not move pages later (NUMA balancing). */
	if (syscall(SYS_set_mempolicy, OWN_NODE, NULL, 0) != 0)
		perror("set_mempolicy");
	place(file, bytes, home);
	printf("{\"start\": %zu, \"bytes\": %zu}\n", (size_t)memory, bytes);
	fflush(stdout);
#pragma omp parallel
#pragma omp single
	for (int k = 0; k < count; k++) {
#pragma omp task firstprivate(k)
		work(cpus, k, pages);
	}
	rest(0, ms);
	place(file, bytes, home);
#pragma omp parallel
#pragma omp single
	for (int k = 0; k < count; k++) {
#pragma omp task firstprivate(k) /* measured */
		work(cpus, k, pages);
	}
	rest(1, ms);
	return 0;
}
