// SPDX-License-Identifier: BSD-2-Clause
/* Work that is handed to threads and taken back: all of it, once, in order; ends at any moment. */
#include "daemon/graind/limits/thread_pool.h"
#include "tests/unit/check.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MANY 20000

struct sum {
	struct pool_work work;
	int in, out; /* plain: that they are handed over is what TSan looks at */
	int place;
	uid_t whose;
};

static atomic_int begun, at_gate;
static int gate = -1;

static void add_one(struct pool_work *work)
{
	struct sum *sum = (struct sum *)work;

	sum->out = sum->in + 1;
	sum->place = atomic_fetch_add(&begun, 1);
}

static void wait_at_gate(struct pool_work *work)
{
	eventfd_t ignored;

	atomic_fetch_add(&at_gate, 1);
	eventfd_read(gate, &ignored);
	add_one(work);
}

static struct sum *await(struct thread_pool *pool)
{
	struct pollfd done = {.fd = thread_pool__fd(pool), .events = POLLIN};
	struct pool_work *work;

	while (!(work = thread_pool__take(pool)))
		if (poll(&done, 1, 20000) <= 0)
			return NULL;
	return (struct sum *)work;
}

static void check_all_come_back(void)
{
	struct sum *sums = calloc(MANY, sizeof(*sums)), *sum;
	struct thread_pool *pool;
	int asked = 0, taken = 0, wrong = 0;

	CHECK(thread_pool__new(8, 0, NULL, &pool) == 0, "eight threads");
	while (taken < MANY) {
		for (int i = 0; i < 50 && asked < MANY; i++, asked++) {
			sums[asked] = (struct sum){.work = {.run = add_one,
							    .turn = asked & 1 ? POOL_URGENT : POOL_ORDINARY},
						   .in = asked};
			thread_pool__ask(pool, &sums[asked].work);
		}
		sum = await(pool);
		if (!sum)
			break;
		taken++;
		wrong += sum->out != sum->in + 1;
		sum->in = -10; /* a second time would show */
	}
	CHECK(taken == MANY && !wrong, "%d works come back done, each once", MANY);
	CHECK(!thread_pool__take(pool), "nothing else comes");
	thread_pool__free(pool, NULL);
	free(sums);
}

static void check_order(void)
{
	struct sum first = {.work.run = wait_at_gate}, late[2], urgent[2];
	struct thread_pool *pool;
	int taken = 0;

	gate = eventfd(0, EFD_CLOEXEC);
	atomic_store(&begun, 0);
	CHECK(thread_pool__new(1, 0, NULL, &pool) == 0, "one threads");
	thread_pool__ask(pool, &first.work);
	for (int i = 0; i < 2; i++) {
		late[i] = (struct sum){.work.run = add_one};
		thread_pool__ask(pool, &late[i].work);
	}
	for (int i = 0; i < 2; i++) {
		urgent[i] = (struct sum){.work = {.run = add_one, .turn = POOL_URGENT}};
		thread_pool__ask(pool, &urgent[i].work);
	}
	eventfd_write(gate, 1);
	while (taken < 5 && await(pool))
		taken++;
	/* The one at the gate may have begun before the urgent ones were there, or after. */
	CHECK(taken == 5 && urgent[0].place < urgent[1].place && urgent[1].place < late[0].place &&
		      late[0].place < late[1].place,
	      "what is urgent is done first, else what was asked for first");
	thread_pool__free(pool, NULL);
	close(gate);
}

static void check_patient(void)
{
	struct sum patient[3], ordinary[5];
	struct thread_pool *pool;
	int taken = 0;

	gate = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	atomic_store(&begun, 0);
	CHECK(thread_pool__new(1, 2, NULL, &pool) == 0, "one threads and two patient ones");
	for (int i = 0; i < 3; i++) {
		patient[i] = (struct sum){.work = {.run = wait_at_gate, .turn = POOL_PATIENT}};
		thread_pool__ask(pool, &patient[i].work);
	}
	for (int i = 0; i < 5; i++) {
		ordinary[i] = (struct sum){.work.run = add_one};
		thread_pool__ask(pool, &ordinary[i].work);
	}
	while (taken < 5 && await(pool))
		taken++;
	CHECK(taken == 5 && atomic_load(&begun) == 5, "what waits for others delays nothing else");
	eventfd_write(gate, 3);
	while (taken < 8 && await(pool))
		taken++;
	CHECK(taken == 8 && patient[0].out == 1 && patient[1].out == 1 && patient[2].out == 1,
	      "and comes back in the end");
	thread_pool__free(pool, NULL);
	close(gate);
}

static uid_t whose(struct pool_work *work)
{
	return ((struct sum *)work)->whose;
}

