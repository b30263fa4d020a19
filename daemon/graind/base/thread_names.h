/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of graind's threads, as ps -L and the scheduler's record show them: each begins with "graind-". */
#ifndef GRAIND_THREAD_NAMES_H
#define GRAIND_THREAD_NAMES_H

/* Gives `name` to the threads of this process whose name begins with `prefix`: threads that a library made.
 */
void thread_names__replace(const char *prefix, const char *name);

#endif
