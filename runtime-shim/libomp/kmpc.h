/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OMPT does not report everything. For the rest, some files define entry points of libomp, which clang's code
 * calls. They share this.
 */
#ifndef GRAIND_SHIM_KMPC_H
#define GRAIND_SHIM_KMPC_H

#include "runtime-shim/libomp/ompt.h"

/* The compiler's description of a construct (ident_t). */
struct kmpc_location {
	int32_t reserved, flags, reserved2, reserved3;
	const char *source;
};

enum kmpc_location_flags {
	KMPC_LOCATION_SECTIONS = 0x400,
	KMPC_LOCATION_DISTRIBUTE = 0x800,
};

typedef int32_t (*kmpc_routine)(int32_t thread, void *task);

/* The begin of a task, as the compiler knows it (kmp_task_t). The compiler's own data follows. */
struct kmpc_task {
	void *shareds;
	kmpc_routine routine;
};

struct kmpc_depend {
	uint64_t address, bytes;
	uint8_t flags;
};

/* Our data, between a task and its shareds. Only tasks whose body records its own begin have it. */
struct kmpc_head {
	kmpc_routine routine;
	uint64_t key; /* 0: not created yet */
	uint64_t arg; /* enum ring_task */
};

/*
 * The address that identifies the construct: the return address of the call that passed the body to the
 * runtime. If the program jumped instead of calling, this address is not known, and the body's address is
 * taken.
 */
static inline const void *kmpc__site(const struct binding *to, const void *caller, kmpc_routine body)
{
	return UNLIKELY(to->jumped) && body ? (const char *)(uintptr_t)body + 1 : caller;
}

/* The program's call in which a thread creates a task. */
struct kmpc_call {
	const void *caller;
	struct kmpc_head *head; /* the head of the task that will be created; NULL: it has none */
	uint64_t key;		/* the key that the task got; 0: no task was created */
	uint32_t flags;		/* TASK_AT_ONCE or 0 */
};

/*
 * The state after a task that splits a taskloop has created the last task of its part
 * (kmpc_attached_taskloops.c).
 */
struct kmpc_part {
	uint64_t over;	 /* when the splitting task ended, in ticks; 0: it has not ended */
	uintptr_t frame; /* the frames of the call that runs it are above this address */
	bool at_once;	 /* the splitting task runs inside its creation */
};

/* The taskloop whose tasks the thread is creating. */
struct kmpc_taskloop {
	const void *caller;
	kmpc_routine routine;
	ptrdiff_t lower_at, upper_at; /* where a task holds its bounds once it has begun */
};

struct kmpc_thread {
	struct kmpc_call *call; /* the call that creates a task */
	const void *caller;	/* return address of the program's call that has led into the runtime */
	const void *region;	/* return address of the program's call that begins a region */
	uint64_t
		pending; /* key of a task of a taskloop, until the end of its creation is recorded; 0: none */
	struct kmpc_part part; /* the part that ends with this task */
};
extern __thread struct kmpc_thread kmpc_thread __attribute__((tls_model("initial-exec")));

/*
 * Where the program called the runtime. The runtime says it is `code`; if that is in this library, our own
 * caller is meant.
 */
static inline const void *ompt__site(const void *code)
{
	return UNLIKELY((uintptr_t)code - ompt_tool.own.code < ompt_tool.own.bytes) ? kmpc_thread.caller
										    : code;
}

void kmpc__end_pending(struct shim_local *local);

/* Records that the creation of the pending task has ended. Call it before any other event of the thread. */
static inline void kmpc__settle(struct shim_local *local)
{
	if (LIKELY(!kmpc_thread.pending))
		return;
	kmpc__end_pending(local);
}

/*
 * Whether the body runs inside the creation of its task. Ends the creation of a pending task if that is
 * another task.
 */
bool kmpc__begins_at_once(struct shim_local *local, uint64_t key);

static inline void kmpc__begin_body(struct shim_local *local, uint64_t key)
{
	uint64_t ago = shim__next_key(local) - key;

	if (LIKELY(ago - 1 < SHIM_ARG_MAX))
		SHIM_EVENT(local, SHIM_TASK_BEGIN, 0, ago);
	else
		SHIM_EVENT1(local, SHIM_TASK_BEGIN, 0, 0, key);
}

/* The taskloop whose tasks have this body; NULL: none is known. */
const struct kmpc_taskloop *kmpc__taskloop_of(kmpc_routine routine);
/* The head of a task whose body itself records its begin; NULL: the task has no head. */
struct kmpc_head *kmpc__head_of(const struct kmpc_task *task);

/* Records the dependences of the thread's open creation or wait. */
void kmpc__depends(struct shim_local *local, const struct kmpc_depend *list, int32_t count);
/* A unique number for a region in place of its team's address. It is a multiple of 64. */
uint64_t kmpc__next_team(void);

/*
 * The thread has just got a lock. Records the wait for it if there was one. `began`: when the wait began,
 * in ticks.
 */
void kmpc__got_lock(struct shim_local *local, uint64_t began, uint32_t kind, uint64_t lock,
		    const void *caller, uint32_t site);

#endif
