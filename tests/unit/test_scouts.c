// SPDX-License-Identifier: BSD-2-Clause
/* Work that is handed to threads and taken back: all of it, once, in order; ends at any moment. */
#include "daemon/graind/scouts.h"
#include "tests/unit/check.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MANY 20000

struct sum {
	struct scout_work work;
	int in, out; /* plain: that they are handed over is what TSan looks at */
	int place;
};

static atomic_int begun;
static int gate = -1;

static void add_one(struct scout_work *work)
{
	struct sum *sum = (struct sum *)work;

	sum->out = sum->in + 1;
	sum->place = atomic_fetch_add(&begun, 1);
}

static void wait_at_gate(struct scout_work *work)
{
	eventfd_t ignored;

	eventfd_read(gate, &ignored);
	add_one(work);
}

static struct sum *await(struct scouts *scouts)
{
	struct pollfd done = {.fd = scouts__fd(scouts), .events = POLLIN};
	struct scout_work *work;

	while (!(work = scouts__take(scouts)))
		if (poll(&done, 1, 20000) <= 0)
			return NULL;
	return (struct sum *)work;
}

static void check_all_come_back(void)
{
	struct sum *sums = calloc(MANY, sizeof(*sums)), *sum;
	struct scouts *scouts;
	int asked = 0, taken = 0, wrong = 0;

	CHECK(scouts__new(8, 0, &scouts) == 0, "eight scouts");
	while (taken < MANY) {
		for (int i = 0; i < 50 && asked < MANY; i++, asked++) {
			sums[asked] =
				(struct sum){.work = {.run = add_one,
						      .turn = asked & 1 ? SCOUT_URGENT : SCOUT_ORDINARY},
					     .in = asked};
			scouts__ask(scouts, &sums[asked].work);
		}
		sum = await(scouts);
		if (!sum)
			break;
		taken++;
		wrong += sum->out != sum->in + 1;
		sum->in = -10; /* a second time would show */
	}
	CHECK(taken == MANY && !wrong, "%d works come back done, each once", MANY);
	CHECK(!scouts__take(scouts), "nothing else comes");
	scouts__free(scouts, NULL);
	free(sums);
}

static void check_order(void)
{
	struct sum first = {.work.run = wait_at_gate}, late[2], urgent[2];
	struct scouts *scouts;
	int taken = 0;

	gate = eventfd(0, EFD_CLOEXEC);
	atomic_store(&begun, 0);
	CHECK(scouts__new(1, 0, &scouts) == 0, "one scout");
	scouts__ask(scouts, &first.work);
	for (int i = 0; i < 2; i++) {
		late[i] = (struct sum){.work.run = add_one};
		scouts__ask(scouts, &late[i].work);
	}
	for (int i = 0; i < 2; i++) {
		urgent[i] = (struct sum){.work = {.run = add_one, .turn = SCOUT_URGENT}};
		scouts__ask(scouts, &urgent[i].work);
	}
	eventfd_write(gate, 1);
	while (taken < 5 && await(scouts))
		taken++;
	/* The one at the gate may have begun before the urgent ones were there, or after. */
	CHECK(taken == 5 && urgent[0].place < urgent[1].place && urgent[1].place < late[0].place &&
		      late[0].place < late[1].place,
	      "what is urgent is done first, else what was asked for first");
	scouts__free(scouts, NULL);
	close(gate);
}

static void check_patient(void)
{
	struct sum patient[3], ordinary[5];
	struct scouts *scouts;
	int taken = 0;

	gate = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	atomic_store(&begun, 0);
	CHECK(scouts__new(1, 2, &scouts) == 0, "one scout and two patient ones");
	for (int i = 0; i < 3; i++) {
		patient[i] = (struct sum){.work = {.run = wait_at_gate, .turn = SCOUT_PATIENT}};
		scouts__ask(scouts, &patient[i].work);
	}
	for (int i = 0; i < 5; i++) {
		ordinary[i] = (struct sum){.work.run = add_one};
		scouts__ask(scouts, &ordinary[i].work);
	}
	while (taken < 5 && await(scouts))
		taken++;
	CHECK(taken == 5 && atomic_load(&begun) == 5, "what waits for others delays nothing else");
	eventfd_write(gate, 3);
	while (taken < 8 && await(scouts))
		taken++;
	CHECK(taken == 8 && patient[0].out == 1 && patient[1].out == 1 && patient[2].out == 1,
	      "and comes back in the end");
	scouts__free(scouts, NULL);
	close(gate);
}

static int dropped;

static void drop(struct scout_work *work)
{
	(void)work;
	dropped++;
}

static void check_end(void)
{
	struct sum sums[10] = {0};
	struct scouts *scouts;

	gate = eventfd(0, EFD_CLOEXEC);
	CHECK(scouts__new(2, 1, &scouts) == 0, "two scouts and one");
	for (int i = 0; i < 10; i++) {
		sums[i] = (struct sum){.work = {.run = i < 2 ? wait_at_gate : add_one,
						.turn = i > 7 ? SCOUT_PATIENT : SCOUT_ORDINARY},
				       .in = 1};
		scouts__ask(scouts, &sums[i].work);
	}
	eventfd_write(gate, 1);
	eventfd_write(gate, 1);
	scouts__free(scouts, drop);
	CHECK(dropped == 10, "what was not taken is dropped at the end, done or not");
	scouts__free(NULL, drop);
	close(gate);
}

int main(void)
{
	check_all_come_back();
	check_order();
	check_patient();
	check_end();
	CHECK_DONE();
}
