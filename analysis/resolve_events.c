// SPDX-License-Identifier: BSD-2-Clause
/* What each event of a trace means, given what is open on its thread. */
#include "analysis/resolver.h"

#define MAX_MEMBERS (1u << 20)

static int unmatched_end(struct resolver *r)
{
	r->stream->truth.unmatched_ends++;
	return 0;
}

static uint64_t task_flags(uint32_t arg)
{
	return (arg & TRACE_TASK_UNTIED ? EVENT_TASK_UNTIED : 0) |
	       (arg & TRACE_TASK_FINAL ? EVENT_TASK_FINAL : 0) |
	       (arg & TRACE_TASK_MERGEABLE ? EVENT_TASK_MERGEABLE : 0) |
	       (arg & TRACE_TASK_DETACH ? EVENT_TASK_DETACH : 0);
}

/* A region's member number may begin once. */
static bool claim_member(struct resolver *r, uint32_t region, uint32_t number, int *error)
{
	uint64_t key = (uint64_t)region << 32 | number;

	if (number >= MAX_MEMBERS || number_map__get(&r->members, key) != GRAIN_NONE)
		return false;
	*error = budget__take(r->budget, 4 * sizeof(struct number_map_slot));
	if (!*error)
		*error = number_map__put(&r->members, key, 0);
	if (number + 1 > r->stream->info.threads)
		r->stream->info.threads = number + 1;
	return true;
}

/* region GRAIN_NONE: an orphan. */
static int begin_member(struct resolver *r, struct thread *t, uint64_t sp, uint32_t region, uint32_t number)
{
	struct event *e;
	int error = 0;

	if (region == GRAIN_NONE || !claim_member(r, region, number, &error)) {
		region = GRAIN_NONE;
		number = 0;
	}
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_MEMBER_BEGIN, region);
	if (!e)
		return -E2BIG;
	e->value = number;
	return resolver__push(r, t,
			      (struct frame){.kind = FRAME_MEMBER, .sp = sp, .id = region, .number = number});
}

/*
 * What comes now runs in the body of a region or, when `in_region`, can only
 * run in one: makes up for a member's begin that was not seen.
 */
static int need_member(struct resolver *r, struct thread *t, bool in_region)
{
	struct frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;

	if (!top)
		return in_region ? begin_member(r, t, UINT64_MAX, GRAIN_NONE, 0) : 0;
	if (top->kind != FRAME_REGION)
		return 0;
	r->stream->region_trouble[top->id] |= EVENT_TROUBLE_LOST;
	return begin_member(r, t, top->sp, top->id, 0);
}

/* Before an event that the program's own code, not the runtime, brings about. */
static int enter_code(struct resolver *r, struct thread *t, uint64_t sp, bool in_region)
{
	int error = frames__close_below(r, t, sp);

	if (!error)
		error = frames__close_waits(r, t);
	return error ? error : need_member(r, t, in_region);
}

static int create(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	unsigned fault = rec->flags & TRACE_F_FAULT ? EVENT_TROUBLE_FAULT : 0;
	int error = enter_code(r, t, rec->frame, true);
	struct event *e;
	uint32_t task;

	if (!error)
		error = resolver__new_task(r, EVENT_TROUBLE_NO_BEGIN | fault, &task);
	/* A key that is still there belongs to a task that was never seen to begin; the block is reused. */
	if (!error)
		error = number_map__put(&r->tasks, rec->key, task);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_CREATE_BEGIN, task);
	if (!e)
		return -E2BIG;
	e->value = task_flags(rec->arg) | EVENT_TASK_DEFERRED;
	t->open_create = task;
	return site_table__source(&r->sites, rec->site, SITE_TASK, &e->src);
}

static int create_end(struct resolver *r, struct thread *t)
{
	uint32_t task = t->open_create;

	if (task == GRAIN_NONE)
		return unmatched_end(r);
	t->open_create = GRAIN_NONE;
	return resolver__emit(r, t, EVENT_CREATE_END, task) ? 0 : -E2BIG;
}

