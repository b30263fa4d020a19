/* SPDX-License-Identifier: BSD-2-Clause */
/* The task profile in the text summary: what tasks do, where threads waited, and the depths of tasks. */
#include "analysis/include/grain_tasking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/text/summary.h"

#define ROWS_SHOWN 20
#define POINTS_SHOWN 12
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void add_share(struct columns *table, uint64_t part, uint64_t of)
{
	columns__add(table, format__percent(of ? 100.0 * (double)part / (double)of : NAN).text);
}

void summary__tasks(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "ONE TASK", .left = true, .cuttable = true},
		{.title = "function", .left = true, .cuttable = true},
		{.title = "exec"},
		{.title = "inclusive"},
		{.title = "creates"},
		{.title = "waits"},
		{.title = "manages"},
		{.title = "switches", .optional = 2},
		{.title = "at once", .optional = 1},
	};
	size_t count = grain_graph__task_construct_count(s->graph);
	struct columns table;

	if (!count)
		return;
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		struct grain_task_construct c;
		struct grain_definition d;

		grain_graph__task_construct(s->graph, i, &c);
		d = summary__definition(s, c.definition);
		columns__add(&table, d.source);
		columns__add(&table, d.function);
		summary__add_time(&table, c.complete ? c.exclusive.mean : NAN);
		summary__add_time(&table, c.inclusive.max ? c.inclusive.mean : NAN);
		summary__add_time(&table, c.complete ? c.create.mean : NAN);
		summary__add_time(&table, c.complete ? c.taskwait.mean : NAN);
		summary__add_time(&table, c.complete ? c.management.mean : NAN);
		columns__add(&table, c.scheduled ? format__count_short(c.switches).text : "-");
		columns__add(&table, c.scheduled ? format__count(c.max_concurrent).text : "-");
	}
	summary__print(s, &table);
	summary__more(s, count, ROWS_SHOWN, "task constructs");
	summary__paragraph(s, "",
			   "means of one; inclusive: with all below it; manages: creates, and waits while "
			   "tasks could be begun; at once: most on one thread; switches: of all");
}

static const char *kind_in_words(const char *kind)
{
	if (strcmp(kind, "barrier-implicit") == 0)
		return "impl. barrier";
	if (strcmp(kind, "taskwait-depend") == 0)
		return "taskwait depend";
	return strcmp(kind, "create") == 0 ? "creation" : kind;
}

/* Adds the definition whose tasks ran there most, as "fib.c:8 98 %". */
static void add_busiest(struct columns *table, const struct summary *s,
			const struct grain_scheduling_point *p)
{
	uint64_t direct = p->executing_ns - p->nested_ns;
	struct grain_stub stub;
	char source[64], text[128] = "-";

	if (p->stubs && direct) {
		grain_graph__stub(s->graph, p->first_stub, &stub);
		format__clean(source, sizeof(source), summary__definition(s, stub.definition).source, 40);
		snprintf(text, sizeof(text), "%s %s %%", source,
			 format__percent(100.0 * (double)stub.exec.sum / (double)direct).text);
	}
	columns__add(table, text);
}

/* Adds a row. Tasks that ran inside a wait have rows for their own waits, so these do not count again. */
static void add_point(struct columns *table, const struct summary *s, size_t index)
{
	struct grain_scheduling_point p;
	uint64_t time;

	grain_graph__scheduling_point(s->graph, index, &p);
	time = p.time_ns - p.nested_ns;
	columns__add(table, kind_in_words(p.kind));
	columns__add(table, summary__definition(s, p.definition).source);
	columns__add(table, p.in_task ? summary__definition(s, p.caller).source : "-");
	summary__add_count(table, p.visits);
	summary__add_time(table, (double)(p.management_ns + p.idle_ns));
	summary__add_time(table, (double)time);
	add_share(table, p.executing_ns - p.nested_ns, time);
	add_share(table, p.management_ns, time);
	add_share(table, p.idle_ns, time);
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
	static const struct columns_column columns[] = {
		{.title = "WAITED", .left = true},
		{.title = "at", .left = true, .cuttable = true},
		{.title = "in task", .left = true, .cuttable = true},
		{.title = "visits", .optional = 3},
		{.title = "waited"},
		{.title = "time", .optional = 2},
		{.title = "% tasks", .optional = 1},
		{.title = "% mgmt"},
		{.title = "% idle"},
		{.title = "ran most", .left = true, .cuttable = true, .optional = 4},
	};
	size_t count = grain_graph__scheduling_point_count(s->graph);
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
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count && i < POINTS_SHOWN; i++)
		add_point(&table, s, order[i].index);
	summary__print(s, &table);
	free(order);
	summary__more(s, count, POINTS_SHOWN, "places");
	summary__paragraph(
		s, "",
		"all threads; time: waited, and in tasks run meanwhile; mgmt: while tasks could be begun "
		"there or one was created; idle: none could");
}

/* One depth, over all definitions. */
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
		{.title = "DEPTH"},
		{.title = "tasks"},
		{.title = "exec"},
		{.title = "mean"},
		{.title = "min", .optional = 2},
		{.title = "max"},
		{.title = "inclusive", .optional = 3},
		{.title = "creates", .optional = 4},
		{.title = "waits", .optional = 5},
		{.title = "exec", .bar = true, .optional = 1},
	};
	size_t count = grain_graph__depth_row_count(s->graph);
	uint64_t most_ns = 1;
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
	for (size_t i = 0; i < count; i++)
		most_ns = levels[i].exec_ns > most_ns ? levels[i].exec_ns : most_ns;
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		const struct level *l = &levels[i];
		double tasks = (double)l->tasks;

		summary__add_count(&table, l->depth);
		summary__add_count(&table, l->tasks);
		summary__add_time(&table, (double)l->exec_ns);
		summary__add_time(&table, (double)l->exec_ns / tasks);
		summary__add_time(&table, (double)l->min_ns);
		summary__add_time(&table, (double)l->max_ns);
		summary__add_time(&table, (double)l->inclusive_ns / tasks);
		summary__add_time(&table, (double)l->create_ns / tasks);
		summary__add_time(&table, (double)l->wait_ns / tasks);
		columns__add_share(&table, (double)l->exec_ns / (double)most_ns);
	}
	if (count)
		summary__print(s, &table);
	else
		columns__free(&table);
	summary__more(s, count, ROWS_SHOWN, "depths");
	free(levels);
}
