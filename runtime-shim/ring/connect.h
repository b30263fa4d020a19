/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to graind. It serves processes that ask before their first event, and processes into which
 * the library was injected.
 */
#ifndef GRAIND_SHIM_CONNECT_H
#define GRAIND_SHIM_CONNECT_H

#include "runtime-shim/ring/ring.h"

/* Whether the environment names a socket. */
bool connect__is_wanted(void);
/* Asks graind to record a runtime (enum shim_runtime). True: graind does, and has rings for the process. */
bool connect__open(unsigned runtime);
/*
 * A libomp cannot be recorded from inside this process: waits until graind has set probes. False: graind
 * does not want to, or has no job for this process yet.
 */
bool connect__ask_for_probes(void);

/*
 * The single steps of asking graind, for a process into which the library was injected (attach.c). They do
 * not wait. They return 0 or a negative errno. The caller must have saved the thread's state
 * (caller_state.h).
 */

/* Says hello at `path`, for a runtime (enum shim_runtime). */
int connect__come(const char *path, uint32_t runtime);
/* -EAGAIN: graind has not answered yet. */
int connect__receive(struct shim_header **header);
/* Begins a session with these rings. */
int connect__publish(struct shim_header *header);
/* Whether graind has ended or has given up the process. */
bool connect__gone(void);
void connect__hang_up(void);
/* The rings that graind has sent; NULL: none, or they were released. */
struct shim_header *connect__rings(void);
/*
 * Releases the rings. Threads that were in a call of the runtime before the end still write to the rings
 * when they return. So other memory is mapped in their place. Nobody reads that memory, and it takes no
 * space before it is written.
 */
void connect__let_go(void);

#endif
