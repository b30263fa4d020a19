/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/grain_tasking.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/severity.h"
#include "render/summary.h"

#define ROWS_SHOWN 20
#define REGIONS_SHOWN 10
#define NARROW_COLUMNS 80
#define WIDE_COLUMNS 100
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void finish(struct summary *s, struct columns *table)
{
	columns__print(table, s->columns, s->out);
	s->failed |= table->failed;
	columns__free(table);
}

static void add_time(struct columns *table, double ns)
{
	columns__add(table, format__time(ns, "us").text);
}

static void add_count(struct columns *table, uint64_t count)
{
	columns__add(table, count < 10000000 ? format__count(count).text : format__count_short(count).text);
}

static void more(const struct summary *s, size_t count, size_t shown, const char *what)
{
	if (count > shown)
		fprintf(s->out, "... %s more %s\n", format__count(count - shown).text, what);
}

void summary__totals(struct summary *s)
{
	const struct grain_totals *t = grain_graph__totals(s->graph);
	const struct grain_info *info = grain_graph__info(s->graph);
	struct format_text text = {0};

	summary__heading(s, "TOTALS");
	format__printf(&text, "%s grains (%s tasks, %s chunks), ", format__count(t->grains).text,
		       format__count(t->tasks).text, format__count(t->chunks).text);
	format__printf(&text, "%u threads, ", info->threads);
	if (info->cores)
		format__printf(&text, "%u cores, ", info->cores);
	format__printf(&text, "wall %s, ", format__time((double)t->wall_ns, "us").text);
	format__printf(&text, "work %s, ", format__time((double)t->work_ns, "us").text);
	format__printf(&text, "span %s, ", format__time((double)t->span_ns, "us").text);
	format__printf(&text, "burdened span %s, ", format__time((double)t->burdened_span_ns, "us").text);
	format__printf(&text, "average parallelism %s", format__ratio(t->average_parallelism).text);
	if (!isnan(t->baseline_matched_percent))
		format__printf(&text, ", %s %% of the grains matched with the baseline's",
			       format__percent(t->baseline_matched_percent).text);
	if (!isnan(t->events_per_s))
		format__printf(&text, ", %s events/s",
			       format__count_short((uint64_t)fmax(0, t->events_per_s)).text);
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
		{"PROBLEM", true, false},
		{"bad when", true, false},
		{"grains", false, false},
		{"%", false, false},
	};
	struct columns table;

	columns__init(&table, columns, COUNT_OF(columns));
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
		add_count(&table, summary.grains);
		columns__add(&table, format__percent(summary.percent).text);
	}
	fputc('\n', s->out);
	finish(s, &table);
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
		{"DEFINITION", true, true}, {"function", true, true}, {"grains", false, false},
		{"exec", false, false},	    {"mean", false, false},   {"min", false, false},
		{"max", false, false},	    {"create", false, false}, {"%<1", false, false},
	};
	size_t count = grain_graph__profile_count(s->graph);
	bool narrow = s->columns < NARROW_COLUMNS;
	struct columns table;

	if (!count)
		return;
	columns__init(&table, columns, COUNT_OF(columns) - narrow);
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		struct grain_definition d = {.source = "unknown", .function = ""};
		struct grain_problem_summary benefit;
		struct grain_profile p;

		grain_graph__profile(s->graph, i, &p);
		if (p.definition < grain_graph__definition_count(s->graph))
			grain_graph__definition(s->graph, p.definition, &d);
		grain_graph__problem(s->graph, GRAIN_PROBLEM_PARALLEL_BENEFIT, &benefit);
		columns__add(&table, d.source);
		columns__add(&table, d.function);
		add_count(&table, p.instances);
		add_time(&table, (double)p.exec.sum);
		add_time(&table, p.exec.mean);
		add_time(&table, (double)p.exec.min);
		add_time(&table, (double)p.exec.max);
		add_time(&table, p.create.mean);
		if (narrow)
			continue;
		columns__add(
			&table,
			format__percent(
				benefit.available && p.instances
					? 100.0 * (double)p.problem_grains[GRAIN_PROBLEM_PARALLEL_BENEFIT] /
						  (double)p.instances
					: NAN)
				.text);
	}
	fputc('\n', s->out);
	finish(s, &table);
	more(s, count, ROWS_SHOWN, "definitions");
}

/* What is not known, or nothing was waited for: dashes. */
static bool add_barriers(struct summary *s, struct columns *table, uint32_t region, bool wide)
{
	struct grain_barriers b;
	bool known = grain_graph__region_barriers(s->graph, region, &b) && b.time_ns;
	double share = known ? 100.0 / (double)b.time_ns : NAN;

	columns__add(table, format__percent(share * (double)b.executing_ns).text);
	columns__add(table, format__percent(share * (double)b.management_ns).text);
	columns__add(table, format__percent(share * (double)b.idle_ns).text);
	if (wide)
		add_time(table, known ? (double)b.time_ns : NAN);
	return known;
}

void summary__regions(struct summary *s)
{
	static const struct columns_column columns[] = {
		{"REGION", true, true},	   {"source", true, true},     {"threads", false, false},
		{"wall", false, false},	   {"tasks", false, false},    {"balance", false, false},
		{"at once", false, false}, {"% tasks", false, false},  {"% mgmt", false, false},
		{"% idle", false, false},  {"barriers", false, false},
	};
	bool narrow = s->columns < NARROW_COLUMNS, wide = s->columns >= WIDE_COLUMNS, split = false;
	size_t count = grain_graph__region_count(s->graph);
	struct columns table;

	if (!count)
		return;
	columns__init(&table, columns, COUNT_OF(columns) - (narrow ? 4 : !wide));
	for (uint32_t i = 0; i < count && i < REGIONS_SHOWN; i++) {
		struct grain_definition d = {.source = "unknown"};
		struct grain_region r;
		char text[256];

		grain_graph__region(s->graph, i, &r);
		grain_graph__region_id(s->graph, i, text, sizeof(text));
		if (r.definition < grain_graph__definition_count(s->graph))
			grain_graph__definition(s->graph, r.definition, &d);
		columns__add(&table, text);
		columns__add(&table, d.source);
		snprintf(text, sizeof(text), "%u", r.threads);
		columns__add(&table, text);
		add_time(&table, (double)(r.end_ns - r.start_ns));
		add_count(&table, r.tasks);
		columns__add(&table, r.incomplete ? "partial" : format__ratio(r.load_balance).text);
		snprintf(text, sizeof(text), "%u", r.max_active_tasks_per_thread);
		columns__add(&table, text);
		if (!narrow)
			split |= add_barriers(s, &table, i, wide);
	}
	fputc('\n', s->out);
	finish(s, &table);
	more(s, count, REGIONS_SHOWN, "regions");
	if (split)
		summary__paragraph(s, "",
				   "% of the threads' time in its barriers; at once: tasks on one thread");
}

void summary__losses(struct summary *s)
{
	static const struct columns_column columns[] = {{"NOT SEEN", true, true}, {"count", false, false}};
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

	columns__init(&table, columns, COUNT_OF(columns));
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
		fputc('\n', s->out);
		columns__print(&table, s->columns, s->out);
	} else {
		summary__heading(s, "NOT SEEN");
		fprintf(s->out, "nothing: all %s events arrived and match\n", format__count(t->events).text);
	}
	if (t->first_violation && *t->first_violation) {
		char clean[512];

		summary__paragraph(s, "", format__clean(clean, sizeof(clean), t->first_violation, 400));
	}
	s->failed |= table.failed;
	columns__free(&table);
}
