/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which runtime a call is for: a process may have several, each seen by some of
 * its objects only. A call goes where it would have gone without this library.
 */
#ifndef GRAIND_SHIM_RUNTIMES_H
#define GRAIND_SHIM_RUNTIMES_H

#include "runtime-shim/ring.h"

/* What is asked of a runtime; it may lack some. */
enum runtime_question {
	RUNTIME_THREAD_NUMBER,
	RUNTIME_LEVEL,
	RUNTIME_IN_FINAL,
	RUNTIME_THREADS,
	RUNTIME_TEAMS,
	RUNTIME_TEAM_NUMBER,
	RUNTIME_QUESTIONS
};

/* Once known it stays loaded. */
struct runtime {
	const struct runtime *next;
	const void *base;
	uintptr_t low, size; /* its addresses */
	bool recorded; /* it is a libgomp: libomp, which has its entry points, too, is observed otherwise */
	int (*ask[RUNTIME_QUESTIONS])(void);
};

/* Where the calls of one function go that come from one object. Nothing but `generation` changes. */
struct binding {
	struct binding *next;
	uintptr_t low, size; /* the object's addresses */
	uint32_t generation; /* true as long as no object was unloaded since */
	bool recorded;	     /* as the runtime's */
	void *function;
	const struct runtime *runtime;
};

/* Objects may have been unloaded, or another runtime come, when it changes. */
extern uint32_t runtime_generation;
/* Of the region of libgomp whose body the thread runs; NULL: of none. */
extern __thread const struct runtime *runtime_running __attribute__((tls_model("initial-exec")));

/* Aborts with a line when there is no such function. */
const struct binding *runtime__bind_anew(struct binding **bindings, const char *name, const void *caller);

static inline bool runtime__binds(const struct binding *binding, const void *caller)
{
	return (uintptr_t)caller - binding->low < binding->size &&
	       __atomic_load_n(&binding->generation, __ATOMIC_ACQUIRE) ==
		       __atomic_load_n(&runtime_generation, __ATOMIC_RELAXED);
}

/* `bindings`: those of the function of that name, which is called from the code at `caller`. */
static inline const struct binding *runtime__bind(struct binding **bindings, const char *name,
						  const void *caller)
{
	const struct binding *binding = __atomic_load_n(bindings, __ATOMIC_ACQUIRE);

	if (LIKELY(binding && runtime__binds(binding, caller)))
		return binding;
	return runtime__bind_anew(bindings, name, caller);
}

/* As shim__here(), for a call that goes there. */
static inline struct shim_local *runtime__here(const struct binding *binding)
{
	return LIKELY(binding->recorded) ? shim__here() : NULL;
}

static inline unsigned runtime__ask(const struct runtime *runtime, enum runtime_question question)
{
	return runtime->ask[question] ? (unsigned)runtime->ask[question]() : 0;
}

#endif
