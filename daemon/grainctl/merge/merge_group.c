/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the numbers of one MPI job over its ranks. */
#include "daemon/grainctl/merge/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double (*measure_fn)(const struct merge_rank *rank);

static double wall(const struct merge_rank *rank)
{
	return rank->wall_ns;
}

static double regions(const struct merge_rank *rank)
{
	return rank->regions_ns;
}

static double grain_time(const struct merge_rank *rank)
{
	return rank->grain_ns;
}

static double grains(const struct merge_rank *rank)
{
	return rank->grains;
}

static double parallelism(const struct merge_rank *rank)
{
	return rank->parallelism;
}

static const struct {
	const char *name;
	measure_fn of;
} measures[] = {{"wall_ns", wall},
		{"regions_ns", regions},
		{"grain_ns", grain_time},
		{"grains", grains},
		{"average_parallelism", parallelism}};

/* How one number differs between ranks. Only ranks that have the number count. */
struct spread {
	double sum, min, max;
	size_t count;
	const struct merge_rank *least, *most;
};

static struct spread spread_of(const struct merge_rank *ranks, size_t count, measure_fn of)
{
	struct spread spread = {.sum = 0};

	for (size_t i = 0; i < count; i++) {
		double value = of(&ranks[i]);

		if (isnan(value))
			continue;
		spread.sum += value;
		if (!spread.count || value < spread.min) {
			spread.min = value;
			spread.least = &ranks[i];
		}
		if (!spread.count || value > spread.max) {
			spread.max = value;
			spread.most = &ranks[i];
		}
		spread.count++;
	}
	return spread;
}

/* The largest divided by the mean; 1 is even. NAN: all are 0. */
static double imbalance(const struct spread *spread)
{
	return spread->sum > 0 ? spread->max * (double)spread->count / spread->sum : NAN;
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *exact(double value)
{
	return value == floor(value) ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *count_of(double value)
{
	return json_integer((json_int_t)value);
}

static json_t *spread_json(const struct spread *spread)
{
	if (!spread->count)
		return json_null();
	return json_pack("{s:o, s:I, s:f, s:o, s:I, s:o}", "min", exact(spread->min), "min_rank",
			 (json_int_t)spread->least->rank, "mean", spread->sum / (double)spread->count, "max",
			 exact(spread->max), "max_rank", (json_int_t)spread->most->rank, "imbalance",
			 real(imbalance(spread)));
}

/*
 * Finds the slowest rank: by time in parallel regions if all ranks have it, else by time in grains or wall
 * time. A rank that waits for others in MPI is outside of regions, so wall time is the weakest sign. NULL:
 * the slowest rank cannot be found.
 */
static json_t *slowest(const struct merge_rank *ranks, size_t count)
{
	static const struct {
		const char *by;
		measure_fn of;
	} ways[] = {{"regions_ns", regions}, {"grain_ns", grain_time}, {"wall_ns", wall}};
	bool in_part = false;

	for (size_t i = 0; i < count; i++)
		in_part |= ranks[i].in_part;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct spread spread = spread_of(ranks, count, ways[i].of);

		/* A recording in part says nothing about the whole run. */
		if (spread.count < count || !(spread.sum > 0) || (in_part && ways[i].of != wall))
			continue;
		return json_pack("{s:I, s:s, s:O, s:s, s:f, s:f}", "rank", (json_int_t)spread.most->rank,
				 "host", spread.most->host, "job", json_object_get(spread.most->shown, "job"),
				 "by", ways[i].by, "imbalance", imbalance(&spread), "excess_ns",
				 spread.max - spread.sum / (double)count);
	}
	return json_null();
}

static json_t *missing(const struct merge_rank *ranks, size_t count, uint32_t size)
{
	json_t *list = json_array();
	uint32_t next = 0;

	for (size_t i = 0; i <= count; i++) {
		uint32_t at = i < count ? ranks[i].rank : size;

		if (at > next)
			json_array_append_new(list,
					      json_pack("[I, I]", (json_int_t)next, (json_int_t)at - 1));
		next = at + 1;
	}
	return list;
}

static size_t count_hosts(const struct merge_rank *ranks, size_t count)
{
	json_t *hosts = json_object();
	size_t known;

	for (size_t i = 0; i < count; i++)
		json_object_set_new(hosts, ranks[i].host, json_true());
	known = json_object_size(hosts);
	json_decref(hosts);
	return known;
}

static json_t *totals(const struct merge_rank *ranks, size_t count)
{
	double sums[9] = {0};

	for (size_t i = 0; i < count; i++) {
		const double values[9] = {ranks[i].threads,  ranks[i].grains, ranks[i].tasks,
					  ranks[i].chunks,   ranks[i].lost,   ranks[i].incomplete,
					  ranks[i].grain_ns, ranks[i].late,   ranks[i].in_part};

		for (int k = 0; k < 9; k++)
			sums[k] += isnan(values[k]) ? 0 : values[k];
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "threads", count_of(sums[0]),
			 "grains", count_of(sums[1]), "tasks", count_of(sums[2]), "chunks", count_of(sums[3]),
			 "lost", count_of(sums[4]), "incomplete", count_of(sums[5]), "grain_ns",
			 count_of(sums[6]), "late_ranks", count_of(sums[7]), "ranks_in_part",
			 count_of(sums[8]));
}

static json_t *spreads(const struct merge_rank *ranks, size_t count)
{
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		struct spread spread = spread_of(ranks, count, measures[i].of);

		json_object_set_new(object, measures[i].name, spread_json(&spread));
	}
	return object;
}

