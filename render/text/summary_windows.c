// SPDX-License-Identifier: BSD-2-Clause
/* Windows in the text summary: how much of the time was recorded, and an estimate of the whole. */
#include "analysis/include/grain_windows.h"
#include "render/base/format.h"
#include "render/text/summary.h"

#include <math.h>

void summary__windows(struct summary *s)
{
	struct format_text text = {0};
	struct grain_windows w;

	grain_graph__windows(s->graph, &w);
	if (!w.windows)
		return;
	summary__heading(s, "RECORDED IN WINDOWS");
	format__printf(&text,
		       "%s %% of %s, in %zu windows, to cost no more than was allowed: everything but this "
		       "paragraph is of what was recorded then, nothing is known of the time between",
		       format__percent(100.0 * (double)w.recorded_ns / fmax(1, (double)w.whole_ns)).text,
		       format__time((double)w.whole_ns, "us").text, w.windows);
	summary__paragraph(s, "", text.data ? text.data : "");
	s->failed |= text.failed;
	format__free(&text);
	text = (struct format_text){0};
	if (w.work_ns.value > 0)
		format__printf(&text, "about %s of work", format__time(w.work_ns.value, "us").text);
	if (w.work_ns.value > 0 && isfinite(w.work_ns.error))
		format__printf(&text, " (+- %s %%)",
			       format__percent(100 * w.work_ns.error / w.work_ns.value).text);
	if (text.data)
		summary__paragraph(s, "estimated for all the time: ", text.data);
	s->failed |= text.failed;
	format__free(&text);
}
