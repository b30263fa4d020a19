/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same metrics on a TCP socket, for Prometheus: GET /metrics and nothing
 * else. Whoever can connect sees the jobs of all users, so it is off unless asked for.
 */
#ifndef GRAIND_METRICS_SERVER_H
#define GRAIND_METRICS_SERVER_H

#include "daemon/graind/jobs.h"

struct metrics_server;

/* "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT", which is at 127.0.0.1. `why` says in one line what is wrong. */
int metrics_server__listen(const char *where, int *fd, char why[512]);
/* Takes the listening socket `fd`, in any case. */
int metrics_server__start(int fd, struct jobs *jobs, struct metrics_server **out);
/* Whether one serves requests. */
bool metrics_server__serves(void);
/* Accepts NULL. */
void metrics_server__stop(struct metrics_server *server);

#endif
