/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_PRIVILEGES_H
#define GRAIND_PRIVILEGES_H

#include <jansson.h>
#include <stddef.h>

/* 0, or -EPERM with one line that names the capabilities that this process lacks. */
int privileges__check(char *why, size_t size);

/* ["CAP_BPF",...]: which of those that graind has use for this process has; NULL without memory. */
json_t *privileges__json(void);

#endif
