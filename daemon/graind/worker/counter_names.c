// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/worker/counter_names.h"
#include "daemon/graind/worker/worker.h"

#include <ctype.h>
#include <errno.h>
#include <papi.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WHY_BYTES 400
#define SECONDS 20
#define OUTPUT_MAX 65536

/* ---- the nearest name ----------------------------------------------------- */

struct nearest {
	const char *to;
	char name[96];
	size_t distance;
};

static int folded(char c)
{
	return c == '_' ? '-' : tolower((unsigned char)c);
}

/* Returns the Levenshtein distance, ignoring case. */
static size_t distance(const char *a, const char *b)
{
	size_t row[96], n = strnlen(b, 95);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0]++;

		for (size_t j = 1; j <= n; j++) {
			size_t changed = corner + (folded(a[i]) != folded(b[j - 1])), best = row[j] + 1;

			corner = row[j];
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			row[j] = changed < best ? changed : best;
		}
	}
	return row[n];
}

static void consider(struct nearest *nearest, const char *name)
{
	size_t d = distance(nearest->to, name);

	if (d >= nearest->distance)
		return;
	nearest->distance = d;
	snprintf(nearest->name, sizeof(nearest->name), "%.*s", (int)sizeof(nearest->name) - 1, name);
	/* perf's own events are written with "-" in all other places. */
	for (char *c = nearest->name; strchr(name, '-') && *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

static void find_nearest(struct nearest *nearest)
{
	PAPI_event_info_t preset;
	int code = (int)PAPI_PRESET_MASK, pmu, event;

	for (int r = PAPI_enum_event(&code, PAPI_ENUM_FIRST); r == PAPI_OK;
	     r = PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL))
		if (PAPI_get_event_info(code, &preset) == PAPI_OK && preset.count)
			consider(nearest, preset.symbol);
	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t about = {.size = sizeof(about)};

		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &about) != PFM_SUCCESS || !about.is_present)
			continue;
		for (event = about.first_event; event != -1; event = pfm_get_event_next(event)) {
			pfm_event_info_t info = {.size = sizeof(info)};

			if (pfm_get_event_info(event, PFM_OS_PERF_EVENT, &info) == PFM_SUCCESS)
				consider(nearest, info.name);
		}
	}
}

/* ---- one name ------------------------------------------------------------- */

static int unknown(const char *name, char *why)
{
	struct nearest nearest = {.to = name, .distance = SIZE_MAX};

	find_nearest(&nearest);
	snprintf(why, WHY_BYTES, "no counter is called '%s' here; the nearest name is '%s'", name,
		 nearest.name);
	return -ENOENT;
}

static bool is_plain(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= 0x20 || (unsigned char)*c > 0x7e)
			return false;
	return true;
}

/* Adds an event to the last counter of the set. `levels`: PFM_PLM3 for user code, PFM_PLM0 for the kernel. */
static int add_event(struct counter_set *set, const char *name, unsigned int levels, bool minus, char *why)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t encode = {.attr = &attr, .size = sizeof(encode)};
	int r = pfm_get_os_event_encoding(name, (int)levels, PFM_OS_PERF_EVENT_EXT, &encode);

	if (r == PFM_ERR_NOTFOUND)
		return unknown(name, why);
	if (r != PFM_SUCCESS) {
		snprintf(why, WHY_BYTES, "counter '%s': %s", name, pfm_strerror(r));
		return -ENOENT;
	}
	if (set->event_count == RING_COUNTERS_MAX) {
		snprintf(why, WHY_BYTES, "with '%s' these are more than %d events; ask for fewer counters",
			 name, RING_COUNTERS_MAX);
		return -E2BIG;
	}
	set->events[set->event_count++] = (struct counter_event){
		.term = {.counter = (uint32_t)set->counter_count - 1, .minus = minus},
		.type = attr.type,
		.config = attr.config,
		.config1 = attr.config1,
		.config2 = attr.config2,
		.exclude_user = attr.exclude_user,
		.exclude_kernel = attr.exclude_kernel,
		.exclude_hypervisor = attr.exclude_hv,
	};
	return 0;
}