static int task_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = frames__close_below(r, t, rec->frame);
	uint32_t task = number_map__get(&r->tasks, rec->key);
	struct event *e;

	if (!error)
		error = need_member(r, t, true);
	if (error)
		return error;
	if (task != GRAIN_NONE) {
		number_map__remove(&r->tasks, rec->key);
		r->stream->task_trouble[task] &= (uint8_t)~EVENT_TROUBLE_NO_BEGIN;
		/* Its begin, and the creation of this one in the same block, may be among what is missing. */
		if (task < r->tasks_before_loss)
			r->stream->task_trouble[task] |= EVENT_TROUBLE_LOST;
	} else {
		error = resolver__new_task(r, EVENT_TROUBLE_NO_CREATE, &task);
		if (error)
			return error;
	}
	e = resolver__emit(r, t, EVENT_TASK_BEGIN, task);
	if (!e)
		return -E2BIG;
	if (r->stream->task_trouble[task] & EVENT_TROUBLE_NO_CREATE)
		error = site_table__source(&r->sites, rec->site, SITE_TASK, &e->src);
	if (rec->flags & TRACE_F_FAULT)
		r->stream->task_trouble[task] |= EVENT_TROUBLE_FAULT;
	return error ? error
		     : resolver__push(r, t, (struct frame){.kind = FRAME_TASK, .sp = rec->frame, .id = task});
}

static int undeferred_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	unsigned fault = rec->flags & TRACE_F_FAULT ? EVENT_TROUBLE_FAULT : 0;
	int error = enter_code(r, t, rec->frame, false);
	struct event *e;
	uint32_t task;

	if (!error)
		error = resolver__new_task(r, fault, &task);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_CREATE_BEGIN, task);
	if (!e)
		return -E2BIG;
	e->value = task_flags(rec->arg) | EVENT_TASK_UNDEFERRED;
	error = site_table__source(&r->sites, rec->site, SITE_TASK, &e->src);
	if (error)
		return error;
	if (!resolver__emit(r, t, EVENT_TASK_BEGIN, task))
		return -E2BIG;
	return resolver__push(r, t, (struct frame){.kind = FRAME_UNDEFERRED, .sp = rec->frame, .id = task});
}

static int task_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	uint8_t kind = rec->kind == TRACE_TASK_END ? FRAME_TASK : FRAME_UNDEFERRED;
	int error;

	for (size_t i = t->depth; i-- > 0;) {
		const struct frame *f = &t->frames[i];

		if (f->kind == FRAME_MEMBER)
			continue;
		if (f->sp > rec->frame)
			break;
		if (f->kind != kind || f->sp != rec->frame)
			continue;
		error = frames__close_to(r, t, i + 1);
		return error ? error : frames__end_task(r, t);
	}
	unmatched_end(r);
	return frames__close_below(r, t, rec->frame);
}

static bool site_kind_of(uint32_t wait, enum site_kind *out)
{
	static const enum site_kind kinds[] = {[TRACE_WAIT_TASKWAIT] = SITE_TASKWAIT,
					       [TRACE_WAIT_TASKGROUP] = SITE_TASKGROUP,
					       [TRACE_WAIT_BARRIER] = SITE_BARRIER,
					       [TRACE_WAIT_REGION_END] = SITE_BARRIER};

	if (wait < TRACE_WAIT_TASKWAIT || wait > TRACE_WAIT_REGION_END)
		return false;
	*out = kinds[wait];
	return true;
}

static int wait_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	bool of_team = rec->arg == TRACE_WAIT_BARRIER || rec->arg == TRACE_WAIT_REGION_END;
	struct frame frame = {.kind = FRAME_WAIT, .sp = rec->frame, .wait = (uint8_t)rec->arg};
	enum site_kind kind;
	struct event *e;
	size_t base;
	int error;

	if (!site_kind_of(rec->arg, &kind))
		return unmatched_end(r);
	/*
	 * The barrier that ends a region is called by the runtime, from frames that
	 * need not lie below the member's; what it closes is everything in the member.
	 */
	error = rec->arg == TRACE_WAIT_REGION_END ? 0 : frames__close_below(r, t, rec->frame);
	base = frames__base(t);
	if (!error && of_team && base != GRAIN_NONE)
		error = frames__close_to(r, t, base + 1);
	else if (!error)
		error = frames__close_waits(r, t);
	if (!error)
		error = need_member(r, t, of_team);
	if (!error && of_team && t->depth && t->frames[t->depth - 1].kind == FRAME_MEMBER)
		error = frames__end_single(r, t, &t->frames[t->depth - 1]);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_WAIT_BEGIN, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	e->sub = frames__wait_name(frame.wait);
	error = site_table__source(&r->sites, rec->site, kind, &e->src);
	return error ? error : resolver__push(r, t, frame);
}

