/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the merged summary for people: the verdict, then tables. */
#include "daemon/grainctl/merge/merge.h"
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/terminal/table.h"
#include "daemon/grainctl/terminal/text.h"
#include "render/base/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If there are more ranks, only the slowest are shown. */
#define RANKS_SHOWN 32
#define DEFINITIONS_SHOWN 10
#define GAPS_SHOWN 8
/* Above this imbalance the verdict names the slowest rank. */
#define EVEN 1.05

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* The number under a key; NAN: there is none. */
static double get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *get_text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static struct format_number count_text(double value)
{
	struct format_number none = {"-"};

	return value >= 0 && value <= MERGE_COUNT_MAX ? format__count((uint64_t)value) : none;
}

static struct format_number time_text(double ns)
{
	struct format_number none = {"-"};

	return ns >= 0 ? format__time(ns, "us") : none;
}

static void print_clean(FILE *out, const char *text)
{
	char clean[512];

	text__clean(clean, sizeof(clean), text);
	fputs(clean, out);
}

/* ---- the verdict -------------------------------------------------------- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void print_head(const json_t *group, FILE *out)
{
	const char *batch = get_text(group, "cluster_job"), *launch = get_text(group, "launch");
	double found = get(group, "found"), size = get(group, "size"), hosts = get(group, "hosts");

	print_clean(out, file_name(get_text(group, "exe")));
	if (isnan(size))
		fprintf(out, ": %.0f rank%s, of how many is not known,", found, found == 1 ? "" : "s");
	else
		fprintf(out, ": %.0f of %.0f rank%s", found, size, size == 1 ? "" : "s");
	fprintf(out, " on %.0f node%s", hosts, hosts == 1 ? "" : "s");
	if (*batch || *launch) {
		fputs(", ", out);
		print_clean(out, batch);
		fputs(*batch && *launch ? ", " : "", out);
		fputs(*launch ? "launch " : "", out);
		print_clean(out, launch);
	}
	fputc('\n', out);
}

static void print_missing(const json_t *group, FILE *out)
{
	const json_t *list = json_object_get(group, "missing");
	size_t count = json_array_size(list);

	for (size_t i = 0; i < count && i < GAPS_SHOWN; i++) {
		const json_t *gap = json_array_get(list, i);
		json_int_t first = json_integer_value(json_array_get(gap, 0));
		json_int_t last = json_integer_value(json_array_get(gap, 1));

		if (i)
			fputs(", ", out);
		else
			fprintf(out, "Missing: rank%s ", count > 1 || last > first ? "s" : "");
		fprintf(out, "%lld", (long long)first);
		if (last > first)
			fprintf(out, "-%lld", (long long)last);
	}
	if (count)
		fprintf(out, "%s: what they did is in none of the numbers\n",
			count > GAPS_SHOWN ? ", ..." : "");
}

static const char *of_measure(const char *by)
{
	return !strcmp(by, "regions_ns") ? "time in parallel regions"
	       : !strcmp(by, "grain_ns") ? "time in grains"
					 : "wall time";
}

static void print_slowest(const json_t *group, bool colour, FILE *out)
{
	const json_t *slowest = json_object_get(group, "slowest");
	double ratio = get(slowest, "imbalance"), found = get(group, "found");
	bool even = ratio < EVEN;

	if (!json_is_object(slowest) || found < 2)
		return;
	if (colour && !even)
		fputs("\033[1;31m", out);
	fprintf(out, "%s rank %.0f (", even ? "The ranks are even: the slowest," : "The slowest is",
		get(slowest, "rank"));
	if (!isnan(get(slowest, "job")))
		fprintf(out, "job %.0f", get(slowest, "job"));
	if (*get_text(slowest, "host")) {
		fputs(" on ", out);
		print_clean(out, get_text(slowest, "host"));
	}
	fprintf(out, ")%s %s times the mean %s", even ? ", takes" : ":", format__ratio(ratio).text,
		of_measure(get_text(slowest, "by")));
	if (!even)
		fprintf(out, "; ranks that are even would save %s",
			time_text(get(slowest, "excess_ns")).text);
	fputs(colour && !even ? "\033[0m\n" : "\n", out);
}

/* ---- tables ------------------------------------------------------------- */

/* Writes the problem that most grains have, such as "benefit 41 %". */
static void worst_problem(const json_t *rank, char out[96])
{
	const json_t *value;
	const char *name, *worst = NULL;
	double most = 0;

	json_object_foreach(json_object_get(rank, "problems"), name, value)
	{
		if (json_number_value(value) > most) {
			most = json_number_value(value);
			worst = name;
		}
	}
	strcpy(out, "-");
	if (worst) {
		snprintf(out, 96, "%.47s %s %%", worst, format__percent(most).text);
		job__shorten(out);
	}
}

