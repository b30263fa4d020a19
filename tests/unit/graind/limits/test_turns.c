// SPDX-License-Identifier: BSD-2-Clause
/* Turns of accounts that want as many as they can get. */
#include "daemon/graind/limits/turns.h"
#include "tests/unit/check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define MOST 3
#define ASKERS 12

static struct turns turns;

struct asker {
	pthread_t thread;
	uid_t account;
	struct turn turn;
	int error;
	atomic_bool has;
};

static void *ask(void *argument)
{
	struct asker *asker = argument;

	asker->error = turns__enter(&turns, asker->account, &asker->turn, 30, NULL);
	atomic_store(&asker->has, !asker->error);
	return NULL;
}

static void start(struct asker *asker, uid_t account)
{
	size_t waiting = 0, before = 0;

	*asker = (struct asker){.account = account};
	pthread_mutex_lock(&turns.lock);
	for (const struct turn *turn = turns.waiting; turn; turn = turn->next)
		before++;
	pthread_mutex_unlock(&turns.lock);
	pthread_create(&asker->thread, NULL, ask, asker);
	/* In this order. */
	while (waiting <= before && !atomic_load(&asker->has)) {
		usleep(1000);
		waiting = 0;
		pthread_mutex_lock(&turns.lock);
		for (const struct turn *turn = turns.waiting; turn; turn = turn->next)
			waiting++;
		pthread_mutex_unlock(&turns.lock);
	}
}

/* Which of them has its turn next, once one leaves. */
static struct asker *next_of(struct asker *askers, size_t count)
{
	for (;;) {
		for (size_t i = 0; i < count; i++)
			if (atomic_exchange(&askers[i].has, false))
				return &askers[i];
		usleep(1000);
	}
}

static void leave(struct asker *asker)
{
	pthread_join(asker->thread, NULL);
	turns__leave(&turns, &asker->turn);
}

int main(void)
{
	struct turn first, second, third, roots;
	struct asker askers[ASKERS], *next;
	atomic_bool unwanted = true;

	turns__init(&turns, MOST, 1, 2, SIZE_MAX);
	CHECK(turns__enter(&turns, 1, &first, 0, NULL) == 0 && turns__enter(&turns, 1, &second, 0, NULL) == 0,
	      "a user has two");
	CHECK(turns__enter(&turns, 2, &third, 0, NULL) == -ETIMEDOUT, "the third is kept for root");
	CHECK(turns__enter(&turns, 2, &third, 30, &unwanted) == -ECANCELED, "what is unwanted does not wait");
	CHECK(turns__enter(&turns, 0, &roots, 0, NULL) == 0, "who gets it");
	turns__leave(&turns, &roots);
	/* The first account wants more before others come. */
	for (size_t i = 0; i < 4; i++)
		start(&askers[i], 1);
	start(&askers[4], 2);
	start(&askers[5], 3);
	turns__leave(&turns, &first);
	next = next_of(askers, 6);
	CHECK(next == &askers[4], "who has none is before who has one");
	turns__leave(&turns, &second);
	next = next_of(askers, 6);
	CHECK(next == &askers[5], "so is the other one");
	leave(&askers[4]);
	next = next_of(askers, 4);
	CHECK(next == &askers[0], "then the first goes on, in its order");
	start(&askers[6], 2);
	leave(&askers[5]);
	next = next_of(askers, 7);
	CHECK(next == &askers[6], "which waits again as soon as another one comes");
	leave(&askers[0]);
	CHECK(next_of(askers, 7) == &askers[1], "it is nobody else's turn");
	leave(&askers[6]);
	CHECK(next_of(askers, 7) == &askers[2], "alone it has two");
	leave(&askers[1]);
	CHECK(next_of(askers, 7) == &askers[3], "and more one after the other");
	leave(&askers[2]);
	leave(&askers[3]);

	turns__init(&turns, MOST, 0, 2, 2);
	CHECK(turns__enter(&turns, 1, &first, 0, NULL) == 0 &&
		      turns__enter(&turns, 1, &second, 0, NULL) == 0 &&
		      turns__enter(&turns, 1, &third, 30, NULL) == -EUSERS,
	      "who may not wait is told so at once");
	CHECK(turns__enter(&turns, 2, &third, 0, NULL) == 0, "another one gets what is left");
	CHECK_DONE();
}
