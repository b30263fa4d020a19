/* SPDX-License-Identifier: BSD-2-Clause */
/* Loops, sections, locks and cancellation in the text summary. */
#include <stdlib.h>

#include "render/text/summary.h"

#define LOOPS_SHOWN 20
#define LOCKS_SHOWN 10
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static int by_definition(const void *a, const void *b)
{
	const struct summary_loop *x = a, *y = b;

	if (x->definition != y->definition)
		return x->definition < y->definition ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static int by_time(const void *a, const void *b)
{
	const struct summary_loop *x = a, *y = b;

	if (x->exec_ns != y->exec_ns)
		return x->exec_ns > y->exec_ns ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static size_t gather(const struct grain_graph *graph, struct summary_loop *rows)
{
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < grain_graph__loop_count(graph); i++) {
		struct grain_loop l;

		grain_graph__loop(graph, i, &l);
		if (l.context == GRAIN_NONE)
			continue;
		rows[n++] = (struct summary_loop){.definition = l.definition,
						  .first = i,
						  .schedule = l.schedule,
						  .hidden = l.bounds == GRAIN_BOUNDS_HIDDEN,
						  .sections = l.sections,
						  .instances = 1,
						  .chunks = l.chunks,
						  .exec_ns = l.exec_ns,
						  .bookkeeping_ns = l.bookkeeping_ns,
						  .worst = l.load_balance};
	}
	qsort(rows, n, sizeof(*rows), by_definition);
	for (size_t i = 0; i < n; i++) {
		struct summary_loop *to = kept ? &rows[kept - 1] : NULL;

		if (!to || to->definition == GRAIN_NONE || to->definition != rows[i].definition ||
		    to->sections != rows[i].sections) {
			rows[kept++] = rows[i];
			continue;
		}
		to->instances++;
		to->chunks += rows[i].chunks;
		to->exec_ns += rows[i].exec_ns;
		to->bookkeeping_ns += rows[i].bookkeeping_ns;
		to->hidden |= rows[i].hidden;
		if (!(to->worst >= rows[i].worst))
			to->worst = rows[i].worst;
	}
	qsort(rows, kept, sizeof(*rows), by_time);
	return kept;
}

static void add_row(const struct summary *s, struct columns *table, const struct summary_loop *row,
		    uint64_t exec_ns)
{
	uint64_t all = row->exec_ns + row->bookkeeping_ns;
	char id[64];

	grain_graph__loop_id(s->graph, row->first, id, sizeof(id));
	columns__add(table, summary__definition(s, row->definition).source);
	columns__add(table, id);
	columns__add(table, row->schedule ? row->schedule : "unknown");
	columns__add(table, format__count_short(row->instances).text);
	columns__add(table, row->hidden ? "share" : format__count_short(row->chunks).text);
	columns__add(table, format__time((double)row->exec_ns, "us").text);
	columns__add(table, format__ratio(row->worst).text);
	columns__add(table,
		     all ? format__percent(100.0 * (double)row->bookkeeping_ns / (double)all).text : "-");
	columns__add_share(table, exec_ns ? (double)row->exec_ns / (double)exec_ns : 0);
}

size_t summary__gather_loops(struct summary *s, struct summary_loop **out)
{
	size_t count = grain_graph__loop_count(s->graph);
	struct summary_loop *rows = count ? calloc(count, sizeof(*rows)) : NULL;

	*out = rows;
	s->failed |= count && !rows;
	return rows ? gather(s->graph, rows) : 0;
}

void summary__loops(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "LOOP", .left = true, .cuttable = true},
		{.title = "first", .left = true, .cuttable = true, .optional = 3},
		{.title = "schedule", .left = true, .cuttable = true},
		{.title = "times", .optional = 2},
		{.title = "chunks"},
		{.title = "exec"},
		{.title = "balance"},
		{.title = "% book-k."},
		{.title = "of exec", .bar = true, .optional = 1},
	};
	struct summary_loop *rows;
	struct columns table;
	bool hidden = false;
	uint64_t exec_ns = 0;
	size_t count = summary__gather_loops(s, &rows);

	for (size_t i = 0; i < count; i++)
		exec_ns += rows[i].exec_ns;
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count && i < LOOPS_SHOWN; i++) {
		add_row(s, &table, &rows[i], exec_ns);
		hidden |= rows[i].hidden;
	}
	if (count)
		summary__print(s, &table);
	summary__more(s, count, LOOPS_SHOWN, "loops");
	if (hidden)
		summary__paragraph(s, "", "share: static share, bounds not observable");
	free(rows);
}

static void add_constructs(struct format_text *text, const char *what, const uint64_t counts[4])
{
	static const char *const names[] = {"parallel", "loop", "sections", "taskgroup"};
	bool any = false;

	for (int i = 0; i < 4; i++) {
		if (!counts[i])
			continue;
		format__printf(text, "%s%s %s", any ? ", " : what, format__count(counts[i]).text, names[i]);
		any = true;
	}
	if (any)
		format__add(text, ". ");
}

void summary__locks(struct summary *s)
{
	const struct grain_totals *t = grain_graph__totals(s->graph);
	size_t count = grain_graph__lock_count(s->graph);
	struct format_text text = {0};

	for (size_t i = 0; i < count && i < LOCKS_SHOWN; i++) {
		struct grain_definition d = {.source = ""};
		struct grain_lock lock;
		char source[80];

		grain_graph__lock(s->graph, i, &lock);
		if (lock.definition < grain_graph__definition_count(s->graph))
			grain_graph__definition(s->graph, lock.definition, &d);
		format__clean(source, sizeof(source), d.source, 40);
		format__printf(&text, "%s%s%s%s %s in %s waits", i ? ", " : "Locks: ", lock.kind,
			       *source ? " " : "", source, format__time((double)lock.wait_ns, "us").text,
			       format__count(lock.waits).text);
	}
	if (count)
		format__add(&text, count > LOCKS_SHOWN ? ", and others. " : ". ");
	add_constructs(&text, "Cancelled: ", t->cancels);
	add_constructs(&text, "Cancellation seen: ", t->cancellation_points);
	if (t->dependences || t->unread_dependences)
		format__printf(&text, "Dependences: %s", format__count(t->dependences).text);
	if (t->unread_dependences)
		format__printf(&text, ", %s not known", format__count(t->unread_dependences).text);
	if (text.data && text.length) {
		fputc('\n', s->out);
		summary__paragraph(s, "", text.data);
	}
	s->failed |= text.failed;
	format__free(&text);
}
