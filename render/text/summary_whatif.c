/* SPDX-License-Identifier: BSD-2-Clause */
/* What-ifs in the text summary: what faster grains would save. */
#include "render/text/summary.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void add_times(struct columns *table, uint64_t work_ns, uint64_t span_ns, uint64_t least_ns,
		      uint64_t most_ns)
{
	const uint64_t times[] = {work_ns, span_ns, least_ns, most_ns};

	for (size_t i = 0; i < COUNT_OF(times); i++)
		columns__add(table, format__time((double)times[i], "us").text);
}

/* Adds an answer. Before the first answer, adds the row to compare with. */
static void add_row(struct summary *s, struct columns *table, const struct grain_whatif_question *question)
{
	const struct grain_totals *t = grain_graph__totals(s->graph);
	const struct grain_coverage *c = grain_graph__coverage(s->graph);
	const struct grain_info *info = grain_graph__info(s->graph);
	struct grain_definition d;
	struct grain_whatif w;

	if (grain_graph__whatif(s->graph, question->definition, question->factor, info->threads, &w)) {
		s->failed = true;
		return;
	}
	if (!table->cell_count) {
		columns__add(table, "as it is");
		columns__add(table, "-");
		add_times(table, c->partial ? c->work_ns : t->work_ns, t->span_ns, w.before_least_ns,
			  w.before_most_ns);
		columns__add(table, "-");
	}
	grain_graph__definition(s->graph, question->definition, &d);
	columns__add(table, d.source);
	columns__add(table, format__ratio(question->factor).text);
	add_times(table, w.work_ns, w.span_ns, w.least_ns, w.most_ns);
	columns__add(table, format__time((double)w.saves_ns, "us").text);
}

void summary__whatif(struct summary *s, const struct grain_whatif_question *questions, size_t count)
{
	static const struct columns_column columns[] = {
		{.title = "WHAT IF", .left = true, .cuttable = true},
		{.title = "faster"},
		{.title = "work"},
		{.title = "span"},
		{.title = "at least"},
		{.title = "at most"},
		{.title = "saves"},
	};
	struct grain_whatif_question usual[GRAIN_WHATIF_USUAL];
	size_t more = grain_graph__usual_questions(s->graph, usual, GRAIN_WHATIF_USUAL);
	struct columns table;

	if (!count && !more)
		return;
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count; i++)
		add_row(s, &table, &questions[i]);
	for (size_t i = 0; i < more; i++)
		add_row(s, &table, &usual[i]);
	summary__print(s, &table);
}
