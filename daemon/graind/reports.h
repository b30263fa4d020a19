/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of jobs, made by graind-render. */
#ifndef GRAIND_REPORTS_H
#define GRAIND_REPORTS_H

#include "daemon/graind/jobs.h"

struct report_order {
	const char *format, *view; /* as the client gave them; NULL: the usual */
};

/*
 * The report of a job that `peer` may see, in a file without a name, and its
 * media type. Takes as long as it takes, a minute at most. 0, or -1 with *failure set.
 */
int reports__make(struct jobs *jobs, uint64_t number, uid_t peer, const struct report_order *order, int *fd,
		  const char **type, struct failure *failure);

/* What is being made is not wanted any more, nor are others. */
void reports__end(void);

#endif
