// SPDX-License-Identifier: BSD-2-Clause
/*
 * time_analysis FILE [OUT [LOG]]: one line of JSON with the seconds that the complete
 * analysis of a trace takes on one core (the graph with all metrics and the
 * task profile; the aggregation to one root group; CPU time of both, and of that
 * what the kernel did not need), the peak
 * of resident memory and, when OUT is given, the seconds and bytes of the
 * grains' JSON. LOG gets the event log, for which the events are kept.
 */
#include "analysis/include/grain.h"
#include "analysis/include/grain_groups.h"
#include "tests/tools/measure.h"

#include <sys/stat.h>

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
