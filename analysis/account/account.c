// SPDX-License-Identifier: BSD-2-Clause
/*
 * One pass over the events. It follows what each thread is inside of. From that it knows the thread's slot
 * and what the thread does there.
 */
#include "analysis/account/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum layer_kind {
	LAYER_REGION, /* the thread has begun the region, and is not a member of it at this moment */
	LAYER_MEMBER,
	LAYER_BODY, /* the body of a task or chunk */
	LAYER_CREATE,
	LAYER_LOOP, /* inside a loop, between chunks */
	LAYER_BARRIER,
	LAYER_TASKS,
	LAYER_YIELD,
};

struct layer {
	uint8_t kind;
	uint8_t place; /* kind of the innermost LAYER_REGION or LAYER_MEMBER from this layer outward; another
			  value: none */
	uint32_t id;   /* of LAYER_BODY: the task, or GRAIN_NONE */
	uint32_t region; /* index of its region; GRAIN_NONE: none */
	uint32_t
		serial; /* number of that region; if the place has another number now, the region is closed */
};

struct account_thread {
	struct layer *layers;
	size_t depth, capacity;
	uint32_t tid;
	uint8_t first_kind; /* kind of its first event in a construct */
	bool begun;
	bool present; /* the thread is no worker, has begun, and has not ended */
	bool off, locking;
	bool waits; /* the thread is counted in `no_cpu` */
	uint8_t off_reason;
	uint32_t off_by;
	uint64_t off_since_ns;
};

/* What a suspended task had open when it left its thread. */
struct parked {
	struct layer *layers;
	size_t depth;
};

enum { OUTSIDE, ORPHANS, FIRST_REGION };

struct sweep {
	struct grain_graph *graph;
	const struct event_stream *stream;
	struct account *account;
	struct account_thread *threads;
	struct account_slot *slots; /* per thread */
	size_t thread_count, thread_capacity, slot_capacity;
	struct number_map thread_of;
	uint32_t recent[64]; /* cache of the threads that were found last, by the low bits of the tid */
	struct account_region *regions; /* open regions, and free places between them */
	size_t region_count, region_capacity;
	uint32_t free_region; /* first free place; `part` links to the next one */
	uint32_t *open;	   /* per region of the stream: its index in `regions`; GRAIN_NONE: it is not open */
	uint32_t *members; /* per region of the stream: number of members seen so far */
	uint32_t *offered; /* per task: the region whose threads can begin it; GRAIN_NONE: none */
	uint32_t *part_of; /* per definition: its part; 0: it has no part yet */
	struct parked *parked;
	size_t parked_count, parked_capacity;
	struct number_map parked_of; /* what each suspended task had open */
	uint64_t now_ns;
	double cost_ns;	 /* cost of one event */
	uint32_t serial; /* number of the region that began last */
	uint32_t total, most, parallel_open;
	uint32_t latest; /* the parallel region that began last, if it is still open; else GRAIN_NONE */
	uint32_t no_cpu; /* number of threads without a slot that could run and have no CPU */
	/*
	 * [0]: while no parallel region is open; [1]: while one is. The time that passed, and the sum of all
	 * slots' time.
	 */
	uint64_t passed_ns[2], slots_ns[2];
};

/* ---- threads ------------------------------------------------------------ */

static int thread_of(struct sweep *s, uint32_t tid, uint32_t *out)
{
	uint32_t *recent = &s->recent[tid % (sizeof(s->recent) / sizeof(s->recent[0]))];
	int error;

	*out = *recent;
	if (*out < s->thread_count && s->threads[*out].tid == tid)
		return 0;
	*out = *recent = number_map__get(&s->thread_of, tid);
	if (*out != GRAIN_NONE)
		return 0;
	error = memory__grow(&s->graph->memory, (void **)&s->threads, &s->thread_capacity, s->thread_count,
			     sizeof(*s->threads));
	if (!error)
		error = memory__grow(&s->graph->memory, (void **)&s->slots, &s->slot_capacity,
				     s->thread_count, sizeof(*s->slots));
	if (error)
		return error;
	*out = *recent = (uint32_t)s->thread_count++;
	s->threads[*out] = (struct account_thread){.tid = tid, .first_kind = EVENT_KIND_MAX};
	s->slots[*out] = (struct account_slot){.region = GRAIN_NONE};
	return number_map__put(&s->thread_of, tid, *out);
}

