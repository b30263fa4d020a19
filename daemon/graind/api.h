/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTTP API of daemon/README.md on a listening unix socket. */
#ifndef GRAIND_API_H
#define GRAIND_API_H

#include "daemon/graind/jobs.h"

struct api;

/* Serves on `listen_fd` in threads of its own. */
int api__start(int listen_fd, struct jobs *jobs, struct api **out);
/* No new connections; those that are open go on. */
void api__quiesce(struct api *api);
/* Waits for the requests in progress. Accepts NULL. */
void api__stop(struct api *api);

#endif
