// SPDX-License-Identifier: BSD-2-Clause
/* Where threads wait for tasks or for their team, in a libomp that is recorded only at its entry points. */
#include "runtime-shim/attach/kmpc_attached.h"

/* From enum kmpc_location_flags. */
#define LOCATION_BARRIER_EXPLICIT 0x20
#define LOCATION_BARRIER_IMPLICIT 0x40
/* Up to this many threads, the runtime reduces without a tree. */
#define FEW_THREADS 4

static struct shim_local *begin(const struct binding *to, uint32_t wait, const void *caller, uint32_t site)
{
	struct shim_local *local = libomp__here(to);

	if (local)
		kmpc__settle(local);
	shim__wait_begin(local, wait, caller, site);
	return local;
}

static void end(struct shim_local *local, uint32_t wait)
{
	if (shim__goes_on(local))
		kmpc__settle(local);
	shim__wait_end(local, wait);
}

static uint32_t kind_of(const struct kmpc_location *loc)
{
	return loc && (loc->flags & (LOCATION_BARRIER_EXPLICIT | LOCATION_BARRIER_IMPLICIT)) ==
				       LOCATION_BARRIER_IMPLICIT
		       ? RING_WAIT_BARRIER_IMPLICIT
		       : RING_WAIT_BARRIER;
}

#define WAIT(name, kind, site)                                                                               \
	static void attached_##name(struct kmpc_location *loc, int32_t thread)                               \
	{                                                                                                    \
		uint32_t wait = kind;                                                                        \
		struct shim_local *local;                                                                    \
		REAL(name, void, struct kmpc_location *, int32_t);                                           \
                                                                                                             \
		local = begin(to, wait, CALLER, site);                                                       \
		real_##name(loc, thread);                                                                    \
		end(local, wait);                                                                            \
	}
#define WAIT_AND_TELL(name, kind, site)                                                                      \
	static int32_t attached_##name(struct kmpc_location *loc, int32_t thread)                            \
	{                                                                                                    \
		uint32_t wait = kind;                                                                        \
		struct shim_local *local;                                                                    \
		int32_t result;                                                                              \
		REAL(name, int32_t, struct kmpc_location *, int32_t);                                        \
                                                                                                             \
		local = begin(to, wait, CALLER, site);                                                       \
		result = real_##name(loc, thread);                                                           \
		end(local, wait);                                                                            \
		return result;                                                                               \
	}

WAIT_AND_TELL(__kmpc_omp_taskwait, RING_WAIT_TASKWAIT, SHIM_SITE_TASKWAIT)
WAIT(__kmpc_end_taskgroup, RING_WAIT_TASKGROUP, SHIM_SITE_TASKGROUP)
WAIT(__kmpc_barrier, kind_of(loc), SHIM_SITE_BARRIER)
WAIT_AND_TELL(__kmpc_cancel_barrier, kind_of(loc), SHIM_SITE_BARRIER)
WAIT_AND_TELL(__kmpc_barrier_master, kind_of(loc), SHIM_SITE_BARRIER)
WAIT_AND_TELL(__kmpc_barrier_master_nowait, kind_of(loc), SHIM_SITE_BARRIER)

static void put_group(const struct binding *to, const void *caller)
{
	struct shim_local *local = libomp__here(to);

	if (!local)
		return;
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_GROUP_BEGIN, shim__site(caller, SHIM_SITE_TASKGROUP), 0);
}

static void attached___kmpc_taskgroup(struct kmpc_location *loc, int32_t thread)
{
	REAL(__kmpc_taskgroup, void, struct kmpc_location *, int32_t);

	put_group(to, CALLER);
	real___kmpc_taskgroup(loc, thread);
}

/* A construct with reductions over tasks has a taskgroup, which ends with the construct. */
#define REDUCES_TASKS(name)                                                                                  \
	static void *attached_##name(struct kmpc_location *loc, int32_t thread, int32_t shared,              \
				     int32_t count, void *data)                                              \
	{                                                                                                    \
		REAL(name, void *, struct kmpc_location *, int32_t, int32_t, int32_t, void *);               \
                                                                                                             \
		put_group(to, CALLER);                                                                       \
		return real_##name(loc, thread, shared, count, data);                                        \
	}

REDUCES_TASKS(__kmpc_taskred_modifier_init)
REDUCES_TASKS(__kmpc_task_reduction_modifier_init)

static void attached___kmpc_task_reduction_modifier_fini(struct kmpc_location *loc, int32_t thread,
							 int32_t shared)
{
	struct shim_local *local;
	REAL(__kmpc_task_reduction_modifier_fini, void, struct kmpc_location *, int32_t, int32_t);

	local = begin(to, RING_WAIT_TASKGROUP, CALLER, SHIM_SITE_TASKGROUP);
	real___kmpc_task_reduction_modifier_fini(loc, thread, shared);
	end(local, RING_WAIT_TASKGROUP);
}

/* ---- what threads are given of another's --------------------------------- */

typedef void (*copy_fn)(void *to, void *from);

/* The copying call that the thread is in. It has a barrier before the copying and one after it. */
struct copying {
	copy_fn copy;
	struct shim_local *local;
	bool copied;
	struct copying *outer;
};

