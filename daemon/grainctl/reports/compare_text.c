/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/reports/compare_account.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFINITIONS_SHOWN 15
#define INFLATED_SHOWN 10
#define NARROW_COLUMNS 80
#define SAME 0.005 /* smaller changes do not count */
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

struct change {
	char text[48];
};

/* Describes a change: "+18 %", "-42 %", "2.35 times", "the same"; "-": there is no earlier value. */
static struct change change_of(double before, double after)
{
	double ratio = after / before;
	struct change c;

	if (!(before > 0) || isnan(after))
		snprintf(c.text, sizeof(c.text), "-");
	else if (fabs(ratio - 1) < SAME)
		snprintf(c.text, sizeof(c.text), "the same");
	else if (ratio >= 2)
		snprintf(c.text, sizeof(c.text), "%s times", format__ratio(ratio).text);
	else
		snprintf(c.text, sizeof(c.text), "%c%s %%", ratio < 1 ? '-' : '+',
			 format__percent(100 * fabs(ratio - 1)).text);
	return c;
}

static void say_wall(const struct compare_text *t, FILE *out)
{
	double before = (double)grain_graph__totals(t->base)->wall_ns;
	double after = (double)grain_graph__totals(t->run)->wall_ns;
	double ratio = after / before;
	const char *escape = "1";
	char line[256], what[96];

	if (!(before > 0) || fabs(ratio - 1) < SAME) {
		snprintf(what, sizeof(what), before > 0 ? "The same wall time" : "Wall time");
	} else if (ratio >= 2) {
		snprintf(what, sizeof(what), "%s times the wall time", format__ratio(ratio).text);
		escape = "1;31";
	} else {
		snprintf(what, sizeof(what), "%s %% %s wall time",
			 format__percent(100 * fabs(ratio - 1)).text, ratio < 1 ? "less" : "more");
		escape = ratio < 1 ? "1;32" : "1;31";
	}
	snprintf(line, sizeof(line), "%s: %s before, %s after", what, format__time(before, "us").text,
		 format__time(after, "us").text);
	if (t->colour)
		fprintf(out, "\033[%sm%s\033[0m\n", escape, line);
	else
		fprintf(out, "%s\n", line);
}

static void say_threads(const struct compare_text *t, const struct summary *s)
{
	char line[64];

	snprintf(line, sizeof(line), "%u before, %u after", grain_graph__info(t->base)->threads,
		 grain_graph__info(t->run)->threads);
	summary__paragraph(s, "  threads   ", line);
}

static void say_change(const struct summary *s, const char *label, uint64_t before, uint64_t after)
{
	char line[160];

	snprintf(line, sizeof(line), "%s before, %s after (%s)", format__time((double)before, "us").text,
		 format__time((double)after, "us").text, change_of((double)before, (double)after).text);
	summary__paragraph(s, label, line);
}

static void say_match(const struct summary *s, const struct grain_compare_totals *n)
{
	uint64_t larger = n->base_grains > n->run_grains ? n->base_grains : n->run_grains;
	struct format_text text = {0};

	format__printf(&text, "%s of %s grains", format__count(n->matched).text, format__count(larger).text);
	if (larger)
		format__printf(&text, " (%s %%)",
			       n->matched == larger ? "100"
						    : format__percent(fmin(n->matched_percent, 99.9)).text);
	if (!larger)
		format__add(&text, ": no grain was seen whole in either run");
	else if (n->same_shape)
		format__add(&text, ": both runs have the same shape");
	else if (!n->matched)
		format__add(&text, ": nothing can be compared grain by grain; another program, input, "
				   "schedule or number of threads made other grains");
	else
		format__add(&text, ": the shapes differ, only grains with the same identifier are compared");
	if (n->base_only)
		format__printf(&text, "; %s only in the base", format__count(n->base_only).text);
	if (n->run_only)
		format__printf(&text, "; %s only in this run", format__count(n->run_only).text);
	if (n->other_definition)
		format__printf(&text, "; %s from another line of the source",
			       format__count(n->other_definition).text);
	if (text.data)
		summary__paragraph(s, "  matched   ", text.data);
	format__free(&text);
}

/*
 * Tells how many grains have no deviation, by reason. Leaves out the grains that are only in this run,
 * which were told before.
 */
