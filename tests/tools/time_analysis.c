// SPDX-License-Identifier: BSD-2-Clause
/*
 * time_analysis FILE [OUT [LOG]]: one line of JSON with the seconds that the complete
 * analysis of a trace takes on one core (the graph with all metrics and the
 * task profile; the aggregation to one root group; CPU time of both, and of that
 * what the kernel did not need), the peak
 * of resident memory and, when OUT is given, the seconds and bytes of the
 * grains' JSON. LOG gets the event log, for which the events are kept.
 */
#include "analysis/grain.h"
#include "analysis/grain_groups.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Without what the kernel needs to hand out memory. */
static double user_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

/* Of this program alone: what getrusage knows began before it. */
static long status_kb(const char *field)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, field, strlen(field)) == 0)
			kb = atol(line + strlen(field));
	if (f)
		fclose(f);
	return kb;
}

static void use_one_core(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	/* Where that is not allowed, the analysis still has only one thread. */
	(void)sched_setaffinity(0, sizeof(one), &one);
}

/* Seconds, negative when it failed. */
static double write_json(const struct grain_graph *graph, const char *path, long long *bytes)
{
	double start = now(CLOCK_MONOTONIC);
	struct stat st = {0};
	FILE *out = fopen(path, "w");
	int error;

	if (!out)
		return -1;
	error = grain_graph__write_grains_json(graph, out);
	if (fstat(fileno(out), &st) == 0 && S_ISREG(st.st_mode))
		*bytes = (long long)st.st_size;
	if (fclose(out) != 0 || error)
		return -1;
	return now(CLOCK_MONOTONIC) - start;
}

static int write_log(const struct grain_graph *graph, const char *path)
{
	FILE *out = fopen(path, "w");
	int error = out ? grain_graph__write_log(graph, out) : -1;

	return out && fclose(out) == 0 && !error ? 0 : -1;
}

int main(int argc, char **argv)
{
	const struct grain_load_opts opts = {.keep_events = argc == 4};
	struct grain_graph *graph = NULL;
	struct grain_groups *groups = NULL;
	struct grain_error err = {.text = ""};
	double start, load, aggregate, cpu, user, json = 0;
	long before, loaded, peak;
	long long bytes = 0;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: time_analysis FILE [OUT [LOG]]\n");
		return 2;
	}
	use_one_core();
	before = status_kb("VmRSS:");
	start = now(CLOCK_MONOTONIC);
	if (grain_graph__load(argv[1], &opts, &graph, &err)) {
		fprintf(stderr, "time_analysis: %s\n", err.text);
		return 1;
	}
	load = now(CLOCK_MONOTONIC) - start;
	loaded = status_kb("VmHWM:");
	start = now(CLOCK_MONOTONIC);
	if (grain_groups__new(graph, &groups)) {
		fprintf(stderr, "time_analysis: %s: no memory for the groups\n", argv[1]);
		return 1;
	}
	aggregate = now(CLOCK_MONOTONIC) - start;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	user = user_seconds();
	peak = status_kb("VmHWM:");
	if (argc > 2)
		json = write_json(graph, argv[2], &bytes);
	if (json < 0) {
		fprintf(stderr, "time_analysis: %s: cannot be written\n", argv[2]);
		return 1;
	}
	if (argc == 4 && write_log(graph, argv[3])) {
		fprintf(stderr, "time_analysis: %s: cannot be written\n", argv[3]);
		return 1;
	}
	printf("{\"grains\":%llu,\"load_s\":%.4f,\"groups_s\":%.4f,\"cpu_s\":%.4f,\"user_s\":%.4f,\"start_"
	       "kb\":%ld,\"load_"
	       "kb\":%ld,"
	       "\"peak_kb\":%ld,\"json_s\":%.4f,\"json_bytes\":%lld}\n",
	       (unsigned long long)grain_graph__totals(graph)->grains, load, aggregate, cpu, user, before,
	       loaded, peak, json, bytes);
	grain_groups__free(groups);
	grain_graph__free(graph);
	return 0;
}
