/* SPDX-License-Identifier: BSD-2-Clause */
/* How often a user may ask. All calls may come from any thread. */
#ifndef GRAIND_RATE_H
#define GRAIND_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RATE_PER_SECOND 200
#define RATE_AT_ONCE 400

/* Counts a request; false when it is one too many. */
bool rate__allows(uid_t uid, uint64_t now_ns);

uint64_t rate__now_ns(void);

#endif
