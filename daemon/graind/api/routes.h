/* SPDX-License-Identifier: BSD-2-Clause */
/* Does what each request of the API asks for. api.c speaks HTTP. */
#ifndef GRAIND_ROUTES_H
#define GRAIND_ROUTES_H

#include "daemon/graind/requests/job_list.h"
#include "daemon/graind/jobs/jobs.h"

struct request {
	const char *method, *path;
	const char *all, *format, *view; /* parameters of the query; NULL: not given */
	const char *body;
	size_t body_size;
	uid_t peer; /* the user for whom the client asks; 0 for root and the admin group */
	uid_t uid;  /* the client's user */
};

struct answer {
	int status;
	json_t *json;	       /* or NULL */
	char *text;	       /* or NULL */
	int fd;		       /* the file that is the answer; -1: none */
	struct job_list *list; /* or NULL: the answer is read from this list */
	const char *type;      /* of the file or text */
	bool page;	       /* the file is a page that a browser renders */
	struct report *report; /* or NULL; for reports__sent(), when the answer is sent or given up */
};

/* Whether the answer may take long. The number of such requests of one user is limited. */
bool routes__takes_time(const struct request *request);

void routes__serve(struct jobs *jobs, const struct request *request, struct answer *answer);

/* Makes the answer {"error": text} with this HTTP status. */
void answer__fail(struct answer *answer, int status, const char *text);

#endif
