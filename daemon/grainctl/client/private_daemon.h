/* SPDX-License-Identifier: BSD-2-Clause */
/* `run` and `attach` start a graind of their own where none is running. */
#ifndef GRAINCTL_PRIVATE_DAEMON_H
#define GRAINCTL_PRIVATE_DAEMON_H

#include "daemon/grainctl/terminal/ctl.h"

#include <sys/types.h>

struct private_daemon {
	pid_t pid; /* 0: none was started */
	char socket[108];
};

/*
 * Makes sure that a graind answers. If none answers at ctl->socket and the caller is root, starts a private
 * graind, which ends with its last job. On CTL_DONE, *socket is the socket to use. Otherwise `why` is the
 * reason, in one line.
 */
enum ctl_exit private_daemon__ensure(struct ctl *ctl, struct private_daemon *daemon, const char **socket,
				     char why[512]);
/*
 * Ends the private graind if one was started. Call this if graind got no job: otherwise it waits a minute
 * for one.
 */
void private_daemon__stop(struct private_daemon *daemon);

#endif
