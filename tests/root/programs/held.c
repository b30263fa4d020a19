/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held MODE: regions of tasks until SIGTERM comes, and between them what a
 * debugger's stop could spoil. Prints how often it did what, and whether all was right.
 *
 *   allocate  all threads allocate all the time
 *   sleep     short sleeps, which must be neither shorter nor longer nor interrupted
 *   read      waits for input, which must not be interrupted
 *   alarm     a signal every millisecond, handled on whatever thread
 *   load      a thread loads and unloads libraries all the time
 *   slow      a thread loads and unloads plugin_slow.so beside the program all the time
 *   plain     nothing else
 */
#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static unsigned long alarms, wrong, sleeps, loads;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static void on_alarm(int signal)
{
	(void)signal;
	__atomic_fetch_add(&alarms, 1, __ATOMIC_RELAXED);
}

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static void sleep_a_while(void)
{
	struct timespec t = {.tv_nsec = 20000000};
	unsigned long long before = now_ns();

	if (nanosleep(&t, NULL) != 0 && !stop)
		wrong++;
	if (now_ns() - before < 20000000u && !stop)
		wrong++;
	sleeps++;
}

static void read_a_byte(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1 && !stop)
		wrong++;
}

static void *load_all_the_time(void *slow)
{
	while (!stop) {
		void *library = dlopen(slow ? slow : "libm.so.6", RTLD_NOW);
		void *other = slow ? NULL : dlopen("libz.so.1", RTLD_NOW);

		if (!library)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		if (other)
			dlclose(other);
		if (library)
			dlclose(library);
		loads++;
		/* Others get their turn. */
		if (slow)
			nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	return NULL;
}

/* Returns how many tasks ran. */
static unsigned long run_region(unsigned tasks, bool allocate)
{
	unsigned long ran = 0;

#pragma omp parallel
#pragma omp single
	for (unsigned i = 0; i < tasks; i++) {
#pragma omp task shared(ran) firstprivate(i)
		{
			for (unsigned n = 0; n < (allocate ? 200 : 1); n++) {
				/* Else the compiler does without. */
				unsigned char *volatile block = malloc(16 + (i * 37 + n * 101) % 5000);

				block[0] = (unsigned char)i;
				if (block[0] != (unsigned char)i)
					__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
				free(block);
			}
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		}
	}
	return ran;
}

int main(int argc, char **argv)
{
	struct sigaction term = {.sa_handler = on_term},
			 alarm = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 1000}, {0, 1000}};
	const char *mode = argc > 1 ? argv[1] : "plain";
	unsigned long regions = 0, tasks = 0;
	/* On the stack it would show what the loader has left there. */
	static char plugin[4096];
	bool slow = !strcmp(mode, "slow"), loads_too = slow || !strcmp(mode, "load");
	pthread_t loader;

	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGALRM, &alarm, NULL);
	if (!strcmp(mode, "alarm"))
		setitimer(ITIMER_REAL, &every, NULL);
	snprintf(plugin, sizeof(plugin), "%.*splugin_slow.so", (int)(strrchr(argv[0], '/') - argv[0] + 1),
		 argv[0]);
	if (loads_too && pthread_create(&loader, NULL, load_all_the_time, slow ? plugin : NULL) != 0)
		return 2;
	while (!stop) {
		unsigned long ran = run_region(20, !strcmp(mode, "allocate"));

		if (ran != 20)
			wrong++;
		tasks += ran;
		regions++;
		if (!strcmp(mode, "sleep"))
			sleep_a_while();
		if (!strcmp(mode, "read"))
			read_a_byte();
	}
	if (loads_too)
		pthread_join(loader, NULL);
	printf("{\"regions\":%lu,\"tasks\":%lu,\"alarms\":%lu,\"sleeps\":%lu,\"loads\":%lu,\"correct\":%s}\n",
	       regions, tasks, alarms, sleeps, loads, wrong ? "false" : "true");
	return wrong != 0;
}
