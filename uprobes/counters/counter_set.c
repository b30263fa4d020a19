// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/counters/counter_set.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int counter_set__write(const struct counter_set *set, FILE *f)
{
	for (size_t i = 0; i < set->counter_count; i++)
		fprintf(f, "counter\t%s\t%s\n", set->counters[i].name, set->counters[i].absent);
	for (size_t i = 0; i < set->event_count; i++) {
		const struct counter_event *e = &set->events[i];

		fprintf(f,
			"event\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t0x%" PRIx64 "\t0x%" PRIx64
			"\t0x%" PRIx64 "\t%d\n",
			e->term.counter, e->term.minus, e->type, e->config, e->config1, e->config2,
			e->exclude_user | e->exclude_kernel << 1 | e->exclude_hypervisor << 2);
	}
	return ferror(f) ? -EIO : 0;
}

/*
 * Whether sysfs has a PMU of that number that belongs to CPUs: its directory says which CPUs, or its name
 * is "cpu".
 */
static bool is_cpu_pmu(uint32_t type)
{
	static const char devices[] = "/sys/bus/event_source/devices";
	DIR *directory = opendir(devices);
	struct dirent *entry;
	bool found = false;

	while (directory && !found && (entry = readdir(directory))) {
		char path[400];
		unsigned long number = UINT32_MAX;
		FILE *f;

		snprintf(path, sizeof(path), "%s/%.255s/type", devices, entry->d_name);
		f = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%lu", &number) != 1)
			number = UINT32_MAX;
		fclose(f);
		snprintf(path, sizeof(path), "%s/%.255s/cpus", devices, entry->d_name);
		found = number == type && (!strcmp(entry->d_name, "cpu") || !access(path, F_OK));
	}
	if (directory)
		closedir(directory);
	return found;
}

bool counter_event__is_allowed(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_HW_CACHE ||
	       type == PERF_TYPE_RAW || (type >= PERF_TYPE_MAX && is_cpu_pmu(type));
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
			return false;
	return true;
}

static int read_counter(char *line, struct counter_set *set)
{
	struct counter *counter = &set->counters[set->counter_count];
	char *name = strsep(&line, "\t"), *absent = strsep(&line, "\t");

	if (set->counter_count == RING_COUNTERS_MAX || !name || !absent || line || !*name ||
	    strlen(name) >= sizeof(counter->name) || strlen(absent) >= sizeof(counter->absent) ||
	    !is_printable(name) || !is_printable(absent))
		return -EBADMSG;
	snprintf(counter->name, sizeof(counter->name), "%s", name);
	snprintf(counter->absent, sizeof(counter->absent), "%s", absent);
	set->counter_count++;
	return 0;
}

/*
 * The source of a count that the kernel keeps for each thread. These counts do not separate user and kernel
 * mode.
 */
static uint32_t source_of(const struct counter_event *e)
{
	static const uint32_t sources[] = {
		[PERF_COUNT_SW_CPU_CLOCK] = RING_COUNTER_CLOCK,
		[PERF_COUNT_SW_TASK_CLOCK] = RING_COUNTER_CLOCK,
		[PERF_COUNT_SW_PAGE_FAULTS] = RING_COUNTER_FAULTS,
		[PERF_COUNT_SW_PAGE_FAULTS_MIN] = RING_COUNTER_MINOR_FAULTS,
		[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = RING_COUNTER_MAJOR_FAULTS,
		[PERF_COUNT_SW_CONTEXT_SWITCHES] = RING_COUNTER_SWITCHES,
		[PERF_COUNT_SW_CPU_MIGRATIONS] = RING_COUNTER_MIGRATIONS,
	};

	if (e->type != PERF_TYPE_SOFTWARE || e->exclude_user || e->exclude_kernel ||
	    e->config >= sizeof(sources) / sizeof(*sources))
		return RING_COUNTER_PERF;
	return sources[e->config];
}

static int read_event(const char *line, struct counter_set *set)
{
	struct counter_event *e = &set->events[set->event_count];
	unsigned int exclude;
	int used = 0;

	if (set->event_count == RING_COUNTERS_MAX ||
	    sscanf(line, "%" SCNu32 "\t%" SCNu32 "\t%" SCNu32 "\t%" SCNx64 "\t%" SCNx64 "\t%" SCNx64 "\t%u%n",
		   &e->term.counter, &e->term.minus, &e->type, &e->config, &e->config1, &e->config2, &exclude,
		   &used) != 7 ||
	    line[used] || e->term.counter >= set->counter_count ||
	    (set->event_count && e->term.counter < e[-1].term.counter) || e->term.minus > 1 || exclude > 7 ||
	    set->counters[e->term.counter].absent[0] || !counter_event__is_allowed(e->type))
		return -EBADMSG;
	e->exclude_user = exclude & 1;
	e->exclude_kernel = exclude & 2;
	e->exclude_hypervisor = exclude & 4;
	e->term.source = source_of(e);
	set->event_count++;
	return 0;
}

/* Perf events first; otherwise in the order of their counters. */
static void sort_events(struct counter_set *set)
{
	struct counter_event sorted[RING_COUNTERS_MAX];
	size_t n = 0;

	for (int kept = 0; kept < 2; kept++) {
		for (size_t i = 0; i < set->event_count; i++)
			if ((set->events[i].term.source != RING_COUNTER_PERF) == kept)
				sorted[n++] = set->events[i];
		if (!kept)
			set->perf_count = n;
	}
	memcpy(set->events, sorted, n * sizeof(*sorted));
}

int counter_set__read(const char *text, struct counter_set *out)
{
	char *copy = strdup(text), *rest = copy, *line;
	int error = copy ? 0 : -ENOMEM;

	*out = (struct counter_set){0};
	while (!error && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "counter\t", 8) && !out->event_count)
			error = read_counter(line + 8, out);
		else if (!strncmp(line, "event\t", 6))
			error = read_event(line + 6, out);
		else if (*line)
			error = -EBADMSG;
	}
	if (!error)
		sort_events(out);
	free(copy);
	return error;
}

void counter_set__drop_events(struct counter_set *set, size_t counter)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->event_count; i++)
		if (set->events[i].term.counter != counter)
			set->events[kept++] = set->events[i];
	set->event_count = kept;
	sort_events(set);
}
