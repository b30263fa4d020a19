/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libomp's entry points (its ABI is what clang's code calls), where OMPT does
 * not say what must be known.
 */
#ifndef GRAIND_SHIM_KMPC_H
#define GRAIND_SHIM_KMPC_H

#include "runtime-shim/ompt.h"

/* What compilers say of a construct. */
struct kmpc_location {
	int32_t reserved, flags, reserved2, reserved3;
	const char *source;
};

enum kmpc_location_flags {
	KMPC_LOCATION_SECTIONS = 0x400,
	KMPC_LOCATION_DISTRIBUTE = 0x800,
};

typedef int32_t (*kmpc_routine)(int32_t thread, void *task);

/* A task as compilers know it; what they keep in it comes after. */
struct kmpc_task {
	void *shareds;
	kmpc_routine routine;
};

struct kmpc_depend {
	uint64_t address, bytes;
	uint8_t flags;
};

/* Between the task and what it shares, of those tasks whose body tells by itself when it runs. */
struct kmpc_head {
	kmpc_routine routine;
	uint64_t key; /* 0: not created yet */
	uint64_t arg; /* enum ring_task */
};

/* The call of the program that a thread is in. */
struct kmpc_call {
	const void *caller;
	struct kmpc_head *head; /* of the task that is about to be created; NULL: it has none */
	uint64_t key;		/* that it got; 0: none was created */
	uint32_t flags;		/* TASK_AT_ONCE or 0 */
};

/* What makes a part of a taskloop's tasks has made the last one (kmpc_alone_taskloops.c). */
struct kmpc_part {
	uint64_t over;	 /* ticks; 0: it has not */
	uintptr_t frame; /* what it runs in is above */
	bool at_once;	 /* it runs inside of its creation */
};

/* A taskloop that the thread is in. */
struct kmpc_taskloop {
	const void *caller;
	kmpc_routine routine;
	ptrdiff_t lower_at, upper_at; /* from the task */
};

struct kmpc_thread {
	struct kmpc_call *call; /* that creates a task */
	const void *caller;	/* of the call of ours that the runtime is in */
	const void *region;	/* of the call that begins one */
	uint64_t pending;	/* task of a taskloop whose creation was told to have begun only; 0: none */
	struct kmpc_part part;	/* that the pending one is the last of */
};
extern __thread struct kmpc_thread kmpc_thread __attribute__((tls_model("initial-exec")));

/* Where in the program it is that the runtime says it was called from. */
static inline const void *ompt__site(const void *code)
{
	return UNLIKELY((uintptr_t)code - ompt_own.code < ompt_own.bytes) ? kmpc_thread.caller : code;
}

/* Keys that are told with the creation. */
#define KMPC_KEY_TOLD (UINT64_C(1) << 60)

/* The runtime was running already when the library came: it tells nothing by itself (kmpc_alone.h). */
extern bool kmpc_alone;

void kmpc__end_pending(struct shim_local *local);

/* NULL: nobody wants to know, or it is the runtime that calls. */
static inline struct shim_local *kmpc__here(const struct binding *to)
{
	const void *base = __atomic_load_n(&ompt_runtime, __ATOMIC_RELAXED);

	if (UNLIKELY(!base || to->runtime->base != base || (uintptr_t)base - to->low < to->size))
		return NULL;
	return shim__here();
}

/* As kmpc__here(), but NULL where OMPT tells. */
static inline struct shim_local *kmpc__here_alone(const struct binding *to)
{
	return UNLIKELY(__atomic_load_n(&kmpc_alone, __ATOMIC_RELAXED)) ? kmpc__here(to) : NULL;
}

/* The creation of a taskloop's task is over when something else happens on its thread. */
static inline void kmpc__settle(struct shim_local *local)
{
	if (LIKELY(!kmpc_thread.pending))
		return;
	kmpc__end_pending(local);
}

/* Whether the body runs inside of the creation; a pending one of another task is over. */
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
/* Of a task whose body tells by itself when it runs; NULL: it does not. */
struct kmpc_head *kmpc__head_of(const struct kmpc_task *task);

/* What the thread's open creation or wait depends on. */
void kmpc__depends(struct shim_local *local, const struct kmpc_depend *list, int32_t count);
/* A number for a region, as an address of a team would be: a multiple of 64. */
uint64_t kmpc__next_team(void);

/* Records a wait for a lock that has just been got, if it was one; `began`: ticks. */
void kmpc__got_lock(struct shim_local *local, uint64_t began, uint32_t kind, uint64_t lock,
		    const void *caller, uint32_t site);

#endif
