// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/reservoir.h"
#include "daemon/graind/urgency.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* 64 MiB, of which the kernel makes what is used: two seconds of what two busy CPUs write. */
#define SLOTS (UINT64_C(1) << 20)
#define BYTES (SLOTS * sizeof(struct ring_event))
/* A ring of 65536 slots fills in 60 ms at a million events a second. */
#define PERIOD_MS 10
#define PERIOD_NS (PERIOD_MS * UINT64_C(1000000))
/* Memory of more events than that is given back. */
#define KEPT (UINT64_C(1) << 15)

struct reservoir {
	struct capture *capture;
	pthread_t thread;
	int end_fd;
	pthread_mutex_t lock; /* of all that follows but the tail; held for as long as copying takes */
	uint64_t filled_ns;
	struct ring_event *events; /* position p is in slot p % SLOTS, its CPU in reserved2 */
	uint64_t head;
	uint64_t tail; /* of whoever empties it */
};

static int copy(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct reservoir *reservoir = ctx;
	uint64_t head = reservoir->head;

	/* They stay in the ring, and the kernel counts what finds no room there. */
	if (head + count - __atomic_load_n(&reservoir->tail, __ATOMIC_ACQUIRE) > SLOTS)
		return -ENOBUFS;
	for (size_t i = 0; i < count; i++, head++) {
		reservoir->events[head % SLOTS] = events[i];
		reservoir->events[head % SLOTS].reserved2 = cpu;
	}
	__atomic_store_n(&reservoir->head, head, __ATOMIC_RELEASE);
	return 0;
}

/* With the lock held. */
static bool fill(struct reservoir *reservoir)
{
	long got = capture__poll(reservoir->capture, copy, reservoir);

	reservoir->filled_ns = job__now_ns();
	return got >= 0;
}

static void *fill_on(void *argument)
{
	struct reservoir *reservoir = argument;
	struct pollfd end = {.fd = reservoir->end_fd, .events = POLLIN};

	urgency__set(URGENCY_DRAIN);
	while (poll(&end, 1, PERIOD_MS) <= 0) {
		pthread_mutex_lock(&reservoir->lock);
		if (job__now_ns() - reservoir->filled_ns >= PERIOD_NS)
			fill(reservoir);
		pthread_mutex_unlock(&reservoir->lock);
	}
	return NULL;
}

int reservoir__new(struct capture *capture, struct reservoir **out)
{
	struct reservoir *reservoir = calloc(1, sizeof(*reservoir));
	int error = 0;

	if (!reservoir)
		return -ENOMEM;
	reservoir->capture = capture;
	urgency__make_lock(&reservoir->lock);
	reservoir->events =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	reservoir->end_fd = reservoir->events == MAP_FAILED ? -1 : eventfd(0, EFD_CLOEXEC);
	if (reservoir->end_fd < 0)
		error = -errno;
	else
		error = -pthread_create(&reservoir->thread, NULL, fill_on, reservoir);
	if (!error) {
		*out = reservoir;
		return 0;
	}
	if (reservoir->end_fd >= 0)
		close(reservoir->end_fd);
	if (reservoir->events != MAP_FAILED)
		munmap(reservoir->events, BYTES);
	pthread_mutex_destroy(&reservoir->lock);
	free(reservoir);
	return error;
}

void reservoir__free(struct reservoir *reservoir)
{
	if (!reservoir)
		return;
	eventfd_write(reservoir->end_fd, 1);
	pthread_join(reservoir->thread, NULL);
	close(reservoir->end_fd);
	munmap(reservoir->events, BYTES);
	pthread_mutex_destroy(&reservoir->lock);
	free(reservoir);
}

/* So that it uses the same memory again, and little of it. */
static void start_over(struct reservoir *reservoir)
{
	if (reservoir->head != reservoir->tail)
		return;
	if (reservoir->head > KEPT)
		madvise(reservoir->events, BYTES, MADV_DONTNEED);
	reservoir->head = 0;
	__atomic_store_n(&reservoir->tail, 0, __ATOMIC_RELEASE);
}

bool reservoir__fill(struct reservoir *reservoir)
{
	bool all;

	pthread_mutex_lock(&reservoir->lock);
	start_over(reservoir);
	all = fill(reservoir);
	pthread_mutex_unlock(&reservoir->lock);
	return all;
}

long reservoir__empty(struct reservoir *reservoir, capture_events_fn on_events, void *ctx)
{
	uint64_t head = __atomic_load_n(&reservoir->head, __ATOMIC_ACQUIRE), tail = reservoir->tail;
	long handed = (long)(head - tail);

	while (tail < head) {
		const struct ring_event *first = &reservoir->events[tail % SLOTS];
		size_t run = 1;
		int r;

		while (tail + run < head && (tail + run) % SLOTS && first[run].reserved2 == first->reserved2)
			run++;
		r = on_events(ctx, first->reserved2, first, run);
		if (r)
			return r;
		tail += run;
		__atomic_store_n(&reservoir->tail, tail, __ATOMIC_RELEASE);
	}
	return handed;
}

void reservoir__look_home(struct reservoir *reservoir, struct drain_home *home)
{
	pthread_mutex_lock(&reservoir->lock);
	drain_home__look(home, reservoir->capture);
	pthread_mutex_unlock(&reservoir->lock);
}
