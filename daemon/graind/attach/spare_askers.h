/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides who has the capture that is loaded in advance (spare_capture.h), and when the next one is loaded,
 * so that one user's jobs do not slow what others begin. Pure; the caller holds a lock.
 */
#ifndef GRAIND_SPARE_ASKERS_H
#define GRAIND_SPARE_ASKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For this time an account that asked is expected to ask again. */
#define SPARE_ASKERS_EXPECTED_NS UINT64_C(10000000000)

/* If all fields are zero, nobody has asked yet. */
struct spare_askers {
	bool taken;	    /* whether somebody has taken a capture */
	uid_t taker;	    /* the last account (account.h) that took one */
	uint64_t others_ns; /* when another account than the taker asked last; 0: never */
	uint64_t missed_ns; /* when an account may have had a capture and found none; 0: never */
};

/* If several accounts ask, none has two captures one after the other. */
bool spare_askers__may_take(const struct spare_askers *askers, uid_t account, uint64_t now_ns);
/* Notes that an account that may take one asked, and whether there was one. */
void spare_askers__note(struct spare_askers *askers, uid_t account, bool takes, uint64_t now_ns);
/* Whether the next capture is loaded although jobs run: some job has just found none. */
bool spare_askers__more_come(const struct spare_askers *askers, uint64_t now_ns);

#endif
