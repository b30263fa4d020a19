/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of settings as text; false where the text is none. */
#ifndef GRAIND_POLICY_VALUES_H
#define GRAIND_POLICY_VALUES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* "20G": powers of 1024. */
bool policy_values__bytes(const char *text, uint64_t *out);
/* "0-3,8": the kernel's way of writing CPUs. */
bool policy_values__cpus(const char *text, cpu_set_t *out);
/* Of a user or group, by number when it is one: accounts may be told by a server that is not up yet. */
bool policy_values__id(bool of_group, const char *name, unsigned int *out);

#endif
