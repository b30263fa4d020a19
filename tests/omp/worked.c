// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tasks of known work. Task k of each round executes a loop k * UNIT times. The loop has two instructions,
 * which access no memory. Each task prints what the kernel's counters of its thread (perf_event_open) have
 * counted meanwhile: "own ROUND K CYCLES INSTRUCTIONS", with -1 for what the machine does not count. worked
 * ROUNDS TASKS UNIT
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define STEP "1: subs %0, %0, #1\n\tb.ne 1b"
#else
#define STEP "1: sub $1, %0\n\tjnz 1b"
#endif

enum { CYCLES, INSTRUCTIONS, COUNTERS };

static __thread struct {
	int opened, fd[COUNTERS];
} own;

static void open_own(void)
{
	static const uint64_t events[COUNTERS] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};

	if (own.opened)
		return;
	own.opened = 1;
	for (int i = 0; i < COUNTERS; i++) {
		struct perf_event_attr attribute = {.type = PERF_TYPE_HARDWARE,
						    .size = sizeof(attribute),
						    .config = events[i]};

		own.fd[i] = (int)syscall(SYS_perf_event_open, &attribute, 0, -1, -1, 0);
	}
}

static int64_t counted(int counter)
{
	int64_t value;

	return read(own.fd[counter], &value, sizeof(value)) == sizeof(value) ? value : -1;
}

/* Leaves in `out` what was counted. */
static void work(long n, int64_t out[COUNTERS])
{
	int64_t before[COUNTERS], after[COUNTERS];

	open_own();
	for (int i = 0; i < COUNTERS; i++)
		before[i] = counted(i);
	__asm__ volatile(STEP : "+r"(n) : : "cc");
	for (int i = COUNTERS; i > 0; i--)
		after[i - 1] = counted(i - 1);
	for (int i = 0; i < COUNTERS; i++)
		out[i] = after[i] < 0 ? -1 : after[i] - before[i];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 4, tasks = argc > 2 ? atoi(argv[2]) : 8;
	long unit = argc > 3 ? atol(argv[3]) : 500000;
	int64_t(*own_counts)[COUNTERS] = calloc((size_t)(rounds * tasks), sizeof(*own_counts));

	if (!own_counts)
		return 1;
	for (int r = 0; r < rounds; r++) {
#pragma omp parallel
#pragma omp single
		for (int k = 1; k <= tasks; k++) {
#pragma omp task firstprivate(k)
			work(k * unit, own_counts[r * tasks + k - 1]);
		}
	}
	for (int i = 0; i < rounds * tasks; i++)
		printf("own %d %d %lld %lld\n", i / tasks, i % tasks + 1, (long long)own_counts[i][CYCLES],
		       (long long)own_counts[i][INSTRUCTIONS]);
	free(own_counts);
	printf("{\"program\":\"worked\",\"rounds\":%d,\"tasks\":%d,\"unit\":%ld}\n", rounds, tasks, unit);
	return 0;
}
