// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/verbs/status_text.h"
#include "daemon/grainctl/terminal/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double number_of(const json_t *policy, const char *key)
{
	return json_number_value(json_object_get(policy, key));
}

static void print_clean(const char *before, const char *text, const char *behind)
{
	char clean[512];

	text__clean(clean, sizeof(clean), text ? text : "");
	printf("%s%s%s", before, clean, behind);
}

/* Writes a size such as "1536M", in the largest unit that keeps it exact. */
static void bytes_text(char out[32], double bytes)
{
	static const char units[] = " KMGT";
	size_t unit = 0;

	while (bytes >= 1024 && unit < 4 && bytes / 1024 == (double)(uint64_t)(bytes / 1024)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(out, 32, "%.0f%.*s", bytes, unit ? 1 : 0, &units[unit]);
}

/* the default of user-jobs, graind.conf(5) */
#define USER_JOBS 10000

/* The parts of a line. The beginning of the line comes before the first part. */
struct parts {
	const char *title;
	bool any;
};

static void begin_part(struct parts *parts)
{
	if (parts->any)
		printf(", ");
	else
		printf("  %s: ", parts->title);
	parts->any = true;
}

static void print_bytes(struct parts *parts, const json_t *policy, const char *key, const char *of)
{
	double bytes = number_of(policy, key);
	char text[32];

	if (bytes <= 0)
		return;
	begin_part(parts);
	bytes_text(text, bytes);
	printf("%s of %s", text, of);
}

static void print_percent(struct parts *parts, const json_t *policy, const char *key, const char *of)
{
	double percent = number_of(policy, key);

	if (percent <= 0)
		return;
	begin_part(parts);
	printf("%g %% of %s CPU time", percent, of);
}

static void print_ceilings(const json_t *policy)
{
	struct parts parts = {.title = "may cost"};

	print_percent(&parts, policy, "process_ceiling_percent", "a process'");
	print_percent(&parts, policy, "host_ceiling_percent", "the machine's");
	if (parts.any && json_is_true(json_object_get(policy, "allow_fast")))
		printf(", by libgrainshim if that helps");
	if (parts.any)
		putchar('\n');
}

static void print_retention(const json_t *policy)
{
	struct parts parts = {.title = "kept"};
	double seconds = number_of(policy, "keep_s");

	if (seconds > 0) {
		begin_part(&parts);
		printf("%.0f days", seconds / 86400);
	}
	print_bytes(&parts, policy, "keep_bytes", "finished jobs");
	print_bytes(&parts, policy, "user_bytes", "each user's");
	/* A default value is not shown. */
	if (number_of(policy, "user_jobs") > 0 && number_of(policy, "user_jobs") != USER_JOBS) {
		begin_part(&parts);
		printf("%.0f jobs of each user", number_of(policy, "user_jobs"));
	}
	print_bytes(&parts, policy, "job_bytes", "each job");
	if (parts.any)
		putchar('\n');
}

static void print_reports(const json_t *policy)
{
	const char *directory = json_string_value(json_object_get(policy, "report_directory"));

	if (directory)
		print_clean(json_is_true(json_object_get(policy, "report_traces"))
				    ? "  summaries and traces of batch and MPI jobs go to "
				    : "  summaries of batch and MPI jobs go to ",
			    directory, "\n");
}

static void print_own(const json_t *policy)
{
	struct parts parts = {.title = "graind itself"};
	const json_t *cpus = json_object_get(policy, "cpus"), *cpu;
	size_t i;

	json_array_foreach((json_t *)cpus, i, cpu)
	{
		if (i == 0)
			begin_part(&parts);
		printf("%s%lld", i ? "," : "CPU ", (long long)json_integer_value(cpu));
	}
	print_bytes(&parts, policy, "memory_bytes", "memory");
	if (parts.any)
		putchar('\n');
}

static void print_rule(json_t *rule)
{
	const char *kind;
	json_t *list;

	print_clean("  ", json_string_value(json_object_get(rule, "profile")), ":");
	json_object_foreach(rule, kind, list)
	{
		const json_t *text;
		size_t i;

		json_array_foreach(list, i, text)
		{
			if (i == 0)
				print_clean(" ", kind, "");
			print_clean(i ? " or " : " ", json_string_value(text), "");
		}
	}
	putchar('\n');
}

void status_text__print_policy(const json_t *policy)
{
	const json_t *rules = json_object_get(policy, "rules");
	const char *error = json_string_value(json_object_get(policy, "error"));
	time_t read_s = (time_t)json_integer_value(json_object_get(policy, "read_s"));
	char when[64] = "";
	struct tm local;
	json_t *rule;
	size_t i;

	if (!json_is_object(policy))
		return;
	print_clean("settings: ", json_string_value(json_object_get(policy, "file")), "");
	if (localtime_r(&read_s, &local))
		strftime(when, sizeof(when), "%F %T", &local);
	if (json_is_true(json_object_get(policy, "there")))
		printf(", read %s\n", when);
	else
		printf(" is not there: nothing is forbidden or limited\n");
	print_ceilings(policy);
	print_retention(policy);
	print_reports(policy);
	print_own(policy);
	json_array_foreach((json_t *)rules, i, rule) print_rule(rule);
	printf("  %s: on request\n", json_array_size(rules) ? "all others" : "all processes");
	if (error && *error)
		print_clean("settings that were refused since: ", error, "\n");
}

void status_text__print_optouts(const json_t *status)
{
	const json_t *optouts = json_object_get(status, "optouts"), *user;
	const char *error = json_string_value(json_object_get(optouts, "error"));
	json_int_t count = json_integer_value(json_object_get(optouts, "count"));
	size_t i, shown = json_array_size(json_object_get(optouts, "users"));

	json_array_foreach(json_object_get(optouts, "users"), i, user)
		print_clean(i ? ", " : "not recorded, as they have opted out: ",
			    json_string_value(json_object_get(user, "user")), "");
	if (count > (json_int_t)shown)
		printf(" and %lld more", (long long)count - (long long)shown);
	if (count > 0)
		putchar('\n');
	if (!optouts && json_is_true(json_object_get(status, "opted_out")))
		printf("you have opted out of being recorded; grainctl optout off undoes that\n");
	if (error && *error)
		print_clean("", error, "\n");
}
