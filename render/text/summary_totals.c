/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals, problems and definitions in the text summary. */
#include <math.h>

#include "render/base/severity.h"
#include "render/text/summary.h"

#define ROWS_SHOWN 20
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

void summary__totals(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "GRAINS"},
		{.title = "tasks", .optional = 1},
		{.title = "chunks", .optional = 2},
		{.title = "threads"},
		{.title = "cores", .optional = 4},
		{.title = "wall"},
		{.title = "work"},
		{.title = "span"},
		{.title = "burdened", .optional = 3},
		{.title = "parallelism"},
	};
	const struct grain_totals *t = grain_graph__totals(s->graph);
	const struct grain_info *info = grain_graph__info(s->graph);
	struct format_text text = {0};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	summary__add_count(&table, t->grains);
	summary__add_count(&table, t->tasks);
	summary__add_count(&table, t->chunks);
	summary__add_count(&table, info->threads);
	columns__add(&table, info->cores ? format__count(info->cores).text : "-");
	summary__add_time(&table, (double)t->wall_ns);
	summary__add_time(&table, (double)t->work_ns);
	summary__add_time(&table, (double)t->span_ns);
	summary__add_time(&table, (double)t->burdened_span_ns);
	columns__add(&table, format__ratio(t->average_parallelism).text);
	summary__print(s, &table);
	format__add(&text, "parallelism: work / span; burdened: span with what creating and joining costs");
	if (!isnan(t->baseline_matched_percent))
		format__printf(&text, "; %s %% of the grains matched with the baseline's",
			       format__percent(t->baseline_matched_percent).text);
	if (!isnan(t->events_per_s))
		format__printf(&text, "; %s events/s",
			       format__count_short((uint64_t)fmax(0, t->events_per_s)).text);
	summary__coverage(s, &text);
	if (info->cycles)
		format__add(&text, "; times are cycles, each written as 1 ns");
	if (info->times_derived)
		format__add(&text, "; begins are derived, not measured");
	if (text.data)
		summary__paragraph(s, "", text.data);
	s->failed |= text.failed;
	format__free(&text);
}

/* "parallel_benefit" as words. */
static void words(const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s", name);
	for (; *out; out++)
		if (*out == '_')
			*out = ' ';
}

void summary__problems(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "PROBLEM", .left = true},
		{.title = "bad when", .left = true},
		{.title = "grains"},
		{.title = "%"},
		{.title = "of all grains", .bar = true, .optional = 1},
	};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary summary;
		char name[48], bound[48];

		grain_graph__problem(s->graph, (enum grain_problem)p, &summary);
		if (!summary.available)
			continue;
		words(summary.name, name, sizeof(name));
		snprintf(bound, sizeof(bound), "%s %.4g",
			 severity__is_low_bad((enum grain_problem)p) ? "<" : ">", summary.threshold);
		columns__add(&table, name);
		columns__add(&table, bound);
		summary__add_count(&table, summary.grains);
		columns__add(&table, format__percent(summary.percent).text);
		columns__add_share(&table, summary.percent / 100);
	}
	summary__print(s, &table);
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary summary;
		char name[48], line[600], why[512];

		grain_graph__problem(s->graph, (enum grain_problem)p, &summary);
		if (summary.available)
			continue;
		words(summary.name, name, sizeof(name));
		snprintf(line, sizeof(line), "absent: %s (%s)", name,
			 format__clean(why, sizeof(why), summary.why ? summary.why : "", 400));
		summary__paragraph(s, "", line);
	}
}

void summary__definitions(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "DEFINITION", .left = true, .cuttable = true},
		{.title = "function", .left = true, .cuttable = true},
		{.title = "grains"},
		{.title = "exec"},
		{.title = "mean"},
		{.title = "min", .optional = 5},
		{.title = "max", .optional = 2},
		{.title = "create", .optional = 3},
		{.title = "%<1", .optional = 4},
		{.title = "of exec", .bar = true, .optional = 1},
	};
	size_t count = grain_graph__profile_count(s->graph);
	uint64_t exec_ns = 0;
	struct columns table;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		struct grain_profile p;

		grain_graph__profile(s->graph, i, &p);
		exec_ns += p.exec.sum;
	}
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		struct grain_problem_summary benefit;
		struct grain_definition d;
		struct grain_profile p;

		grain_graph__profile(s->graph, i, &p);
		d = summary__definition(s, p.definition);
		grain_graph__problem(s->graph, GRAIN_PROBLEM_PARALLEL_BENEFIT, &benefit);
		columns__add(&table, d.source);
		columns__add(&table, d.function);
		summary__add_count(&table, p.instances);
		summary__add_time(&table, (double)p.exec.sum);
		summary__add_time(&table, p.exec.mean);
		summary__add_time(&table, (double)p.exec.min);
		summary__add_time(&table, (double)p.exec.max);
		summary__add_time(&table, p.create.mean);
		columns__add(
			&table,
			format__percent(
				benefit.available && p.graph_complete
					? 100.0 * (double)p.problem_grains[GRAIN_PROBLEM_PARALLEL_BENEFIT] /
						  (double)p.graph_complete
					: NAN)
				.text);
		columns__add_share(&table, exec_ns ? (double)p.exec.sum / (double)exec_ns : 0);
	}
	summary__print(s, &table);
	summary__more(s, count, ROWS_SHOWN, "definitions");
}
