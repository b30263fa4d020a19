// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks whether the events of a log make sense together: what is open on each thread, and what may follow
 * it. Makes numbers dense, in the order of first appearance. So a log that is written out and read again is
 * equal.
 */
#include "analysis/log/log.h"
#include "analysis/log/log_stack.h"
#include "analysis/base/number_map.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MEMBERS (1u << 20)
/* The longest time from the first event to the last: a year and seven weeks. */
#define MAX_NS (UINT64_C(1) << 55)
/* The most time of all threads together: 146 years. Then sums do not overflow. */
#define MAX_THREAD_NS (UINT64_C(1) << 62)

enum { SEEN_CREATE = 1, SEEN_BEGIN = 2, SEEN_END = 4, SEEN_DISCARD = 8 };
struct log_check {
	struct event_stream *stream;
	const uint32_t *lines;
	struct budget *budget;
	struct number_map thread_of, members;
	struct log_stacks stacks;
	/* Index: the reader's number. Value: the dense number. */
	uint32_t *task_new, *region_new, *loop_new, *taskloop_new;
	uint8_t *task_in_file, *region_in_file;
	/* Index: dense number. */
	uint8_t *task_seen, *region_ended;
	uint32_t task_max, region_max, loop_max, taskloop_max, taskloop_count;
	uint64_t observed_ns; /* sum of the threads' observed times */
};

static int thread_of(struct log_check *c, const struct event *e, struct log_thread **out)
{
	uint32_t index = number_map__get(&c->thread_of, e->tid);

	if (index == GRAIN_NONE) {
		int error = log_stacks__add_thread(&c->stacks, e->tid, &index);

		if (!error)
			error = budget__take(c->budget, 4 * sizeof(struct number_map_slot));
		if (!error)
			error = number_map__put(&c->thread_of, e->tid, index);
		if (error)
			return error;
		c->stacks.threads[index].last_ns = e->time_ns;
	}
	*out = &c->stacks.threads[index];
	return 0;
}

static uint32_t dense(uint32_t *table, uint32_t old, uint32_t *count)
{
	if (table[old] == GRAIN_NONE)
		table[old] = (*count)++;
	return table[old];
}

static void trouble(struct log_check *c, uint32_t task, unsigned bit)
{
	if (task != GRAIN_NONE)
		c->stream->task_trouble[task] |= (uint8_t)bit;
}

/* Returns the kind of event that opens what this event ends. EVENT_KIND_MAX: it ends nothing. */
static enum event_kind opener(uint8_t kind)
{
	switch (kind) {
	case EVENT_REGION_END:
	case EVENT_MEMBER_END:
	case EVENT_CREATE_END:
	case EVENT_WAIT_END:
	case EVENT_CHUNK_END:
	case EVENT_SECTION_END:
	case EVENT_SINGLE_END:
		return (enum event_kind)(kind - 1);
	case EVENT_TASK_END:
		return EVENT_TASK_BEGIN;
	case EVENT_LOOP_END:
		return EVENT_LOOP_BEGIN;
	case EVENT_SECTIONS_END:
		return EVENT_SECTIONS_BEGIN;
	default:
		return EVENT_KIND_MAX;
	}
}

static const char *closes(struct log_check *c, struct log_thread *t, struct event *e)
{
	const struct log_frame *top = log_stacks__top(&c->stacks, t);
	bool single = e->kind == EVENT_SINGLE_END, wait = e->kind == EVENT_WAIT_END;

	if (!top || top->kind != opener(e->kind) || (!single && !wait && top->id != e->id) ||
	    (wait && top->sub != e->sub) || (e->kind == EVENT_MEMBER_END && top->value != e->value))
		return "is not the end of what is open on its thread";
	if (single)
		e->value = top->value;
	log_stacks__pop(&c->stacks, t);
	return NULL;
}

