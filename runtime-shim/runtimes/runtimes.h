/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the runtime that a call is for. A process may have several, each visible only to some of its
 * objects. A call goes where it would have gone without this library.
 */
#ifndef GRAIND_SHIM_RUNTIMES_H
#define GRAIND_SHIM_RUNTIMES_H

#include "runtime-shim/ring/ring.h"

/* Functions of a runtime that are called for information. Some may be missing. */
enum runtime_question {
	RUNTIME_THREAD_NUMBER,
	RUNTIME_LEVEL,
	RUNTIME_IN_FINAL,
	RUNTIME_THREADS,
	RUNTIME_TEAMS,
	RUNTIME_TEAM_NUMBER,
	RUNTIME_DEVICES,
	RUNTIME_QUESTIONS
};

/* A runtime that is known stays loaded. */
struct runtime {
	const struct runtime *next;
	const void *base;
	uintptr_t low, size; /* its addresses */
	bool recorded; /* it is a libgomp; a libomp has the same entry points, but is recorded in another way
			*/
	int (*ask[RUNTIME_QUESTIONS])(void);
};

/*
 * The target of one function's calls from one object, or from one place in the runtime itself. Only
 * `generation` changes.
 */
struct binding {
	struct binding *next;
	uintptr_t low,
		size; /* the object's addresses; for a call that returns to the runtime, the return address */
	uint32_t generation; /* valid as long as no object was unloaded since */
	bool recorded;	     /* same as in the runtime */
	bool internal;	     /* the runtime calls its own function */
	bool jumped; /* the program's last act in a body was a jump, so the return address does not tell who
			called */
	void *function;
	const struct runtime *runtime;
};

/* The state of the calling thread. */
struct runtime_thread {
	const struct runtime
		*running;      /* runtime of the libgomp region whose body the thread runs; NULL: none */
	unsigned open_leagues; /* number of open leagues whose begin this library has seen */
	unsigned open_targets; /* the same for target regions; inside them, libgomp says that the thread is
				  nowhere */
};
extern __thread struct runtime_thread runtime_thread __attribute__((tls_model("initial-exec")));

/* Aborts with a message if there is no such function. */
const struct binding *runtime__bind_anew(struct binding **bindings, const char *name, const void *caller);

static inline bool runtime__binds(const struct binding *binding, const void *caller)
{
	return (uintptr_t)caller - binding->low < binding->size &&
	       __atomic_load_n(&binding->generation, __ATOMIC_ACQUIRE) ==
		       __atomic_load_n(&shim_process.runtime_generation, __ATOMIC_RELAXED);
}

/* `bindings` are those of the function of that name, which the code at `caller` calls. */
static inline const struct binding *runtime__bind(struct binding **bindings, const char *name,
						  const void *caller)
{
	const struct binding *binding = __atomic_load_n(bindings, __ATOMIC_ACQUIRE);

	if (LIKELY(binding && runtime__binds(binding, caller)))
		return binding;
	return runtime__bind_anew(bindings, name, caller);
}

/* Like shim__here(), for a call with this binding. */
static inline struct shim_local *runtime__here(const struct binding *binding)
{
	return LIKELY(binding->recorded) ? shim__here() : NULL;
}

static inline unsigned runtime__ask(const struct runtime *runtime, enum runtime_question question)
{
	return runtime->ask[question] ? (unsigned)runtime->ask[question]() : 0;
}

#endif