static int add_rank(struct table *table, const json_t *rank)
{
	char number[24], job[24] = "-", threads[24] = "-", parallelism[32] = "-", problem[96];

	snprintf(number, sizeof(number), "%.0f", get(rank, "rank"));
	if (!isnan(get(rank, "job")))
		snprintf(job, sizeof(job), "%.0f", get(rank, "job"));
	if (!isnan(get(rank, "threads")))
		snprintf(threads, sizeof(threads), "%.0f", get(rank, "threads"));
	if (!isnan(get(rank, "average_parallelism")))
		snprintf(parallelism, sizeof(parallelism), "%.2f", get(rank, "average_parallelism"));
	worst_problem(rank, problem);
	return table__add(table,
			  (const char *const[]){number, get_text(rank, "host"), job, threads,
						time_text(get(rank, "wall_ns")).text,
						time_text(get(rank, "regions_ns")).text,
						time_text(get(rank, "grain_ns")).text,
						count_text(get(rank, "grains")).text,
						count_text(get(rank, "lost")).text, parallelism, problem});
}

static double slowness(const json_t *rank)
{
	double regions = get(rank, "regions_ns");

	return isnan(regions) ? get(rank, "grain_ns") : regions;
}

static int slowest_first(const void *a, const void *b)
{
	double left = slowness(*(const json_t *const *)a), right = slowness(*(const json_t *const *)b);

	return left > right ? -1 : left < right;
}

static int print_ranks(const json_t *group, unsigned width, FILE *out)
{
	static const struct table_column columns[] = {
		{"RANK", true, 0},
		{"HOST", false, 6},
		{"JOB", true, 0},
		{"THR", true, 0},
		{"WALL", true, 0},
		{"REGIONS", true, 0},
		{"GRAIN TIME", true, 0},
		{"GRAINS", true, 0},
		{"LOST", true, 0},
		{"PARALL", true, 0},
		{"WORST PROBLEM", false, 10},
	};
	const json_t *list = json_object_get(group, "ranks");
	size_t count = json_array_size(list), shown = count < RANKS_SHOWN ? count : RANKS_SHOWN;
	struct table *table = table__new(columns, COUNT_OF(columns));
	const json_t **sorted = calloc(count + 1, sizeof(*sorted));
	int error = table && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < count; i++)
		sorted[i] = json_array_get(list, i);
	if (!error && count > RANKS_SHOWN)
		qsort(sorted, count, sizeof(*sorted), slowest_first);
	for (size_t i = 0; !error && i < shown; i++)
		error = add_rank(table, sorted[i]);
	if (!error) {
		fputc('\n', out);
		table__print(table, width, out);
		if (shown < count)
			fprintf(out, "... %zu more ranks, less slow; --json has all\n", count - shown);
	}
	table__free(table);
	free(sorted);
	return error;
}

static struct format_number measure_text(const char *name, double value)
{
	struct format_number number;

	if (strstr(name, "_ns"))
		return time_text(value);
	if (!strcmp(name, "grains"))
		return count_text(floor(value + 0.5));
	snprintf(number.text, sizeof(number.text), "%.2f", value);
	return number;
}

static int print_spread(const json_t *group, unsigned width, FILE *out)
{
	static const struct {
		const char *name, *title;
	} rows[] = {{"wall_ns", "wall time"},
		    {"regions_ns", "in parallel regions"},
		    {"grain_ns", "in grains"},
		    {"grains", "grains"},
		    {"average_parallelism", "average parallelism"}};
	static const struct table_column columns[] = {{"OVER THE RANKS", false, 0},
						      {"LEAST", true, 0},
						      {"RANK", true, 0},
						      {"MEAN", true, 0},
						      {"MOST", true, 0},
						      {"RANK", true, 0},
						      {"MOST/MEAN", true, 0}};
	struct table *table = table__new(columns, COUNT_OF(columns));
	int error = table ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < COUNT_OF(rows); i++) {
		const json_t *spread = json_object_get(json_object_get(group, "spread"), rows[i].name);
		char least[24], most[24];

		if (!json_is_object(spread))
			continue;
		snprintf(least, sizeof(least), "%.0f", get(spread, "min_rank"));
		snprintf(most, sizeof(most), "%.0f", get(spread, "max_rank"));
		error = table__add(table,
				   (const char *const[]){rows[i].title,
							 measure_text(rows[i].name, get(spread, "min")).text,
							 least,
							 measure_text(rows[i].name, get(spread, "mean")).text,
							 measure_text(rows[i].name, get(spread, "max")).text,
							 most, format__ratio(get(spread, "imbalance")).text});
	}
	if (!error) {
		fputc('\n', out);
		table__print(table, width, out);
	}
	table__free(table);
	return error;
}

