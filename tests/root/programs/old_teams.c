// SPDX-License-Identifier: BSD-2-Clause
/*
 * Regions as GCC before 4.9 compiled them: begun, run by the caller, ended. Says
 * how many regions, chunks, sections and tasks there were, and whether all was right.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>

typedef void (*body_fn)(void *);

void GOMP_parallel_start(body_fn fn, void *data, unsigned threads);
void GOMP_parallel_loop_static_start(body_fn fn, void *data, unsigned threads, long start, long end,
				     long step, long chunk);
void GOMP_parallel_loop_dynamic_start(body_fn fn, void *data, unsigned threads, long start, long end,
				      long step, long chunk);
void GOMP_parallel_loop_guided_start(body_fn fn, void *data, unsigned threads, long start, long end,
				     long step, long chunk);
void GOMP_parallel_loop_runtime_start(body_fn fn, void *data, unsigned threads, long start, long end,
				      long step);
void GOMP_parallel_sections_start(body_fn fn, void *data, unsigned threads, unsigned count);
void GOMP_parallel_end(void);
bool GOMP_loop_static_next(long *lower, long *upper);
bool GOMP_loop_dynamic_next(long *lower, long *upper);
bool GOMP_loop_guided_next(long *lower, long *upper);
bool GOMP_loop_runtime_next(long *lower, long *upper);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);

#define ITERATIONS 100
#define ROUNDS 20

static int regions, chunks, sections, tasks, wrong;
static int iterations, members;

static void add(int *to, int what)
{
	__atomic_fetch_add(to, what, __ATOMIC_RELAXED);
}

#define LOOP_BODY(schedule)                                                                                  \
	static void schedule##_body(void *data)                                                              \
	{                                                                                                    \
		long lower, upper;                                                                           \
                                                                                                             \
		(void)data;                                                                                  \
		while (GOMP_loop_##schedule##_next(&lower, &upper)) {                                        \
			add(&chunks, 1);                                                                     \
			add(&iterations, (int)(upper - lower));                                              \
		}                                                                                            \
		GOMP_loop_end_nowait();                                                                      \
	}

LOOP_BODY(static)
LOOP_BODY(dynamic)
LOOP_BODY(guided)
LOOP_BODY(runtime)

static void sections_body(void *data)
{
	(void)data;
	while (GOMP_sections_next())
		add(&sections, 1);
	GOMP_sections_end_nowait();
}

static void inner_body(void *data)
{
	add(data, 1);
}

static void body(void *data)
{
	int inner = 0;

	add(&members, 1);
#pragma omp task
	add(data, 1);
	GOMP_parallel_start(inner_body, &inner, 2);
	inner_body(&inner);
	GOMP_parallel_end();
	add(&regions, 1);
	add(&wrong, inner != omp_get_max_threads() && inner != 2);
}

static void ends_loop(body_fn fn)
{
	fn(NULL);
	GOMP_parallel_end();
	add(&regions, 1);
	wrong += iterations != ITERATIONS;
	iterations = 0;
}

int main(void)
{
	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	for (int round = 0; round < ROUNDS; round++) {
		members = 0;
		GOMP_parallel_start(body, &tasks, 2);
		body(&tasks);
		GOMP_parallel_end();
		add(&regions, 1);
		wrong += members != 2;
		GOMP_parallel_loop_static_start(static_body, NULL, 2, 0, ITERATIONS, 1, 7);
		ends_loop(static_body);
		GOMP_parallel_loop_dynamic_start(dynamic_body, NULL, 2, 0, ITERATIONS, 1, 7);
		ends_loop(dynamic_body);
		GOMP_parallel_loop_guided_start(guided_body, NULL, 2, 0, ITERATIONS, 1, 7);
		ends_loop(guided_body);
		GOMP_parallel_loop_runtime_start(runtime_body, NULL, 2, 0, ITERATIONS, 1);
		ends_loop(runtime_body);
		GOMP_parallel_sections_start(sections_body, NULL, 2, 5);
		sections_body(NULL);
		GOMP_parallel_end();
		add(&regions, 1);
	}
	wrong += tasks != 2 * ROUNDS || sections != 5 * ROUNDS;
	printf("{\"correct\":%s,\"regions\":%d,\"chunks\":%d,\"sections\":%d,\"tasks\":%d}\n",
	       wrong ? "false" : "true", regions, chunks, sections, tasks);
	return wrong != 0;
}
