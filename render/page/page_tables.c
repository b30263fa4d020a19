/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of joins, regions, loops and dependences. */
#include "analysis/include/grain_steps.h"
#include "render/page/page_fill.h"

static void fill_span(const struct page_fill *f, struct page_column *c, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t start = page_fill__time(f, start_ns), end = page_fill__time(f, end_ns);

	page_column__number(c, start);
	page_column__number(c, end > start ? end - start : 0);
}

/*
 * Whether the wait lies exactly between two fragments of its waiter. Most do. Then the number of the fragment
 * gives the wait's time.
 */
static bool lies_between(const struct page_fill *f, const struct page_wait *w, const struct grain_join *j)
{
	return w->after && w->to_ns && page_fill__time(f, w->from_ns) == page_fill__time(f, j->start_ns) &&
	       page_fill__time(f, w->to_ns) == page_fill__time(f, j->end_ns);
}

static void fill_joins(struct page_fill *f)
{
	struct page_columns *out = f->out;
	struct page_column *kind = page_columns__add(out, "join_kind"),
			   *to = page_columns__add(out, "join_waiter"),
			   *region = page_columns__add(out, "join_region"),
			   *definition = page_columns__add(out, "join_definition"),
			   *ordinal = page_columns__add(out, "join_ordinal"),
			   *after = page_columns__add(out, "join_after"),
			   *span = page_columns__add(out, "join_span");
	int64_t last = 0;

	for (uint32_t i = 0; i < out->joins; i++) {
		struct grain_join j;
		int64_t waiter;
		bool yield, between;

		grain_graph__join(f->graph, i, &j);
		yield = j.region == GRAIN_NONE && !j.joined && grain_graph__join_is_yield(f->graph, i);
		waiter = j.waiter == GRAIN_NONE ? -1 : (int64_t)j.waiter;
		between = lies_between(f, &f->waits[i], &j);
		page_column__number(kind, (uint64_t)j.kind << 1 | j.critical);
		page_column__signed(to, waiter - last);
		page_column__number(region, (uint32_t)(j.region + 1));
		page_column__number(definition, (uint32_t)(j.definition + 1));
		page_column__number(ordinal, (uint64_t)j.ordinal << 1 | yield);
		page_column__number(after, between ? f->waits[i].after : 0);
		if (!between)
			fill_span(f, span, j.start_ns, j.end_ns);
		last = waiter;
	}
}

static void fill_regions(struct page_fill *f)
{
	struct page_column *c = page_columns__add(f->out, "regions");

	for (uint32_t i = 0; i < f->out->regions; i++) {
		struct grain_region r;

		grain_graph__region(f->graph, i, &r);
		page_column__number(c, (uint32_t)(r.parent + 1));
		page_column__number(c, (uint32_t)(r.definition + 1));
		page_column__number(c, r.threads);
		fill_span(f, c, r.start_ns, r.end_ns);
	}
}

static void fill_loops(struct page_fill *f)
{
	struct page_column *c = page_columns__add(f->out, "loops");

	for (uint32_t i = 0; i < f->out->loops; i++) {
		struct grain_loop l;

		grain_graph__loop(f->graph, i, &l);
		page_column__number(c, (uint32_t)(l.context + 1));
		page_column__number(c, (uint32_t)(l.region + 1));
		page_column__number(c, (uint32_t)(l.definition + 1));
		page_column__number(c, (uint32_t)(l.join + 1));
		page_column__number(c, l.sections);
		fill_span(f, c, l.start_ns, l.end_ns);
	}
}

static void fill_dependences(struct page_fill *f)
{
	struct page_column *c = page_columns__add(f->out, "dependences");
	int64_t last_from = 0, last_to = 0;

	for (size_t i = 0; i < f->out->dependences; i++) {
		struct grain_dependence d;
		int64_t to;

		grain_graph__dependence(f->graph, i, &d);
		to = d.to != GRAIN_NONE ? d.to : d.join;
		page_column__number(c, (uint64_t)(d.to == GRAIN_NONE) << 1 | d.critical);
		page_column__signed(c, (int64_t)d.from - last_from);
		page_column__signed(c, to - last_to);
		last_from = d.from;
		last_to = to;
	}
}

void page_fill__tables(struct page_fill *f)
{
	fill_joins(f);
	fill_regions(f);
	fill_loops(f);
	fill_dependences(f);
}
