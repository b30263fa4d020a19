/* SPDX-License-Identifier: BSD-2-Clause */
/* In whose numbers the kernel is to tell of processes. */
#ifndef GRAIND_PID_NAMESPACE_H
#define GRAIND_PID_NAMESPACE_H

#include <stdint.h>

/* The caller's PID namespace as pid_namespace of bpf/ids.bpf.h wants it: its inode number, 0: the initial
 * one. */
uint32_t pid_namespace__own(void);

#endif