/* PAPI presets count user code only, without the kernel's work for it. */
static int add_preset(struct counter_set *set, const char *name, char *why)
{
	struct counter *counter = &set->counters[set->counter_count - 1];
	PAPI_event_info_t info = {0};
	bool plain, add, subtract;
	int code, error = 0;

	if (PAPI_event_name_to_code(name, &code) != PAPI_OK || !(code & (int)PAPI_PRESET_MASK) ||
	    PAPI_get_event_info(code, &info) != PAPI_OK)
		return unknown(name, why);
	plain = info.count == 1 && !strcmp(info.derived, "NOT_DERIVED");
	add = !strcmp(info.derived, "DERIVED_ADD");
	subtract = !strcmp(info.derived, "DERIVED_SUB");
	if (!info.count)
		snprintf(counter->absent, sizeof(counter->absent),
			 "PAPI knows no such event of this processor");
	else if (!plain && !add && !subtract)
		snprintf(counter->absent, sizeof(counter->absent),
			 "PAPI computes it of others; ask for %.40s and the rest of what papi_avail -e %.20s "
			 "names",
			 info.name[0], name);
	for (unsigned int i = 0; i < info.count && !counter->absent[0] && !error; i++)
		error = add_event(set, info.name[i], PFM_PLM3, subtract && i > 0, why);
	return error;
}

static int add_name(struct counter_set *set, const char *name, char *why)
{
	struct counter *counter = &set->counters[set->counter_count];

	if (!is_plain(name)) {
		snprintf(why, WHY_BYTES, "names of counters have no blanks and are ASCII");
		return -ENOENT;
	}
	if (!*name || strlen(name) >= sizeof(counter->name)) {
		snprintf(why, WHY_BYTES, "names of counters have 1 to %zu characters",
			 sizeof(counter->name) - 1);
		return -ENOENT;
	}
	for (size_t i = 0; i < set->counter_count; i++)
		if (!strcasecmp(set->counters[i].name, name)) {
			snprintf(why, WHY_BYTES, "counter '%s' is asked for twice", name);
			return -E2BIG;
		}
	if (set->counter_count == RING_COUNTERS_MAX) {
		snprintf(why, WHY_BYTES, "more than %d counters", RING_COUNTERS_MAX);
		return -E2BIG;
	}
	snprintf(counter->name, sizeof(counter->name), "%s", name);
	set->counter_count++;
	return strncasecmp(name, "PAPI_", 5) ? add_event(set, name, PFM_PLM3 | PFM_PLM0, false, why)
					     : add_preset(set, name, why);
}

/* Translates names, one in each line, to a set. On failure `why` is one line. */
static int resolve(FILE *names, struct counter_set *out, char why[WHY_BYTES])
{
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	*out = (struct counter_set){0};
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || pfm_initialize() != PFM_SUCCESS) {
		snprintf(why, WHY_BYTES, "PAPI cannot be used here; its papi_avail says more");
		return -ENOSYS;
	}
	while (!error && getline(&line, &room, names) > 0) {
		line[strcspn(line, "\n")] = '\0';
		error = add_name(out, line, why);
	}
	free(line);
	return error;
}

/*
 * Finds the events with data addresses that the kernel offers, and the processor's own event if it has one.
 */
static const char *nearest_with_addresses(const char *name)
{
	static const char *const events[] = {"page-faults", "minor-faults", "major-faults",
					     "alignment-faults"};
	static struct nearest nearest;
	struct memory_event own;

	nearest = (struct nearest){.to = name, .distance = SIZE_MAX};
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		consider(&nearest, events[i]);
	if (memory_event__find(MEMORY_EVENT_DEVICES, &own))
		consider(&nearest, own.name);
	return nearest.name;
}

/* Translates one name to an event. On failure `why` is one line. */
static int resolve_memory(const char *name, struct memory_event *out, char why[WHY_BYTES])
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t encode = {.attr = &attr, .size = sizeof(encode)};
	const char *flaw;
	int r;

	*out = (struct memory_event){0};
	if (!*name || strlen(name) >= sizeof(out->name) || !is_plain(name)) {
		snprintf(why, WHY_BYTES, "names of events have 1 to %zu characters, no blanks, and are ASCII",
			 sizeof(out->name) - 1);
		return -ENOENT;
	}
	if (pfm_initialize() != PFM_SUCCESS) {
		snprintf(why, WHY_BYTES, "libpfm4 cannot be used here");
		return -ENOSYS;
	}
	r = pfm_get_os_event_encoding(name, PFM_PLM3 | PFM_PLM0, PFM_OS_PERF_EVENT_EXT, &encode);
	if (r != PFM_SUCCESS) {
		snprintf(why, WHY_BYTES,
			 r == PFM_ERR_NOTFOUND ? "no event is called '%s' here; the nearest whose samples "
						 "have addresses is '%s'"
					       : "'%s' is no event with such modifiers; the nearest whose "
						 "samples have addresses is '%s'",
			 name, nearest_with_addresses(name));
		return -ENOENT;
	}
	snprintf(out->name, sizeof(out->name), "%.*s", (int)sizeof(out->name) - 1, name);
	out->type = attr.type;
	out->config = attr.config;
	out->config1 = attr.config1;
	out->config2 = attr.config2;
	out->period = attr.sample_period;
	out->precise = attr.precise_ip;
	out->exclude_user = attr.exclude_user;
	out->exclude_kernel = attr.exclude_kernel;
	out->exclude_hypervisor = attr.exclude_hv;
	flaw = attr.freq ? "freq= is what --sample says" : memory_event__flaw(out);
	if (flaw)
		snprintf(why, WHY_BYTES, "'%s': %s", name, flaw);
	return flaw ? -ENOENT : 0;
}

