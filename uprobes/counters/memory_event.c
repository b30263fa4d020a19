// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/counters/memory_event.h"
#include "uprobes/counters/counter_set.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADS "mem-loads"
#define LOADS_LEADER "mem-loads-aux"
#define IBS "ibs_op"
#define TEXT_BYTES 160
#define PRECISE 2 /* the sampled instruction itself */

/* ---- sysfs -------------------------------------------------------------- */

/* The first line of a PMU's file. */
static bool read_line(const char *devices, const char *pmu, const char *file, char line[TEXT_BYTES])
{
	char path[4096];
	FILE *f;
	bool read;

	snprintf(path, sizeof(path), "%s/%s/%s", devices, pmu, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	read = fgets(line, TEXT_BYTES, f) != NULL;
	fclose(f);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

static bool read_type(const char *devices, const char *pmu, uint32_t *type)
{
	char line[TEXT_BYTES];

	return read_line(devices, pmu, "type", line) && sscanf(line, "%" SCNu32, type) == 1;
}

/*
 * Places a value by a format such as "config1:0-15". If there are several ranges of bits, the value's
 * lowest bits go into the first.
 */
static bool place(const char *format, uint64_t value, uint64_t config[3])
{
	unsigned int which = 0;
	int used = 0;

	if (sscanf(format, "config%1u:%n", &which, &used) != 1 || !used) {
		which = 0;
		if (strncmp(format, "config:", 7))
			return false;
		used = 7;
	}
	if (which > 2)
		return false;
	for (format += used; *format; format += *format == ',') {
		unsigned int first, last;
		int length = 0;

		if (sscanf(format, "%u-%u%n", &first, &last, &length) != 2) {
			length = 0;
			if (sscanf(format, "%u%n", &first, &length) != 1)
				return false;
			last = first;
		}
		if (!length || first > last || last > 63)
			return false;
		for (unsigned int bit = first; bit <= last; bit++, value >>= 1)
			config[which] |= (value & 1) << bit;
		format += length;
		if (*format && *format != ',')
			return false;
	}
	return value == 0;
}

/* Encodes terms such as "event=0xcd,umask=0x1,ldlat=3". The PMU says where each of them goes. */
static bool encode(const char *devices, const char *pmu, const char *event, uint64_t config[3])
{
	char file[TEXT_BYTES], terms[TEXT_BYTES], format[TEXT_BYTES], *rest = terms, *term;

	snprintf(file, sizeof(file), "events/%s", event);
	if (!read_line(devices, pmu, file, terms))
		return false;
	while ((term = strsep(&rest, ","))) {
		char *value = strchr(term, '='), *end = NULL;
		uint64_t number = 1;

		if (value) {
			*value++ = '\0';
			number = strtoull(value, &end, 0);
		}
		if (strchr(term, '/') || (value && (end == value || *end)))
			return false;
		snprintf(file, sizeof(file), "format/%.100s", term);
		if (!read_line(devices, pmu, file, format) || !place(format, number, config))
			return false;
	}
	return true;
}

static bool find_loads(const char *devices, struct memory_event *out)
{
	uint64_t config[3] = {0}, leader[3] = {0};

	if (!read_type(devices, "cpu", &out->type) || !encode(devices, "cpu", LOADS, config))
		return false;
	out->led = encode(devices, "cpu", LOADS_LEADER, leader);
	out->leader = leader[0];
	out->config = config[0];
	out->config1 = config[1];
	out->config2 = config[2];
	out->precise = PRECISE;
	out->exclude_kernel = true;
	snprintf(out->name, sizeof(out->name), LOADS);
	return true;
}

bool memory_event__find(const char *devices, struct memory_event *out)
{
	uint32_t type;

	*out = (struct memory_event){0};
	if (find_loads(devices, out))
		return true;
	*out = (struct memory_event){0};
	if (read_type(devices, IBS, &out->type)) {
		snprintf(out->name, sizeof(out->name), IBS);
		return true;
	}
	*out = (struct memory_event){0};
	snprintf(out->absent, sizeof(out->absent),
		 read_type(devices, "cpu_core", &type)
			 ? "addresses are not sampled on processors with two kinds of cores"
			 : "no event of this machine gives addresses: it has neither " LOADS
			   " (Intel) nor " IBS " (AMD)");
	return false;
}

/* ---- events that are named ---------------------------------------------- */

const char *memory_event__flaw(const struct memory_event *event)
{
	if (event->type != PERF_TYPE_SOFTWARE) {
		if (event->period)
			return "period= is for events of the kernel; those of the processor are sampled as "
			       "often as "
			       "--sample says";
		return event->precise || !strcmp(event->name, IBS) ? NULL
								   : "its samples have no address of data; "
								     "one of the processor's needs precise=2";
	}
	switch (event->config) {
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
	case PERF_COUNT_SW_ALIGNMENT_FAULTS:
		return NULL;
	default:
		return "its samples have no address of data; those of page-faults, minor-faults and "
		       "major-faults have";
	}
}

int memory_event__write(const struct memory_event *event, FILE *f)
{
	fprintf(f,
		"memory\t%s\t%" PRIu32 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t%" PRIu64 "\t%" PRIu32
		"\t%d\n",
		event->name, event->type, event->config, event->config1, event->config2, event->period,
		event->precise,
		event->exclude_user | event->exclude_kernel << 1 | event->exclude_hypervisor << 2);
	return ferror(f) ? -EIO : 0;
}

int memory_event__read(const char *text, struct memory_event *out)
{
	struct memory_event e = {0};
	unsigned int exclude;
	int used = 0;

	if (sscanf(text,
		   "memory\t%63[!-~]\t%" SCNu32 "\t%" SCNx64 "\t%" SCNx64 "\t%" SCNx64 "\t%" SCNu64
		   "\t%" SCNu32 "\t%u%n",
		   e.name, &e.type, &e.config, &e.config1, &e.config2, &e.period, &e.precise, &exclude,
		   &used) != 8 ||
	    strcmp(text + used, "\n") || exclude > 7 || e.precise > 3 || !counter_event__is_allowed(e.type) ||
	    memory_event__flaw(&e))
		return -EBADMSG;
	e.exclude_user = exclude & 1;
	e.exclude_kernel = exclude & 2;
	e.exclude_hypervisor = exclude & 4;
	*out = e;
	return 0;
}
