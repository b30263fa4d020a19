/* SPDX-License-Identifier: BSD-2-Clause */
/* What each request of the API does; api.c speaks HTTP. */
#ifndef GRAIND_ROUTES_H
#define GRAIND_ROUTES_H

#include "daemon/graind/jobs.h"

struct request {
	const char *method, *path;
	const char *all, *format, *view; /* of the query, or NULL */
	const char *body;
	size_t body_size;
	uid_t peer; /* on whose behalf: 0 for whoever administers */
	uid_t uid;  /* who asks */
};

struct answer {
	int status;
	json_t *json;	  /* or NULL */
	char *text;	  /* or NULL */
	int fd;		  /* or -1: the file is the answer */
	const char *type; /* of the file or text */
	bool page;	  /* the file is something that a browser draws */
};

void routes__serve(struct jobs *jobs, const struct request *request, struct answer *answer);

/* {"error": text} with that status. */
void answer__fail(struct answer *answer, int status, const char *text);

#endif
