/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sampled ROUNDS: tasks that spend known parts of their time in known functions
 * and lines, for tests of samples. Prints the CPU time of each in JSON.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

#define PART __attribute__((noinline))
#define THREADS 64

static double seconds[3][THREADS];
static volatile double sink;

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

PART static void burn_much(long n)
{
	double x = 1;

	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
}

PART static void burn_little(long n)
{
	double x = 2;

	for (long i = 0; i < n; i++)
		x = x * 0.9999999 + 1e-9;
	sink = x;
}

/* Its time is the kernel's, brought about by one line; the C library's function would keep no frame pointer.
 */
PART static void ask_kernel(long n)
{
	for (long i = 0; i < n; i++) { /* around it */
#ifdef __x86_64__
		long result = SYS_getppid;

		__asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory"); /* kernel line */
#else
		register long number __asm__("x8") = SYS_getppid, result __asm__("x0");

		__asm__ volatile("svc 0" : "=r"(result) : "r"(number) : "memory"); /* kernel line */
#endif
	}
}

PART static void timed(int what, void (*part)(long), long n)
{
	double begin = cpu_now();

	part(n);
	seconds[what][omp_get_thread_num()] += cpu_now() - begin;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	double sum[3] = {0};

#pragma omp parallel
#pragma omp single
	for (long r = 0; r < rounds; r++) {
#pragma omp task
		{
			timed(0, burn_much, 1500000);
			timed(1, burn_little, 500000);
		}
#pragma omp task firstprivate(r)
		timed(2, ask_kernel, 20000 + r % 2);
	}
	for (int k = 0; k < 3; k++)
		for (int t = 0; t < THREADS; t++)
			sum[k] += seconds[k][t];
	printf("{\"burn_much\":%.6f,\"burn_little\":%.6f,\"ask_kernel\":%.6f}\n", sum[0], sum[1], sum[2]);
	return 0;
}
