// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: first_touch [SWEEPS]
 * Threads sweep until SIGTERM comes over memory of known size: serial_grid, which the first thread has
 * initialized alone, and parallel_grid, of which each thread has initialized what it sweeps over; and two
 * blocks of malloc's, the larger one initialized by the first thread. After so many sweeps it sleeps instead.
 * When all is initialized it makes the file that LOOP_BEGUN of its environment names.
 */
#include <limits.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OWN_NODE 4 /* MPOL_LOCAL */
#define GRID_BYTES (32u << 20)
#define LARGE_BYTES ((24u << 20) - 4096)
#define SMALL_BYTES ((12u << 20) - 4096)
#define COUNT (GRID_BYTES / sizeof(double))

static double serial_grid[COUNT] __attribute__((aligned(4096)));
static double parallel_grid[COUNT] __attribute__((aligned(4096)));

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

/* malloc writes the size of a block, which has a mapping of its own, before it. */
static char *block(size_t bytes)
{
	char *made = malloc(bytes);

	if (!made)
		exit(1);
	return made;
}

static double sweep(const char *large)
{
	double sum = 0;

#pragma omp parallel for schedule(static) reduction(+ : sum)
	for (size_t i = 0; i < COUNT; i += 8) {
		parallel_grid[i] += serial_grid[i] * 0.5;
		sum += parallel_grid[i] + large[i % LARGE_BYTES];
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	const char *begun = getenv("LOOP_BEGUN");
	char *large, *small;
	double sum = 0;
	int sweeps = 0, most = argc > 1 ? atoi(argv[1]) : INT_MAX;

	/* A page is 4 KiB, whatever the machine's setting for huge ones: also that of a block's size, which
	 * malloc writes. */
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
		perror("PR_SET_THP_DISABLE");
	sigaction(SIGTERM, &action, NULL);
	large = block(LARGE_BYTES);
	small = block(SMALL_BYTES);
	/* With a policy of the program's own the kernel does not move pages later (NUMA balancing). */
	if (syscall(SYS_set_mempolicy, OWN_NODE, NULL, 0) != 0)
		perror("set_mempolicy");
	memset(serial_grid, 1, GRID_BYTES);
	memset(large, 1, LARGE_BYTES);
	memset(small, 1, 4096);
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < COUNT; i++)
		parallel_grid[i] = (double)i;
	if (begun)
		fclose(fopen(begun, "we"));
	for (; !stop && sweeps < most; sweeps++)
		sum += sweep(large);
	while (!stop)
		usleep(10000);
	printf("sweeps %d sum %g small %d\n", sweeps, sum, small[0]);
	free(small);
	free(large);
	return 0;
}
