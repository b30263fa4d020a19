/* SPDX-License-Identifier: BSD-2-Clause */
/* Target regions, on the host for want of a device. */
#ifndef GRAIND_TESTS_TARGET_H
#define GRAIND_TESTS_TARGET_H

#include "expect.h"

/* What a region does, as the task `t` or inside of it. */
typedef void (*target_body)(struct truth *t);

static inline void target__nothing(struct truth *t)
{
	(void)t;
}

static inline void target__as_task(struct truth *t, target_body body)
{
	truth__begin(t);
	expect__spin(5000);
	body(t);
	truth__end(t);
}

static inline void target__inside(struct truth *t, target_body body)
{
	body(t);
}

/* By an address: what is called by its name is compiled for devices, too, which have no thread-local data. */
#define TARGET_PRAGMA(clauses) PRAGMA(omp target firstprivate(t, body, run) clauses)
#define TARGET_RUN(t_, body_, run_, clauses)                                                                 \
	do {                                                                                                 \
		struct truth *t = (t_);                                                                      \
		target_body body = (body_);                                                                  \
		void (*run)(struct truth *, target_body) = (run_);                                           \
		TARGET_PRAGMA(clauses) run(t, body);                                                         \
		truth__created();                                                                            \
	} while (0)

/* `name`, which is to be there, is what is known of the region as the next task of `in`. */
#define TARGET_TASK(name, in, clauses, body)                                                                 \
	do {                                                                                                 \
		name = truth__task(in, __LINE__);                                                            \
		TARGET_RUN(name, body, target__as_task, clauses);                                            \
	} while (0)

/* clang's code calls a region without nowait as any function: what it does is done by the task around it. */
#ifdef __clang__
#define TARGET(in, clauses, body) TARGET_RUN(in, body, target__inside, clauses)
#else
#define TARGET(in, clauses, body) TARGET_RUN(truth__task(in, __LINE__), body, target__as_task, clauses)
#endif

#endif
