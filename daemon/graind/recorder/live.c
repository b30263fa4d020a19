// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/recorder/live.h"
#include "bpf/abi/ring_abi.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define FIRST_ROOM 64
/* If an idle thread has had no event for this long, another thread may replace it. */
#define FORGET_NS UINT64_C(2000000000)

enum doing {
	UNKNOWN, /* no event of the thread was seen yet, or some were lost */
	BUSY,	 /* in a fragment */
	IDLE,	 /* in the runtime */
};

struct thread {
	uint32_t tid; /* 0: a free place */
	uint8_t doing;
	bool preempted; /* it has been preempted since off_ns */
	uint64_t first_ns, last_ns, busy_ns, off_ns;
};

struct live {
	struct thread *threads; /* by tid; open addressing */
	uint32_t room, count, last;
	bool full, seen, scheduled; /* seen: events of threads; scheduled: events of the scheduler */
	bool resumed; /* a window has just begun: threads may have existed before their first event in it */
	uint64_t begin_ns, last_ns; /* of this window; begin 0: nothing yet */
	/* Sums over windows and threads that have ended. */
	uint64_t past_ns, work_ns, preempted_ns, there_ns;
};

int live__new(struct live **out)
{
	struct live *live = calloc(1, sizeof(*live));

	if (live)
		live->threads = calloc(FIRST_ROOM, sizeof(*live->threads));
	if (!live || !live->threads) {
		free(live);
		return -ENOMEM;
	}
	live->room = FIRST_ROOM;
	*out = live;
	return 0;
}

void live__free(struct live *live)
{
	if (live)
		free(live->threads);
	free(live);
}

/* Returns the thread's place, or the free place where it belongs. */
static uint32_t place_of(const struct thread *threads, uint32_t room, uint32_t tid)
{
	uint32_t at = (uint32_t)(tid * UINT32_C(2654435769)) & (room - 1);

	while (threads[at].tid && threads[at].tid != tid)
		at = (at + 1) & (room - 1);
	return at;
}

/* Makes a new table with more room, and leaves out threads that can be forgotten. */
static bool make_room(struct live *live, uint64_t now)
{
	uint32_t kept = 0, room = FIRST_ROOM;
	struct thread *threads;

	for (uint32_t i = 0; i < live->room; i++) {
		struct thread *t = &live->threads[i];

		if (t->tid && t->doing != BUSY && !t->preempted && now > t->last_ns + FORGET_NS) {
			live->there_ns += t->last_ns - t->first_ns;
			t->tid = 0;
		}
		kept += t->tid != 0;
	}
	while (room < 4 * kept)
		room *= 2;
	threads = kept < LIVE_THREADS ? calloc(room, sizeof(*threads)) : NULL;
	if (!threads) {
		live->full = true;
		return false;
	}
	for (uint32_t i = 0; i < live->room; i++)
		if (live->threads[i].tid)
			threads[place_of(threads, room, live->threads[i].tid)] = live->threads[i];
	free(live->threads);
	live->threads = threads;
	live->room = room;
	live->count = kept;
	live->last = 0;
	return true;
}

static struct thread *thread_of(struct live *live, uint32_t tid, uint64_t now)
{
	uint32_t at = live->last;

	if (live->threads[at].tid != tid)
		at = place_of(live->threads, live->room, tid);
	if (!live->threads[at].tid) {
		if (2 * live->count >= live->room && !make_room(live, now))
			return NULL;
		at = place_of(live->threads, live->room, tid);
		live->threads[at] = (struct thread){.tid = tid, .first_ns = now, .last_ns = now};
		live->count++;
	}
	live->last = at;
	return &live->threads[at];
}

