/* SPDX-License-Identifier: BSD-2-Clause */
/* One HTTP request over a unix socket. The server is not trusted: every answer has a bound. */
#ifndef GRAINCTL_HTTP_CLIENT_H
#define GRAINCTL_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define HTTP_MAX_BODY (64u << 20)  /* the largest answer that is kept in memory */
#define HTTP_MAX_FILE (1ull << 40) /* the largest answer that is streamed to a file */

struct http_request {
	const char *socket, *method, *path;
	bool (*serves)(uid_t server); /* whether this user may serve the socket; NULL: every user may */
	const char *body;	      /* JSON; NULL: no body */
	FILE *file;		      /* where the body of a 200 is written; NULL: into the reply */
	long silence_secs;	      /* give up after this many seconds without a byte; 0 = 60 */
};

struct http_reply {
	long status;
	char *body; /* NUL-terminated; empty if the body went to the file */
	size_t size;
};

struct http_error {
	char text[256];
};

/*
 * Sends the request. Returns 0 and the reply, with any status, or a negative errno with *error filled.
 * -ENOENT or -ECONNREFUSED: nobody listens at the socket; -EACCES: the caller may not connect;
 * -EKEYREJECTED: the server's user is not accepted.
 */
int http__request(const struct http_request *request, struct http_reply *reply, struct http_error *error);
void http_reply__free(struct http_reply *reply); /* accepts an all-zero reply */

/*
 * Checks whether a server listens. *server is its user (`server` may be NULL). 0 or a negative errno as for
 * http__request().
 */
int http__probe(const char *socket_path, uid_t *server);

#endif
