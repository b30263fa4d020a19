// SPDX-License-Identifier: BSD-2-Clause
/* Decides which rule applies to a process, and describes the rules. */
#include "daemon/graind/policy/policy_rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *const policy_condition_names[CONDITIONS] = {"user", "group", "cgroup", "exe"};

const char *policy_profile__name(enum policy_profile profile)
{
	static const char *const names[] = {"off", "on-request", "always"};

	return names[profile];
}

struct policy_file *policy_file__empty(void)
{
	struct policy_file *file = calloc(1, sizeof(*file));

	if (file)
		file->limits.user_jobs = POLICY_USER_JOBS;
	return file;
}

void policy_file__free(struct policy_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->rule_count; i++) {
		for (int kind = 0; kind < CONDITIONS; kind++) {
			struct condition *condition = &file->rules[i].conditions[kind];

			for (size_t k = 0; k < condition->count; k++)
				free(condition->texts[k]);
			free(condition->texts);
			free(condition->ids);
		}
	}
	free(file->rules);
	free(file->report_directory);
	free(file);
}

const struct policy_limits *policy_file__limits(const struct policy_file *file)
{
	return &file->limits;
}

const char *policy_file__report_directory(const struct policy_file *file)
{
	return file->report_directory;
}

bool policy_file__has(const struct policy_file *file, enum policy_profile profile)
{
	for (size_t i = 0; i < file->rule_count; i++)
		if (file->rules[i].profile == profile)
			return true;
	return false;
}

/* Whether the pattern matches one of the lines "NUMBER:CONTROLLERS:PATH". */
static bool matches_cgroup(const char *pattern, const char *lines)
{
	char path[4096];

	while (*lines) {
		size_t length = strcspn(lines, "\n");
		const char *colon = memchr(lines, ':', length);

		colon = colon ? memchr(colon + 1, ':', length - (size_t)(colon + 1 - lines)) : NULL;
		if (colon && length - (size_t)(colon + 1 - lines) < sizeof(path)) {
			size_t bytes = length - (size_t)(colon + 1 - lines);

			memcpy(path, colon + 1, bytes);
			path[bytes] = 0;
			if (fnmatch(pattern, path, 0) == 0)
				return true;
		}
		lines += length + (lines[length] != 0);
	}
	return false;
}

static bool holds(const struct condition *condition, int kind, const struct policy_subject *subject)
{
	for (size_t i = 0; i < condition->count; i++) {
		bool match = false;

		switch (kind) {
		case OF_USER:
			match = condition->ids[i] == subject->uid;
			break;
		case OF_GROUP:
			for (size_t k = 0; k < subject->group_count; k++)
				match |= condition->ids[i] == subject->groups[k];
			break;
		case OF_CGROUP:
			match = matches_cgroup(condition->texts[i], subject->cgroups);
			break;
		default:
			match = fnmatch(condition->texts[i], subject->exe, 0) == 0;
		}
		if (match)
			return true;
	}
	return condition->count == 0;
}

enum policy_profile policy_file__decide(const struct policy_file *file, const struct policy_subject *subject)
{
	for (size_t i = 0; i < file->rule_count; i++) {
		const struct rule *rule = &file->rules[i];
		bool all = true;

		for (int kind = 0; kind < CONDITIONS && all; kind++)
			all = holds(&rule->conditions[kind], kind, subject);
		if (all)
			return rule->profile;
	}
	return POLICY_ON_REQUEST;
}

static json_t *describe_rule(const struct rule *rule)
{
	json_t *object = json_pack("{s:s}", "profile", policy_profile__name(rule->profile));

	for (int kind = 0; object && kind < CONDITIONS; kind++) {
		const struct condition *condition = &rule->conditions[kind];
		json_t *list = condition->count ? json_array() : NULL;

		for (size_t i = 0; list && i < condition->count; i++)
			json_array_append_new(list, json_string(condition->texts[i]));
		if (list)
			json_object_set_new(object, policy_condition_names[kind], list);
	}
	return object;
}

static json_t *describe_cpus(const struct policy_limits *limits)
{
	json_t *list = json_array();

	for (int cpu = 0; list && limits->some_cpus && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &limits->cpus))
			json_array_append_new(list, json_integer(cpu));
	return list;
}

void policy_file__describe(const struct policy_file *file, json_t *object)
{
	const struct policy_limits *limits = &file->limits;
	json_t *rules = json_array(), *numbers;

	numbers = json_pack("{s:f, s:f, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "process_ceiling_percent",
			    limits->process_ceiling_percent, "host_ceiling_percent",
			    limits->host_ceiling_percent, "allow_fast", limits->allow_fast, "job_bytes",
			    (json_int_t)limits->job_bytes, "keep_s", (json_int_t)limits->keep_seconds,
			    "keep_bytes", (json_int_t)limits->keep_bytes, "user_bytes",
			    (json_int_t)limits->user_bytes, "user_jobs", (json_int_t)limits->user_jobs,
			    "memory_bytes", (json_int_t)limits->memory_bytes);
	for (size_t i = 0; rules && i < file->rule_count; i++)
		json_array_append_new(rules, describe_rule(&file->rules[i]));
	if (numbers)
		json_object_update(object, numbers);
	json_decref(numbers);
	json_object_set_new(object, "cpus", describe_cpus(limits));
	json_object_set_new(object, "report_traces", json_boolean(limits->report_traces));
	json_object_set_new(object, "report_directory",
			    file->report_directory ? json_string(file->report_directory) : json_null());
	json_object_set_new(object, "rules", rules);
}
