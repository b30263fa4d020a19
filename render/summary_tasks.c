/* SPDX-License-Identifier: BSD-2-Clause */
/* The task profile in the text summary: what tasks do, where threads waited, and the depths of tasks. */
#include "analysis/grain_tasking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/summary.h"

#define ROWS_SHOWN 20
#define POINTS_SHOWN 12
#define NARROW_COLUMNS 80
#define WIDE_COLUMNS 100
#define MEANINGS                                                                                             \
	"means of one; inclusive: with all below it; manages: creates, and waits while tasks could be begun"
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void finish(struct summary *s, struct columns *table)
{
	fputc('\n', s->out);
	columns__print(table, s->columns, s->out);
	s->failed |= table->failed;
	columns__free(table);
}

static void more(const struct summary *s, size_t count, size_t shown, const char *what)
{
	if (count > shown)
		fprintf(s->out, "... %s more %s\n", format__count(count - shown).text, what);
}

static void add_time(struct columns *table, double ns)
{
	columns__add(table, format__time(ns, "us").text);
}

static void add_count(struct columns *table, uint64_t count)
{
	columns__add(table, count < 10000000 ? format__count(count).text : format__count_short(count).text);
}

static void add_share(struct columns *table, uint64_t part, uint64_t of)
{
	columns__add(table, format__percent(of ? 100.0 * (double)part / (double)of : NAN).text);
}

static struct grain_definition definition_of(const struct summary *s, uint32_t definition)
{
	struct grain_definition d = {.source = "unknown", .function = "", .kind = ""};

	if (definition < grain_graph__definition_count(s->graph))
		grain_graph__definition(s->graph, definition, &d);
	return d;
}

void summary__tasks(struct summary *s)
{
	static const struct columns_column columns[] = {
		{"ONE TASK", true, true},    {"function", true, true},	 {"exec", false, false},
		{"inclusive", false, false}, {"creates", false, false},	 {"waits", false, false},
		{"manages", false, false},   {"switches", false, false}, {"at once", false, false},
	};
	size_t count = grain_graph__task_construct_count(s->graph);
	bool narrow = s->columns < NARROW_COLUMNS;
	struct columns table;

	if (!count)
		return;
	columns__init(&table, columns, COUNT_OF(columns) - (narrow ? 2 : 0));
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		struct grain_task_construct c;
		struct grain_definition d;

		grain_graph__task_construct(s->graph, i, &c);
		d = definition_of(s, c.definition);
		columns__add(&table, d.source);
		columns__add(&table, d.function);
		add_time(&table, c.complete ? c.exclusive.mean : NAN);
		add_time(&table, c.inclusive.max ? c.inclusive.mean : NAN);
		add_time(&table, c.complete ? c.create.mean : NAN);
		add_time(&table, c.complete ? c.taskwait.mean : NAN);
		add_time(&table, c.complete ? c.management.mean : NAN);
		if (narrow)
			continue;
		columns__add(&table, c.scheduled ? format__count_short(c.switches).text : "-");
		columns__add(&table, c.scheduled ? format__count(c.max_concurrent).text : "-");
	}
	finish(s, &table);
	more(s, count, ROWS_SHOWN, "task constructs");
	summary__paragraph(s, "",
			   narrow ? MEANINGS : MEANINGS "; at once: most on one thread; switches: of all");
}

static const char *kind_in_words(const char *kind)
{
	if (strcmp(kind, "barrier-implicit") == 0)
		return "impl. barrier";
	if (strcmp(kind, "taskwait-depend") == 0)
		return "taskwait depend";
	return strcmp(kind, "create") == 0 ? "creation" : kind;
}

/* "fib.c:8 98 %": whose tasks ran directly there most. */
static void add_busiest(struct columns *table, const struct summary *s,
			const struct grain_scheduling_point *p)
{
	uint64_t direct = p->executing_ns - p->nested_ns;
	struct grain_stub stub;
	char source[64], text[128] = "-";

	if (p->stubs && direct) {
		grain_graph__stub(s->graph, p->first_stub, &stub);
		format__clean(source, sizeof(source), definition_of(s, stub.definition).source, 40);
		snprintf(text, sizeof(text), "%s %s %%", source,
			 format__percent(100.0 * (double)stub.exec.sum / (double)direct).text);
	}
	columns__add(table, text);
}

/* Waits that tasks executed in a wait have themselves are rows of their own: not counted again. */
static void add_point(struct columns *table, const struct summary *s, size_t index)
{
	struct grain_scheduling_point p;
	uint64_t time;

	grain_graph__scheduling_point(s->graph, index, &p);
	time = p.time_ns - p.nested_ns;
	columns__add(table, kind_in_words(p.kind));
	columns__add(table, definition_of(s, p.definition).source);
	columns__add(table, p.in_task ? definition_of(s, p.caller).source : "-");
	if (s->columns >= NARROW_COLUMNS)
		add_count(table, p.visits);
	add_time(table, (double)(p.management_ns + p.idle_ns));
	add_time(table, (double)time);
	add_share(table, p.executing_ns - p.nested_ns, time);
	add_share(table, p.management_ns, time);
	add_share(table, p.idle_ns, time);
	if (s->columns >= WIDE_COLUMNS)
		add_busiest(table, s, &p);
}

