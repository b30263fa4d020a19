// SPDX-License-Identifier: BSD-2-Clause
/*
 * reload FILE LIBRARY...: loads one library after the other, runs regions of it and of its own and unloads
 * it, until SIGTERM comes; then FILE holds a line "START_NS END_NS TASKS" for each region, as that of
 * loop_forever. Says how often a library was where the one before had been.
 *
 * With -DLIBRARY such a library. -DCALLS_MORE: one that calls the runtime in another order, so that its table
 * of functions is another.
 */
#include <stdio.h>
#include <time.h>

unsigned run(unsigned tasks);

#ifdef CALLS_MORE
void call_more(void);

void call_more(void)
{
	static volatile int entered;

#pragma omp taskyield
#pragma omp taskgroup
	{
#pragma omp critical
		entered = 1;
	}
#pragma omp barrier
}
#endif

/* How many of them ran: `tasks` - 2 of the single, one more after a wait, and one of that. */
unsigned run(unsigned tasks)
{
	unsigned ran = 0;

#pragma omp parallel
#pragma omp single
	{
		for (unsigned i = 0; i < tasks - 2; i++) {
#pragma omp task shared(ran)
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		}
#pragma omp taskwait
#pragma omp task shared(ran)
		{
#pragma omp task shared(ran)
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		}
	}
	return ran;
}

#ifndef LIBRARY
#include <dlfcn.h>
#include <signal.h>

#define MAX_REGIONS 200000
#define REGIONS 8 /* of a library while it is loaded */

typedef unsigned (*run_fn)(unsigned tasks);

static volatile sig_atomic_t stop;
static struct {
	unsigned long long start, end;
	unsigned tasks;
} times[MAX_REGIONS];
static unsigned regions, wrong;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static void run_and_tell(run_fn its)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	unsigned tasks = 5 + regions % 25;

	times[regions].start = now_ns();
	wrong += its(tasks) != tasks;
	times[regions].end = now_ns();
	times[regions++].tasks = tasks;
	nanosleep(&pause, NULL);
}

/* Where it was. */
static const void *use(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	run_fn its = handle ? (run_fn)(unsigned long)dlsym(handle, "run") : NULL;
	Dl_info info = {0};

	if (!its || !dladdr((const void *)(unsigned long)its, &info)) {
		fprintf(stderr, "%s\n", dlerror());
		wrong++;
		return NULL;
	}
	/* One that is seen: from then on those of the library are. */
	run_and_tell(run);
	for (int i = 0; i < REGIONS && !stop; i++)
		run_and_tell(its);
	dlclose(handle);
	return info.dli_fbase;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	const void *last = NULL;
	unsigned again = 0;
	FILE *out;

	sigaction(SIGTERM, &action, NULL);
	for (int i = 2; argc > 2 && !stop && !wrong && regions < MAX_REGIONS - REGIONS - 1; i++) {
		const void *here = use(argv[2 + i % (argc - 2)]);

		again += here == last;
		last = here;
	}
	out = argc > 2 ? fopen(argv[1], "we") : NULL;
	for (unsigned i = 0; out && i < regions; i++)
		fprintf(out, "%llu %llu %u\n", times[i].start, times[i].end, times[i].tasks);
	if (!out || fclose(out) != 0)
		return 2;
	printf("{\"regions\":%u,\"again\":%u,\"correct\":%s}\n", regions, again, wrong ? "false" : "true");
	return wrong != 0;
}
#endif
