/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serves the metrics on a TCP socket, for Prometheus: only GET /metrics. Everyone who can connect sees the
 * jobs of all users, so the server is off by default.
 */
#ifndef GRAIND_METRICS_SERVER_H
#define GRAIND_METRICS_SERVER_H

#include "daemon/graind/jobs/jobs.h"

struct metrics_server;

/*
 * Opens a listening socket at "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT", which means 127.0.0.1. 0 or a
 * negative errno with one line in `why`.
 */
int metrics_server__listen(const char *where, int *fd, char why[512]);
/*
 * Starts the server. It takes over the listening socket `fd`, even on failure. `names`: host names that
 * requests may use in addition to this machine's name and addresses (metrics_guests.h), ended by NULL; the
 * caller keeps them. 0 or a negative errno.
 */
int metrics_server__start(int fd, const char *const *names, struct jobs *jobs, struct metrics_server **out);
/* Whether a server is running. */
bool metrics_server__serves(void);
/* Accepts NULL. */
void metrics_server__stop(struct metrics_server *server);

#endif