static bool is_construct(uint8_t kind)
{
	return kind >= EVENT_REGION_BEGIN && kind <= EVENT_SINGLE_END;
}

static int survey(struct sweep *s)
{
	for (size_t i = 0; i < s->stream->count; i++) {
		const struct event *e = &s->stream->events[i];
		uint32_t thread;
		int error;

		if (e->kind == EVENT_MEMBER_BEGIN && e->id < s->stream->region_count)
			s->members[e->id]++;
		if (e->tid == 0)
			continue;
		error = thread_of(s, e->tid, &thread);
		if (error)
			return error;
		if (s->threads[thread].first_kind == EVENT_KIND_MAX && is_construct(e->kind))
			s->threads[thread].first_kind = e->kind;
	}
	return 0;
}

/* ---- layers ------------------------------------------------------------- */

/* `region` is for LAYER_REGION and LAYER_MEMBER only. */
static int push(struct sweep *s, struct account_thread *t, enum layer_kind kind, uint32_t id, uint32_t region)
{
	uint8_t place = (uint8_t)kind;
	uint32_t serial;
	int error = 0;

	if (t->depth == t->capacity)
		error = memory__grow(&s->graph->memory, (void **)&t->layers, &t->capacity, t->depth,
				     sizeof(*t->layers));
	if (error)
		return error;
	if (kind <= LAYER_MEMBER) {
		serial = s->regions[region].serial;
	} else {
		place = t->depth ? t->layers[t->depth - 1].place : LAYER_BODY;
		region = t->depth ? t->layers[t->depth - 1].region : GRAIN_NONE;
		serial = t->depth ? t->layers[t->depth - 1].serial : 0;
	}
	t->layers[t->depth++] = (struct layer){
		.kind = (uint8_t)kind, .place = place, .id = id, .region = region, .serial = serial};
	return 0;
}

/* Ends the innermost layer of that kind and all layers inside it. */
static void pop(struct account_thread *t, enum layer_kind kind)
{
	for (size_t i = t->depth; i > 0; i--) {
		if (t->layers[i - 1].kind == kind) {
			t->depth = i - 1;
			return;
		}
	}
}

/*
 * Returns the region that the thread belongs to, as its beginner or as a member; ORPHANS if that region is
 * closed, which happens in files that break the rules of events.
 */
static uint32_t region_of(const struct sweep *s, const struct account_thread *t)
{
	const struct layer *top = t->depth ? &t->layers[t->depth - 1] : NULL;

	if (!top || top->region == GRAIN_NONE)
		return OUTSIDE;
	return s->regions[top->region].serial == top->serial ? top->region : ORPHANS;
}

static bool is_member(const struct account_thread *t)
{
	return t->depth && t->layers[t->depth - 1].place == LAYER_MEMBER;
}

/* The region in which the thread has its slot; GRAIN_NONE: it has none by itself. */
static uint32_t slot_of(const struct sweep *s, const struct account_thread *t)
{
	if (t->depth && t->layers[t->depth - 1].place == LAYER_REGION)
		return GRAIN_NONE;
	return is_member(t) || t->present ? region_of(s, t) : GRAIN_NONE;
}

static int park(struct sweep *s, struct account_thread *t, uint32_t task)
{
	size_t at = t->depth;
	struct parked *p;
	int error;

	while (at > 0 && !(t->layers[at - 1].kind == LAYER_BODY && t->layers[at - 1].id == task))
		at--;
	if (at == 0)
		return 0;
	at--;
	error = memory__grow(&s->graph->memory, (void **)&s->parked, &s->parked_capacity, s->parked_count,
			     sizeof(*s->parked));
	if (error)
		return error;
	p = &s->parked[s->parked_count];
	p->depth = t->depth - at;
	p->layers = malloc(p->depth * sizeof(*p->layers));
	if (!p->layers)
		return -ENOMEM;
	memcpy(p->layers, t->layers + at, p->depth * sizeof(*p->layers));
	t->depth = at;
	return number_map__put(&s->parked_of, task, (uint32_t)s->parked_count++);
}

