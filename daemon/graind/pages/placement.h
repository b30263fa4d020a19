/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the findings about a process' memory as the @placement, @area and @pages lines of its trace. */
#ifndef GRAIND_PLACEMENT_H
#define GRAIND_PLACEMENT_H

#include "daemon/common/trace/trace_writer.h"
#include "daemon/common/trace/data_objects.h"
#include "daemon/graind/pages/pages.h"

/*
 * `objects` are the variables; each of them gets its own area. The 64 areas with the most pages in memory
 * are written separately, all others together. `pages` must be stopped. 0 or a negative errno.
 */
int placement__write(struct trace_writer *writer, const struct pages *pages,
		     const struct data_objects *objects);

#endif
