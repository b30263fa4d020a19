/* SPDX-License-Identifier: BSD-2-Clause */
/* graind's API for the verbs: requests, with errors as lines for the user. */
#ifndef GRAINCTL_SERVER_H
#define GRAINCTL_SERVER_H

#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>

/*
 * Remembers that the user has named `socket`: any user may serve it. The client finds other sockets in
 * recordings or in a state directory. It sends requests to those only if their server is root, the user
 * graind, or the caller.
 */
void server__name(const char *socket);
/* Whether uid is root, the user graind, or the user who serves the socket that the caller named. */
bool server__is_graind(uid_t uid);

/*
 * Whether root, the user graind or the caller serves the socket. Only these users are believed when they
 * say where jobs are.
 */
bool server__may_tell_where(const char *socket);

/* Checks whether a graind listens at the socket. 0, or a negative errno as for http__request(). */
int server__reachable(const char *socket);

/*
 * Makes one request. If the answer has the expected status, returns CTL_DONE, and *out is the JSON object
 * (NULL: the answer was empty). Otherwise returns the matching exit status, with one line in `why`.
 */
enum ctl_exit server__call(const char *socket, const char *method, const char *path, const json_t *body,
			   json_t **out, char why[512]);
/*
 * POSTs a request of the user. Same as server__call(), but returns CTL_USAGE if graind answers "bad
 * request".
 */
enum ctl_exit server__ask_for(const char *socket, const char *path, const json_t *body, json_t **out,
			      char why[512]);

/* Streams GET path into `file`. */
enum ctl_exit server__download(const char *socket, const char *path, FILE *file, char why[512]);

/* GETs path as text in *out, which the caller frees. Gives up after `silence_secs` seconds without a byte. */
enum ctl_exit server__text(const char *socket, const char *path, long silence_secs, char **out,
			   char why[512]);

#endif
