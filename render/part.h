/* SPDX-License-Identifier: BSD-2-Clause */
/* What of the run a recording shows, where that is not all of it. */
#ifndef GRAIND_RENDER_PART_H
#define GRAIND_RENDER_PART_H

#include "analysis/grain.h"
#include "render/format.h"

/* One line; nothing is added where all of the run is there. `micro`: how microseconds are written. */
void part__describe(const struct grain_graph *graph, const char *micro, struct format_text *out);

/* "9 parallel regions after it (the slowest, the last, every 64th)", where there are any. */
void part__kept(const struct grain_graph *graph, struct format_text *out);

#endif
