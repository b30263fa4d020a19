/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plans in memory: finished ones, those that are being made, and those that could not be made. Private
 * to plan_cache.c.
 */
#ifndef GRAIND_PLAN_MEMORY_H
#define GRAIND_PLAN_MEMORY_H

#include "daemon/graind/plan/plan_maker.h"
#include "uprobes/runtime/system_file.h"

#include <stdatomic.h>
#include <sys/types.h>

/*
 * How many plans are kept: of system files, of one account's files, and of all accounts' files. If there
 * are more, the account with the most plans loses its least recently used one.
 */
#define PLAN_MEMORY_SHARED 256
#define PLAN_MEMORY_OF_USER 8
#define PLAN_MEMORY_OF_USERS 128
/* The same for plans of static loops. Most of these only say that a file has none. */
#define PLAN_MEMORY_LOOPS_OF_USER 32
#define PLAN_MEMORY_LOOPS_OF_USERS 256

struct plan_key {
	struct file_identity file;
	bool shared;   /* the plan is for all users */
	uid_t account; /* if not shared: the account that owns the plan */
	enum plan_subject subject;
	uint64_t offset;
};

struct cached_plan;

/*
 * Finds a plan. 0: *out is the plan, and the caller is one more user of it. -EINPROGRESS: the caller must
 * make the plan *out and then call plan_memory__made(). If another thread is making the plan, waits for it:
 * -EBUSY after `wait_ms`, -ECANCELED when *unwanted becomes true. Any other error: the plan could not be
 * made, and *err says why.
 */
int plan_memory__find(const struct plan_key *key, unsigned int wait_ms, const atomic_bool *unwanted,
		      struct cached_plan **out, struct uprobes_error *err);
/*
 * Finds plans of runtimes in other files of the same size, which belong to the system or the account: the
 * files may be copies of each other. Returns the number of plans. The caller is one more user of each plan.
 */
#define PLAN_MEMORY_LIKE 8
size_t plan_memory__like(const struct plan_key *key, struct cached_plan *out[PLAN_MEMORY_LIKE]);
/*
 * Reports the result for a plan that the caller had to make after plan_memory__find(): `plan`, which is
 * taken over, or `error` with *err. Threads that wait for the plan get the same result. After an error,
 * threads that ask within `remembered_ns` get it, too. The caller stays a user of the plan.
 */
void plan_memory__made(struct cached_plan *entry, struct probe_plan *plan, int error, uint64_t remembered_ns,
		       const struct uprobes_error *err);
/* Forgets the plan. The next caller must make it again. */
void plan_memory__drop(struct cached_plan *entry);
void plan_memory__put(struct cached_plan *entry);
const struct probe_plan *plan_memory__plan(const struct cached_plan *entry);
/* Makes all waiting threads check whether their plan is still wanted. */
void plan_memory__wake(void);

#endif
