/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of jobs, made by graind-render. */
#ifndef GRAIND_REPORTS_H
#define GRAIND_REPORTS_H

#include "daemon/graind/api/routes.h"

struct report_order {
	const char *format, *view; /* as the client gave them; NULL: the default */
};

/*
 * Makes the report of a job that `peer` may see. *answer gets an unnamed file and its media type. Takes at
 * most a minute, after waiting at most a minute for other reports. Returns 0, or -1 with *failure set. The
 * report's memory counts for its user until reports__sent(answer->report).
 */
int reports__make(struct jobs *jobs, uint64_t number, uid_t peer, const struct report_order *order,
		  struct answer *answer, struct failure *failure);
void reports__sent(struct report *report); /* accepts NULL */

/* Cancels the reports that are being made. From now on no report is made. */
void reports__end(void);

#endif