/*
 * The outermost frame of this kind that lies below the stack pointer at a
 * return; everything below it is over.
 */
static size_t returned_from(const struct thread *t, uint64_t sp, enum frame_kind kind, uint32_t wait)
{
	size_t found = GRAIN_NONE;

	for (size_t i = t->depth; i-- > 0;) {
		const struct frame *f = &t->frames[i];

		if (f->kind == FRAME_MEMBER)
			continue;
		if (f->sp >= sp)
			break;
		if (f->kind == kind && (kind != FRAME_WAIT || f->wait == wait))
			found = i;
	}
	return found;
}

/*
 * The recording began in this wait at a region's end. It is over, and with it
 * the member of the unknown region.
 */
static int end_orphan(struct resolver *r, struct thread *t)
{
	size_t at = t->depth;
	int error;

	while (at > 0 && t->frames[at - 1].kind != FRAME_MEMBER)
		at--;
	if (at == 0 || t->frames[at - 1].id != GRAIN_NONE)
		return 0;
	error = frames__close_to(r, t, at);
	return error || t->depth != at ? error : frames__end_member(r, t, true);
}

static int wait_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	size_t at = returned_from(t, rec->frame, FRAME_WAIT, rec->arg);
	int error;

	if (at == GRAIN_NONE) {
		unmatched_end(r);
		return rec->arg == TRACE_WAIT_REGION_END ? end_orphan(r, t) : 0;
	}
	error = frames__close_to(r, t, at + 1);
	/* Closing a wait at a region's end above this one may have closed more. */
	if (!error && t->depth == at + 1)
		error = frames__end_wait(r, t);
	if (!error && rec->arg == TRACE_WAIT_REGION_END && t->depth == at && t->depth &&
	    t->frames[t->depth - 1].kind == FRAME_MEMBER)
		error = frames__end_member(r, t, true);
	return error ? error : frames__close_below(r, t, rec->frame - 1);
}

static int region_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = enter_code(r, t, rec->frame, false);
	struct event *e;
	uint32_t region;

	if (!error)
		error = resolver__new_region(r, &region);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_REGION_BEGIN, region);
	if (!e)
		return -E2BIG;
	error = site_table__source(&r->sites, rec->site, SITE_PARALLEL, &e->src);
	return error ? error
		     : resolver__push(r, t,
				      (struct frame){.kind = FRAME_REGION, .sp = rec->frame, .id = region});
}

static int region_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	size_t at = returned_from(t, rec->frame, FRAME_REGION, 0);
	int error;

	if (at == GRAIN_NONE)
		return unmatched_end(r);
	error = frames__close_to(r, t, at + 1);
	if (!error) {
		r->region_event[t->frames[at].id] = REGION_ENDED;
		error = frames__end_region(r, t);
	}
	return error ? error : frames__close_below(r, t, rec->frame - 1);
}

/* Binds the team to the region that the thread has just begun. */
static int team_start(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct frame *top;
	int error = frames__close_waits(r, t);

	if (error)
		return error;
	top = t->depth ? &t->frames[t->depth - 1] : NULL;
	if (!top || top->kind != FRAME_REGION || top->team) {
		/* Its members must not be taken for those of the region that used this block before. */
		number_map__remove(&r->teams, rec->key);
		r->unmatched_teams++;
		return 0;
	}
	top->team = rec->key;
	if (rec->arg < MAX_MEMBERS) {
		r->stream->events[r->region_event[top->id]].value = rec->arg;
		if (rec->arg > r->stream->info.threads)
			r->stream->info.threads = rec->arg;
	}
	if (!rec->key)
		return 0;
	error = budget__take(r->budget, 4 * sizeof(struct number_map_slot));
	return error ? error : number_map__put(&r->teams, rec->key, top->id);
}