static int unpark(struct sweep *s, struct account_thread *t, uint32_t task)
{
	uint32_t at = number_map__get(&s->parked_of, task);
	int error = 0;

	if (at == GRAIN_NONE)
		return push(s, t, LAYER_BODY, task, GRAIN_NONE);
	for (size_t i = 0; i < s->parked[at].depth && !error; i++) {
		const struct layer *layer = &s->parked[at].layers[i];

		bool closed =
			layer->kind <= LAYER_MEMBER && s->regions[layer->region].serial != layer->serial;

		error = push(s, t, layer->kind, layer->id, closed ? ORPHANS : layer->region);
	}
	free(s->parked[at].layers);
	s->parked[at].layers = NULL;
	number_map__remove(&s->parked_of, task);
	return error;
}

/* ---- slots -------------------------------------------------------------- */

/* Returns the state of a thread that has something to do: `on` if it has a CPU, else why it has none. */
static enum slot_state busy(const struct sweep *s, const struct account_thread *t, enum slot_state on)
{
	return t->off ? (enum slot_state)account__off_cpu(s->stream, t->off_reason, t->off_by) : on;
}

static enum slot_state state_of(const struct sweep *s, const struct account_thread *t, uint32_t region)
{
	enum grain_cause work = s->regions[region].parallel ? GRAIN_CAUSE_USEFUL : GRAIN_CAUSE_SERIAL_WORK;

	if (t->locking)
		return (enum slot_state)GRAIN_CAUSE_LOCKS;
	switch (t->depth ? t->layers[t->depth - 1].kind : LAYER_BODY) {
	case LAYER_BARRIER:
		return t->off && t->off_reason != EVENT_REASON_BLOCKED ? SLOT_BARRIER_OFF : SLOT_BARRIER;
	case LAYER_TASKS:
		return SLOT_TASKS;
	case LAYER_CREATE:
	case LAYER_LOOP:
	case LAYER_YIELD:
		return busy(s, t, (enum slot_state)GRAIN_CAUSE_MANAGEMENT);
	default:
		return busy(s, t, (enum slot_state)work);
	}
}

/* Updates `no_cpu`: the thread counts if it has no slot, could run and has no CPU. */
static void count_waiting(struct sweep *s, uint32_t thread)
{
	struct account_thread *t = &s->threads[thread];
	bool waits = s->slots[thread].region == GRAIN_NONE && t->off &&
		     t->off_reason != EVENT_REASON_BLOCKED &&
		     !(t->depth && t->layers[t->depth - 1].place == LAYER_REGION);

	if (waits == t->waits)
		return;
	t->waits = waits;
	s->no_cpu += waits ? 1 : -1U;
	if (s->latest != GRAIN_NONE)
		account_region__no_cpu(&s->regions[s->latest], s->no_cpu, s->now_ns);
}

/* Moves the thread's slot to the region and state that its layers imply. */
static void settle(struct sweep *s, uint32_t thread)
{
	struct account_thread *t = &s->threads[thread];
	struct account_slot *slot = &s->slots[thread];
	uint32_t region = slot_of(s, t);
	enum slot_state state = region == GRAIN_NONE ? slot->state : state_of(s, t, region);

	if (region == slot->region) {
		if (region != GRAIN_NONE && state != slot->state)
			account_region__change(&s->regions[region], slot, state, s->now_ns);
		return;
	}
	if (slot->region != GRAIN_NONE) {
		s->total -= slot->region < FIRST_REGION;
		account_region__leave(&s->regions[slot->region], s->slots, thread, s->now_ns);
	}
	if (region != GRAIN_NONE) {
		s->total += region < FIRST_REGION;
		account_region__enter(&s->regions[region], s->slots, thread, region, state, s->now_ns);
	}
}

static void withdraw(struct sweep *s, uint32_t task)
{
	uint32_t region = task < s->stream->task_count ? s->offered[task] : GRAIN_NONE;

	if (region == GRAIN_NONE)
		return;
	s->offered[task] = GRAIN_NONE;
	if (s->regions[region].ready)
		account_region__ready(&s->regions[region], -1, s->now_ns);
}

static void offer(struct sweep *s, const struct account_thread *t, uint32_t task)
{
	uint32_t region = region_of(s, t);

	s->offered[task] = region;
	account_region__ready(&s->regions[region], 1, s->now_ns);
}

/* ---- regions ------------------------------------------------------------ */