/* Returns what the thread does after the event; `was` if the event does not change that. */
static enum doing after(const struct ring_event *event, enum doing was)
{
	switch ((enum ring_kind)event->kind) {
	case RING_TASK_CREATE_END:
	case RING_TASK_BEGIN:
	case RING_UNDEFERRED_BEGIN:
	case RING_UNDEFERRED_END:
	case RING_REGION_END:
	case RING_MEMBER_BEGIN:
	case RING_TASKLOOP_END:
	case RING_CHUNK_BEGIN:
	case RING_LOOP_END:
	case RING_SECTION_BEGIN:
	case RING_SECTIONS_END:
	case RING_SINGLE:
	case RING_SINGLE_END:
	case RING_GROUP_BEGIN:
		return BUSY;
	case RING_TEAM_STARTED:
		return event->arg == RING_TEAMS_OVER ? IDLE : BUSY;
	case RING_WAIT_END:
		/* For a worker, this means that its part in the region has ended. */
		return event->arg == RING_WAIT_REGION_END ? IDLE : BUSY;
	case RING_TASK_CREATE:
	case RING_TASK_END: /* tasks also run while a thread waits */
	case RING_REGION_BEGIN:
	case RING_WAIT_BEGIN:
	case RING_TASKLOOP_BEGIN:
	case RING_CHUNK_NEXT:
	case RING_SECTION_NEXT:
		return IDLE;
	case RING_LOST:
		return UNKNOWN;
	default:
		return was;
	}
}

/* For an event that leaves a thread idle: whether the thread executed nothing before it. */
static bool was_idle(const struct ring_event *event)
{
	return event->kind == RING_WAIT_END || event->kind == RING_TEAM_STARTED;
}

static void schedule(struct live *live, struct thread *t, const struct ring_event *event)
{
	if (t->preempted && event->kind == RING_ON_CPU && event->time_ns > t->off_ns)
		live->preempted_ns += event->time_ns - t->off_ns;
	live->scheduled = true;
	t->preempted = event->kind == RING_OFF_CPU && event->arg == RING_OFF_PREEMPTED;
	t->off_ns = event->time_ns;
}

void live__saw(struct live *live, const struct ring_event *event)
{
	uint64_t now = event->time_ns;
	struct thread *t;
	enum doing doing;

	if (live->full)
		return;
	t = thread_of(live, event->tid, now);
	if (!t)
		return;
	if (!live->begin_ns || now < live->begin_ns)
		live->begin_ns = now;
	if (now > live->last_ns)
		live->last_ns = now;
	if (now > t->last_ns)
		t->last_ns = now;
	if (event->kind == RING_OFF_CPU || event->kind == RING_ON_CPU) {
		schedule(live, t, event);
		return;
	}
	doing = after(event, t->doing);
	if (t->doing == UNKNOWN && doing == IDLE && live->resumed && !was_idle(event)) {
		t->doing = BUSY;
		t->busy_ns = t->first_ns = live->begin_ns;
	}
	live->seen |= doing != t->doing;
	if (t->doing == BUSY && doing != BUSY && now > t->busy_ns)
		live->work_ns += now - t->busy_ns;
	if (t->doing != BUSY && doing == BUSY)
		t->busy_ns = now;
	t->doing = (uint8_t)doing;
}

void live__pause(struct live *live, uint64_t end_ns)
{
	for (uint32_t i = 0; i < live->room; i++) {
		struct thread *t = &live->threads[i];

		if (t->tid && t->doing == BUSY && end_ns > t->busy_ns)
			live->work_ns += end_ns - t->busy_ns;
		if (t->tid)
			live->there_ns += t->last_ns - t->first_ns;
		*t = (struct thread){.tid = 0};
	}
	live->count = 0;
	if (live->begin_ns && end_ns > live->begin_ns)
		live->past_ns += end_ns - live->begin_ns;
	live->begin_ns = live->last_ns = 0;
}

void live__resume(struct live *live, uint64_t begin_ns)
{
	live__pause(live, begin_ns);
	live->begin_ns = begin_ns;
	live->resumed = true;
}

void live__read(const struct live *live, uint64_t now_ns, struct live_measures *out)
{
	uint64_t work = live->work_ns, there = live->there_ns, preempted = live->preempted_ns;
	uint64_t now = now_ns > live->last_ns ? now_ns : live->last_ns;
	uint64_t time = live->past_ns + (live->begin_ns ? now - live->begin_ns : 0);

	for (uint32_t i = 0; i < live->room; i++) {
		const struct thread *t = &live->threads[i];

		if (!t->tid)
			continue;
		there += t->last_ns - t->first_ns;
		if (t->doing == BUSY && now > t->busy_ns)
			work += now - t->busy_ns;
	}
	*out = (struct live_measures){.busy_threads = NAN, .preempted_share = NAN};
	if (live->full)
		return;
	if (time && live->seen)
		out->busy_threads = (double)work / (double)time;
	if (there && live->scheduled)
		out->preempted_share = (double)preempted / (double)there;
}