static void say_absent(const struct summary *s, const struct grain_compare_totals *n)
{
	static const struct {
		enum grain_compare_reason reason;
		const char *text;
	} reasons[] = {
		{GRAIN_COMPARE_OTHER_WORK, "execute other iterations than in the base"},
		{GRAIN_COMPARE_INCOMPLETE, "incomplete or discarded"},
		{GRAIN_COMPARE_BASE_INCOMPLETE, "incomplete or discarded in the base"},
		{GRAIN_COMPARE_BASE_ZERO, "took no time in the base"},
	};
	struct format_text text = {0};

	for (size_t i = 0; i < COUNT_OF(reasons); i++)
		if (n->reasons[reasons[i].reason])
			format__printf(&text, "%s%s %s", text.length ? "; " : "",
				       format__count(n->reasons[reasons[i].reason]).text, reasons[i].text);
	if (text.data)
		summary__paragraph(s, "  left out  ", text.data);
	format__free(&text);
}

static void say_inflated(const struct summary *s, const struct grain_compare_totals *n)
{
	uint64_t measured = n->reasons[GRAIN_COMPARE_MEASURED];
	char line[320], together[96] = "all together as long as in the base";

	if (!measured)
		return;
	if (n->excess_ns)
		snprintf(together, sizeof(together), "all together %s %s",
			 format__time(fabs((double)n->excess_ns), "us").text,
			 n->excess_ns < 0 ? "less" : "more");
	snprintf(line, sizeof(line), "%s of them (%s %%) take more than %.4g times as long; %s",
		 format__count(n->inflated).text,
		 format__percent(100.0 * (double)n->inflated / (double)measured).text, n->threshold,
		 together);
	summary__paragraph(s, "  inflated  ", line);
}

static void say_cure(const struct compare_text *t, const struct summary *s)
{
	char clean[1024];

	for (size_t i = 0; i < grain_graph__advice_count(t->run); i++) {
		struct grain_advice advice;

		grain_graph__advice(t->run, i, &advice);
		if (advice.problem != GRAIN_PROBLEM_WORK_DEVIATION || !advice.text)
			continue;
		summary__paragraph(s, "  do        ",
				   format__clean(clean, sizeof(clean), advice.text, sizeof(clean)));
		return;
	}
}

/* Tells which data are missing in either recording. */
static void say_trust(const struct compare_text *t, const struct summary *s)
{
	const struct {
		const char *name;
		const struct grain_graph *graph;
	} sides[] = {{"base", t->base}, {"this run", t->run}};
	struct format_text text = {0};

	for (size_t i = 0; i < COUNT_OF(sides); i++) {
		const struct grain_truth *truth = grain_graph__truth(sides[i].graph);

		if (!truth->lost && !truth->incomplete_grains && !grain_graph__info(sides[i].graph)->damaged)
			continue;
		format__printf(&text, "%s%s: %s events lost, %s grains incomplete%s", text.length ? "; " : "",
			       sides[i].name, format__count(truth->lost).text,
			       format__count(truth->incomplete_grains).text,
			       grain_graph__info(sides[i].graph)->damaged ? ", damaged file" : "");
	}
	if (text.data)
		summary__paragraph(s, "  trust     ", text.data);
	format__free(&text);
}

/* A row of the table: a definition in one of the two recordings. */
struct side_row {
	const char *name, *when;
	const struct grain_side *side;
	const char *deviation, *inflated;
};

/* Adds the cells of one side. A narrow table has no column for creations. */
static void add_side(struct columns *table, bool narrow, const struct side_row *row)
{
	const struct grain_side *side = row->side;

	columns__add(table, row->name);
	columns__add(table, row->when);
	columns__add(table, format__count_short(side->instances).text);
	columns__add(table, format__time((double)side->exec.sum, "us").text);
	columns__add(table, format__time(side->exec.mean, "us").text);
	columns__add(table, row->deviation);
	columns__add(table, row->inflated);
	if (!narrow)
		columns__add(table, format__time(side->create.mean, "us").text);
}

/* Writes a definition as "fib.c:8 fib". */
static void name_definition(const struct grain_graph *g, uint32_t definition, char out[256])
{
	struct grain_definition d = {.source = "unknown", .function = ""};

	if (definition != GRAIN_NONE)
		grain_graph__definition(g, definition, &d);
	snprintf(out, 256, "%s%s%s", d.source, *d.function ? " " : "", d.function);
}

static void print_table(const struct summary *s, struct columns *table)
{
	if (!table->failed)
		columns__print(table, s->columns, s->out);
	columns__free(table);
}

static void say_more(const struct summary *s, size_t count, size_t shown, const char *what)
{
	if (count > shown)
		fprintf(s->out, "... %s more %s\n", format__count(count - shown).text, what);
}

