/* SPDX-License-Identifier: BSD-2-Clause */
/* A graind of the caller's own for `run` and `attach` where none is running. */
#ifndef GRAINCTL_PRIVATE_DAEMON_H
#define GRAINCTL_PRIVATE_DAEMON_H

#include "daemon/grainctl/ctl.h"

#include <sys/types.h>

struct private_daemon {
	pid_t pid; /* 0: none was started */
	char socket[108];
};

/*
 * Makes sure that a graind answers at ctl->socket, starting one that ends
 * with its last job when there is none and the caller may. On CTL_DONE
 * *socket names the one to use; otherwise one line is in `why`.
 */
enum ctl_exit private_daemon__ensure(struct ctl *ctl, struct private_daemon *daemon, const char **socket,
				     char why[512]);
/* Ends it; for when it got no job. Does nothing if none was started. */
void private_daemon__stop(struct private_daemon *daemon);

#endif
