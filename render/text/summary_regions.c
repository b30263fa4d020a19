// SPDX-License-Identifier: BSD-2-Clause
/* Parallel regions in the text summary. For long jobs also: which regions were kept as a graph. */
#include "analysis/include/grain_tasking.h"
#include "render/text/summary.h"

#include <math.h>

#define REGIONS_SHOWN 10
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Returns the outermost region that began at that time. GRAIN_NONE: none. */
static uint32_t region_at(const struct grain_graph *graph, uint64_t start_ns)
{
	size_t count = grain_graph__region_count(graph);
	struct grain_region r;

	for (uint32_t i = 0; i < count; i++) {
		grain_graph__region(graph, i, &r);
		if (r.start_ns == start_ns)
			return i;
	}
	return UINT32_MAX;
}

static void why_kept(const struct grain_kept_region *kept, char *out, size_t size)
{
	if (kept->slowest || kept->last)
		snprintf(out, size, "the %s%s%s", kept->slowest ? "slowest" : "",
			 kept->slowest && kept->last ? ", the " : "", kept->last ? "last" : "");
	else
		snprintf(out, size, "one of every %s", format__count(kept->every).text);
}

void summary__kept(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "KEPT REGION", .left = true, .cuttable = true},
		{.title = "source", .left = true, .cuttable = true},
		{.title = "at"},
		{.title = "wall"},
		{.title = "tasks"},
		{.title = "kept as", .left = true},
	};
	uint64_t start_ns = grain_graph__info(s->graph)->start_ns;
	struct grain_kept_region kept;
	struct columns table;

	if (!grain_graph__kept_region(s->graph, 0, &kept))
		return;
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; grain_graph__kept_region(s->graph, i, &kept); i++) {
		uint32_t region = region_at(s->graph, kept.start_ns);
		struct grain_region r = {.definition = GRAIN_NONE};
		char text[256] = "-";

		if (region != UINT32_MAX) {
			grain_graph__region(s->graph, region, &r);
			grain_graph__region_id(s->graph, region, text, sizeof(text));
		}
		columns__add(&table, text);
		columns__add(&table, summary__definition(s, r.definition).source);
		summary__add_time(&table, kept.start_ns > start_ns ? (double)(kept.start_ns - start_ns) : 0);
		summary__add_time(&table, (double)(kept.end_ns - kept.start_ns));
		summary__add_count(&table, r.tasks);
		why_kept(&kept, text, sizeof(text));
		columns__add(&table, text);
	}
	summary__print(s, &table);
}

/* Adds the waits in barriers. Adds dashes if they are not known or there were none. */
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
