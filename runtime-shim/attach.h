/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What attach.c has of connect.c: the steps of asking graind, none of which
 * waits. They return 0 or a negative errno.
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

#endif
