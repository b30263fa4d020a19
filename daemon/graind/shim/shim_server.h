/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket, beside the API's, to which processes with libgrainshim connect. A connection waits there
 * until it is closed or the job that wants the process takes it.
 */
#ifndef GRAIND_SHIM_SERVER_H
#define GRAIND_SHIM_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Listens at `path`. 0 or a negative errno. Connections are refused while no job takes processes. */
int shim_server__start(const char *path);
void shim_server__stop(void);

/* Call these when a job that takes processes begins (open) and ends (close). */
void shim_server__open(void);
void shim_server__close(void);

/* What a process reports when it connects. */
struct shim_coming {
	bool wants_probes; /* it needs no rings; it waits until its libomp is probed */
	bool libomp;	   /* it connects for its libomp */
	uid_t uid;	   /* the user of the process when it connected */
};

/*
 * Takes the connection of a process; the caller then owns it. -1: the process has not connected before
 * `before_ns`. If the caller has read the news of processes (watch.h) up to that time, it knows which
 * program of the process has connected. Ignores connections of another process that had the same pid
 * before. If the process passes its connection on to another process, the words of the other process are
 * recorded as its own. Only its user can do that.
 */
int shim_server__take(pid_t pid, uint64_t before_ns, struct shim_coming *coming);

#endif
