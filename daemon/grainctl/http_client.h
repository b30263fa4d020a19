/* SPDX-License-Identifier: BSD-2-Clause */
/* One HTTP request, over a unix socket or to a URL. The server is not trusted: every answer has a bound. */
#ifndef GRAINCTL_HTTP_CLIENT_H
#define GRAINCTL_HTTP_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HTTP_MAX_BODY (64u << 20)  /* kept in memory */
#define HTTP_MAX_FILE (1ull << 40) /* streamed to a file */

struct http_request {
	const char *socket, *method, *path;
	const char *url;   /* instead of socket and path: http or https, to anywhere */
	const char *body;  /* JSON, NULL for none */
	FILE *file;	   /* where the body of a 200 goes; NULL: into the reply */
	long silence_secs; /* give up when nothing arrives for so long; 0 = 60 */
};

struct http_reply {
	long status;
	char *body; /* NUL-terminated; empty when it went to the file */
	size_t size;
};

struct http_error {
	char text[256];
};

/*
 * Returns 0 and the reply whatever its status is, or a negative errno with
 * *error filled: -ENOENT or -ECONNREFUSED when nobody listens at the socket,
 * -EACCES when the caller may not connect.
 */
int http__request(const struct http_request *request, struct http_reply *reply, struct http_error *error);
void http_reply__free(struct http_reply *reply); /* accepts an all-zero reply */

/* `text` with what has a meaning in URLs escaped, for free(); NULL without memory. */
char *http__escape(const char *text);

/* Whether somebody listens: 0 or a negative errno as above. */
int http__probe(const char *socket_path);

#endif
