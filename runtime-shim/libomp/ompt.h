/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files that record a libomp through OMPT (OpenMP 5.0). Declares the parts of OMPT that are
 * used. What OMPT does not report is recorded at libomp's entry points (kmpc_*.c). The state of a task or
 * region is kept in OMPT's data word for the tool. libomp requires the word of an implicit task to stay 0.
 */
#ifndef GRAIND_SHIM_OMPT_H
#define GRAIND_SHIM_OMPT_H

#include "runtime-shim/runtimes/interposed.h"
#include "runtime-shim/runtimes/libomp_recording.h"

union ompt_data {
	uint64_t value;
	void *pointer;
};

struct ompt_frame {
	union ompt_data exit_frame, enter_frame;
	int exit_flags, enter_flags;
};

struct ompt_dependence {
	union ompt_data variable;
	int kind; /* enum ompt_dependence_kind */
};

enum ompt_dependence_kind {
	OMPT_DEPEND_IN = 1,
	OMPT_DEPEND_OUT = 2,
	OMPT_DEPEND_INOUT = 3,
	OMPT_DEPEND_MUTEXINOUTSET = 4,
	OMPT_DEPEND_INOUTSET = 7,
	OMPT_DEPEND_OUT_ALL = 34,
	OMPT_DEPEND_INOUT_ALL = 35,
};

enum ompt_callback {
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_SYNC_REGION_WAIT = 16,
	OMPT_DEPENDENCES = 18,
	OMPT_SYNC_REGION = 23,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27,
};

enum ompt_endpoint { OMPT_BEGIN = 1, OMPT_END = 2 };

enum ompt_sync {
	OMPT_SYNC_BARRIER_EXPLICIT = 3,
	OMPT_SYNC_BARRIER_IMPLEMENTATION = 4,
	OMPT_SYNC_TASKWAIT = 5,
	OMPT_SYNC_TASKGROUP = 6,
};

enum ompt_mutex {
	OMPT_MUTEX_LOCK = 1,
	OMPT_MUTEX_NEST_LOCK = 3,
	OMPT_MUTEX_CRITICAL = 5,
	OMPT_MUTEX_ATOMIC = 6,
	OMPT_MUTEX_ORDERED = 7,
};

enum ompt_task_flags {
	OMPT_TASK_INITIAL = 1,
	OMPT_TASK_TARGET = 8,
	OMPT_TASK_TASKWAIT = 16, /* stands for the dependences of a wait */
	OMPT_TASK_UNTIED = 0x10000000,
	OMPT_TASK_FINAL = 0x20000000,
	OMPT_TASK_MERGEABLE = 0x40000000,
	OMPT_TASK_NOT_PLAIN = OMPT_TASK_INITIAL | OMPT_TASK_TARGET | OMPT_TASK_TASKWAIT | OMPT_TASK_UNTIED |
			      OMPT_TASK_FINAL | OMPT_TASK_MERGEABLE,
};

enum ompt_task_status {
	OMPT_TASK_COMPLETE = 1,
	OMPT_TASK_YIELD = 2,
	OMPT_TASK_CANCEL = 3,
	OMPT_TASK_DETACH = 4,
	OMPT_TASK_EARLY_FULFILL = 5,
	OMPT_TASK_LATE_FULFILL = 6,
	OMPT_TASK_SWITCH = 7,
};

#define OMPT_PARALLEL_LEAGUE 0x40000000u
#define OMPT_PARALLEL_TEAM 0x80000000u

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback)(int callback, ompt_function function);
typedef int (*ompt_get_task_info)(int ancestor, int *flags, union ompt_data **task, struct ompt_frame **frame,
				  union ompt_data **parallel, int *thread);

struct ompt_start_tool_result {
	int (*initialize)(ompt_lookup lookup, int device, union ompt_data *tool);
	void (*finalize)(union ompt_data *tool);
	union ompt_data tool;
};

/* OMPT keeps a word for us with each task: the task's key, and these bits */
#define TASK_BEGUN 1u	  /* its body has begun */
#define TASK_BY_ITSELF 2u /* its body records its own begin (kmpc_tasks.c) */
#define TASK_AT_ONCE 4u	  /* the call that creates it runs it */
#define TASK_KEY_SHIFT 3

/* OMPT also keeps a word with each region: its team, which is a multiple of 64, and these bits */
#define REGION_WAITS 1u /* its member 0 is in the wait that ends it */
#define REGION_IS_LEAGUE 2u
#define REGION_IS_OF_TEAM 4u  /* the runtime's own region for a team of a league: it is not recorded */
#define REGION_IS_HELPERS 16u /* the runtime's own region of threads for `target nowait`: not recorded */
#define REGION_IS_ALONE 8u    /* it has one thread: nobody waits at its end */

/*
 * Reads such a word. Atomic, because all threads of a region read it while its member 0 may set bits in it.
 */
static inline uint64_t ompt__word(const union ompt_data *data)
{
	return __atomic_load_n(&data->value, __ATOMIC_RELAXED);
}

static inline void ompt__keep(union ompt_data *data, uint64_t word)
{
	__atomic_store_n(&data->value, word, __ATOMIC_RELAXED);
}

/* The state of this library as the tool of a libomp. */
extern struct ompt_tool {
	ompt_get_task_info task_info; /* the libomp's function, or NULL */
	struct ompt_code {
		uintptr_t code, bytes;
	} own, runtime; /* where the code of this library is, and the code of the libomp */
} ompt_tool;

/* Each of these registers the callbacks of its file. */
void ompt_tasks__set(ompt_set_callback set);
void ompt_teams__set(ompt_set_callback set);
void ompt_locks__set(ompt_set_callback set);

#endif