int worker__memory_event(void)
{
	struct memory_event event;
	char why[WHY_BYTES] = "", name[256] = "";

	if (fgets(name, sizeof(name), stdin))
		name[strcspn(name, "\n")] = '\0';
	if (resolve_memory(name, &event, why))
		printf("error\t%s\n", why);
	else
		memory_event__write(&event, stdout);
	return fflush(stdout) != 0;
}

int worker__counters(void)
{
	struct counter_set set;
	char why[WHY_BYTES] = "";

	if (resolve(stdin, &set, why))
		printf("error\t%s\n", why);
	else
		counter_set__write(&set, stdout);
	return fflush(stdout) != 0;
}

/* ---- the daemon's side ---------------------------------------------------- */

static int cannot(struct failure *failure, int error)
{
	return failure__set(failure, 503, "cannot look up counters: %s", strerror(error));
}

static int file_of(const json_t *names, struct failure *failure)
{
	int fd = memfd_create("counters", MFD_CLOEXEC);
	const json_t *name;
	size_t i;

	if (fd < 0)
		return cannot(failure, errno);
	json_array_foreach((json_t *)names, i, name)
	{
		if (dprintf(fd, "%s\n", json_string_value(name)) < 0) {
			close(fd);
			return cannot(failure, errno);
		}
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Makes one printable line of the worker's message, which may contain anything. */
static int refuse(struct failure *failure, char *text)
{
	text[strcspn(text, "\n")] = '\0';
	for (char *c = text; *c; c++)
		*c = (unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e ? '?' : *c;
	return failure__set(failure, 400, "%.*s", WHY_BYTES, text);
}

/* Returns the worker's answer about the names, which the caller frees; NULL with *failure set. */
static char *look_up(const char *work, const json_t *names, uid_t uid, gid_t gid, struct failure *failure)
{
	struct worker worker = {
		.work = work, .uid = uid, .gid = gid, .seconds = SECONDS, .max_output = OUTPUT_MAX};
	char *text = NULL;
	size_t size;
	int error;

	worker.input = file_of(names, failure);
	if (worker.input < 0)
		return NULL;
	error = worker__run(&worker, &text, &size);
	close(worker.input);
	if (error) {
		cannot(failure, -error);
		return NULL;
	}
	if (strncmp(text, "error\t", 6))
		return text;
	refuse(failure, text + 6);
	free(text);
	return NULL;
}

int counter_names__find(const json_t *names, uid_t uid, gid_t gid, struct counter_set *out,
			struct failure *failure)
{
	char *text = look_up(WORKER_COUNTERS, names, uid, gid, failure);
	int error = text ? 0 : -1;

	if (text && counter_set__read(text, out))
		error = failure__set(failure, 503, "cannot make sense of what was found of these counters");
	free(text);
	return error;
}

int counter_names__find_memory(const char *name, uid_t uid, gid_t gid, struct memory_event *out,
			       struct failure *failure)
{
	json_t *names;
	char *text;
	int error = 0;

	if (memory_event__find(MEMORY_EVENT_DEVICES, out) && !strcmp(out->name, name))
		return 0;
	names = json_pack("[s]", name);
	text = names ? look_up(WORKER_MEMORY_EVENT, names, uid, gid, failure) : NULL;
	if (!names)
		error = cannot(failure, ENOMEM);
	else if (!text)
		error = -1;
	else if (memory_event__read(text, out))
		error = failure__set(failure, 503, "cannot make sense of what was found of that event");
	json_decref(names);
	free(text);
	return error;
}
