/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/part.h"
#include "analysis/grain_windows.h"

#include <math.h>

void part__describe(const struct grain_graph *graph, const char *micro, struct format_text *out)
{
	const struct grain_coverage *c = grain_graph__coverage(graph);
	struct grain_windows w;

	grain_graph__windows(graph, &w);
	if (w.windows)
		format__printf(
			out, "recorded in %zu window%s: %s %% of %s", w.windows, w.windows == 1 ? "" : "s",
			format__percent(100.0 * (double)w.recorded_ns / fmax(1, (double)w.whole_ns)).text,
			format__time((double)w.whole_ns, micro).text);
	if (!c->partial)
		return;
	format__printf(out, "%sgraph and problems of the first %s, %s", w.windows ? "; " : "",
		       format__time((double)c->wall_ns, micro).text, format__count(c->grains).text);
	format__printf(out, " of %s grains", format__count(grain_graph__totals(graph)->grains).text);
}