static bool write_definitions(const struct compare_text *t, const struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "DEFINITION", .left = true, .cuttable = true},
		{.title = "run", .left = true},
		{.title = "grains"},
		{.title = "exec"},
		{.title = "mean"},
		{.title = "deviation"},
		{.title = "inflated"},
		{.title = "create"},
	};
	bool narrow = t->columns < NARROW_COLUMNS;
	size_t count = grain_compare__definition_count(t->compare);
	struct columns table;
	bool failed;

	if (!count)
		return true;
	columns__init(&table, columns, COUNT_OF(columns) - narrow);
	for (size_t i = 0; i < count && i < DEFINITIONS_SHOWN; i++) {
		struct grain_compare_definition d;
		char before[256], after[256];

		grain_compare__definition(t->compare, i, &d);
		name_definition(t->base, d.base, before);
		name_definition(t->run, d.run, after);
		if (d.before.instances)
			add_side(&table, narrow,
				 &(struct side_row){.name = before,
						    .when = "before",
						    .side = &d.before,
						    .deviation = "",
						    .inflated = ""});
		if (d.after.instances)
			add_side(&table, narrow,
				 &(struct side_row){
					 .name = d.before.instances && !strcmp(before, after) ? "" : after,
					 .when = "after",
					 .side = &d.after,
					 .deviation = format__ratio(d.median_deviation).text,
					 .inflated = d.matched ? format__count_short(d.inflated).text : "-"});
	}
	failed = table.failed;
	fputc('\n', s->out);
	print_table(s, &table);
	say_more(s, count, DEFINITIONS_SHOWN, "definitions");
	return !failed;
}

/* Adds the whole identifier, of any length. The table shortens it in the middle. False: out of memory. */
static bool add_id(struct columns *table, const struct grain_graph *g, uint32_t context)
{
	size_t length = grain_graph__context_id(g, context, NULL, 0);
	char *id = malloc(length + 1);

	if (!id)
		return false;
	grain_graph__context_id(g, context, id, length + 1);
	columns__add(table, id);
	free(id);
	return true;
}

static bool write_inflated(const struct compare_text *t, const struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "INFLATED GRAIN", .left = true, .cuttable = true},
		{.title = "definition", .left = true, .cuttable = true},
		{.title = "before"},
		{.title = "after"},
		{.title = "deviation"},
		{.title = "excess"},
	};
	size_t count = grain_compare__inflated_count(t->compare);
	struct columns table;
	bool failed = false;

	if (!count)
		return true;
	columns__init(&table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count && i < INFLATED_SHOWN && !failed; i++) {
		uint32_t context = grain_compare__inflated(t->compare, i);
		struct grain_context before, after;
		char name[256];

		grain_graph__context(t->run, context, &after);
		grain_graph__context(t->base, grain_compare__match(t->compare, context), &before);
		name_definition(t->run, after.definition, name);
		failed = !add_id(&table, t->run, context);
		columns__add(&table, name);
		columns__add(&table, format__time((double)before.exec_ns, "us").text);
		columns__add(&table, format__time((double)after.exec_ns, "us").text);
		columns__add(&table, format__ratio(grain_compare__deviation(t->compare, context)).text);
		columns__add(&table, format__time((double)after.exec_ns - (double)before.exec_ns, "us").text);
	}
	failed |= table.failed;
	fputc('\n', s->out);
	print_table(s, &table);
	say_more(s, count, INFLATED_SHOWN, "inflated grains");
	return !failed;
}

int compare_text__write(const struct compare_text *t, FILE *out)
{
	struct summary s = {.graph = t->run, .columns = t->columns, .colour = t->colour, .out = out};
	struct grain_compare_totals totals;
	bool whole;

	grain_compare__totals(t->compare, &totals);
	say_wall(t, out);
	say_threads(t, &s);
	say_change(&s, "  work      ", grain_graph__totals(t->base)->work_ns,
		   grain_graph__totals(t->run)->work_ns);
	say_change(&s, "  span      ", grain_graph__totals(t->base)->span_ns,
		   grain_graph__totals(t->run)->span_ns);
	say_match(&s, &totals);
	say_absent(&s, &totals);
	say_inflated(&s, &totals);
	compare_account__say(t, &s);
	say_cure(t, &s);
	say_trust(t, &s);
	whole = compare_account__write(t, &s);
	whole = write_definitions(t, &s) && whole;
	whole = write_inflated(t, &s) && whole;
	if (!whole)
		return -ENOMEM;
	return ferror(out) ? -EIO : 0;
}
