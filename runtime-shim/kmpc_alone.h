/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of a libomp that runs already when the library comes, and asks for no tool any
 * more: what OMPT would tell is told by its entry points alone. These are not the
 * library's own under the runtime's names, but are put into slots (attach.c).
 */
#ifndef GRAIND_SHIM_KMPC_ALONE_H
#define GRAIND_SHIM_KMPC_ALONE_H

#include "runtime-shim/kmpc.h"

/* What is put into slots of that name. */
struct kmpc_entry {
	const char *name; /* NULL: after the last one */
	void (*function)(void);
};

#define KMPC_ENTRY(name)                                                                                     \
	{                                                                                                    \
#name, (void (*)(void))alone_##name                                                          \
	}

extern const struct kmpc_entry kmpc_alone_tasks[], kmpc_alone_taskloops[], kmpc_alone_teams[],
	kmpc_alone_waits[], kmpc_alone_locks[];

enum alone_state {
	ALONE_BEGUN = 1,   /* its body has, or that of what splits the taskloop with it */
	ALONE_SPAWNS = 2,  /* tasks are copied from it */
	ALONE_AT_ONCE = 4, /* what splits the taskloop with it runs inside of its creation */
};

typedef void (*alone_copy)(struct kmpc_task *to, struct kmpc_task *from, int32_t last);

/* Between every task and what it shares; those that were made before the library came have none. */
struct alone_head {
	kmpc_routine routine;
	uint64_t key;	  /* 0: its creation was not told */
	uint32_t session; /* that its key, or its taskloop, is of */
	uint16_t arg;	  /* enum ring_task */
	uint16_t state;	  /* enum alone_state */
	/* Of what a taskloop's tasks are copied from: */
	const void *caller;
	alone_copy copy; /* the program's, or NULL */
	int64_t step;
	int32_t lower_at, upper_at; /* from the task */
	uint64_t other; /* the task that splits the taskloop with this for its part; of a detachable task its
			   event */
};
_Static_assert(sizeof(struct alone_head) == 64, "what a task shares is aligned as it would be");

/* NULL: it was made before the library came. */
struct alone_head *alone__head_of(const struct kmpc_task *task);

/* Its creation begins; its key is in the head then. */
void alone__create(struct shim_local *local, struct alone_head *head, uint32_t site, uint32_t arg);

#endif