struct waited {
	uint64_t ns;
	size_t index;
};

static int by_waited(const void *a, const void *b)
{
	const struct waited *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

void summary__waits(struct summary *s)
{
	static const struct columns_column all[] = {
		{"WAITED", true, true},	   {"at", true, true},	     {"in task", true, true},
		{"visits", false, false},  {"waited", false, false}, {"time", false, false},
		{"% tasks", false, false}, {"% mgmt", false, false}, {"% idle", false, false},
		{"ran most", true, true},
	};
	size_t count = grain_graph__scheduling_point_count(s->graph), used = 0;
	struct columns_column columns[COUNT_OF(all)];
	struct waited *order;
	struct columns table;

	if (!count)
		return;
	order = calloc(count, sizeof(*order));
	if (!order) {
		s->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct grain_scheduling_point p;

		grain_graph__scheduling_point(s->graph, i, &p);
		order[i] = (struct waited){.ns = p.management_ns + p.idle_ns, .index = i};
	}
	qsort(order, count, sizeof(*order), by_waited);
	for (size_t i = 0; i < COUNT_OF(all); i++)
		if (s->columns >= (i == 3 ? NARROW_COLUMNS : i == 9 ? WIDE_COLUMNS : 0))
			columns[used++] = all[i];
	columns__init(&table, columns, used);
	for (size_t i = 0; i < count && i < POINTS_SHOWN; i++)
		add_point(&table, s, order[i].index);
	finish(s, &table);
	free(order);
	more(s, count, POINTS_SHOWN, "places");
	summary__paragraph(
		s, "",
		"all threads; time: waited, and in tasks run meanwhile; mgmt: while tasks could be begun "
		"there or one was created; idle: none could");
}

/* A depth of all definitions together. */
struct level {
	uint32_t depth;
	uint64_t tasks, exec_ns, inclusive_ns, create_ns, wait_ns, min_ns, max_ns;
};

static size_t gather(const struct summary *s, struct level *levels)
{
	size_t kept = 0;

	for (size_t i = 0; i < grain_graph__depth_row_count(s->graph); i++) {
		struct level *to = kept ? &levels[kept - 1] : NULL;
		struct grain_depth_row row;

		grain_graph__depth_row(s->graph, i, &row);
		if (!row.instances)
			continue;
		if (!to || to->depth != row.depth) {
			to = &levels[kept++];
			*to = (struct level){.depth = row.depth, .min_ns = UINT64_MAX};
		}
		to->tasks += row.instances;
		to->exec_ns += row.exclusive.sum;
		to->inclusive_ns += row.inclusive.sum;
		to->create_ns += row.create.sum;
		to->wait_ns += row.taskwait.sum;
		to->min_ns = row.exclusive.min < to->min_ns ? row.exclusive.min : to->min_ns;
		to->max_ns = row.exclusive.max > to->max_ns ? row.exclusive.max : to->max_ns;
	}
	return kept;
}

void summary__depths(struct summary *s)
{
	static const struct columns_column columns[] = {
		{"DEPTH", false, false},     {"tasks", false, false},	{"exec", false, false},
		{"mean", false, false},	     {"min", false, false},	{"max", false, false},
		{"inclusive", false, false}, {"creates", false, false}, {"waits", false, false},
	};
	size_t count = grain_graph__depth_row_count(s->graph);
	bool narrow = s->columns < NARROW_COLUMNS;
	struct level *levels;
	struct columns table;

	if (!count)
		return;
	levels = calloc(count, sizeof(*levels));
	if (!levels) {
		s->failed = true;
		return;
	}
	count = gather(s, levels);
	columns__init(&table, columns, COUNT_OF(columns) - (narrow ? 3 : 0));
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		const struct level *l = &levels[i];
		double tasks = (double)l->tasks;

		add_count(&table, l->depth);
		add_count(&table, l->tasks);
		add_time(&table, (double)l->exec_ns);
		add_time(&table, (double)l->exec_ns / tasks);
		add_time(&table, (double)l->min_ns);
		add_time(&table, (double)l->max_ns);
		if (narrow)
			continue;
		add_time(&table, (double)l->inclusive_ns / tasks);
		add_time(&table, (double)l->create_ns / tasks);
		add_time(&table, (double)l->wait_ns / tasks);
	}
	if (count)
		finish(s, &table);
	else
		columns__free(&table);
	more(s, count, ROWS_SHOWN, "depths");
	free(levels);
}
