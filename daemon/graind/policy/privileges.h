/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_PRIVILEGES_H
#define GRAIND_PRIVILEGES_H

#include <jansson.h>
#include <stddef.h>

/* Checks graind's own capabilities. 0, or -EPERM with one line in `why` that names the missing ones. */
int privileges__check(char *why, size_t size);

/* Returns ["CAP_BPF",...]: the capabilities that graind has and can use. NULL: out of memory. */
json_t *privileges__json(void);

#endif
