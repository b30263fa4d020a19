/* SPDX-License-Identifier: BSD-2-Clause */
/* graind's API as the verbs use it: requests with their errors told to the user. */
#ifndef GRAINCTL_SERVER_H
#define GRAINCTL_SERVER_H

#include "daemon/grainctl/ctl.h"

#include <jansson.h>

/* Is there a graind at the socket: 0, or a negative errno as http__probe. */
int server__reachable(const char *socket);

/*
 * One request. On the expected status *out is the answer's JSON object (NULL
 * for an empty one) and the result is CTL_DONE. Otherwise one line is in
 * `why` and the result is the exit status that fits. *status (may be NULL) is
 * the HTTP status, 0 without an answer.
 */
enum ctl_exit server__call(const char *socket, const char *method, const char *path, const json_t *body,
			   json_t **out, long *status, char why[512]);

/* Streams GET path into `file`. */
enum ctl_exit server__download(const char *socket, const char *path, FILE *file, char why[512]);

/* GET path as text in *out, for free(); gives up after so many seconds without a byte. */
enum ctl_exit server__text(const char *socket, const char *path, long silence_secs, char **out,
			   char why[512]);

#endif
