/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads summaries and groups those that belong together. Nothing in a summary is trusted. */
#include "daemon/grainctl/merge/merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANK_MOST 16777216.0

struct merge {
	struct merge_rank *ranks;
	size_t count, capacity;
	json_t *left_out;
};

struct merge *merge__new(void)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (merge)
		merge->left_out = json_array();
	if (merge && !merge->left_out) {
		free(merge);
		merge = NULL;
	}
	return merge;
}

static void free_rank(struct merge_rank *rank)
{
	free(rank->group);
	json_decref(rank->shown);
	json_decref(rank->definitions);
}

void merge__free(struct merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->count; i++)
		free_rank(&merge->ranks[i]);
	free(merge->ranks);
	json_decref(merge->left_out);
	free(merge);
}

static int leave_out(struct merge *merge, const char *from, const char *why, bool again)
{
	json_t *entry = json_pack("{s:s, s:s, s:b}", "from", from, "why", why, "again", again);

	return json_array_append_new(merge->left_out, entry) ? -ENOMEM : 0;
}

int merge__leave_out(struct merge *merge, const char *from, const char *why)
{
	return leave_out(merge, from, why, false);
}

/* ---- what is read ------------------------------------------------------- */

/* Reads a count, a time or a ratio; NAN: there is none. */
static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	double real = json_is_number(value) ? json_number_value(value) : NAN;

	return real >= 0 && real <= MERGE_COUNT_MAX ? real : NAN;
}

static double whole(const json_t *object, const char *key)
{
	return floor(number(object, key));
}