/* Whether an event that starts something may stand here. */
static const char *starts(const struct log_check *c, const struct log_thread *t)
{
	const struct log_frame *top = log_stacks__top(&c->stacks, t);

	if (top && top->kind == EVENT_WAIT_BEGIN)
		return "cannot occur while the thread is inside a wait";
	if (top && top->kind == EVENT_CREATE_BEGIN)
		return "cannot occur while the thread is inside the creation of a task";
	return NULL;
}

static const char *in_loop(const struct log_check *c, const struct log_thread *t, const struct event *e,
			   uint8_t kind)
{
	const struct log_frame *top = log_stacks__top(&c->stacks, t);

	return top && top->kind == kind && top->id == e->id ? NULL
							    : "is not directly inside its loop or sections";
}

/*
 * A task's dependences come with its creation. So those of siblings are in the order of creation and cannot
 * form a cycle.
 */
static const char *depends(const struct log_check *c, const struct log_thread *t, const struct event *e)
{
	const struct log_frame *top = log_stacks__top(&c->stacks, t);

	if (e->id == GRAIN_NONE)
		return top && top->kind == EVENT_WAIT_BEGIN && top->sub == EVENT_WAIT_TASKWAIT_DEPEND
			       ? NULL
			       : "without task= is not inside a taskwait-depend";
	return top && top->kind == EVENT_CREATE_BEGIN && top->id == e->id
		       ? NULL
		       : "is not inside its task's creation";
}

static const char *member_begins(struct log_check *c, const struct event *e, int *error)
{
	struct event_stream *s = c->stream;
	uint64_t key = (uint64_t)e->id << 32 | (uint32_t)e->value;

	if (e->value >= MAX_MEMBERS)
		return "has a member number that no team can have";
	if (e->id == GRAIN_NONE)
		return NULL;
	if (number_map__get(&c->members, key) != GRAIN_NONE)
		return "begins a member that has begun before";
	*error = budget__take(c->budget, 2 * sizeof(struct number_map_slot));
	if (!*error)
		*error = number_map__put(&c->members, key, 0);
	if (e->value + 1 > s->info.threads)
		s->info.threads = (uint32_t)e->value + 1;
	return NULL;
}

/* Whether the event is possible in the task's present state. */
static const char *task_phase(struct log_check *c, struct event *e)
{
	uint8_t *seen = &c->task_seen[e->id];

	switch (e->kind) {
	case EVENT_TASK_SWITCH:
		return (*seen & (SEEN_BEGIN | SEEN_END)) == SEEN_BEGIN
			       ? NULL
			       : "resumes a task that is not between its begin and its end";
	case EVENT_TASK_BOUNDS:
		if (*seen != SEEN_CREATE)
			return "is not between the task's creation and its begin";
		if (e->src != GRAIN_NONE)
			e->src = dense(c->taskloop_new, e->src, &c->taskloop_count);
		return NULL;
	case EVENT_TASK_DISCARD:
		if (*seen != SEEN_CREATE)
			return "discards a task that is not between its creation and its begin";
		*seen |= SEEN_DISCARD;
		return NULL;
	default:
		return NULL;
	}
}