static int part_of(struct sweep *s, uint32_t source, uint32_t *out)
{
	struct account *a = s->account;
	uint32_t definition =
		source < s->stream->source_count ? s->graph->definition_of_source[source] : GRAIN_NONE;
	int error;

	*out = definition == GRAIN_NONE ? 1 : s->part_of[definition];
	if (*out)
		return 0;
	error = memory__grow(&s->graph->memory, (void **)&a->parts, &a->part_capacity, a->part_count,
			     sizeof(*a->parts));
	if (error)
		return error;
	*out = s->part_of[definition] = (uint32_t)a->part_count++;
	a->parts[*out] = (struct grain_account_part){.definition = definition};
	return 0;
}

static int new_region(struct sweep *s, uint32_t *out)
{
	int error;

	if (s->free_region != GRAIN_NONE) {
		*out = s->free_region;
		s->free_region = s->regions[*out].part;
	} else {
		error = memory__grow(&s->graph->memory, (void **)&s->regions, &s->region_capacity,
				     s->region_count, sizeof(*s->regions));
		if (error)
			return error;
		*out = (uint32_t)s->region_count++;
	}
	s->regions[*out] = (struct account_region){.id = GRAIN_NONE, .serial = ++s->serial};
	account_region__begin(&s->regions[*out], s->now_ns);
	return 0;
}

static int region_begin(struct sweep *s, uint32_t thread, const struct event *e)
{
	struct account_thread *t = &s->threads[thread];
	uint32_t outer = region_of(s, t), index;
	struct account_region *region;
	uint32_t members;
	int error;

	if (e->id >= s->stream->region_count || s->open[e->id] != GRAIN_NONE)
		return 0;
	members = e->value && e->value <= UINT16_MAX ? (uint32_t)e->value : s->members[e->id];
	error = new_region(s, &index);
	if (error)
		return error;
	error = part_of(s, e->src, &s->regions[index].part);
	if (error)
		return error;
	region = &s->regions[index];
	region->id = e->id;
	region->members = members ? members : 1;
	region->parallel = region->members > 1 || s->regions[outer].parallel;
	region->unknown = s->stream->region_trouble && s->stream->region_trouble[e->id];
	account_region__absent(region, (int)region->members, s->now_ns);
	s->open[e->id] = index;
	s->account->parts[region->part].regions++;
	s->total += region->members;
	if (region->members > 1 && !s->parallel_open)
		error = account_serial__end(&s->account->serial, &s->graph->memory,
					    s->account->parts[region->part].definition, s->passed_ns[0]);
	if (error)
		return error;
	s->parallel_open += region->members > 1;
	if (region->members > 1) {
		s->latest = index;
		account_region__no_cpu(region, s->no_cpu, s->now_ns);
	}
	if (is_member(t)) {
		account_region__works(&s->regions[outer], 1, s->now_ns);
		s->total -= outer >= FIRST_REGION;
	}
	return push(s, t, LAYER_REGION, e->id, index);
}

static void region_end(struct sweep *s, uint32_t thread, uint32_t id)
{
	struct account_thread *t = &s->threads[thread];
	uint32_t index = id < s->stream->region_count ? s->open[id] : GRAIN_NONE;
	struct account_region *region;

	pop(t, LAYER_REGION);
	if (index == GRAIN_NONE)
		return;
	region = &s->regions[index];
	while (region->first != GRAIN_NONE) {
		uint32_t member = region->first;

		account_region__leave(region, s->slots, member, s->now_ns);
		/*
		 * The scheduler decides when the thread leaves the last barrier. For the account it leaves
		 * now.
		 */
		pop(&s->threads[member], LAYER_MEMBER);
	}
	account_region__settle(region, &s->account->parts[region->part], s->now_ns);
	s->total -= region->members;
	s->parallel_open -= region->members > 1;
	if (region->members > 1 && !s->parallel_open)
		account_serial__begin(&s->account->serial, s->account->parts[region->part].definition,
				      s->passed_ns[0]);
	if (s->latest == index)
		s->latest = GRAIN_NONE;
	if (is_member(t)) {
		account_region__works(&s->regions[region_of(s, t)], -1, s->now_ns);
		s->total += region_of(s, t) >= FIRST_REGION;
	}
	s->open[id] = GRAIN_NONE;
	region->serial = 0;
	region->part = s->free_region;
	s->free_region = index;
}

