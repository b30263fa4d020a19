// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/drain/event_buffer.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The period must be shorter than 60 ms: at a million events a second, a ring of 65536 slots fills in that
 * time.
 */
#define PERIOD_MS 10
/*
 * With few events the period is longer, because waking up costs more than the events do. The job's own naps
 * (tree.c) are not longer than this.
 */
#define QUIET_MS 20
#define FEW 1000
#define MS_NS UINT64_C(1000000)
/*
 * The buffer always keeps memory for this many events. Memory for more is freed only after it was not
 * needed for KEPT_NS: the first access to new memory is expensive.
 */
#define KEPT (UINT64_C(1) << 15)
#define KEPT_NS UINT64_C(1000000000)

struct event_buffer {
	struct capture *capture;
	pthread_t thread;
	int end_fd;
	pthread_mutex_t lock; /* guards everything below except the tail; held while events are copied */
	uint64_t filled_ns;
	int period_ms;
	uint64_t large_ns; /* the last time it held more than KEPT events; 0: it has no memory for more */
	/* Event number p is in events[p % slots]. The event's field reserved2 is its CPU. */
	struct ring_event *events;
	uint64_t slots;
	uint64_t head;
	uint64_t tail; /* written by the thread that empties the buffer */
};

static int copy(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct event_buffer *buffer = ctx;
	uint64_t head = buffer->head;

	/*
	 * After -ENOBUFS the events stay in the ring. If the ring gets full, the kernel counts the losses.
	 */
	if (head + count - __atomic_load_n(&buffer->tail, __ATOMIC_ACQUIRE) > buffer->slots)
		return -ENOBUFS;
	for (size_t i = 0; i < count; i++, head++) {
		struct ring_event *event = &buffer->events[head & (buffer->slots - 1)];

		*event = events[i];
		event->reserved2 = cpu;
	}
	__atomic_store_n(&buffer->head, head, __ATOMIC_RELEASE);
	return 0;
}

/* Needs the lock. */
static bool fill(struct event_buffer *buffer)
{
	long got = capture__poll(buffer->capture, copy, buffer);

	buffer->filled_ns = clock__now_ns();
	buffer->period_ms = got >= 0 && got < FEW ? QUIET_MS : PERIOD_MS;
	return got >= 0;
}

static void *fill_on(void *argument)
{
	struct event_buffer *buffer = argument;
	struct pollfd end = {.fd = buffer->end_fd, .events = POLLIN};
	int period_ms = PERIOD_MS;

	pthread_setname_np(pthread_self(), "graind-drain");
	urgency__set(URGENCY_DRAIN);
	while (poll(&end, 1, period_ms) <= 0) {
		pthread_mutex_lock(&buffer->lock);
		if (clock__now_ns() - buffer->filled_ns >= (uint64_t)buffer->period_ms * MS_NS)
			fill(buffer);
		period_ms = buffer->period_ms;
		pthread_mutex_unlock(&buffer->lock);
	}
	return NULL;
}

static size_t bytes_of(const struct event_buffer *buffer)
{
	return buffer->slots * sizeof(struct ring_event);
}

int event_buffer__new(struct capture *capture, uint32_t slots, struct event_buffer **out)
{
	struct event_buffer *buffer = calloc(1, sizeof(*buffer));
	int error = 0;

	if (!buffer)
		return -ENOMEM;
	buffer->capture = capture;
	buffer->slots = slots;
	buffer->period_ms = PERIOD_MS;
	urgency__make_lock(&buffer->lock);
	buffer->events = mmap(NULL, bytes_of(buffer), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	buffer->end_fd = buffer->events == MAP_FAILED ? -1 : eventfd(0, EFD_CLOEXEC);
	if (buffer->end_fd < 0)
		error = -errno;
	else
		error = -pthread_create(&buffer->thread, NULL, fill_on, buffer);
	if (!error) {
		*out = buffer;
		return 0;
	}
	if (buffer->end_fd >= 0)
		close(buffer->end_fd);
	if (buffer->events != MAP_FAILED)
		munmap(buffer->events, bytes_of(buffer));
	pthread_mutex_destroy(&buffer->lock);
	free(buffer);
	return error;
}

void event_buffer__free(struct event_buffer *buffer)
{
	if (!buffer)
		return;
	eventfd_write(buffer->end_fd, 1);
	pthread_join(buffer->thread, NULL);
	close(buffer->end_fd);
	munmap(buffer->events, bytes_of(buffer));
	pthread_mutex_destroy(&buffer->lock);
	free(buffer);
}

/* Goes back to the first slot, so that the buffer uses little memory, and always the same memory. */
static void start_over(struct event_buffer *buffer)
{
	if (buffer->head != buffer->tail)
		return;
	if (buffer->head > KEPT) {
		buffer->large_ns = clock__now_ns();
	} else if (buffer->large_ns && clock__now_ns() - buffer->large_ns > KEPT_NS) {
		madvise(buffer->events, bytes_of(buffer), MADV_DONTNEED);
		buffer->large_ns = 0;
	}
	buffer->head = 0;
	__atomic_store_n(&buffer->tail, 0, __ATOMIC_RELEASE);
}

bool event_buffer__fill(struct event_buffer *buffer)
{
	bool all;

	pthread_mutex_lock(&buffer->lock);
	start_over(buffer);
	all = fill(buffer);
	pthread_mutex_unlock(&buffer->lock);
	return all;
}

long event_buffer__empty(struct event_buffer *buffer, capture_events_fn on_events, void *ctx)
{
	uint64_t head = __atomic_load_n(&buffer->head, __ATOMIC_ACQUIRE), tail = buffer->tail;
	long handed = (long)(head - tail);

	while (tail < head) {
		const struct ring_event *first = &buffer->events[tail & (buffer->slots - 1)];
		size_t run = 1;
		int r;

		while (tail + run < head && (tail + run) & (buffer->slots - 1) &&
		       first[run].reserved2 == first->reserved2)
			run++;
		r = on_events(ctx, first->reserved2, first, run);
		if (r)
			return r;
		tail += run;
		__atomic_store_n(&buffer->tail, tail, __ATOMIC_RELEASE);
	}
	return handed;
}

void event_buffer__look_home(struct event_buffer *buffer, struct drain_home *home)
{
	pthread_mutex_lock(&buffer->lock);
	drain_home__look(home, buffer->capture);
	pthread_mutex_unlock(&buffer->lock);
}
