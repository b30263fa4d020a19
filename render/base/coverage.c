/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/base/coverage.h"
#include "analysis/include/grain_windows.h"

#include <math.h>

static const char *ordinal_ending(uint64_t number)
{
	if (number / 10 % 10 == 1)
		return "th";
	return number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
}

void coverage__kept(const struct grain_graph *graph, struct format_text *out)
{
	size_t count = grain_graph__coverage(graph)->kept_regions;
	bool slowest = false, last = false;
	const char *between = "";
	struct grain_kept_region r;
	uint64_t every = 0;

	for (size_t i = 0; grain_graph__kept_region(graph, i, &r); i++) {
		slowest |= r.slowest;
		last |= r.last;
		every = r.every ? r.every : every;
	}
	format__printf(out, "%zu parallel region%s after it (", count, count == 1 ? "" : "s");
	if (every == 1) {
		format__add(out, "all of them)");
		return;
	}
	if (slowest) {
		format__add(out, "the slowest");
		between = ", ";
	}
	if (last) {
		format__printf(out, "%sthe last", between);
		between = ", ";
	}
	if (every)
		format__printf(out, "%severy %s%s", between, format__count(every).text,
			       ordinal_ending(every));
	format__add(out, ")");
}

void coverage__describe(const struct grain_graph *graph, const char *micro, struct format_text *out)
{
	const struct grain_coverage *c = grain_graph__coverage(graph);
	struct grain_windows w;

	grain_graph__windows(graph, &w);
	if (w.windows)
		format__printf(
			out, "recorded in %zu window%s: %s %% of %s", w.windows, w.windows == 1 ? "" : "s",
			format__percent(100.0 * (double)w.recorded_ns / fmax(1, (double)w.whole_ns)).text,
			format__time((double)w.whole_ns, micro).text);
	if (!c->partial && !c->kept_regions)
		return;
	format__printf(out, "%sgraph and problems of the first %s", w.windows ? "; " : "",
		       format__time((double)c->first_ns, micro).text);
	if (c->kept_regions) {
		format__add(out, " and ");
		coverage__kept(graph, out);
	}
	if (!c->partial)
		return;
	format__printf(out, ", %s", format__count(c->grains).text);
	format__printf(out, " of %s grains", format__count(grain_graph__totals(graph)->grains).text);
}