static int member_begin(struct sweep *s, struct account_thread *t, const struct event *e)
{
	uint32_t index = e->id < s->stream->region_count ? s->open[e->id] : ORPHANS;
	struct account_region *region;

	if (index == GRAIN_NONE)
		return 0;
	region = &s->regions[index];
	if (index >= FIRST_REGION && !region->absent) {
		region->members++;
		s->total++;
	} else if (index >= FIRST_REGION) {
		account_region__absent(region, -1, s->now_ns);
	}
	return push(s, t, LAYER_MEMBER, e->id, index);
}

static void member_end(struct sweep *s, struct account_thread *t, const struct event *e)
{
	uint32_t index = e->id < s->stream->region_count ? s->open[e->id] : ORPHANS;

	/* The members ended when the region ended. */
	if (index == GRAIN_NONE)
		return;
	pop(t, LAYER_MEMBER);
	if (index >= FIRST_REGION)
		account_region__absent(&s->regions[index], 1, s->now_ns);
}

/* ---- events ------------------------------------------------------------- */

static int wait_begin(struct sweep *s, struct account_thread *t, uint8_t kind)
{
	switch (kind) {
	case EVENT_WAIT_BARRIER:
	case EVENT_WAIT_BARRIER_IMPLICIT:
		return push(s, t, LAYER_BARRIER, GRAIN_NONE, GRAIN_NONE);
	case EVENT_WAIT_TASKYIELD:
		return push(s, t, LAYER_YIELD, GRAIN_NONE, GRAIN_NONE);
	default:
		return push(s, t, LAYER_TASKS, GRAIN_NONE, GRAIN_NONE);
	}
}

static void wait_end(struct account_thread *t, uint8_t kind)
{
	pop(t, kind == EVENT_WAIT_BARRIER || kind == EVENT_WAIT_BARRIER_IMPLICIT ? LAYER_BARRIER
	       : kind == EVENT_WAIT_TASKYIELD					 ? LAYER_YIELD
										 : LAYER_TASKS);
}

/*
 * A blocked thread may be ready to run before it gets a CPU. In that time another thread has its CPU: it
 * counts as preemption, not as blocking.
 */
static void on_cpu(struct sweep *s, uint32_t thread, const struct event *e)
{
	struct account_thread *t = &s->threads[thread];
	struct account_slot *slot = &s->slots[thread];
	uint64_t ready = e->value > t->off_since_ns ? e->value : s->now_ns, *time;
	uint64_t waited = ready < s->now_ns ? s->now_ns - ready : 0;

	t->off = false;
	if (slot->region == GRAIN_NONE && t->off_reason == EVENT_REASON_BLOCKED && waited && !t->present &&
	    s->latest != GRAIN_NONE)
		account_region__had_no_cpu(&s->regions[s->latest], ready, s->now_ns);
	if (slot->region == GRAIN_NONE || slot->state != (enum slot_state)GRAIN_CAUSE_BLOCKED)
		return;
	account_region__change(&s->regions[slot->region], slot, slot->state, s->now_ns);
	time = s->regions[slot->region].time_ns;
	if (waited > time[GRAIN_CAUSE_BLOCKED])
		waited = time[GRAIN_CAUSE_BLOCKED];
	time[GRAIN_CAUSE_BLOCKED] -= waited;
	time[GRAIN_CAUSE_PREEMPTED] += waited;
}

static void off_cpu(struct account_thread *t, const struct event *e)
{
	t->off = true;
	t->off_reason = e->sub;
	t->off_by = e->id;
	t->off_since_ns = e->time_ns;
}