static int print_problems(const json_t *group, unsigned width, FILE *out)
{
	static const struct table_column columns[] = {{"PROBLEM", false, 0},
						      {"GRAINS", true, 0},
						      {"OF ALL", true, 0},
						      {"WORST RANK", true, 0},
						      {"OF ITS GRAINS", true, 0}};
	struct table *table = table__new(columns, COUNT_OF(columns));
	int error = table ? 0 : -ENOMEM;
	bool any = false;
	const json_t *problem;
	const char *name;

	json_object_foreach(json_object_get(group, "problems"), name, problem)
	{
		char all[40], worst[24], of_it[40];

		if (error || !(get(problem, "grains") > 0))
			continue;
		snprintf(all, sizeof(all), "%s %%", format__percent(get(problem, "percent")).text);
		snprintf(worst, sizeof(worst), "%.0f", get(problem, "worst_rank"));
		snprintf(of_it, sizeof(of_it), "%s %%", format__percent(get(problem, "worst_percent")).text);
		error = table__add(table, (const char *const[]){name, count_text(get(problem, "grains")).text,
								all, worst, of_it});
		any = true;
	}
	if (!error && any) {
		fputc('\n', out);
		table__print(table, width, out);
	}
	table__free(table);
	return error;
}

static int print_definitions(const json_t *group, unsigned width, FILE *out)
{
	static const struct table_column columns[] = {{"WHERE", false, 12}, {"IN", false, 6},
						      {"KIND", false, 0},   {"INSTANCES", true, 0},
						      {"TIME", true, 0},    {"MOST/MEAN", true, 0},
						      {"RANK", true, 0}};
	const json_t *list = json_object_get(group, "definitions"), *definition;
	struct table *table = table__new(columns, COUNT_OF(columns));
	int error = table ? 0 : -ENOMEM;
	size_t i, count = json_array_size(list);

	json_array_foreach(list, i, definition)
	{
		const char *source = get_text(definition, "source"), *func = get_text(definition, "func");
		char rank[24];

		if (error || i == DEFINITIONS_SHOWN)
			break;
		snprintf(rank, sizeof(rank), "%.0f", get(definition, "max_rank"));
		error = table__add(table,
				   (const char *const[]){*source ? source : "?", *func ? func : "?",
							 get_text(definition, "kind"),
							 count_text(get(definition, "instances")).text,
							 time_text(get(definition, "exec_ns")).text,
							 format__ratio(get(definition, "imbalance")).text,
							 rank});
	}
	if (!error && count) {
		fputc('\n', out);
		table__print(table, width, out);
		if (count > DEFINITIONS_SHOWN)
			fprintf(out, "... %zu more; --json has all\n", count - DEFINITIONS_SHOWN);
	}
	table__free(table);
	return error;
}

int merge_text__print(const json_t *result, unsigned width, bool colour, FILE *out)
{
	const json_t *group;
	int error = 0;
	size_t i;

	json_array_foreach(json_object_get(result, "merged"), i, group)
	{
		const json_t *totals = json_object_get(group, "totals");

		if (i)
			fputc('\n', out);
		print_head(group, out);
		print_slowest(group, colour, out);
		print_missing(group, out);
		fprintf(out,
			"All together: %s grains (%s tasks, %s chunks, %s incomplete), %s events lost, %s in "
			"grains\n",
			count_text(get(totals, "grains")).text, count_text(get(totals, "tasks")).text,
			count_text(get(totals, "chunks")).text, count_text(get(totals, "incomplete")).text,
			count_text(get(totals, "lost")).text, time_text(get(totals, "grain_ns")).text);
		if (get(totals, "ranks_in_part") > 0)
			fprintf(out,
				"Recorded in windows: %.0f of the ranks; of their grains what was seen "
				"counts\n",
				get(totals, "ranks_in_part"));
		if (get(totals, "late_ranks") > 0)
			fprintf(out,
				"Late: %.0f of the ranks had loaded their OpenMP runtime when they were seen "
				"first; "
				"what they may have done before is missing\n",
				get(totals, "late_ranks"));
		error = print_ranks(group, width, out);
		if (!error)
			error = print_spread(group, width, out);
		if (!error)
			error = print_problems(group, width, out);
		if (!error)
			error = print_definitions(group, width, out);
		if (error)
			break;
	}
	return error;
}
