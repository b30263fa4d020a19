/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples in the text summary: where the program was. */
#include "analysis/include/grain_samples.h"
#include "render/base/format.h"
#include "render/text/summary.h"

#include <stdlib.h>

#define SHOWN 10
#define LINES_OF_PART 2

static void add_percent(struct columns *table, uint64_t part, uint64_t all)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1f %%", all ? 100.0 * (double)part / (double)all : 0);
	columns__add(table, text);
}

static void add_share(struct columns *table, const char *name, uint64_t part, uint64_t all)
{
	columns__add(table, name);
	summary__add_count(table, part);
	add_percent(table, part, all);
}

static void shares(struct summary *s, const struct grain_sampling *of)
{
	char title[64];
	const struct columns_column columns[] = {
		{.title = title, .left = true, .cuttable = true},
		{.title = "samples"},
		{.title = "share"},
	};
	struct columns table;

	snprintf(title, sizeof(title), "SAMPLED %u TIMES A SECOND (%s)", of->hz, of->clock);
	summary__table(s, &table, columns, sizeof(columns) / sizeof(*columns));
	add_share(&table, "in tasks and chunks", of->grains, of->samples);
	add_share(&table, "elsewhere in parallel regions", of->members, of->samples);
	add_share(&table, "in the runtime: waiting, creating", of->runtime, of->samples);
	add_share(&table, "outside of parallel regions", of->outside, of->samples);
	if (of->lost) {
		columns__add(&table, "lost, or a part of their stacks");
		summary__add_count(&table, of->lost);
		columns__add(&table, "");
	}
	summary__print(s, &table);
}

static void say_why_not(struct summary *s, const struct grain_sampling *of)
{
	char text[320];

	snprintf(text, sizeof(text), "Not sampled: %.280s.", of->why);
	fputc('\n', s->out);
	summary__paragraph(s, "", text);
}

static void functions(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "HOT FUNCTION", .left = true, .cuttable = true},
		{.title = "self"},
		{.title = "with callees"},
		{.title = "", .left = true, .cuttable = true},
	};
	const struct grain_hot_opts opts = {.profile = SIZE_MAX, .problem = -1};
	struct grain_hot *hot;
	struct columns table;
	uint64_t samples;
	size_t count;

	if (grain_graph__hot(s->graph, &opts, &hot, &count, &samples)) {
		s->failed = true;
		return;
	}
	summary__table(s, &table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < count && i < SHOWN; i++) {
		columns__add(&table, hot[i].function);
		add_percent(&table, hot[i].self, samples);
		add_percent(&table, hot[i].total, samples);
		columns__add(&table, hot[i].file);
	}
	summary__print(s, &table);
	summary__more(s, count, SHOWN, "functions");
	free(hot);
}

static bool add_part(struct summary *s, struct columns *table, const char *name, struct grain_hot_opts opts)
{
	struct grain_hot *hot;
	uint64_t samples;
	size_t count;

	opts.lines = true;
	if (grain_graph__hot(s->graph, &opts, &hot, &count, &samples)) {
		s->failed = true;
		return false;
	}
	for (size_t i = 0; i < count && i < LINES_OF_PART; i++) {
		char place[512];

		snprintf(place, sizeof(place), hot[i].line ? "%.200s:%u" : "%.200s", hot[i].file,
			 hot[i].line);
		columns__add(table, i ? "" : name);
		add_percent(table, hot[i].self, samples);
		columns__add(table, hot[i].line ? place : hot[i].file);
		columns__add(table, hot[i].function);
	}
	free(hot);
	return count > 0;
}

/* Writes the hottest lines of each definition, then those of the grains with a problem. */
static void parts(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "HOT LINES OF", .left = true, .cuttable = true},
		{.title = ""},
		{.title = "line", .left = true, .cuttable = true},
		{.title = "function", .left = true, .cuttable = true},
	};
	struct columns table;
	size_t rows = 0;

	summary__table(s, &table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < grain_graph__profile_count(s->graph) && rows < SHOWN; i++) {
		struct grain_profile profile;

		grain_graph__profile(s->graph, i, &profile);
		rows += add_part(s, &table,
				 profile.definition == GRAIN_NONE
					 ? "unknown"
					 : summary__definition(s, profile.definition).source,
				 (struct grain_hot_opts){.profile = i, .problem = -1});
	}
	for (int k = 0; k < GRAIN_PROBLEM_COUNT; k++) {
		struct grain_problem_summary problem;

		grain_graph__problem(s->graph, (enum grain_problem)k, &problem);
		if (problem.available && problem.grains)
			rows += add_part(s, &table, problem.name,
					 (struct grain_hot_opts){.profile = SIZE_MAX, .problem = k});
	}
	if (rows)
		summary__print(s, &table);
	else
		columns__free(&table);
}

void summary__samples(struct summary *s)
{
	struct grain_sampling sampling;

	grain_graph__sampling(s->graph, &sampling);
	if (!sampling.asked)
		return;
	if (!sampling.clock) {
		say_why_not(s, &sampling);
		return;
	}
	shares(s, &sampling);
	if (!sampling.samples)
		return;
	functions(s);
	parts(s);
}
