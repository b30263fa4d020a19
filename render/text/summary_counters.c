/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters in the text summary. */
#include "analysis/include/grain_counters.h"
#include "render/text/summary.h"

#include <string.h>

static void add_counter(struct columns *table, const struct grain_counter *c)
{
	char note[200] = "";

	columns__add(table, c->name);
	if (c->absent) {
		columns__add(table, "-");
		columns__add(table, "-");
		columns__add(table, c->absent);
		return;
	}
	summary__add_count(table, c->sum);
	summary__add_count(table, c->grains);
	if (c->share < 1)
		snprintf(note, sizeof(note), "counted %.0f %% of the time, the rest estimated%s",
			 100 * c->share, c->unknown ? "; " : "");
	if (c->unknown)
		snprintf(note + strlen(note), sizeof(note) - strlen(note), "unknown of %s others",
			 format__count(c->unknown).text);
	columns__add(table, note);
}

void summary__counters(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "COUNTER", .left = true, .cuttable = true},
		{.title = "sum"},
		{.title = "of grains"},
		{.title = "", .left = true, .cuttable = true},
	};
	size_t count = grain_graph__asked_counter_count(s->graph);
	struct columns table;

	if (!count)
		return;
	summary__table(s, &table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < count; i++) {
		struct grain_counter c;

		grain_graph__asked_counter(s->graph, i, &c);
		add_counter(&table, &c);
	}
	summary__print(s, &table);
}
