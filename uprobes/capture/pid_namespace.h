/* SPDX-License-Identifier: BSD-2-Clause */
/* The PID namespace from which the ids come that the kernel reports. */
#ifndef GRAIND_PID_NAMESPACE_H
#define GRAIND_PID_NAMESPACE_H

#include <stdint.h>

/*
 * Returns the inode number of the caller's PID namespace, for the variable pid_namespace of bpf/ids.bpf.h. 0:
 * it is the initial one.
 */
uint32_t pid_namespace__own(void);

#endif
