/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses values of settings. False: the text is not a valid value. */
#ifndef GRAIND_POLICY_VALUES_H
#define GRAIND_POLICY_VALUES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* A number of bytes such as "20G". Units are powers of 1024. */
bool policy_values__bytes(const char *text, uint64_t *out);
/* A list of CPUs in the kernel's form: "0-3,8". */
bool policy_values__cpus(const char *text, cpu_set_t *out);
/*
 * The id of a user or group. A number is not looked up: names may come from a server that does not run yet.
 */
bool policy_values__id(bool of_group, const char *name, unsigned int *out);

#endif
