/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits how often a user may send requests. Each account has an allowance. Requests use it up, and time
 * fills it again. Any thread may call these functions.
 */
#ifndef GRAIND_RATE_H
#define GRAIND_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RATE_PER_SECOND 200
#define RATE_AT_ONCE 400 /* a full allowance */
/* Connections have their own limit, because each connection costs a thread. */
#define RATE_CONNECTIONS_PER_SECOND 50
/*
 * An account asks rarely (rate__is_seldom()) if at most this many requests are missing from its full
 * allowance.
 */
#define RATE_RARE 20
/*
 * This many accounts have their own allowance at a time. If more ask within two seconds, the others share
 * one allowance.
 */
#define RATE_ACCOUNTS 256

/* Each kind has its own allowance. */
enum rate_of { RATE_OF_REQUESTS, RATE_OF_CONNECTIONS, RATE_KINDS };

/* Counts one request of the account (account.h). False: the account has sent too many. */
bool rate__allows(enum rate_of what, uid_t account, uint64_t now_ns);

/* Whether the account has sent few requests lately, so that its request may go first. Counts nothing. */
bool rate__is_seldom(enum rate_of what, uid_t account, uint64_t now_ns);

#endif