/* The construct that the thread is in. */
static __thread struct {
	struct copying *copying;
	/*
	 * Whether the runtime's threads wait at the end of this reduction. Threads of a tree have already
	 * waited.
	 */
	bool in_tree;
} inside __attribute__((tls_model("initial-exec")));

static void copy_private(void *to, void *from)
{
	struct copying *call = inside.copying;

	end(call->local, RING_WAIT_BARRIER_IMPLICIT);
	call->copied = true;
	call->copy(to, from);
	shim__wait_begin(call->local, RING_WAIT_BARRIER_IMPLICIT, NULL, SHIM_SITE_BARRIER);
}

static void attached___kmpc_copyprivate(struct kmpc_location *loc, int32_t thread, size_t size, void *data,
					copy_fn copy, int32_t has)
{
	struct copying call = {.copy = copy, .outer = inside.copying};
	REAL(__kmpc_copyprivate, void, struct kmpc_location *, int32_t, size_t, void *, copy_fn, int32_t);

	call.local = begin(to, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	inside.copying = &call;
	real___kmpc_copyprivate(loc, thread, size, data, copy_private, has);
	inside.copying = call.outer;
	end(call.local, RING_WAIT_BARRIER_IMPLICIT);
	/* The thread that has the data does not know when the others began to copy. */
	if (call.copied)
		return;
	shim__wait_begin(call.local, RING_WAIT_BARRIER_IMPLICIT, NULL, SHIM_SITE_BARRIER);
	shim__wait_end(call.local, RING_WAIT_BARRIER_IMPLICIT);
}

static void *attached___kmpc_copyprivate_light(struct kmpc_location *loc, int32_t thread, void *data)
{
	struct shim_local *local;
	void *result;
	REAL(__kmpc_copyprivate_light, void *, struct kmpc_location *, int32_t, void *);

	local = begin(to, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	result = real___kmpc_copyprivate_light(loc, thread, data);
	end(local, RING_WAIT_BARRIER_IMPLICIT);
	return result;
}

/* ---- reductions --------------------------------------------------------- */

/*
 * A team's threads reduce along a tree, in a barrier, if there are many threads and a function for that.
 * Otherwise they reduce one after another, with a lock or atomically.
 */
static bool is_tree(const struct binding *to, const void *data, const void *reduce)
{
	return data && reduce && runtime__ask(to->runtime, RUNTIME_THREADS) > FEW_THREADS;
}

#define REDUCE(name)                                                                                         \
	static int32_t attached_##name(struct kmpc_location *loc, int32_t thread, int32_t count,             \
				       size_t size, void *data, void *reduce, void *lock)                    \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		uint64_t began;                                                                              \
		int32_t result;                                                                              \
		bool tree;                                                                                   \
		REAL(name, int32_t, struct kmpc_location *, int32_t, int32_t, size_t, void *, void *,        \
		     void *);                                                                                \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		if (!local)                                                                                  \
			return real_##name(loc, thread, count, size, data, reduce, lock);                    \
		tree = is_tree(to, data, reduce);                                                            \
		if (tree)                                                                                    \
			begin(to, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);                    \
		began = shim__ticks();                                                                       \
		result = real_##name(loc, thread, count, size, data, reduce, lock);                          \
		inside.in_tree = tree;                                                                       \
		if (tree)                                                                                    \
			end(local, RING_WAIT_BARRIER_IMPLICIT);                                              \
		else if (result == 1)                                                                        \
			kmpc__got_lock(local, began, RING_LOCK_CRITICAL, (uint64_t)(uintptr_t)lock, CALLER,  \
				       SHIM_SITE_CRITICAL);                                                  \
		return result;                                                                               \
	}

REDUCE(__kmpc_reduce)
REDUCE(__kmpc_reduce_nowait)

static void attached___kmpc_end_reduce(struct kmpc_location *loc, int32_t thread, void *lock)
{
	struct shim_local *local;
	REAL(__kmpc_end_reduce, void, struct kmpc_location *, int32_t, void *);

	local = inside.in_tree ? NULL : begin(to, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	real___kmpc_end_reduce(loc, thread, lock);
	end(local, RING_WAIT_BARRIER_IMPLICIT);
}

const struct kmpc_entry kmpc_attached_waits[] = {
	KMPC_ENTRY(__kmpc_omp_taskwait),
	KMPC_ENTRY(__kmpc_taskgroup),
	KMPC_ENTRY(__kmpc_end_taskgroup),
	KMPC_ENTRY(__kmpc_barrier),
	KMPC_ENTRY(__kmpc_cancel_barrier),
	KMPC_ENTRY(__kmpc_barrier_master),
	KMPC_ENTRY(__kmpc_barrier_master_nowait),
	KMPC_ENTRY(__kmpc_taskred_modifier_init),
	KMPC_ENTRY(__kmpc_task_reduction_modifier_init),
	KMPC_ENTRY(__kmpc_task_reduction_modifier_fini),
	KMPC_ENTRY(__kmpc_copyprivate),
	KMPC_ENTRY(__kmpc_copyprivate_light),
	KMPC_ENTRY(__kmpc_reduce),
	KMPC_ENTRY(__kmpc_reduce_nowait),
	KMPC_ENTRY(__kmpc_end_reduce),
	{NULL, NULL},
};
