// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/doctor/settings_output.h"
#include "daemon/grainctl/terminal/text.h"

#include <stdio.h>

#define INDENT 9

static unsigned int own_threads(const struct settings_facts *facts)
{
	unsigned int count = 0;

	for (size_t i = 0; i < facts->thread_count; i++)
		count += facts->threads[i].process == 0;
	return count;
}

/* What this user could not look at; "": nothing. */
static const char *unseen(const struct settings_facts *facts)
{
	if (!facts->environment.known && !facts->maps_known)
		return "its environment and its libraries, which belong to another user";
	if (!facts->environment.known)
		return "its environment";
	return facts->maps_known ? "" : "its libraries";
}

static void print_process(const struct settings_facts *facts, const struct settings_load *load)
{
	char command[sizeof(facts->processes[0].command)], cpus[64], text[256];

	text__clean(command, sizeof(command), facts->processes[0].command);
	snprintf(text, sizeof(text), "process %d (%s): %u thread%s, %u busy, on CPU%s %s",
		 (int)facts->processes[0].pid, command, own_threads(facts),
		 own_threads(facts) == 1 ? "" : "s", load->threads, cpus__count(&load->cpus) == 1 ? "" : "s",
		 cpus__text(&load->cpus, cpus, sizeof(cpus)));
	text__print_wrapped(text, INDENT, text__columns(), false);
}

void settings_output__print(const struct ctl *ctl, const struct settings_facts *facts)
{
	const struct settings_load load = settings__load(facts, false);
	struct settings_finding findings[SETTINGS_FINDINGS_MAX];
	size_t count = settings__judge(facts, findings);
	unsigned columns = text__columns();
	char text[640], clean[640];

	print_process(facts, &load);
	for (size_t i = 0; i < count; i++) {
		const struct settings_finding *f = &findings[i];
		int used = snprintf(text, sizeof(text), "%s", f->sentence);

		if (f->waited >= SETTINGS_CONTENDED)
			snprintf(text + used, sizeof(text) - (size_t)used,
				 "; they have no CPU for %.0f %% of the time that they want one",
				 100 * (f->waited < 1 ? f->waited : 1));
		text__clean(clean, sizeof(clean), text);
		printf("%swrong%s    ", ctl->colour ? "\033[31m" : "", ctl->colour ? "\033[0m" : "");
		text__print_wrapped(clean, INDENT, columns, false);
		text__clean(clean, sizeof(clean), f->cure);
		printf("%*s-> %s\n", INDENT, "", clean);
	}
	if (!count)
		printf("%sok%s       nothing wrong in the settings that could be seen\n",
		       ctl->colour ? "\033[32m" : "", ctl->colour ? "\033[0m" : "");
	if (unseen(facts)[0])
		printf("unseen   %s\n", unseen(facts));
}

static json_t *finding_json(const struct settings_finding *f)
{
	char sentence[sizeof(f->sentence)], cure[sizeof(f->cure)];

	text__clean(sentence, sizeof(sentence), f->sentence);
	text__clean(cure, sizeof(cure), f->cure);
	return json_pack("{s:s, s:s, s:s, s:{s:i, s:i, s:f, s:i}}", "kind", settings_kind__name(f->kind),
			 "sentence", sentence, "cure", cure, "evidence", "threads", (int)f->threads, "cpus",
			 (int)f->cpus, "waited_percent", 100 * f->waited, "other_pid", (int)f->other);
}

json_t *settings_output__json(const struct settings_facts *facts)
{
	const struct settings_load load = settings__load(facts, false);
	struct settings_finding findings[SETTINGS_FINDINGS_MAX];
	size_t count = settings__judge(facts, findings);
	json_t *list = json_array();
	char cpus[1024], command[sizeof(facts->processes[0].command)];

	text__clean(command, sizeof(command), facts->processes[0].command);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, finding_json(&findings[i]));
	return json_pack("{s:i, s:s, s:i, s:i, s:s, s:f, s:f, s:b, s:b, s:o}", "pid",
			 (int)facts->processes[0].pid, "command", command, "threads", (int)own_threads(facts),
			 "busy_threads", (int)load.threads, "cpus",
			 cpus__text(&load.cpus, cpus, sizeof(cpus)), "quota_cpus", facts->quota,
			 "waited_percent", load.runnable > 0 ? 100 * load.waited / load.runnable : 0.0,
			 "environment_known", facts->environment.known, "libraries_known", facts->maps_known,
			 "findings", list);
}
