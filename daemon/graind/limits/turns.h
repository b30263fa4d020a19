/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns for work that only a few threads may do at a time. They are fair between accounts (account.h): the
 * next turn goes to an account that has none now, and among those to the account whose last turn is longest
 * ago. Nobody waits for more than the turns of the same account and one turn of each other account.
 */
#ifndef GRAIND_TURNS_H
#define GRAIND_TURNS_H

#include "daemon/graind/limits/recent.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TURNS_MOST 64

struct turn {
	uid_t account;
	uint64_t came; /* a sequence number: of the request while it waits, later of the beginning */
	struct turn *next;
};

struct turns {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t most, of_account; /* maximum number of turns at a time, of all accounts and of one account */
	size_t reserved;	 /* turns of `most` that only root and the admin group may have */
	size_t asked_of_account; /* turns that one account may have or wait for */
	size_t count;
	struct turn *going_on, *waiting;
	uint64_t came;
	struct recent recent; /* which accounts had a turn last */
};

/* `most` is at most TURNS_MOST. */
void turns__init(struct turns *turns, size_t most, size_t reserved, size_t of_account,
		 size_t asked_of_account);

/*
 * Waits for a turn, which lasts until turns__leave(). `turn` must not move until then. 0; -EUSERS: the
 * account already has or wants as many turns as it may; -ETIMEDOUT; -ECANCELED if *unwanted has become true
 * (`unwanted` may be NULL). Root's account (0) may use reserved turns.
 */
int turns__enter(struct turns *turns, uid_t account, struct turn *turn, unsigned int seconds,
		 const atomic_bool *unwanted);
void turns__leave(struct turns *turns, struct turn *turn);

#endif