static void ask_for(struct thread_pool *pool, struct sum *sum, uid_t account,
		    void (*run)(struct pool_work *work), enum pool_turn turn)
{
	*sum = (struct sum){.work = {.run = run, .turn = turn}, .whose = account};
	thread_pool__ask(pool, &sum->work);
}

static int await_at_gate(int count)
{
	for (int i = 0; i < 5000 && atomic_load(&at_gate) < count; i++)
		usleep(1000);
	/* Time for further ones, where they could. */
	usleep(20000);
	return atomic_load(&at_gate);
}

/* One user's processes keep the pool. */
static void check_accounts(enum pool_turn turn)
{
	struct sum greedy[30], late[3], *sum;
	struct thread_pool *pool;
	int taken = 0;

	gate = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	atomic_store(&at_gate, 0);
	CHECK(thread_pool__new(8, 8, whose, &pool) == 0, "eight threads, turn %d", (int)turn);
	for (int i = 0; i < 20; i++)
		ask_for(pool, &greedy[i], 1000, wait_at_gate, turn);
	CHECK(await_at_gate(4) == 4, "one user keeps half of them (%d)", atomic_load(&at_gate));
	ask_for(pool, &late[0], 1001, add_one, turn);
	CHECK(await(pool) == &late[0], "another one's is done meanwhile");
	for (int i = 20; i < 30; i++)
		ask_for(pool, &greedy[i], 1002, wait_at_gate, turn);
	CHECK(await_at_gate(6) == 6, "who comes next keeps half of the rest (%d)", atomic_load(&at_gate));
	ask_for(pool, &late[1], 1001, add_one, turn);
	ask_for(pool, &late[2], 0, add_one, turn);
	sum = await(pool);
	CHECK(sum == &late[1] || sum == &late[2], "that leaves some");
	sum = await(pool);
	CHECK(sum == &late[1] || sum == &late[2], "for all that come");
	eventfd_write(gate, 1);
	CHECK(await(pool) && await_at_gate(7) == 7, "in the place of one that is done the next begins (%d)",
	      atomic_load(&at_gate));
	eventfd_write(gate, 29);
	for (taken = 1; taken < 30 && await(pool); taken++)
		;
	CHECK(taken == 30 && !thread_pool__take(pool), "and all come back (%d)", taken);
	thread_pool__free(pool, NULL);
	close(gate);
}

static void check_round(void)
{
	static const uid_t accounts[] = {5, 5, 5, 6, 6, 7};
	static const int places[] = {1, 4, 6, 2, 5, 3};
	struct sum first, sums[6];
	struct thread_pool *pool;
	int taken = 0, wrong = 0;

	gate = eventfd(0, EFD_CLOEXEC);
	atomic_store(&begun, 0);
	atomic_store(&at_gate, 0);
	CHECK(thread_pool__new(1, 0, whose, &pool) == 0, "one threads");
	ask_for(pool, &first, 9, wait_at_gate, POOL_ORDINARY);
	await_at_gate(1);
	for (int i = 0; i < 6; i++)
		ask_for(pool, &sums[i], accounts[i], add_one, POOL_ORDINARY);
	eventfd_write(gate, 1);
	while (taken < 7 && await(pool))
		taken++;
	for (int i = 0; i < 6; i++)
		wrong += sums[i].place != places[i];
	CHECK(taken == 7 && !wrong, "accounts take turns, and of each what came first is first");
	thread_pool__free(pool, NULL);
	close(gate);
}

static int dropped;

static void drop(struct pool_work *work)
{
	(void)work;
	dropped++;
}

static void check_end(void)
{
	struct sum sums[10] = {0};
	struct thread_pool *pool;

	/* Each write lets one thread through, also if both come before the first thread reads. */
	gate = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	CHECK(thread_pool__new(2, 1, NULL, &pool) == 0, "two threads and one");
	for (int i = 0; i < 10; i++) {
		sums[i] = (struct sum){.work = {.run = i < 2 ? wait_at_gate : add_one,
						.turn = i > 7 ? POOL_PATIENT : POOL_ORDINARY},
				       .in = 1};
		thread_pool__ask(pool, &sums[i].work);
	}
	eventfd_write(gate, 1);
	eventfd_write(gate, 1);
	thread_pool__free(pool, drop);
	CHECK(dropped == 10, "what was not taken is dropped at the end, done or not");
	thread_pool__free(NULL, drop);
	close(gate);
}

int main(void)
{
	check_all_come_back();
	check_order();
	check_patient();
	check_accounts(POOL_ORDINARY);
	check_accounts(POOL_URGENT);
	check_accounts(POOL_PATIENT);
	check_round();
	check_end();
	CHECK_DONE();
}
