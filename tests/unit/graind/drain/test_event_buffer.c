// SPDX-License-Identifier: BSD-2-Clause
/* Events that are moved out of the rings while nobody takes them apart: all of them, in order, to a bound. */
#include "daemon/graind/drain/event_buffer.h"
#include "tests/unit/check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define RUN 1000
#define CPUS 2
#define SLOTS (1u << 20)

/* Rings that have as many events as they are told to, numbered from 0 on each CPU. */
struct capture {
	atomic_ulong put[CPUS];
	unsigned long taken[CPUS];
	atomic_int refused;
};

void drain_home__look(struct drain_home *home, struct capture *capture)
{
	(void)capture;
	home->node = 1;
}

long capture__poll(struct capture *capture, capture_events_fn on_events, void *ctx)
{
	static struct ring_event run[RUN];
	long total = 0;

	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		while (capture->taken[cpu] < atomic_load(&capture->put[cpu])) {
			unsigned long left = atomic_load(&capture->put[cpu]) - capture->taken[cpu];
			size_t count = left < RUN ? left : RUN;
			int r;

			for (size_t i = 0; i < count; i++)
				run[i] = (struct ring_event){.key = capture->taken[cpu] + i, .tid = cpu};
			r = on_events(ctx, cpu, run, count);
			if (r) {
				atomic_fetch_add(&capture->refused, 1);
				return r;
			}
			capture->taken[cpu] += count;
			total += (long)count;
		}
	}
	return total;
}

struct seen {
	unsigned long next[CPUS], wrong;
};

static int look_at(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct seen *seen = ctx;

	for (size_t i = 0; i < count; i++)
		seen->wrong += events[i].tid != cpu || events[i].key != seen->next[cpu]++;
	return 0;
}

static void wait_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void check_moved(struct event_buffer *buffer, struct capture *capture, struct seen *seen)
{
	long got = 0;

	atomic_store(&capture->put[0], 2500);
	atomic_store(&capture->put[1], 10);
	event_buffer__fill(buffer);
	CHECK(event_buffer__empty(buffer, look_at, seen) == 2510 && seen->next[0] == 2500 &&
		      seen->next[1] == 10 && !seen->wrong,
	      "what is in the rings comes out, in the order of each CPU");
	CHECK(event_buffer__empty(buffer, look_at, seen) == 0, "once");
	atomic_fetch_add(&capture->put[1], 5);
	/* Without being asked. */
	for (int i = 0; i < 500 && !(got = event_buffer__empty(buffer, look_at, seen)); i++)
		wait_ms(10);
	CHECK(got == 5 && !seen->wrong, "rings that nobody empties are emptied all the same");
}

static void check_bound(struct event_buffer *buffer, struct capture *capture, struct seen *seen)
{
	unsigned long before = seen->next[0];
	long got;

	atomic_fetch_add(&capture->put[0], SLOTS + 5000);
	event_buffer__fill(buffer);
	CHECK(atomic_load(&capture->refused) > 0, "what finds no room stays in the rings");
	got = event_buffer__empty(buffer, look_at, seen);
	CHECK(got > SLOTS - RUN && got <= SLOTS, "it holds a million events (%ld)", got);
	event_buffer__fill(buffer);
	event_buffer__empty(buffer, look_at, seen);
	CHECK(seen->next[0] == before + SLOTS + 5000 && !seen->wrong, "the rest comes when there is room");
}

/* Many times around, while the other thread fills it, too. */
static void check_both(struct event_buffer *buffer, struct capture *capture, struct seen *seen)
{
	unsigned long want;

	for (int i = 0; i < 300; i++) {
		atomic_fetch_add(&capture->put[i % CPUS], 20000);
		if (i % 3)
			event_buffer__fill(buffer);
		if (i % 7 == 0)
			wait_ms(12);
		event_buffer__empty(buffer, look_at, seen);
	}
	event_buffer__fill(buffer);
	event_buffer__empty(buffer, look_at, seen);
	want = atomic_load(&capture->put[0]) + atomic_load(&capture->put[1]);
	CHECK(seen->next[0] + seen->next[1] == want && !seen->wrong, "both threads together miss none (%lu)",
	      want);
}

int main(void)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	struct drain_home home = {.node = -1};
	struct event_buffer *buffer;
	struct seen seen = {.wrong = 0};

	CHECK(event_buffer__new(capture, EVENT_BUFFER_OF_SESSION, &buffer) == 0, "a buffer");
	check_moved(buffer, capture, &seen);
	check_bound(buffer, capture, &seen);
	check_both(buffer, capture, &seen);
	event_buffer__look_home(buffer, &home);
	CHECK(home.node == 1, "where the events come from is looked at");
	event_buffer__free(buffer);
	event_buffer__free(NULL);
	free(capture);
	CHECK_DONE();
}
