/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What attach.c has of connect.c: the steps of asking graind, none of which
 * waits. They return 0 or a negative errno. Who calls them has stepped aside.
 */
#ifndef GRAIND_SHIM_ATTACH_H
#define GRAIND_SHIM_ATTACH_H

#include "runtime-shim/ring.h"

/* Says hello at `path`, for a runtime (enum shim_runtime). */
int connect__come(const char *path, uint32_t runtime);
/* -EAGAIN: graind has not answered yet. */
int connect__receive(struct shim_header **header);
/* Begins a session with these rings. */
int connect__publish(struct shim_header *header);
/* Graind has ended, or given the process up. */
bool connect__gone(void);
void connect__hang_up(void);
/* Those that graind has sent; NULL: none, or they were let go. */
struct shim_header *connect__rings(void);
/*
 * Threads that are in a call of the runtime since before the end still write
 * to the rings when they return. There is other memory then, which nobody
 * reads and which takes none before it is written to.
 */
void connect__let_go(void);

/* Of attach.c: in the child of a fork nobody else is at it; and that gets no rings of its own. */
void attach__in_child(void);
void attach__refused(void);

#endif
