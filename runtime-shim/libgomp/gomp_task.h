/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by gomp_tasks.c and gomp_taskloops.c: the head of a task's block. */
#ifndef GRAIND_SHIM_GOMP_TASK_H
#define GRAIND_SHIM_GOMP_TASK_H

#include "runtime-shim/libgomp/gomp.h"

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

/* Stands before the program's data in a task's block. It is small, because each task has one. */
struct head {
	body_fn body;
	uint64_t key;	  /* 0: not recorded */
	uint32_t payload; /* offset of the program's data from here */
	uint32_t arg;	  /* enum ring_task */
};

/* The data of a creating call for the copy function that the runtime calls. */
struct call {
	uint64_t event; /* the runtime writes the event of a detached task into the first word of the data
			   that it gets */
	struct head head;
	uint32_t head_at; /* offset of the head in a block */
	void *data;
	copy_fn copy;
	long size;
	void *const *depend;
	struct shim_local *local; /* NULL: not recorded */
	const void *caller;
	uint64_t created_at; /* ticks */
	uint64_t ended_at;   /* end of a task that ran at once; 0: at the end of the call */
	bool ran;	     /* the task ran inside the call */
	uint32_t waits;	     /* wait for the dependences of an undeferred task */
	bool plain;	     /* nothing but the creation of the task comes before its begin */
};

_Static_assert(offsetof(struct call, event) == 0, "where the runtime writes it");

/*
 * Lays out a block: head and program's data, aligned as requested and for the head, with `before` bytes
 * before the head and `after` behind it. Returns the block's size.
 */
long gomp__lay_out(struct call *call, size_t before, size_t after, long size, long *align);
/* Fills a block: head and the program's data. */
void gomp__fill(const struct call *call, void *to);
/* Records the creation and puts its key into call->head. */
void gomp__created(struct call *call, uint32_t site_kind);
/* Call these before and after the body. */
void gomp__begin_body(struct shim_local *local, const struct head *head);
static inline void gomp__end_body(struct shim_local *local)
{
	SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
}

/*
 * If the thread is in the call of a taskloop, records that all its tasks are created and that it waits for
 * them.
 */
void gomp__taskloop_waits(void);

#endif
