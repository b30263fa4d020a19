/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/grain_tasking.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/severity.h"
#include "render/summary.h"

#define ROWS_SHOWN 20
#define REGIONS_SHOWN 10
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

/* What is not known, or nothing was waited for: dashes. */
static bool add_barriers(struct summary *s, struct columns *table, uint32_t region)
{
	struct grain_barriers b;
	bool known = grain_graph__region_barriers(s->graph, region, &b) && b.time_ns;
	double share = known ? 100.0 / (double)b.time_ns : NAN;

	columns__add(table, format__percent(share * (double)b.executing_ns).text);
	columns__add(table, format__percent(share * (double)b.management_ns).text);
	columns__add(table, format__percent(share * (double)b.idle_ns).text);
	summary__add_time(table, known ? (double)b.time_ns : NAN);
	return known;
}

void summary__regions(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "REGION", .left = true, .cuttable = true},
		{.title = "source", .left = true, .cuttable = true},
		{.title = "threads"},
		{.title = "wall"},
		{.title = "tasks"},
		{.title = "balance"},
		{.title = "at once", .optional = 4},
		{.title = "% tasks", .optional = 3},
		{.title = "% mgmt", .optional = 2},
		{.title = "% idle", .optional = 1},
		{.title = "barriers", .optional = 5},
	};
	bool split = false;
	size_t count = grain_graph__region_count(s->graph);
	struct columns table;

	if (!count)
		return;
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (uint32_t i = 0; i < count && i < REGIONS_SHOWN; i++) {
		struct grain_region r;
		char text[256];

		grain_graph__region(s->graph, i, &r);
		grain_graph__region_id(s->graph, i, text, sizeof(text));
		columns__add(&table, text);
		columns__add(&table, summary__definition(s, r.definition).source);
		snprintf(text, sizeof(text), "%u", r.threads);
		columns__add(&table, text);
		summary__add_time(&table, (double)(r.end_ns - r.start_ns));
		summary__add_count(&table, r.tasks);
		columns__add(&table, r.incomplete ? "partial" : format__ratio(r.load_balance).text);
		snprintf(text, sizeof(text), "%u", r.max_active_tasks_per_thread);
		columns__add(&table, text);
		split |= add_barriers(s, &table, i);
	}
	summary__print(s, &table);
	summary__more(s, count, REGIONS_SHOWN, "regions");
	if (split)
		summary__paragraph(s, "",
				   "% of the threads' time in its barriers; at once: tasks on one thread");
}

void summary__losses(struct summary *s)
{
	static const struct columns_column columns[] = {{.title = "NOT SEEN", .left = true, .cuttable = true},
							{.title = "count"}};
	const struct grain_truth *t = grain_graph__truth(s->graph);
	const struct {
		const char *name;
		uint64_t count;
	} causes[] = {
		{"events lost", t->lost},
		{"bodies without creation", t->unmatched_begins},
		{"ends without begin", t->unmatched_ends},
		{"created, body not seen", t->never_begun},
		{"begun, end not seen", t->never_ended},
		{"waits, end not seen", t->unclosed_waits},
		{"incomplete grains", t->incomplete_grains},
		{"incomplete regions", t->incomplete_regions},
		{"read faults", t->read_faults},
		{"grains too short to measure", t->below_resolution},
		{"threads whose times do not add up", t->conservation_violations},
	};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < COUNT_OF(causes); i++) {
		if (!causes[i].count)
			continue;
		columns__add(&table, causes[i].name);
		columns__add(&table, format__count(causes[i].count).text);
	}
	for (size_t i = 0; i < grain_graph__loss_count(s->graph); i++) {
		uint64_t count = 0;
		const char *name = grain_graph__loss(s->graph, i, &count);

		if (!count || !name)
			continue;
		columns__add(&table, name);
		columns__add(&table, format__count(count).text);
	}
	if (table.cell_count) {
		summary__print(s, &table);
	} else {
		columns__free(&table);
		summary__heading(s, "NOT SEEN");
		fprintf(s->out, "nothing: all %s events arrived and match\n", format__count(t->events).text);
	}
	if (t->first_violation && *t->first_violation) {
		char clean[512];

		summary__paragraph(s, "", format__clean(clean, sizeof(clean), t->first_violation, 400));
	}
}