static void count_lost(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static const char *region_begins(struct log_check *c, struct event *e)
{
	struct event_stream *s = c->stream;

	if (c->region_new[e->id] != GRAIN_NONE)
		return "begins a region that has begun before";
	if (e->value > MAX_MEMBERS)
		return "has more threads than a team can have";
	e->id = dense(c->region_new, e->id, &s->region_count);
	s->region_trouble[e->id] |= (uint8_t)e->extra & ~EVENT_TROUBLE_NO_BEGIN;
	e->extra = 0;
	if (e->value > s->info.threads)
		s->info.threads = (uint32_t)e->value;
	return NULL;
}

/* The creation or the begin of a task. Each may happen once, in this order. */
static const char *task_appears(struct log_check *c, struct event *e)
{
	bool begins = e->kind == EVENT_TASK_BEGIN;
	uint8_t *seen;

	if (begins && c->task_in_file[e->id] && c->task_new[e->id] == GRAIN_NONE)
		return "begins a task before it is created";
	e->id = dense(c->task_new, e->id, &c->stream->task_count);
	seen = &c->task_seen[e->id];
	if (*seen & SEEN_DISCARD)
		return "begins a task that was discarded";
	if (*seen & (begins ? SEEN_BEGIN : SEEN_CREATE | SEEN_BEGIN))
		return begins ? "begins a task that has begun before"
			      : "creates a task that has been created before";
	c->stream->task_trouble[e->id] |= (uint8_t)e->extra;
	e->extra = 0;
	*seen |= begins ? SEEN_BEGIN : SEEN_CREATE;
	return NULL;
}

/* Replaces the reader's number by the dense one and checks the element's state. */
static const char *number(struct log_check *c, struct event *e)
{
	uint32_t old = e->id;

	switch (e->kind) {
	case EVENT_REGION_BEGIN:
		return region_begins(c, e);
	case EVENT_MEMBER_BEGIN:
	case EVENT_MEMBER_END:
		if (old == GRAIN_NONE || !c->region_in_file[old]) {
			e->id = GRAIN_NONE;
			break;
		}
		/* fall through */
	case EVENT_REGION_END:
		if (c->region_new[old] == GRAIN_NONE)
			return "is of a region that has not begun";
		e->id = c->region_new[old];
		break;
	case EVENT_CREATE_BEGIN:
	case EVENT_TASK_BEGIN:
		return task_appears(c, e);
	case EVENT_DEPEND:
		if (old == GRAIN_NONE)
			return NULL;
		/* fall through */
	case EVENT_CREATE_END:
	case EVENT_TASK_SWITCH:
	case EVENT_TASK_END:
	case EVENT_TASK_SUSPEND:
	case EVENT_TASK_BOUNDS:
	case EVENT_TASK_FULFILL:
	case EVENT_TASK_DISCARD:
		e->id = c->task_new[old];
		if (e->id == GRAIN_NONE)
			return "is of a task that was not seen before";
		return task_phase(c, e);
	case EVENT_LOOP_BEGIN:
	case EVENT_SECTIONS_BEGIN:
		e->id = dense(c->loop_new, old, &c->stream->loop_count);
		break;
	case EVENT_CHUNK_BEGIN:
	case EVENT_CHUNK_END:
	case EVENT_LOOP_END:
	case EVENT_SECTION_BEGIN:
	case EVENT_SECTION_END:
	case EVENT_SECTIONS_END:
		e->id = c->loop_new[old];
		if (e->id == GRAIN_NONE)
			return "is of a loop or sections that has not begun";
		break;
	default:
		break;
	}
	return NULL;
}

/*
 * Opens or ends the event's construct on its thread. Returns what is wrong, or NULL. *error: out of memory.
 */
static const char *in_place(struct log_check *c, struct log_thread *t, struct event *e, int *error)
{
	const char *wrong = NULL;

	switch (e->kind) {
	case EVENT_THREAD_BEGIN:
		if (t->begun)
			return "begins a thread that has begun before";
		t->begun = true;
		return NULL;
	case EVENT_THREAD_END:
		if (log_stacks__top(&c->stacks, t))
			return "ends a thread on which something is open";
		t->begun = false;
		return NULL;
	case EVENT_TASK_SWITCH:
		return log_stacks__resume(&c->stacks, e->id, t);
	case EVENT_LOST:
		if (e->id == EVENT_LOST_SWITCHES)
			count_lost(&c->stream->truth.lost_switches, e->value);
		else
			++*(e->tid ? &t->losses : &c->stacks.losses);
		count_lost(&c->stream->truth.lost, e->value);
		return NULL;
	case EVENT_MEMBER_BEGIN:
		wrong = member_begins(c, e, error);
		break;
	case EVENT_CHUNK_BEGIN:
		wrong = in_loop(c, t, e, EVENT_LOOP_BEGIN);
		break;
	case EVENT_SECTION_BEGIN:
		wrong = in_loop(c, t, e, EVENT_SECTIONS_BEGIN);
		break;
	case EVENT_TASK_BEGIN:
		break;
	case EVENT_TASK_SUSPEND:
		return log_stacks__suspend(&c->stacks, t, e->id);
	case EVENT_DEPEND:
		return depends(c, t, e);
	case EVENT_GROUP_BEGIN:
		return NULL;
	default:
		if (e->kind >= EVENT_LOCK_BEGIN)
			return NULL;
		if (opener(e->kind) == EVENT_KIND_MAX)
			break;
		wrong = closes(c, t, e);
		if (!wrong && e->kind == EVENT_TASK_END)
			c->task_seen[e->id] |= SEEN_END;
		if (!wrong && e->kind == EVENT_REGION_END)
			c->region_ended[e->id] = true;
		return wrong;
	}
	if (!wrong && !*error)
		*error = log_stacks__push(
			&c->stacks, t,
			(struct log_frame){.kind = e->kind, .sub = e->sub, .id = e->id, .value = e->value});
	return wrong;
}

/* Checks one event. Returns what is wrong, or NULL. *error: out of memory. */
static const char *one_event(struct log_check *c, struct event *e, int *error)
{
	struct log_thread *t;
	const char *wrong;

	*error = thread_of(c, e, &t);
	if (*error)
		return NULL;
	if (e->time_ns - c->stream->events[0].time_ns > MAX_NS)
		return "is more than a year after the first event";
	if (e->time_ns - t->last_ns > MAX_THREAD_NS - c->observed_ns)
		return "makes the threads' times more than can be added up";
	/*
	 * This check comes before the event's number counts as seen, because a dropped event must leave no
	 * trace.
	 */
	if (opener(e->kind) == EVENT_KIND_MAX && e->kind < EVENT_LOCK_BEGIN && e->kind != EVENT_TASK_BEGIN &&
	    e->kind != EVENT_TASK_SWITCH && e->kind != EVENT_DEPEND && e->kind != EVENT_THREAD_END) {
		wrong = starts(c, t);
		if (wrong)
			return wrong;
	}
	c->observed_ns += e->time_ns - t->last_ns;
	t->last_ns = e->time_ns;
	t->cpu = e->cpu;
	wrong = number(c, e);
	if (wrong)
		return wrong;
	return in_place(c, t, e, error);
}

/*
 * Whether the thread is a worker that has not left the last barrier of a region that has ended. Then no event
 * is missing.
 */
static bool leaving(const struct log_check *c, const struct log_thread *t, const struct log_frame *wait)
{
	const struct log_frame *member = log_stacks__top(&c->stacks, t);

	return wait->kind == EVENT_WAIT_BEGIN && wait->sub == EVENT_WAIT_BARRIER_IMPLICIT && member &&
	       member->kind == EVENT_MEMBER_BEGIN && member->id != GRAIN_NONE && c->region_ended[member->id];
}

static int close_frame(struct log_check *c, struct log_thread *t, uint64_t time)
{
	struct log_frame f = *log_stacks__top(&c->stacks, t);
	struct event *e = event_stream__push(c->stream, c->budget);

	if (!e)
		return -E2BIG;
	log_stacks__pop(&c->stacks, t);
	e->time_ns = time;
	e->tid = t->tid;
	e->cpu = t->cpu;
	e->id = f.id;
	e->sub = f.sub;
	e->value = f.kind == EVENT_MEMBER_BEGIN || f.kind == EVENT_SINGLE_BEGIN ? f.value : 0;
	e->kind = f.kind == EVENT_TASK_BEGIN	   ? EVENT_TASK_END
		  : f.kind == EVENT_LOOP_BEGIN	   ? EVENT_LOOP_END
		  : f.kind == EVENT_SECTIONS_BEGIN ? EVENT_SECTIONS_END
						   : f.kind + 1;
	if (f.kind == EVENT_TASK_BEGIN) {
		trouble(c, f.id, EVENT_TROUBLE_NO_END);
	} else if (leaving(c, t, &f)) {
		log_stacks__top(&c->stacks, t)->left = true;
	} else if (f.kind == EVENT_WAIT_BEGIN || f.kind == EVENT_CREATE_BEGIN) {
		c->stream->truth.unclosed_waits += f.kind == EVENT_WAIT_BEGIN;
		trouble(c, log_stacks__task(&c->stacks, t), EVENT_TROUBLE_WAIT);
		if (f.kind == EVENT_CREATE_BEGIN)
			trouble(c, f.id, EVENT_TROUBLE_WAIT);
	} else if ((f.kind == EVENT_REGION_BEGIN || f.kind == EVENT_MEMBER_BEGIN) && !f.left &&
		   f.id != GRAIN_NONE) {
		c->stream->region_trouble[f.id] |= EVENT_TROUBLE_NO_END;
	}
	return 0;
}

static int close_all(struct log_check *c)
{
	struct event_stream *s = c->stream;
	uint64_t time = s->count ? s->events[s->count - 1].time_ns : 0;
	int error = 0;

	for (uint32_t i = 0; i < c->stacks.thread_count && !error; i++) {
		struct log_thread *t = &c->stacks.threads[i];
		struct event *e;

		while (log_stacks__top(&c->stacks, t) && !error)
			error = close_frame(c, t, time);
		if (error || !t->begun)
			continue;
		e = event_stream__push(s, c->budget);
		if (!e)
			return -E2BIG;
		e->time_ns = time;
		e->tid = t->tid;
		e->cpu = t->cpu;
		e->kind = EVENT_THREAD_END;
	}
	/* A task that stays suspended has no thread on which it could end. */
	for (uint32_t i = 0; i < s->task_count; i++)
		if ((c->task_seen[i] & (SEEN_BEGIN | SEEN_END)) == SEEN_BEGIN &&
		    log_stacks__is_suspended(&c->stacks, i))
			trouble(c, i, EVENT_TROUBLE_NO_END);
	return error;
}

static void count_trouble(struct log_check *c)
{
	struct event_stream *s = c->stream;

	for (uint32_t i = 0; i < s->task_count; i++) {
		unsigned seen = c->task_seen[i];
		uint8_t *bits = &s->task_trouble[i];

		*bits &= (uint8_t) ~(EVENT_TROUBLE_NO_CREATE | EVENT_TROUBLE_NO_BEGIN);
		*bits |= (seen & SEEN_CREATE ? 0 : EVENT_TROUBLE_NO_CREATE) |
			 (seen & (SEEN_BEGIN | SEEN_DISCARD) ? 0 : EVENT_TROUBLE_NO_BEGIN);
		s->truth.unmatched_begins += (*bits & EVENT_TROUBLE_NO_CREATE) != 0;
		s->truth.never_begun += (*bits & EVENT_TROUBLE_NO_BEGIN) != 0;
		s->truth.never_ended += (*bits & EVENT_TROUBLE_NO_END) != 0;
	}
}

static void *table(uint32_t count, size_t bytes, int fill, struct budget *budget, int *error)
{
	size_t size = ((size_t)count + 1) * bytes;
	void *p;

	if (!*error)
		*error = budget__take(budget, size);
	p = *error ? NULL : malloc(size);
	if (p)
		memset(p, fill, size);
	else if (!*error)
		*error = -ENOMEM;
	return p;
}

static int prepare(struct log_check *c)
{
	struct event_stream *s = c->stream;
	struct budget *b = c->budget;
	int error = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct event *e = &s->events[i];
		uint32_t *max = e->kind <= EVENT_MEMBER_END				      ? &c->region_max
				: e->kind >= EVENT_LOOP_BEGIN && e->kind < EVENT_TASK_SUSPEND ? &c->loop_max
											      : &c->task_max;

		if (e->id != GRAIN_NONE && e->id >= *max)
			*max = e->id + 1;
		if (e->kind == EVENT_TASK_BOUNDS && e->src != GRAIN_NONE && e->src >= c->taskloop_max)
			c->taskloop_max = e->src + 1;
	}
	c->task_new = table(c->task_max, sizeof(uint32_t), 0xff, b, &error);
	c->region_new = table(c->region_max, sizeof(uint32_t), 0xff, b, &error);
	c->loop_new = table(c->loop_max, sizeof(uint32_t), 0xff, b, &error);
	c->taskloop_new = table(c->taskloop_max, sizeof(uint32_t), 0xff, b, &error);
	c->task_in_file = table(c->task_max, 1, 0, b, &error);
	c->region_in_file = table(c->region_max, 1, 0, b, &error);
	c->region_ended = table(c->region_max, 1, 0, b, &error);
	c->task_seen = table(c->task_max, 1, 0, b, &error);
	c->stacks.task_segment = table(c->task_max, sizeof(uint32_t), 0, b, &error);
	s->task_trouble = table(c->task_max, 1, 0, b, &error);
	s->region_trouble = table(c->region_max, 1, 0, b, &error);
	for (size_t i = 0; i < s->count && !error; i++) {
		const struct event *e = &s->events[i];

		if (e->kind == EVENT_CREATE_BEGIN)
			c->task_in_file[e->id] = CAUSE_LATER;
		else if (e->kind == EVENT_REGION_BEGIN)
			c->region_in_file[e->id] = CAUSE_LATER;
	}
	return error;
}

