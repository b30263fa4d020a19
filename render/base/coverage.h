/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes which part of the run a recording covers, unless it is all of it. */
#ifndef GRAIND_RENDER_COVERAGE_H
#define GRAIND_RENDER_COVERAGE_H

#include "analysis/include/grain.h"
#include "render/base/format.h"

/* Adds one line. Adds nothing if the recording covers the whole run. `micro` is the unit of microseconds. */
void coverage__describe(const struct grain_graph *graph, const char *micro, struct format_text *out);

/*
 * Adds which regions were kept, such as "9 parallel regions after it (the slowest, the last, every 64th)".
 * Adds nothing if there are none.
 */
void coverage__kept(const struct grain_graph *graph, struct format_text *out);

#endif
