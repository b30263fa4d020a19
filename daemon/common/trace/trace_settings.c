// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/settings/settings_read.h"
#include "daemon/common/trace/trace_machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A setting, quoted, and the whole line. */
#define QUOTED_BYTES (2 * (SETTINGS_VALUE_MAX + 40))
#define LINE_BYTES (4 * QUOTED_BYTES)

static void add(char line[LINE_BYTES], const char *key, const char *value)
{
	char quoted[QUOTED_BYTES];
	size_t used = strlen(line);

	trace_writer__quote(value, quoted, sizeof(quoted));
	snprintf(line + used, LINE_BYTES - used, " %s=%s", key, quoted);
}

static void add_binding(char line[LINE_BYTES], const struct settings_environment *e)
{
	const struct {
		const char *name, *value;
	} settings[] = {
		{"OMP_PLACES", e->places},
		{"GOMP_CPU_AFFINITY", e->gomp_affinity},
		{"KMP_AFFINITY", e->kmp_affinity},
		{"OMP_PROC_BIND", e->bind},
	};
	char text[SETTINGS_VALUE_MAX + 32];

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (settings[i].value[0]) {
			snprintf(text, sizeof(text), "%s=%s", settings[i].name, settings[i].value);
			add(line, "binds", text);
			return;
		}
	}
}

int trace_settings__describe(struct trace_writer *writer, pid_t pid)
{
	struct cgroup_limits *limits = malloc(sizeof(*limits));
	struct settings_environment environment;
	char line[LINE_BYTES] = "", spins[SETTINGS_VALUE_MAX + 32];
	const char *cure;
	int error = limits ? settings__read_limits(pid, limits) : -ENOMEM;

	if (!error && limits->quota > 0)
		snprintf(line, sizeof(line), " quota=%.0f", 1000 * limits->quota);
	free(limits);
	if (error)
		return error;
	settings__read_environment(pid, &environment);
	add_binding(line, &environment);
	if (settings_environment__spins(&environment, spins, sizeof(spins), &cure)) {
		add(line, "spins", spins);
		add(line, "spins_cure", cure);
	}
	return line[0] ? trace_writer__textf(writer, "@settings%s", line) : 0;
}
