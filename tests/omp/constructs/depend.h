/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks with dependences. */
#ifndef GRAIND_TESTS_DEPEND_H
#define GRAIND_TESTS_DEPEND_H

#include "expect.h"

/* A task of `in`, which is to be there, with these clauses; `name` is what is known of it. */
#define DEPEND(name, clauses)                                                                                \
	do {                                                                                                 \
		name = truth__task(in, __LINE__);                                                            \
		struct truth *t = name;                                                                      \
		TASK_PRAGMA(clauses)                                                                         \
		{                                                                                            \
			truth__begin(t);                                                                     \
			expect__spin(5000);                                                                  \
			truth__end(t);                                                                       \
		}                                                                                            \
		truth__created();                                                                            \
	} while (0)

#endif
