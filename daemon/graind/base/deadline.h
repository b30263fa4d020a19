/* SPDX-License-Identifier: BSD-2-Clause */
/* Condition variables with a deadline on CLOCK_MONOTONIC, which nobody can set. */
#ifndef GRAIND_DEADLINE_H
#define GRAIND_DEADLINE_H

#include <pthread.h>
#include <stdint.h>

/* Initialises a condition for deadline__await(). */
void deadline__make(pthread_cond_t *changed);
/* Waits with `lock` held, at most until `until_ns`. May return early. UINT64_MAX: no deadline. */
void deadline__await(pthread_cond_t *changed, pthread_mutex_t *lock, uint64_t until_ns);

#endif
