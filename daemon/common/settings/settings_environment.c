// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More levels than any program has. */
#define ALL_LEVELS 1000
/* Counts of GOMP_SPINCOUNT and milliseconds of KMP_BLOCKTIME from which on a wait spins about a second or
 * more. */
#define LONG_SPIN 1e9
#define LONG_BLOCKTIME 1000

/* "4,2": threads of a team at each level. */
static void read_threads(const char *value, unsigned int out[SETTINGS_LEVELS])
{
	for (int i = 0; i < SETTINGS_LEVELS; i++) {
		char *end;
		unsigned long threads = strtoul(value, &end, 10);

		if (end == value || threads == 0 || threads > 1U << 20)
			return;
		out[i] = (unsigned int)threads;
		if (*end != ',')
			return;
		value = end + 1;
	}
}

static bool read_string(struct settings_environment *out, const char *name, const char *value)
{
	const struct {
		const char *name;
		char *value;
	} strings[] = {
		{"OMP_PROC_BIND", out->bind},
		{"OMP_PLACES", out->places},
		{"GOMP_CPU_AFFINITY", out->gomp_affinity},
		{"KMP_AFFINITY", out->kmp_affinity},
		{"OMP_WAIT_POLICY", out->wait},
		{"GOMP_SPINCOUNT", out->spin},
		{"KMP_BLOCKTIME", out->blocktime},
		{"KMP_LIBRARY", out->library},
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		if (!strcmp(strings[i].name, name)) {
			snprintf(strings[i].value, SETTINGS_VALUE_MAX, "%s", value);
			return true;
		}
	}
	return false;
}

static void read_number(struct settings_environment *out, const char *name, const char *value)
{
	unsigned int number = (unsigned int)strtoul(value, NULL, 10);

	if (!strcmp(name, "OMP_NUM_THREADS"))
		read_threads(value, out->threads);
	else if (!strcmp(name, "OMP_MAX_ACTIVE_LEVELS"))
		out->active_levels = number;
	else if (!strcmp(name, "OMP_NESTED") && !strcasecmp(value, "true") && !out->active_levels)
		out->active_levels = ALL_LEVELS;
	else if (!strcmp(name, "OPENBLAS_NUM_THREADS") || !strcmp(name, "GOTO_NUM_THREADS") ||
		 !strcmp(name, "BLIS_NUM_THREADS"))
		out->pool_threads = number;
}

void settings_environment__read(const char *block, size_t bytes, struct settings_environment *out)
{
	out->known = true;
	for (size_t at = 0; at < bytes;) {
		size_t length = strnlen(block + at, bytes - at);
		const char *equals = memchr(block + at, '=', length);
		char name[32], value[SETTINGS_VALUE_MAX];

		/* The last variable may be cut off. */
		if (equals && at + length < bytes && (size_t)(equals - block) - at < sizeof(name)) {
			snprintf(name, sizeof(name), "%.*s", (int)(equals - block - (ptrdiff_t)at),
				 block + at);
			snprintf(value, sizeof(value), "%s", equals + 1);
			if (!read_string(out, name, value))
				read_number(out, name, value);
		}
		at += length + 1;
	}
}

static bool is_endless(const char *value, double much)
{
	char *end;
	double number = strtod(value, &end);

	return !strcasecmp(value, "infinite") || !strcasecmp(value, "infinity") ||
	       (end != value && number >= much);
}

const char *settings_environment__spins(const struct settings_environment *e, char *text, size_t size,
					const char **cure)
{
	if (is_endless(e->spin, LONG_SPIN)) {
		snprintf(text, size, "GOMP_SPINCOUNT=%s", e->spin);
		*cure = "GOMP_SPINCOUNT=0";
	} else if (is_endless(e->blocktime, LONG_BLOCKTIME)) {
		snprintf(text, size, "KMP_BLOCKTIME=%s", e->blocktime);
		*cure = "KMP_BLOCKTIME=0";
	} else if (!strcasecmp(e->wait, "active") && !e->spin[0] && !e->blocktime[0]) {
		snprintf(text, size, "OMP_WAIT_POLICY=%s", e->wait);
		*cure = "OMP_WAIT_POLICY=passive";
	} else if (!strcasecmp(e->library, "turnaround")) {
		snprintf(text, size, "KMP_LIBRARY=turnaround");
		*cure = "KMP_LIBRARY=throughput";
	} else {
		return NULL;
	}
	return text;
}
