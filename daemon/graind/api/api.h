/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTTP API of daemon/README.md on a listening unix socket. */
#ifndef GRAIND_API_H
#define GRAIND_API_H

#include "daemon/graind/jobs/jobs.h"

struct api;

/* Starts threads that serve `listen_fd`. The caller keeps `listen_fd`. 0 or a negative errno. */
int api__start(int listen_fd, struct jobs *jobs, struct api **out);
/* Stops accepting connections. Open connections go on. */
void api__quiesce(struct api *api);
/* Waits for the requests in progress. Accepts NULL. */
void api__stop(struct api *api);

#endif
