/* SPDX-License-Identifier: BSD-2-Clause */
/* What gomp_tasks.c and gomp_taskloops.c share: the head that a task's block gets. */
#ifndef GRAIND_SHIM_GOMP_TASK_H
#define GRAIND_SHIM_GOMP_TASK_H

#include "runtime-shim/gomp.h"

/* libgomp's flags of GOMP_task and GOMP_taskloop; the low five are those of enum ring_task. */
#define GOMP_LOW_FLAGS 31u
#define GOMP_GRAINSIZE (1u << 9)
#define GOMP_IF (1u << 10) /* of a taskloop */
#define GOMP_NOGROUP (1u << 11)
#define GOMP_REDUCTION (1u << 12)
#define GOMP_DETACH (1u << 13)
#define GOMP_STRICT (1u << 14)

typedef void (*body_fn)(void *);
typedef void (*copy_fn)(void *, void *);

/* Before the program's data in a task's block; small, as each task has one. */
struct head {
	body_fn body;
	uint64_t key;	  /* 0: not recorded */
	uint32_t payload; /* where the program's data are, from here on */
	uint32_t arg;	  /* enum ring_task */
};

/* What a creating call has, for the copy function that the runtime calls. */
struct call {
	uint64_t event; /* the runtime writes that of a detached task into the first word of what it is given
			 */
	struct head head;
	uint32_t head_at; /* in a block */
	void *data;
	copy_fn copy;
	long size;
	void *const *depend;
	struct shim_local *local; /* NULL: not recorded */
	const void *caller;
	uint64_t created_at; /* ticks */
	uint64_t ended_at;   /* of a task that ran at once; 0: when the call is over */
	bool ran;	     /* at once */
	uint32_t waits;	     /* for the dependences of a task that is not deferred */
	bool plain;	     /* nothing but its creation comes before its begin */
};

_Static_assert(offsetof(struct call, event) == 0, "where the runtime writes it");

/*
 * Where head and program's data lie in a block that is aligned as is asked for, and for its head, which has
 * `before` bytes before it and `after` behind; the block's size.
 */
long gomp__lay_out(struct call *call, size_t before, size_t after, long size, long *align);
/* Fills a block: head and the program's data. */
void gomp__fill(const struct call *call, void *to);
/* Records the creation; its key is in call->head then. */
void gomp__created(struct call *call, uint32_t site_kind);
/* Between these the body runs. */
void gomp__begin_body(struct shim_local *local, const struct head *head);
static inline void gomp__end_body(struct shim_local *local)
{
	SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
}

/* Of the taskloop whose call the thread is in, if any: its tasks are all there, and it waits. */
void gomp__taskloop_waits(void);

#endif