static int apply(struct sweep *s, uint32_t thread, const struct event *e)
{
	struct account_thread *t = &s->threads[thread];

	switch (e->kind) {
	case EVENT_THREAD_END:
		t->present = false;
		return 0;
	case EVENT_REGION_BEGIN:
		return region_begin(s, thread, e);
	case EVENT_REGION_END:
		region_end(s, thread, e->id);
		return 0;
	case EVENT_MEMBER_BEGIN:
		return member_begin(s, t, e);
	case EVENT_MEMBER_END:
		member_end(s, t, e);
		return 0;
	case EVENT_CREATE_BEGIN:
		if (e->value & EVENT_TASK_DEFERRED && e->id < s->stream->task_count)
			offer(s, t, e->id);
		return push(s, t, LAYER_CREATE, e->id, GRAIN_NONE);
	case EVENT_DEPEND:
		withdraw(s, e->id);
		return 0;
	case EVENT_CREATE_END:
		pop(t, LAYER_CREATE);
		return 0;
	case EVENT_TASK_BEGIN:
		withdraw(s, e->id);
		return push(s, t, LAYER_BODY, e->id, GRAIN_NONE);
	case EVENT_TASK_SWITCH:
		return unpark(s, t, e->id);
	case EVENT_TASK_SUSPEND:
		return park(s, t, e->id);
	case EVENT_TASK_DISCARD:
		withdraw(s, e->id);
		return 0;
	case EVENT_TASK_END:
	case EVENT_CHUNK_END:
	case EVENT_SECTION_END:
		pop(t, LAYER_BODY);
		return 0;
	case EVENT_CHUNK_BEGIN:
	case EVENT_SECTION_BEGIN:
		return push(s, t, LAYER_BODY, GRAIN_NONE, GRAIN_NONE);
	case EVENT_LOOP_BEGIN:
	case EVENT_SECTIONS_BEGIN:
		return push(s, t, LAYER_LOOP, e->id, GRAIN_NONE);
	case EVENT_LOOP_END:
	case EVENT_SECTIONS_END:
		pop(t, LAYER_LOOP);
		return 0;
	case EVENT_WAIT_BEGIN:
		return wait_begin(s, t, e->sub);
	case EVENT_WAIT_END:
		wait_end(t, e->sub);
		return 0;
	case EVENT_LOCK_BEGIN:
		t->locking = true;
		return 0;
	case EVENT_LOCK_GOT:
		t->locking = false;
		return 0;
	case EVENT_OFF_CPU:
		off_cpu(t, e);
		return 0;
	case EVENT_ON_CPU:
		on_cpu(s, thread, e);
		return 0;
	default:
		return 0;
	}
}

static bool is_no_worker(const struct account_thread *t)
{
	return t->first_kind != EVENT_MEMBER_BEGIN && t->first_kind != EVENT_KIND_MAX;
}

/* Keeps the sample if its thread does serial work. */
static int sampled(struct sweep *s, uint32_t thread, const struct event *e)
{
	const struct account_slot *slot = &s->slots[thread];

	if (s->parallel_open || slot->region == GRAIN_NONE ||
	    slot->state != (enum slot_state)GRAIN_CAUSE_SERIAL_WORK || e->id >= s->stream->stack_count)
		return 0;
	return account_serial__sample(&s->account->serial, &s->graph->memory, e->id);
}

static int take(struct sweep *s, const struct event *e)
{
	uint32_t thread;
	int error;

	if (e->time_ns > s->now_ns) {
		uint64_t passed = e->time_ns - s->now_ns;

		s->passed_ns[s->parallel_open > 0] += passed;
		s->slots_ns[s->parallel_open > 0] += s->total * passed;
		if (s->total > s->most)
			s->most = s->total;
		s->now_ns = e->time_ns;
	}
	if (e->tid == 0)
		return 0;
	error = thread_of(s, e->tid, &thread);
	if (!error && is_construct(e->kind) && s->slots[thread].region != GRAIN_NONE)
		s->regions[s->slots[thread].region].measured_ns[s->slots[thread].state] +=
			(uint64_t)s->cost_ns;
	if (!error && !s->threads[thread].begun) {
		s->threads[thread].begun = true;
		s->threads[thread].present = is_no_worker(&s->threads[thread]);
	}
	if (!error)
		error = apply(s, thread, e);
	if (!error) {
		settle(s, thread);
		count_waiting(s, thread);
	}
	if (!error && e->kind == EVENT_SAMPLE)
		error = sampled(s, thread, e);
	return error;
}

/* Closes everything that is still open at the last event. */
static int finish(struct sweep *s)
{
	struct account *a = s->account;
	uint64_t missing[2];
	int error = s->parallel_open
			    ? 0
			    : account_serial__end(&a->serial, &s->graph->memory, GRAIN_NONE, s->passed_ns[0]);

	if (error)
		return error;
	a->serial.public.ns = s->passed_ns[0];

	for (size_t i = 0; i < s->region_count; i++) {
		struct account_region *region = &s->regions[i];

		if (i >= FIRST_REGION && (region->id == GRAIN_NONE || s->open[region->id] != i))
			continue;
		while (region->first != GRAIN_NONE)
			account_region__leave(region, s->slots, region->first, s->now_ns);
		account_region__settle(region, &a->parts[i < FIRST_REGION ? i : region->part], s->now_ns);
	}
	for (int i = 0; i < 2; i++) {
		missing[i] = s->most * s->passed_ns[i] - s->slots_ns[i];
		a->parts[OUTSIDE].capacity_ns += missing[i];
	}
	a->parts[OUTSIDE].cause_ns[GRAIN_CAUSE_SERIAL] += missing[0];
	a->parts[OUTSIDE].cause_ns[GRAIN_CAUSE_LACK_OF_WORK] += missing[1];
	a->parts[OUTSIDE].serial = true;
	a->public.threads = s->most;
	account__finish(a);
	return 0;
}