static double add_to(json_t *object, const char *key, double value)
{
	double sum = json_number_value(json_object_get(object, key)) + value;

	json_object_set_new(object, key, json_real(sum));
	return sum;
}

/*
 * Returns the problems over all ranks. A share refers to the grains of those ranks whose summaries have the
 * problem.
 */
static json_t *problems(const struct merge_rank *ranks, size_t count)
{
	json_t *all = json_object(), *entry;
	const char *name;

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < ranks[i].problem_count; k++) {
			const char *problem = ranks[i].problems[k].name;
			double percent = ranks[i].problems[k].percent;

			entry = json_object_get(all, problem);
			if (!entry) {
				entry = json_object();
				json_object_set_new(all, problem, entry);
			}
			add_to(entry, "grains", ranks[i].problems[k].grains);
			add_to(entry, "of", ranks[i].grains);
			if (!json_object_get(entry, "worst_rank") ||
			    percent > json_number_value(json_object_get(entry, "worst_percent"))) {
				json_object_set_new(entry, "worst_rank", json_integer(ranks[i].rank));
				json_object_set_new(entry, "worst_percent", json_real(percent));
			}
		}
	}
	json_object_foreach(all, name, entry)
	{
		double some = json_number_value(json_object_get(entry, "grains"));
		double of = json_number_value(json_object_get(entry, "of"));

		json_object_set_new(entry, "grains", count_of(some));
		json_object_set_new(entry, "percent", json_real(of > 0 ? 100 * some / of : 0));
		json_object_del(entry, "of");
	}
	return all;
}

/* ---- by definition ------------------------------------------------------ */

/* Adds a definition to that of the same construct in other ranks. */
static void add_definition(json_t *all, const json_t *definition, const struct merge_rank *rank)
{
	const char *source = json_string_value(json_object_get(definition, "source"));
	const char *func = json_string_value(json_object_get(definition, "func"));
	const char *kind = json_string_value(json_object_get(definition, "kind"));
	double exec = json_number_value(json_object_get(definition, "exec_ns")), here;
	json_t *entry, *counts;
	const json_t *value;
	const char *name;
	char *key = NULL;

	if (asprintf(&key, "%s\n%s\n%s", source, func, kind) < 0)
		return;
	entry = json_object_get(all, key);
	if (!entry) {
		entry = json_pack("{s:s, s:s, s:s, s:{}}", "source", source, "func", func, "kind", kind,
				  "problems");
		json_object_set_new(all, key, entry);
	}
	free(key);
	add_to(entry, "instances", json_number_value(json_object_get(definition, "instances")));
	add_to(entry, "exec_ns", exec);
	/* One source line may have several definitions. */
	if (json_integer_value(json_object_get(entry, "at")) != (json_int_t)rank->rank + 1)
		json_object_set_new(entry, "here", json_real(0));
	json_object_set_new(entry, "at", json_integer((json_int_t)rank->rank + 1));
	here = add_to(entry, "here", exec);
	if (!json_object_get(entry, "max_rank") ||
	    here > json_number_value(json_object_get(entry, "max_ns"))) {
		json_object_set_new(entry, "max_ns", json_real(here));
		json_object_set_new(entry, "max_rank", json_integer(rank->rank));
	}
	counts = json_object_get(entry, "problems");
	json_object_foreach((json_t *)json_object_get(definition, "grains"), name, value)
		add_to(counts, name, json_number_value(value));
}

