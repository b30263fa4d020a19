/* SPDX-License-Identifier: BSD-2-Clause */
/* What was seen of a process' memory becomes the @placement, @area and @pages lines of its trace. */
#ifndef GRAIND_PLACEMENT_H
#define GRAIND_PLACEMENT_H

#include "daemon/common/trace_writer.h"
#include "daemon/common/data_objects.h"
#include "daemon/graind/pages.h"

/*
 * Areas are told apart by name where they have one: variables by `objects`. Of at most 64 areas, those with
 * the most pages in memory, pages are told by themselves, of all others together. `pages` is stopped.
 */
int placement__write(struct trace_writer *writer, const struct pages *pages,
		     const struct data_objects *objects);

#endif