static int begin(struct sweep *s)
{
	struct memory *memory = &s->graph->memory;
	struct account *a = s->account;
	uint32_t index;
	int error = memory__array(memory, s->stream->region_count, sizeof(uint32_t), (void **)&s->open);

	if (!error)
		error = memory__array(memory, s->stream->region_count, sizeof(uint32_t),
				      (void **)&s->members);
	if (!error)
		error = memory__array(memory, s->stream->task_count, sizeof(uint32_t), (void **)&s->offered);
	if (!error)
		error = memory__array(memory, s->graph->definition_count, sizeof(uint32_t),
				      (void **)&s->part_of);
	for (int i = OUTSIDE; i < FIRST_REGION && !error; i++) {
		error = memory__grow(memory, (void **)&a->parts, &a->part_capacity, a->part_count,
				     sizeof(*a->parts));
		if (!error)
			a->parts[a->part_count++] = (struct grain_account_part){.definition = GRAIN_NONE};
		if (!error)
			error = new_region(s, &index);
	}
	if (error)
		return error;
	s->regions[ORPHANS].unknown = true;
	memset(s->open, 0xff, s->stream->region_count * sizeof(*s->open));
	memset(s->offered, 0xff, s->stream->task_count * sizeof(*s->offered));
	return survey(s);
}

static void end(struct sweep *s)
{
	struct memory *memory = &s->graph->memory;

	memory__release(memory, (void **)&s->open, s->stream->region_count, sizeof(uint32_t));
	memory__release(memory, (void **)&s->members, s->stream->region_count, sizeof(uint32_t));
	memory__release(memory, (void **)&s->offered, s->stream->task_count, sizeof(uint32_t));
	memory__release(memory, (void **)&s->part_of, s->graph->definition_count, sizeof(uint32_t));
	for (size_t i = 0; i < s->thread_count; i++)
		memory__release(memory, (void **)&s->threads[i].layers, s->threads[i].capacity,
				sizeof(struct layer));
	memory__release(memory, (void **)&s->threads, s->thread_capacity, sizeof(*s->threads));
	memory__release(memory, (void **)&s->slots, s->slot_capacity, sizeof(*s->slots));
	memory__release(memory, (void **)&s->regions, s->region_capacity, sizeof(*s->regions));
	for (size_t i = 0; i < s->parked_count; i++)
		free(s->parked[i].layers);
	memory__release(memory, (void **)&s->parked, s->parked_capacity, sizeof(*s->parked));
	number_map__free(&s->thread_of);
	number_map__free(&s->parked_of);
}

/* Returns why there can be no account. NULL: there can be one. */
static const char *why_not(const struct grain_graph *g)
{
	if (g->info.times_derived)
		return "only durations were measured";
	if (g->info.cycles)
		return "its times are in cycles";
	if (g->stream->window_count)
		return "it was recorded or kept in windows";
	return NULL;
}

int graph__account(struct grain_graph *graph)
{
	struct sweep s = {.graph = graph,
			  .stream = graph->stream,
			  .free_region = GRAIN_NONE,
			  .latest = GRAIN_NONE};
	double cost = graph->info.ns_per_event;
	int error = 0;

	graph->account = calloc(1, sizeof(*graph->account));
	if (!graph->account)
		return -ENOMEM;
	s.account = graph->account;
	account_serial__begin(&s.account->serial, GRAIN_NONE, 0);
	graph->account->public.why = why_not(graph);
	if (graph->account->public.why)
		return 0;
	s.cost_ns = cost > 0 ? cost : 0;
	s.now_ns = s.stream->count ? s.stream->events[0].time_ns : 0;
	error = begin(&s);
	for (size_t i = 0; i < s.stream->count && !error; i++)
		error = take(&s, &s.stream->events[i]);
	if (!error)
		error = finish(&s);
	end(&s);
	return error;
}