/* Puts the loops into their new order. */
static int reorder_loops(struct log_check *c, uint32_t known)
{
	struct event_stream *s = c->stream;
	struct event_loop *loops;

	if (s->loop_count == 0)
		return 0;
	loops = calloc(s->loop_count, sizeof(*loops));
	if (!loops)
		return -ENOMEM;
	for (uint32_t i = 0; i < known && i < c->loop_max; i++) {
		if (c->loop_new[i] != GRAIN_NONE)
			loops[c->loop_new[i]] = s->loops[i];
	}
	free(s->loops);
	s->loops = loops;
	return 0;
}

int log_check__run(struct event_stream *stream, uint32_t *lines, const char *path, bool keep_going,
		   struct budget *budget, struct grain_error *err)
{
	struct log_check c = {.stream = stream,
			      .lines = lines,
			      .budget = budget,
			      .stacks = {.stream = stream,
					 .budget = budget,
					 .free_frame = GRAIN_NONE,
					 .free_segment = GRAIN_NONE}};
	uint32_t known_loops = stream->loop_count;
	size_t kept = 0;
	int error = prepare(&c);

	stream->loop_count = 0;
	if (!error)
		event_stream__order_causes(stream, lines, c.task_in_file, c.region_in_file);
	for (size_t i = 0; i < stream->count && !error; i++) {
		struct event e = stream->events[i];
		const char *wrong = one_event(&c, &e, &error);

		if (error)
			break;
		if (!wrong) {
			lines[kept] = lines[i];
			stream->events[kept++] = e;
			continue;
		}
		stream->info.damaged = true;
		stream->truth.dropped++;
		if (!keep_going)
			error = load_error(err, -EBADMSG,
					   "%s: line %u: this %s %s; --keep-going analyses the rest", path,
					   lines[i], event_kind__name(e.kind), wrong);
	}
	if (!error) {
		for (size_t i = kept; i < stream->count; i++)
			lines[i] = 0;
		stream->count = kept;
		error = close_all(&c);
	}
	if (!error)
		error = reorder_loops(&c, known_loops);
	if (!error) {
		count_trouble(&c);
		for (size_t i = 0; i < stream->loss_count; i++)
			if (event_loss__is_of_events(&stream->losses[i]))
				count_lost(&stream->truth.lost, stream->losses[i].count);
	}
	log_stacks__free(&c.stacks);
	free(c.task_new);
	free(c.region_new);
	free(c.loop_new);
	free(c.taskloop_new);
	free(c.task_in_file);
	free(c.region_in_file);
	free(c.task_seen);
	free(c.region_ended);
	number_map__free(&c.thread_of);
	number_map__free(&c.members);
	return error;
}
