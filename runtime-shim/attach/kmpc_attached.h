/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records a libomp that ran before the library was injected. Such a libomp no longer looks for an OMPT
 * tool, so its entry points record what OMPT would report. These functions have other names than the
 * runtime's; attach.c puts them into the GOT slots of the program.
 */
#ifndef GRAIND_SHIM_KMPC_ATTACHED_H
#define GRAIND_SHIM_KMPC_ATTACHED_H

#include "runtime-shim/libomp/kmpc.h"

/* A function that is put into the GOT slots of that name. */
struct kmpc_entry {
	const char *name; /* NULL ends the list */
	void (*function)(void);
};

#define KMPC_ENTRY(name)                                                                                     \
	{                                                                                                    \
#name, (void (*)(void))attached_##name                                                       \
	}

extern const struct kmpc_entry kmpc_attached_tasks[], kmpc_attached_taskloops[], kmpc_attached_teams[],
	kmpc_attached_waits[], kmpc_attached_locks[];

enum attached_state {
	ATTACHED_BEGUN = 1,   /* its body has begun, or that of the task that splits its part */
	ATTACHED_SPAWNS = 2,  /* the tasks of a taskloop are copies of it */
	ATTACHED_AT_ONCE = 4, /* the task that splits its part of the taskloop runs inside its own creation */
};

typedef void (*attached_copy)(struct kmpc_task *to, struct kmpc_task *from, int32_t last);

/*
 * Our data, between a task and its shareds. Tasks that were made before the library was injected have none.
 */
struct attached_head {
	kmpc_routine routine;
	uint64_t key;	  /* 0: its creation was not recorded */
	uint32_t session; /* the recording to which the key, or the taskloop, belongs */
	uint16_t arg;	  /* enum ring_task */
	uint16_t state;	  /* enum attached_state */
	/* If copies of the task are the tasks of a taskloop: */
	const void *caller;
	attached_copy copy; /* the program's function, or NULL */
	int64_t step;
	int32_t lower_at, upper_at; /* where a task holds its bounds once it has begun */
	uint64_t other; /* the task that splits its part of the taskloop; for a detachable task, its event */
};
_Static_assert(sizeof(struct attached_head) == 64, "what a task shares is aligned as it would be");

/* Returns the task's head. NULL: the task was made before the library was injected. */
struct attached_head *attached__head_of(const struct kmpc_task *task);

/* Records the begin of a task's creation, and puts the task's key into the head. */
void attached__create(struct shim_local *local, struct attached_head *head, uint32_t site, uint32_t arg);

#endif