static int team_started(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;

	if (top && top->kind == FRAME_REGION)
		return begin_member(r, t, rec->frame, top->id, 0);
	r->unmatched_teams++;
	return t->depth == 0 ? begin_member(r, t, UINT64_MAX, GRAIN_NONE, 0) : 0;
}

/* Workers run nothing below their member: whatever is open there is over. */
static int member_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	uint32_t region = rec->key ? number_map__get(&r->teams, rec->key) : GRAIN_NONE;
	int error = frames__close_to(r, t, 0);

	if (region == GRAIN_NONE)
		r->unmatched_teams++;
	return error ? error : begin_member(r, t, UINT64_MAX, region, rec->arg);
}

static int group_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = enter_code(r, t, rec->frame, false);
	struct event *e;

	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_GROUP_BEGIN, GRAIN_NONE);
	return e ? site_table__source(&r->sites, rec->site, SITE_TASKGROUP, &e->src) : -E2BIG;
}

static int single(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = enter_code(r, t, rec->frame, false);
	struct frame *top;
	struct event *e;

	if (error)
		return error;
	top = t->depth ? &t->frames[t->depth - 1] : NULL;
	/* Outside of a known team there is nothing that its children could be numbered under. */
	if (!top || top->kind != FRAME_MEMBER || top->id == GRAIN_NONE)
		return 0;
	error = frames__end_single(r, t, top);
	if (error)
		return error;
	top->in_single = true;
	top->won = rec->arg != 0;
	e = resolver__emit(r, t, EVENT_SINGLE_BEGIN, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	e->value = top->won;
	return 0;
}

static int lost(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct event *e = resolver__emit(r, t, EVENT_LOST, GRAIN_NONE);

	if (!e)
		return -E2BIG;
	e->value = rec->arg;
	r->stream->truth.lost += rec->arg;
	r->tasks_before_loss = r->stream->task_count;
	for (uint32_t i = 0; i < r->content->thread_count; i++) {
		if (t->tid == 0 || t == &r->threads[i])
			frames__mark_lost(r, &r->threads[i]);
	}
	return 0;
}

static int thread_begins(struct resolver *r, struct thread *t)
{
	t->begun = true;
	if (!resolver__emit(r, t, EVENT_THREAD_BEGIN, GRAIN_NONE))
		return -E2BIG;
	return t->orphan_start ? begin_member(r, t, UINT64_MAX, GRAIN_NONE, 0) : 0;
}

int resolver__record(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = 0;

	t->cpu = rec->cpu;
	r->now = rec->time_ns;
	if (rec->flags & TRACE_F_FAULT)
		r->stream->truth.read_faults++;
	if (!t->begun && t->tid)
		error = thread_begins(r, t);
	if (!error && t->open_create != GRAIN_NONE && rec->kind != TRACE_TASK_CREATE_END &&
	    rec->kind != TRACE_LOST)
		error = frames__close_create(r, t);
	if (error)
		return error;
	switch ((enum trace_kind)rec->kind) {
	case TRACE_TASK_CREATE:
		return create(r, t, rec);
	case TRACE_TASK_CREATE_END:
		return create_end(r, t);
	case TRACE_TASK_BEGIN:
		return task_begin(r, t, rec);
	case TRACE_TASK_END:
	case TRACE_UNDEFERRED_END:
		return task_end(r, t, rec);
	case TRACE_UNDEFERRED_BEGIN:
		return undeferred_begin(r, t, rec);
	case TRACE_REGION_BEGIN:
		return region_begin(r, t, rec);
	case TRACE_REGION_END:
		return region_end(r, t, rec);
	case TRACE_TEAM_START:
		return team_start(r, t, rec);
	case TRACE_TEAM_STARTED:
		return team_started(r, t, rec);
	case TRACE_MEMBER_BEGIN:
		return member_begin(r, t, rec);
	case TRACE_WAIT_BEGIN:
		return wait_begin(r, t, rec);
	case TRACE_WAIT_END:
		return wait_end(r, t, rec);
	case TRACE_GROUP_BEGIN:
		return group_begin(r, t, rec);
	case TRACE_SINGLE:
		return single(r, t, rec);
	case TRACE_LOST:
		return lost(r, t, rec);
	default:
		break;
	}
	return 0;
}
