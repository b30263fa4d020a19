/* SPDX-License-Identifier: BSD-2-Clause */
/* The defaults of thresholds and choices, and the parser of NAME=VALUE. */
#include "analysis/include/grain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void grain_settings__default(struct grain_settings *settings)
{
	*settings = (struct grain_settings){
		.parallel_benefit = 1,
		.load_balance = 1,
		.work_deviation = 2,
		.scatter = NAN,
		.memory_hierarchy_utilization = 2,
		.cache_miss_ratio = 0.3,
	};
}

static int fail(struct grain_error *err, const char *text)
{
	if (err)
		snprintf(err->text, sizeof(err->text), "%s", text);
	return -EINVAL;
}

/* Returns the index of `value` in a list that NULL ends. -1: it is not in the list. */
static int choice(const char *value, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(value, names[i]))
			return i;
	return -1;
}

/* "250", "250ns", "50us", "1.5ms", "2s" */
static bool parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (end == text || strcmp(end, units[i].unit) || !(value * units[i].ns >= 1) ||
		    value * units[i].ns > 1e18)
			continue;
		*ns = (uint64_t)(value * units[i].ns);
		return true;
	}
	return false;
}

static int set_parallelism(struct grain_settings *settings, const char *value, struct grain_error *err)
{
	static const char *const names[] = {"exact", "optimistic", "conservative", NULL};
	int k = choice(value, names);

	if (k < 0)
		return fail(err, "parallelism is exact, optimistic or conservative");
	settings->parallelism = (enum grain_parallelism)k;
	return 0;
}

static int set_interval(struct grain_settings *settings, const char *value, struct grain_error *err)
{
	static const char *const names[] = {"median", "minimum", "gap", NULL};
	int k = choice(value, names);

	if (k >= 0) {
		settings->interval = (enum grain_interval)k;
		return 0;
	}
	if (!parse_time(value, &settings->interval_ns))
		return fail(err, "interval is median, minimum, gap or a time such as 50us");
	settings->interval = GRAIN_INTERVAL_GIVEN;
	return 0;
}

/* "16G", "500M", "1000000" */
static int set_memory(struct grain_settings *settings, const char *value, struct grain_error *err)
{
	static const char units[] = "KMGT";
	char *end;
	unsigned long long number = strtoull(value, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (*value < '0' || *value > '9' || end[unit ? 1 : 0] || !number ||
	    number > (UINT64_MAX >> 1) >> shift)
		return fail(err, "memory is a size such as 16G");
	settings->memory_bytes = number << shift;
	return 0;
}

static int set_number(double *where, const char *value, struct grain_error *err)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || *end || !isfinite(number) || number < 0)
		return fail(err, "a threshold is a number of at least 0, such as parallel_benefit=1.5");
	*where = number;
	return 0;
}

int grain_settings__set(struct grain_settings *settings, const char *text, struct grain_error *err)
{
	const struct {
		const char *name;
		double *number;
		const char **string;
		int (*set)(struct grain_settings *, const char *, struct grain_error *);
	} all[] = {
		{"parallel_benefit", &settings->parallel_benefit, NULL, NULL},
		{"load_balance", &settings->load_balance, NULL, NULL},
		{"work_deviation", &settings->work_deviation, NULL, NULL},
		{"instantaneous_parallelism", &settings->instantaneous_parallelism, NULL, NULL},
		{"scatter", &settings->scatter, NULL, NULL},
		{"memory_hierarchy_utilization", &settings->memory_hierarchy_utilization, NULL, NULL},
		{"cache_miss_ratio", &settings->cache_miss_ratio, NULL, NULL},
		{"parallelism", NULL, NULL, set_parallelism},
		{"interval", NULL, NULL, set_interval},
		{"topology", NULL, &settings->topology, NULL},
		{"stall_counter", NULL, &settings->stall_counter, NULL},
		{"cycle_counter", NULL, &settings->cycle_counter, NULL},
		{"miss_counter", NULL, &settings->miss_counter, NULL},
		{"reference_counter", NULL, &settings->reference_counter, NULL},
		{"memory", NULL, NULL, set_memory},
	};
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;

	for (size_t i = 0; length && i < sizeof(all) / sizeof(*all); i++) {
		if (strlen(all[i].name) != length || strncmp(all[i].name, text, length))
			continue;
		if (all[i].set)
			return all[i].set(settings, equals + 1, err);
		if (all[i].number)
			return set_number(all[i].number, equals + 1, err);
		if (!equals[1])
			return fail(err, "topology and the counters need a name, such as topology=FILE or "
					 "cycle_counter=PAPI_TOT_CYC");
		*all[i].string = equals + 1;
		return 0;
	}
	return fail(err,
		    "a setting is NAME=VALUE; names are parallel_benefit, load_balance, work_deviation, "
		    "instantaneous_parallelism, scatter, memory_hierarchy_utilization, cache_miss_ratio, "
		    "parallelism, interval, topology, stall_counter, cycle_counter, miss_counter, "
		    "reference_counter, memory");
}
