// SPDX-License-Identifier: BSD-2-Clause
/* Whose turn it is to set probes, and when links are closed: those of pipes stand for them here. */
#include "uprobes/probe/probe_turns.h"
#include "tests/unit/check.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define ANN 1000
#define BOB 1001
#define ANNS 3

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)MS}, NULL);
}

static void spin(uint64_t ns)
{
	const uint64_t until = read_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (read_clock(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* ---- setting ---------------------------------------------------------------- */

static unsigned int begun;

struct setter {
	pthread_t thread;
	uid_t owner;
	pid_t tid;
	unsigned int place; /* in the order of beginning */
};

static void *set(void *argument)
{
	struct setter *setter = argument;
	struct probe_turn turn;

	__atomic_store_n(&setter->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	probe_turns__begin(&turn, setter->owner, false);
	setter->place = ++begun;
	probe_turns__end(&turn);
	return NULL;
}

static bool sleeps(const struct setter *setter)
{
	pid_t tid = __atomic_load_n(&setter->tid, __ATOMIC_ACQUIRE);
	char path[64], state = 0;
	FILE *file;

	if (!tid)
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state == 'S';
}

static void start(struct setter *setter, uid_t owner)
{
	*setter = (struct setter){.owner = owner};
	if (pthread_create(&setter->thread, NULL, set, setter) != 0)
		abort();
	while (!sleeps(setter))
		nap();
}

static void test_order(void)
{
	struct setter anns[ANNS], bob;
	struct probe_turn turn;

	probe_turns__begin(&turn, ANN, false);
	spin(50 * MS);
	probe_turns__end(&turn);
	probe_turns__begin(&turn, 0, false);
	for (int i = 0; i < ANNS; i++)
		start(&anns[i], ANN);
	start(&bob, BOB);
	probe_turns__end(&turn);
	for (int i = 0; i < ANNS; i++)
		pthread_join(anns[i].thread, NULL);
	pthread_join(bob.thread, NULL);
	CHECK(bob.place == 1, "who had less time is before all of who had more: %u", bob.place);
	CHECK(anns[0].place < anns[1].place && anns[1].place < anns[2].place,
	      "and of one user they go in the order in which they came");
}

/* One link after the other: between two of bob's ann, who has had more done, does not come in. */
static void test_one_after_the_other(void)
{
	struct probe_turn turn;
	struct setter ann;
	bool in_time = false, first = false;

	for (int i = 0; i < 100 && !in_time; i++) {
		uint64_t ended;

		probe_turns__begin(&turn, BOB, false);
		start(&ann, ANN);
		probe_turns__end(&turn);
		ended = read_clock(CLOCK_MONOTONIC);
		for (int k = 0; k < 5; k++)
			nap();
		in_time = read_clock(CLOCK_MONOTONIC) - ended < 15 * MS;
		probe_turns__begin(&turn, BOB, false);
		first = !__atomic_load_n(&ann.place, __ATOMIC_ACQUIRE);
		probe_turns__end(&turn);
		pthread_join(ann.thread, NULL);
	}
	CHECK(in_time && first, "who sets one link after the other is not interrupted by who had more done");
	CHECK(ann.place, "who goes on as soon as no more come");
}

static void test_patience(void)
{
	struct probe_turn held, turn;
	uint64_t began = read_clock(CLOCK_MONOTONIC);

	probe_turns__begin(&held, ANN, false);
	probe_turns__begin(&turn, BOB, false);
	CHECK(read_clock(CLOCK_MONOTONIC) - began >= 900 * MS, "one sets at a time");
	CHECK(true, "but nobody waits for ever for one that hangs");
	probe_turns__end(&turn);
	probe_turns__end(&held);
}

/* ---- closing ----------------------------------------------------------------- */

static int link_of(struct probe_link *link)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	*link = (struct probe_link){.fd = ends[1]};
	return ends[0];
}

static bool is_closed(int end, int ms)
{
	return poll(&(struct pollfd){.fd = end, .events = POLLIN}, 1, ms) == 1;
}

static void test_closing(void)
{
	struct probe_closing closing = {.owner = ANN};
	struct probe_link link;
	int ends[40];

	for (int i = 0; i < 40; i++) {
		ends[i] = link_of(&link);
		probe_turns__close(&closing, link, false);
	}
	probe_turns__await(&closing);
	CHECK(closing.left == 0 && closing.urgent_ns == 0, "none is left when it has been awaited");
	for (int i = 0; i < 40; i++) {
		if (!is_closed(ends[i], 0))
			CHECK(false, "link %d is closed", i);
		close(ends[i]);
	}
}

static void test_closing_beside(void)
{
	struct probe_closing anns = {.owner = ANN}, bobs = {.owner = BOB};
	struct probe_link slow, urgent;
	struct probe_turn turn;
	int slow_end, urgent_end;
	uint64_t began;

	probe_turns__begin(&turn, BOB, false);
	slow_end = link_of(&slow);
	urgent_end = link_of(&urgent);
	began = read_clock(CLOCK_MONOTONIC);
	probe_turns__close(&anns, slow, false);
	probe_turns__close(&bobs, urgent, true);
	probe_turns__await(&bobs);
	CHECK(is_closed(urgent_end, 0), "what a program waits for is closed while others set");
	probe_turns__await(&anns);
	CHECK(read_clock(CLOCK_MONOTONIC) - began >= 190 * MS, "what nobody waits for gives way");
	CHECK(is_closed(slow_end, 0), "but not for ever");
	probe_turns__end(&turn);
	close(slow_end);
	close(urgent_end);
}

static void test_pace(void)
{
	CHECK(probe_turns__at_once(0) == 16 && probe_turns__at_once(500000) == 16,
	      "links that take little are closed many at a time");
	CHECK(probe_turns__at_once(4 * MS) == 4, "others fewer");
	CHECK(probe_turns__at_once(16 * MS) == 1 && probe_turns__at_once(UINT64_MAX) == 1,
	      "and one at least");
	CHECK(probe_turns__rest_ns(900000) == 0 && probe_turns__rest_ns(70 * MS) == 70 * MS,
	      "after one that took long there is as long a rest");
}

int main(void)
{
	test_pace();
	test_order();
	test_one_after_the_other();
	test_patience();
	test_closing();
	test_closing_beside();
	CHECK_DONE();
}
