/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of probe plans, which a worker without privileges makes.
 *
 * Plans of system files (system_file.h) are shared by all users. They are kept in memory and, for runtimes,
 * also in the state directory for later runs of graind. Each other plan belongs to the account (account.h)
 * of the user whose process has mapped the file. It is kept in memory, counts for that account and replaces
 * only plans of that account. If a file could not be planned, that is remembered like a plan, so that the
 * file is not tried again and again.
 *
 * Before the cache hands out a plan, it compares the plan's points with the bytes of the file in which the
 * probes will be set.
 *
 * Any thread may call these functions. No lock is held while a worker works or a file is read. Only threads
 * that want the same plan wait while it is being made.
 */
#ifndef GRAIND_PLAN_CACHE_H
#define GRAIND_PLAN_CACHE_H

#include "daemon/graind/plan/plan_maker.h"

#include <sys/types.h>

struct cached_plan;

/*
 * Also keeps plans below this directory. If this is never called, or the directory cannot be used, plans
 * are kept only in memory.
 */
void plan_cache__open(const char *state_dir);
/* Ends planning: kills workers. Threads that wait for a plan get -ECANCELED. */
void plan_cache__end(void);

struct plan_wish {
	int fd;		  /* of the file */
	const char *name; /* of the file, for messages; must exist as long as the plan is used */
	uid_t user;	  /* the user whose process has mapped the file */
	enum plan_subject subject;
	uint64_t offset; /* file offset of the only wanted body; 0: all bodies */
};

/*
 * Gets a plan. The caller gives it back with plan_cache__put(). Errors are those of probe_plan__create(),
 * and -ENOTSUP: planning the file takes too long, or the file is damaged or being changed; -EBUSY: no
 * worker was free; -EDQUOT: the user's files have used up the user's CPU time; -ECANCELED.
 */
int plan_cache__get(const struct plan_wish *wish, struct cached_plan **out, struct uprobes_error *err);
void plan_cache__put(struct cached_plan *plan); /* accepts NULL */
const struct probe_plan *cached_plan__plan(const struct cached_plan *plan);

#endif
