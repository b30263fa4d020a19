// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/attach/attach_turns.h"

#include <pthread.h>
#include <unistd.h>

/* If a process of a user hangs, it delays the user's other processes for at most this time. */
#define SECONDS 2

static struct {
	pthread_once_t once;
	struct turns turns; /* made once */
} attaching = {.once = PTHREAD_ONCE_INIT};

size_t attach_turns__of_account(long cpus)
{
	return cpus >= 8 ? (size_t)cpus / 4 : 1;
}

static void init(void)
{
	/*
	 * Each account has its own limit, so that accounts wait only for the kernel, and not for each
	 * other.
	 */
	turns__init(&attaching.turns, TURNS_MOST, 1, attach_turns__of_account(sysconf(_SC_NPROCESSORS_ONLN)),
		    SIZE_MAX);
}

void attach_turns__begin(struct attach_turn *turn, uid_t account)
{
	pthread_once(&attaching.once, init);
	turn->has = turns__enter(&attaching.turns, account, &turn->turn, SECONDS, NULL) == 0;
}

void attach_turns__end(struct attach_turn *turn)
{
	if (turn->has)
		turns__leave(&attaching.turns, &turn->turn);
	turn->has = false;
}
