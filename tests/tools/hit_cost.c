// SPDX-License-Identifier: BSD-2-Clause
/*
 * hit_cost THREADS: nanoseconds that a probe hit costs here when nothing is
 * recorded, as JSON: what the kernel takes for itself, on the least expensive
 * of instructions and with THREADS threads at it at once. The median of many
 * short measurements.
 */
#include "bpf/abi/cookie.h"
#include "uprobes/capture/capture.h"
#include "uprobes/runtime/process_maps.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HITS 500
#define BATCHES 40
#define MAX_THREADS 64

/* The kernel emulates the first. */
#ifdef __aarch64__
#define INSTRUCTIONS "	b 1f\n1:\n"
#else
#define INSTRUCTIONS "	push %rbp\n	pop %rbp\n"
#endif
void hit_cost_site(void);
__asm__(".text\n"
	".globl hit_cost_site\n"
	".type hit_cost_site, @function\n"
	"hit_cost_site:\n" INSTRUCTIONS "	ret\n"
	".size hit_cost_site, . - hit_cost_site\n");

static pthread_barrier_t together;
static double batches[MAX_THREADS * BATCHES];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *hit(void *first)
{
	pthread_barrier_wait(&together);
	for (int i = 0; i < BATCHES; i++) {
		double start = now_ns();

		for (int k = 0; k < HITS; k++)
			hit_cost_site();
		((double *)first)[i] = (now_ns() - start) / HITS;
	}
	return NULL;
}

static double measure(unsigned threads)
{
	pthread_t ids[MAX_THREADS];
	double *a = batches, t;
	size_t count = threads * BATCHES;

	pthread_barrier_init(&together, NULL, threads);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, hit, batches + i * BATCHES);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	pthread_barrier_destroy(&together);
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k && a[k] < a[k - 1]; k--)
			t = a[k], a[k] = a[k - 1], a[k - 1] = t;
	return a[count / 2];
}

static int find_site(void *offset, const struct process_mapping *mapping)
{
	uint64_t address = (uintptr_t)hit_cost_site;

	if (address < mapping->start || address >= mapping->end)
		return 0;
	*(uint64_t *)offset = address - mapping->start + mapping->offset;
	return 1;
}

int main(int argc, char **argv)
{
	const struct capture_opts opts = {.pid = getpid(), .slots_per_cpu = 1024};
	struct probe_point point = {
		.entry_cookie = cookie__make(RING_CALIBRATE, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
					     COOKIE_REG_NONE, 0, 0, 0),
		.event = "hit",
	};
	struct uprobes_error err = {.text = "the site is not mapped"};
	struct capture *capture = NULL;
	unsigned threads = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
	double without, with;

	if (!threads || threads > MAX_THREADS)
		return 2;
	without = measure(threads);
	if (process_maps__each(getpid(), find_site, &point.offset) != 1 ||
	    capture__open(&opts, &capture, &err) ||
	    capture__attach_points(capture, RUNTIME_LIBGOMP, &point, 1, "/proc/self/exe", &err)) {
		fprintf(stderr, "%s\n", err.text);
		capture__free(capture);
		return 1;
	}
	with = measure(threads);
	capture__free(capture);
	printf("{\"threads\":%u,\"hit_ns\":%.1f}\n", threads, with - without);
	return 0;
}
