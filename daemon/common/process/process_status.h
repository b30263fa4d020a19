/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of /proc/PID/status of a process or thread. */
#ifndef GRAIND_PROCESS_STATUS_H
#define GRAIND_PROCESS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads the status of thread `tid` of process `pid`. The caller frees it. NULL: the thread has ended, or
 * memory is short.
 */
char *process_status__read(pid_t pid, pid_t tid);

/*
 * Finds the value of a line, from its first character to the end of the line. False: there is no such line.
 */
bool process_status__field(const char *status, const char *name, const char **value, size_t *length);
/* Whether both texts have the line `name` with the same value, or neither has it. */
bool process_status__same(const char *a, const char *b, const char *name);

/*
 * Whether returns are checked against a shadow stack (x86_Thread_features): a return to an address that was
 * only pushed on the stack kills the process.
 */
bool process_status__has_shadow_stack(const char *status);
/*
 * The number of seccomp filters in force (Seccomp_filters, since Linux 5.9; 1 on older kernels); UINT_MAX:
 * strict mode, which allows hardly any system call.
 */
unsigned int process_status__filters(const char *status);

#endif
