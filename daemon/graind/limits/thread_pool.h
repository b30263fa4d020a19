/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool of threads for slow work of one thread, the asker, which must not wait. The asker hands over work
 * and takes back finished work. The pool's threads use nothing else that belongs to the asker. Accounts
 * (account.h) take turns: the work of one account, even if it blocks, keeps at most as many threads busy as
 * are left for other accounts.
 */
#ifndef GRAIND_THREAD_POOL_H
#define GRAIND_THREAD_POOL_H

#include <sys/types.h>

enum pool_turn {
	POOL_ORDINARY,
	POOL_URGENT,  /* goes before ordinary work */
	POOL_PATIENT, /* may block for long; has its own threads and delays no other work */
};

/*
 * The header of a piece of work. Between thread_pool__ask() and thread_pool__take() the header and
 * everything after it belong to the pool.
 */
struct pool_work {
	void (*run)(struct pool_work *work);
	enum pool_turn turn;
	uid_t account; /* set and used only by the pool's threads, at any time */
	struct pool_work *next;
};

struct thread_pool;

/*
 * Returns the account for which a piece of work counts. A thread of the pool calls it before the work has
 * its turn, because the asker must not wait. Users must not be able to make this call take long.
 */
typedef uid_t (*pool_account_fn)(struct pool_work *work);

/*
 * Starts `threads` threads, and `patient` further threads for POOL_PATIENT. `account_of` NULL: all work
 * counts for root. -ENOMEM, or the error of pthread_create() or eventfd().
 */
int thread_pool__new(unsigned int threads, unsigned int patient, pool_account_fn account_of,
		     struct thread_pool **out);
/* Returns a descriptor that is readable when some work is done. The pool owns it. */
int thread_pool__fd(const struct thread_pool *pool);
/* Hands over `work`. Equally urgent work of one account begins in the order of the calls. */
void thread_pool__ask(struct thread_pool *pool, struct pool_work *work);
/* Returns the next finished work, in the order in which it ended. NULL: none now. */
struct pool_work *thread_pool__take(struct thread_pool *pool);
/*
 * Waits for work that has begun. Calls `drop` for work that has not begun or was not taken back. `drop` may
 * be NULL if the asker keeps track of its work. Accepts NULL.
 */
void thread_pool__free(struct thread_pool *pool, void (*drop)(struct pool_work *work));

#endif