static const char *string(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static double or_nothing(double value)
{
	return isnan(value) ? 0 : value;
}

static json_t *real(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *count(double value)
{
	return isnan(value) ? json_null() : json_integer((json_int_t)value);
}

/*
 * Writes the name of the batch job without its step, which is the same on all nodes. "": no batch system
 * started the job.
 */
static void name_cluster_job(const char *batch, char out[160])
{
	bool slurm = !strncmp(batch, "slurm:", 6);

	out[0] = 0;
	if (!slurm && strncmp(batch, "pbs:", 4))
		return;
	snprintf(out, 160, "%.159s", batch);
	if (slurm)
		out[strcspn(out, ".")] = 0;
}

/*
 * Returns the time in the parallel regions that the program itself started. NAN: the graph does not have
 * all of these regions.
 */
static double regions_ns(const json_t *summary)
{
	const json_t *region;
	double sum = 0;
	size_t i;

	if (!json_is_true(json_object_get(json_object_get(summary, "coverage"), "whole")))
		return NAN;
	json_array_foreach(json_object_get(summary, "regions"), i, region)
	{
		if (!strcmp(string(region, "parent"), "0"))
			sum += or_nothing(number(region, "wall_ns"));
	}
	return sum;
}

static int take_definitions(struct merge_rank *rank, const json_t *summary)
{
	const json_t *definition;
	size_t i;

	rank->definitions = json_array();
	json_array_foreach(json_object_get(summary, "definitions"), i, definition)
	{
		const json_t *problem;
		json_t *grains = json_object();
		const char *name;
		double exec = or_nothing(number(json_object_get(definition, "exec_ns"), "sum"));
		double instances = or_nothing(whole(definition, "instances"));

		json_object_foreach(json_object_get(definition, "problems"), name, problem)
			json_object_set_new(grains, name, json_real(or_nothing(whole(problem, "grains"))));
		rank->grain_ns += exec;
		if (json_array_append_new(rank->definitions,
					  json_pack("{s:s, s:s, s:s, s:f, s:f, s:o}", "source",
						    string(definition, "source"), "func",
						    string(definition, "func"), "kind",
						    string(definition, "kind"), "instances", instances,
						    "exec_ns", exec, "grains", grains)))
			return -ENOMEM;
	}
	return rank->definitions ? 0 : -ENOMEM;
}

static void take_problems(struct merge_rank *rank, const json_t *summary)
{
	const json_t *value;
	const char *name;

	json_object_foreach(json_object_get(summary, "problems"), name, value)
	{
		double grains = whole(value, "grains"), percent = number(value, "percent");
		size_t at = rank->problem_count;

		if (!json_is_true(json_object_get(value, "available")) || isnan(grains) ||
		    at == MERGE_PROBLEMS || strlen(name) >= sizeof(rank->problems[at].name))
			continue;
		strcpy(rank->problems[at].name, name);
		rank->problems[at].grains = grains;
		rank->problems[at].percent = or_nothing(percent);
		rank->problem_count++;
	}
}

static json_t *show(const struct merge_rank *rank, const json_t *summary, const char *from)
{
	json_t *problems = json_object();

	for (size_t i = 0; i < rank->problem_count; i++)
		json_object_set_new(problems, rank->problems[i].name, json_real(rank->problems[i].percent));
	return json_pack(
		"{s:I, s:s, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o}",
		"rank", (json_int_t)rank->rank, "host", string(summary, "host"), "job", count(rank->job),
		"pid", count(rank->pid), "exe", string(summary, "exe"), "from", from, "threads",
		count(rank->threads), "wall_ns", count(rank->wall_ns), "regions_ns", count(rank->regions_ns),
		"grain_ns", count(rank->grain_ns), "grains", count(rank->grains), "tasks", count(rank->tasks),
		"chunks", count(rank->chunks), "incomplete", count(rank->incomplete), "lost",
		count(rank->lost), "average_parallelism", real(rank->parallelism), "late",
		json_boolean(rank->late), "in_part", json_boolean(rank->in_part), "overhead_percent",
		real(number(json_object_get(summary, "overhead"), "percent")), "problems", problems);
}

static int name_group(struct merge_rank *rank, const json_t *summary)
{
	const char *launch = string(json_object_get(summary, "mpi"), "launch"),
		   *batch = string(summary, "batch");
	char cluster_job[160];

	name_cluster_job(batch, cluster_job);
	json_object_set_new(rank->shown, "cluster_job", json_string(cluster_job));
	json_object_set_new(rank->shown, "launch", json_string(launch));
	if (asprintf(&rank->group, "%s\n%s", cluster_job, *launch ? launch : *cluster_job ? batch : "") < 0) {
		rank->group = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Returns NULL, or the reason why this is not the summary of a rank. */
static const char *check(const json_t *summary, struct merge_rank *out)
{
	const json_t *mpi = json_object_get(summary, "mpi"), *grains = json_object_get(summary, "grains");
	double rank = whole(mpi, "rank"), size = or_nothing(whole(mpi, "size"));

	out->wall_ns = number(summary, "wall_ns");
	out->grains = whole(grains, "total");
	out->tasks = whole(grains, "tasks");
	out->chunks = whole(grains, "chunks");
	if (isnan(out->wall_ns) || isnan(out->grains) || isnan(out->tasks) || isnan(out->chunks))
		return "no summary that graind wrote; give summary.json of a job, or what is in "
		       "report-directory";
	if (!json_is_object(mpi))
		return "no rank of an MPI job";
	if (!(rank < RANK_MOST) || !(size <= RANK_MOST) || (size > 0 && rank >= size))
		return "its MPI rank cannot be";
	out->rank = (uint32_t)rank;
	out->size = (uint32_t)size;
	return NULL;
}

int merge__add(struct merge *merge, const json_t *summary, const char *from)
{
	struct merge_rank rank = {.rank = 0};
	const char *why = check(summary, &rank), *mode;
	int error;

	if (why)
		return leave_out(merge, from, why, false);
	if (merge->count == merge->capacity) {
		size_t larger = merge->capacity ? merge->capacity * 2 : 16;
		struct merge_rank *grown = reallocarray(merge->ranks, larger, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		merge->ranks = grown;
		merge->capacity = larger;
	}
	rank.job = whole(summary, "job");
	rank.pid = whole(summary, "pid");
	rank.start_ns = number(summary, "start_ns");
	rank.threads = whole(summary, "threads");
	rank.incomplete = or_nothing(whole(json_object_get(summary, "grains"), "incomplete"));
	rank.lost = or_nothing(whole(json_object_get(summary, "events"), "lost"));
	rank.parallelism = number(summary, "average_parallelism");
	rank.late = json_is_true(json_object_get(summary, "late"));
	mode = string(json_object_get(summary, "recording"), "mode");
	rank.in_part = *mode && strcmp(mode, "all") != 0;
	rank.regions_ns = rank.in_part ? NAN : regions_ns(summary);
	take_problems(&rank, summary);
	error = take_definitions(&rank, summary);
	rank.shown = show(&rank, summary, from);
	if (!error)
		error = rank.shown ? name_group(&rank, summary) : -ENOMEM;
	if (error) {
		free_rank(&rank);
		return error;
	}
	rank.host = string(rank.shown, "host");
	rank.from = string(rank.shown, "from");
	merge->ranks[merge->count++] = rank;
	return 0;
}

/* ---- what belongs together ---------------------------------------------- */

/* Sorts by group and rank. For one rank the longest run comes first. */
static int order(const void *a, const void *b)
{
	const struct merge_rank *left = a, *right = b;
	int by_group = strcmp(left->group, right->group);

	if (by_group)
		return by_group;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->wall_ns != right->wall_ns)
		return left->wall_ns > right->wall_ns ? -1 : 1;
	return strcmp(left->from, right->from);
}

static bool same_job(const struct merge_rank *a, const struct merge_rank *b)
{
	return a->job == b->job && a->pid == b->pid && a->start_ns == b->start_ns &&
	       !strcmp(a->host, b->host);
}

/*
 * Takes further summaries of the same rank out of a group of `count` summaries, and lists them as left out.
 * Returns how many stay.
 */
static size_t take_out_again(struct merge *merge, struct merge_rank *ranks, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		char why[MERGE_WHY];

		if (!kept || ranks[kept - 1].rank != ranks[i].rank) {
			struct merge_rank moved = ranks[i];

			ranks[i] = ranks[kept];
			ranks[kept++] = moved;
			continue;
		}
		if (same_job(&ranks[kept - 1], &ranks[i]))
			snprintf(why, sizeof(why), "the same job as %.160s", ranks[kept - 1].from);
		else
			snprintf(why, sizeof(why), "rank %u once more; %.160s, which took longer, counts",
				 ranks[i].rank, ranks[kept - 1].from);
		leave_out(merge, ranks[i].from, why, true);
	}
	return kept;
}

json_t *merge__result(struct merge *merge)
{
	json_t *groups = json_array();
	size_t next;

	if (merge->count)
		qsort(merge->ranks, merge->count, sizeof(*merge->ranks), order);
	for (size_t first = 0; first < merge->count; first = next) {
		json_t *group;

		for (next = first + 1; next < merge->count; next++)
			if (strcmp(merge->ranks[first].group, merge->ranks[next].group))
				break;
		group = merge_group__json(merge->ranks + first,
					  take_out_again(merge, merge->ranks + first, next - first));
		if (json_array_append_new(groups, group)) {
			json_decref(groups);
			return NULL;
		}
	}
	return json_pack("{s:o, s:O}", "merged", groups, "left_out", merge->left_out);
}