static int most_time_first(const void *a, const void *b)
{
	const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;
	double l = json_number_value(json_object_get(left, "exec_ns"));
	double r = json_number_value(json_object_get(right, "exec_ns"));
	int by_source;

	if (l != r)
		return l > r ? -1 : 1;
	by_source = strcmp(json_string_value(json_object_get(left, "source")),
			   json_string_value(json_object_get(right, "source")));
	return by_source ? by_source
			 : strcmp(json_string_value(json_object_get(left, "kind")),
				  json_string_value(json_object_get(right, "kind")));
}

static json_t *definitions(const struct merge_rank *ranks, size_t count)
{
	json_t *all = json_object(), *list = json_array(), *entry, **sorted;
	const json_t *definition;
	const char *key;
	size_t i, known = 0;

	for (size_t r = 0; r < count; r++)
		json_array_foreach(ranks[r].definitions, i, definition)
			add_definition(all, definition, &ranks[r]);
	sorted = calloc(json_object_size(all) + 1, sizeof(json_t *));
	if (sorted) {
		json_object_foreach(all, key, entry) sorted[known++] = entry;
		qsort(sorted, known, sizeof(json_t *), most_time_first);
	}
	for (i = 0; i < known; i++) {
		double sum = json_number_value(json_object_get(sorted[i], "exec_ns"));
		double most = json_number_value(json_object_get(sorted[i], "max_ns"));
		json_t *counts = json_object_get(sorted[i], "problems"), *value;
		const char *name;

		json_object_foreach(counts, name, value)
			json_object_set_new(counts, name, count_of(json_number_value(value)));
		json_array_append_new(
			list, json_pack("{s:O, s:O, s:O, s:o, s:o, s:o, s:O, s:o, s:O}", "source",
					json_object_get(sorted[i], "source"), "func",
					json_object_get(sorted[i], "func"), "kind",
					json_object_get(sorted[i], "kind"), "instances",
					count_of(json_number_value(json_object_get(sorted[i], "instances"))),
					"exec_ns", count_of(sum), "max_ns", count_of(most), "max_rank",
					json_object_get(sorted[i], "max_rank"), "imbalance",
					real(most * (double)count / sum), "problems", counts));
	}
	free(sorted);
	json_decref(all);
	return list;
}

json_t *merge_group__json(const struct merge_rank *ranks, size_t count)
{
	const json_t *first = ranks[0].shown;
	json_t *list = json_array();
	uint32_t size = 0;

	for (size_t i = 0; i < count; i++) {
		if (ranks[i].size > size)
			size = ranks[i].size;
		json_array_append(list, ranks[i].shown);
	}
	return json_pack("{s:O, s:O, s:O, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cluster_job",
			 json_object_get(first, "cluster_job"), "launch", json_object_get(first, "launch"),
			 "exe", json_object_get(first, "exe"), "size",
			 size ? json_integer(size) : json_null(), "found", (json_int_t)count, "hosts",
			 (json_int_t)count_hosts(ranks, count), "missing", missing(ranks, count, size),
			 "slowest", slowest(ranks, count), "totals", totals(ranks, count), "spread",
			 spreads(ranks, count), "problems", problems(ranks, count), "definitions",
			 definitions(ranks, count), "ranks", list);
}
