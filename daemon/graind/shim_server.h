/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where processes with libgrainshim come to: a socket beside that of requests.
 * A process waits there until the job that wants it takes it, or is sent away.
 */
#ifndef GRAIND_SHIM_SERVER_H
#define GRAIND_SHIM_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

/* Listens at `path`; 0 or a negative errno. Nobody is let in before a job wants to. */
int shim_server__start(const char *path);
void shim_server__stop(void);

/* A job that takes processes begins or ends. */
void shim_server__open(void);
void shim_server__close(void);

/* What a process says of itself when it comes. */
struct shim_coming {
	bool wants_probes; /* it gets no rings but waits for its libomp to be probed, until the connection is
			      closed */
	bool libomp;	   /* it comes for its libomp */
};

/* The connection of this process, which is the caller's then; -1: it has not come. */
int shim_server__take(pid_t pid, struct shim_coming *coming);

#endif
