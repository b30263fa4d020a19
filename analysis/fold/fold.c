// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what each record means for the sums. A thread's time always belongs to the innermost open frame.
 * Keys match bodies with creations. If keys are unique, a body may be read before its creation.
 */
#include "analysis/fold/fold_regions.h"
#include "analysis/fold/fold_state.h"

#include <stdlib.h>
#include <string.h>

/* Adds the time since the last record to the innermost frame. */
static void charge(struct fold *f, struct fold_thread *t, uint64_t now)
{
	uint64_t ns = t->begun && now > t->last_ns ? now - t->last_ns : 0;
	struct fold_frame *top;
	size_t at = t->depth;

	t->begun = true;
	t->last_ns = now > t->last_ns ? now : t->last_ns;
	/* A taskloop's call is neither wait nor creation. Its time belongs to the caller. */
	while (at > 0 && t->frames[at - 1].kind == FOLD_FRAME_TASKLOOP)
		at--;
	if (at == 0) {
		f->totals.work_ns += t->worker ? 0 : ns;
		return;
	}
	top = &t->frames[at - 1];
	switch (top->kind) {
	case FOLD_FRAME_TASK:
		f->tasks[top->id].exec_ns += ns;
		f->totals.work_ns += ns;
		break;
	case FOLD_FRAME_CREATE:
		if (top->id != GRAIN_NONE)
			f->tasks[top->id].create_ns += ns;
		break;
	case FOLD_FRAME_WAIT:
		if (top->owner == FOLD_NO_OWNER)
			break;
		if (t->frames[top->owner].kind == FOLD_FRAME_TASK)
			f->tasks[t->frames[top->owner].id].wait_ns += ns;
		else
			t->frames[top->owner].wait_ns += ns;
		break;
	case FOLD_FRAME_LOOP:
		top->create_ns += ns;
		break;
	case FOLD_FRAME_CHUNK:
		top->exec_ns += ns;
		f->totals.work_ns += ns;
		break;
	case FOLD_FRAME_MEMBER:
		f->totals.work_ns += ns;
		break;
	default:
		break;
	}
}

/* Closes calls that have ended: the record's stack pointer shows that they are over. */
static void close_below(struct fold *f, struct fold_thread *t, uint64_t sp)
{
	size_t to = t->depth;

	for (size_t i = t->depth; i-- > 0;) {
		const struct fold_frame *frame = &t->frames[i];

		if (frame->kind == FOLD_FRAME_MEMBER || frame->kind == FOLD_FRAME_LOOP ||
		    frame->kind == FOLD_FRAME_CHUNK)
			continue;
		if (frame->sp > sp)
			break;
		to = i;
	}
	fold_frames__close_to(f, t, to);
}

/* Closes the waits and creations on top, because the record cannot happen inside one. */
static void close_calls(struct fold *f, struct fold_thread *t)
{
	while (t->depth && (t->frames[t->depth - 1].kind == FOLD_FRAME_WAIT ||
			    t->frames[t->depth - 1].kind == FOLD_FRAME_CREATE))
		fold_frames__close_to(f, t, t->depth - 1);
}

static void enter_code(struct fold *f, struct fold_thread *t, uint64_t sp)
{
	close_below(f, t, sp);
	close_calls(f, t);
}

/* Returns the taskloop whose tasks the thread creates at this stack pointer. NULL: none. */
static const struct fold_frame *taskloop_at(const struct fold *f, const struct fold_thread *t, uint64_t sp)
{
	for (size_t i = t->depth; i-- > 0;) {
		const struct fold_frame *frame = &t->frames[i];

		if (frame->kind == FOLD_FRAME_TASKLOOP)
			return sp < frame->sp ? frame : NULL;
		if (frame->kind == FOLD_FRAME_TASK)
			return f->tasks[frame->id].flags & FOLD_TASK_SPLIT ? frame : NULL;
		if (frame->kind != FOLD_FRAME_WAIT && frame->kind != FOLD_FRAME_CREATE)
			break;
	}
	return NULL;
}

/* Marks that the innermost grain creates something, so it is no leaf. */
static void mark_parent(struct fold *f, struct fold_thread *t)
{
	size_t at = fold_frames__context(t);

	if (at != FOLD_NO_OWNER && t->frames[at].kind == FOLD_FRAME_TASK)
		f->tasks[t->frames[at].id].flags |= FOLD_TASK_PARENT;
	else if (at != FOLD_NO_OWNER)
		t->frames[at].parent = true;
}

/* Stores what the creation says about the task: its row, and that it was created. */
static int describe(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		    const struct trace_record *rec, struct fold_task *task)
{
	const struct fold_frame *taskloop = taskloop_at(f, t, rec->frame);
	uint64_t site = c->sites[rec->site], ident = rec->extra;
	enum fold_kind kind = FOLD_TASK;
	int error;

	if (taskloop || rec->arg & (TRACE_TASK_OF_TASKLOOP | TRACE_TASK_SPLIT))
		kind = FOLD_TASKLOOP;
	if (taskloop) {
		const struct fold_row *row = taskloop->kind == FOLD_FRAME_TASKLOOP
						     ? &f->rows.rows[taskloop->id]
						     : &f->rows.rows[f->tasks[taskloop->id].row];

		site = site ? site : row->site;
		ident = ident ? ident : row->ident;
	}
	if (rec->arg & TRACE_TASK_BODY_KNOWN)
		ident = 0;
	error = fold_rows__find(&f->rows, site, ident, kind, f->budget, &task->row);
	task->flags |= FOLD_TASK_CREATED | (rec->arg & TRACE_TASK_SPLIT ? FOLD_TASK_SPLIT : 0) |
		       (rec->flags & TRACE_F_FAULT ? FOLD_TASK_SPOILED : 0);
	mark_parent(f, t);
	return error;
}

/*
 * Whether the key is that of the task that the thread runs. Then the task hands its next part to the runtime.
 */
static bool is_requeue(const struct fold *f, const struct fold_thread *t, uint64_t key)
{
	size_t at = fold_frames__context(t);
	const struct fold_task *task;

	if (at == FOLD_NO_OWNER || t->frames[at].kind != FOLD_FRAME_TASK)
		return false;
	task = &f->tasks[t->frames[at].id];
	return task->key == key && task->in_map && !(task->flags & (FOLD_TASK_REQUEUED | FOLD_TASK_SPOILED));
}

static int create(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		  const struct trace_record *rec)
{
	uint32_t id;
	int error;

	enter_code(f, t, rec->frame);
	if (is_requeue(f, t, rec->key)) {
		f->tasks[t->frames[fold_frames__context(t)].id].flags |= FOLD_TASK_REQUEUED;
		return fold_frames__push(f, t,
					 (struct fold_frame){.kind = FOLD_FRAME_CREATE,
							     .sp = rec->frame,
							     .id = GRAIN_NONE});
	}
	id = number_map__get(&f->open, rec->key);
	/* The task's block is reused, although the task's begin or end was not seen. */
	if (id != GRAIN_NONE && (!f->keyed || f->tasks[id].flags & FOLD_TASK_CREATED)) {
		fold_tasks__give_up(f, id);
		id = GRAIN_NONE;
	}
	error = id == GRAIN_NONE ? fold_tasks__new(f, rec->key, &id) : 0;
	if (!error)
		error = describe(f, t, c, rec, &f->tasks[id]);
	return error ? error
		     : fold_frames__push(f, t,
					 (struct fold_frame){.kind = FOLD_FRAME_CREATE,
							     .sp = rec->frame,
							     .id = id});
}

/* Whether no frame shows that the thread is in a region, or works for another thread's region. */
static bool is_outermost(const struct fold_thread *t)
{
	return !t->worker && fold_frames__base(t) == FOLD_NO_OWNER;
}

/* Ends the innermost frame of this kind and everything in it. */
static void end_frame(struct fold *f, struct fold_thread *t, enum fold_frame_kind kind)
{
	size_t at = t->depth;

	while (at > 0 && t->frames[at - 1].kind != kind)
		at--;
	if (at == 0) {
		f->totals.unmatched_ends++;
		return;
	}
	fold_frames__close_to(f, t, at);
	fold_frames__pop(f, t);
}

/* The task's next part runs here. The former part can only return now. */
static void leave_part(struct fold *f, uint32_t id)
{
	uint32_t thread = f->tasks[id].thread;
	struct fold_thread *t = thread < f->thread_count ? &f->threads[thread] : NULL;

	for (size_t i = t ? t->depth : 0; i-- > 0;)
		if (t->frames[i].kind == FOLD_FRAME_TASK && t->frames[i].id == id)
			t->frames[i].kind = FOLD_FRAME_LEFT;
}

static int begin(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		 const struct trace_record *rec)
{
	uint32_t id = number_map__get(&f->open, rec->key);
	struct fold_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;
	bool nested = top && top->kind == FOLD_FRAME_CREATE;
	struct fold_task *task;
	int error = 0;

	if (nested && top->id == id && id != GRAIN_NONE)
		f->tasks[id].flags |= FOLD_TASK_UNDEFERRED;
	else if (nested && top->id != GRAIN_NONE) {
		fold_frames__close_to(f, t, t->depth - 1);
		nested = false;
	}
	if (!nested)
		close_below(f, t, rec->frame);
	if (id == GRAIN_NONE)
		error = fold_tasks__new(f, rec->key, &id);
	if (!error && !(f->tasks[id].flags & (FOLD_TASK_CREATED | FOLD_TASK_BEGUN)))
		error = fold_rows__find(&f->rows, c->sites[rec->site], 0, FOLD_TASK, f->budget,
					&f->tasks[id].row);
	if (error)
		return error;
	task = &f->tasks[id];
	if (task->flags & FOLD_TASK_BEGUN)
		leave_part(f, id);
	/*
	 * The begin of the old task may have been lost, and also the creation of this task in the same block.
	 */
	if (task->serial < f->before_loss || rec->flags & TRACE_F_FAULT)
		task->flags |= FOLD_TASK_SPOILED;
	task->flags = (uint16_t)((task->flags | FOLD_TASK_BEGUN) & ~FOLD_TASK_REQUEUED);
	task->thread = rec->thread;
	return fold_frames__push(f, t,
				 (struct fold_frame){.kind = FOLD_FRAME_TASK, .sp = rec->frame, .id = id});
}

static int undeferred(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		      const struct trace_record *rec)
{
	uint32_t id;
	int error;

	enter_code(f, t, rec->frame);
	error = fold_tasks__new(f, 0, &id);
	if (!error)
		error = describe(f, t, c, rec, &f->tasks[id]);
	if (error)
		return error;
	f->tasks[id].flags |= FOLD_TASK_BEGUN | FOLD_TASK_UNDEFERRED | FOLD_TASK_RETURNED;
	f->tasks[id].thread = rec->thread;
	return fold_frames__push(
		f, t, (struct fold_frame){.kind = FOLD_FRAME_TASK, .sp = rec->frame, .id = id, .call = true});
}

static void task_end(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	bool call = rec->kind == TRACE_UNDEFERRED_END;

	for (size_t i = t->depth; i-- > 0;) {
		const struct fold_frame *frame = &t->frames[i];

		if (frame->kind == FOLD_FRAME_MEMBER || frame->kind == FOLD_FRAME_LOOP ||
		    frame->kind == FOLD_FRAME_CHUNK)
			continue;
		if (frame->sp > rec->frame)
			break;
		if (frame->sp != rec->frame || frame->call != call ||
		    (frame->kind != FOLD_FRAME_TASK && frame->kind != FOLD_FRAME_LEFT))
			continue;
		fold_frames__close_to(f, t, i + 1);
		fold_frames__pop(f, t);
		return;
	}
	f->totals.unmatched_ends++;
	close_below(f, t, rec->frame);
}

static int wait_begin(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	bool of_team = rec->arg == TRACE_WAIT_BARRIER || rec->arg == TRACE_WAIT_REGION_END ||
		       rec->arg == TRACE_WAIT_BARRIER_IMPLICIT;
	const struct fold_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;
	struct fold_frame frame = {.kind = FOLD_FRAME_WAIT, .sp = rec->frame, .wait = (uint8_t)rec->arg};
	size_t base;

	if (rec->arg < TRACE_WAIT_TASKWAIT || rec->arg > TRACE_WAIT_TASKYIELD) {
		f->totals.unmatched_ends++;
		return 0;
	}
	/* The runtime ends a taskgroup inside a barrier before the thread really waits there. */
	if (!(rec->arg == TRACE_WAIT_TASKGROUP && top && top->kind == FOLD_FRAME_WAIT &&
	      top->sp > rec->frame)) {
		if (rec->arg != TRACE_WAIT_REGION_END)
			close_below(f, t, rec->frame);
		base = of_team ? fold_frames__base(t) : FOLD_NO_OWNER;
		if (of_team)
			fold_frames__close_to(f, t, base == FOLD_NO_OWNER ? 0 : base + 1);
		else
			close_calls(f, t);
	}
	base = fold_frames__context(t);
	frame.owner = base == FOLD_NO_OWNER || t->frames[base].kind == FOLD_FRAME_MEMBER ? FOLD_NO_OWNER
											 : (uint32_t)base;
	return fold_frames__push(f, t, frame);
}

static bool same_wait(uint8_t open, uint32_t ended)
{
	bool barrier = ended == TRACE_WAIT_BARRIER || ended == TRACE_WAIT_BARRIER_IMPLICIT;

	return open == ended ||
	       (barrier && (open == TRACE_WAIT_BARRIER || open == TRACE_WAIT_BARRIER_IMPLICIT));
}

static void wait_end(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	size_t at = t->depth;

	while (at > 0 &&
	       !(t->frames[at - 1].kind == FOLD_FRAME_WAIT && same_wait(t->frames[at - 1].wait, rec->arg)) &&
	       t->frames[at - 1].kind != FOLD_FRAME_TASK)
		at--;
	if (at == 0 || t->frames[at - 1].kind == FOLD_FRAME_TASK) {
		f->totals.unmatched_ends++;
		return;
	}
	fold_frames__close_to(f, t, at);
	fold_frames__pop(f, t);
	if (rec->arg == TRACE_WAIT_REGION_END && t->depth &&
	    t->frames[t->depth - 1].kind == FOLD_FRAME_MEMBER)
		fold_frames__pop(f, t);
}

static int region_begin(struct fold *f, struct fold_thread *t, const struct trace_content *c,
			const struct trace_record *rec)
{
	enter_code(f, t, rec->frame);
	mark_parent(f, t);
	f->totals.regions++;
	if (f->regions && is_outermost(t))
		fold__told(f, fold_regions__begin(f->regions, rec));
	return fold_frames__push(f, t,
				 (struct fold_frame){.kind = FOLD_FRAME_REGION,
						     .sp = rec->frame,
						     .site = c->sites[rec->site],
						     .id = GRAIN_NONE,
						     .combined = GRAIN_NONE});
}

static void region_end(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	end_frame(f, t, FOLD_FRAME_REGION);
	if (f->regions && is_outermost(t))
		fold__told(f, fold_regions__end(f->regions, rec));
}

/* The members of the team begin this loop without an event. */
static int start_team(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	const struct fold_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;

	if (!top || top->kind != FOLD_FRAME_REGION)
		return 0;
	if (top->combined == GRAIN_NONE) {
		number_map__remove(&f->combined, rec->key);
		return 0;
	}
	return fold__map(f, &f->combined, rec->key, top->combined);
}

static int begin_member(struct fold *f, struct fold_thread *t, uint64_t sp, uint32_t combined)
{
	return fold_frames__push(
		f, t, (struct fold_frame){.kind = FOLD_FRAME_MEMBER, .sp = sp, .combined = combined});
}

static int member(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	const struct fold_frame *top;

	if (rec->arg) {
		fold_frames__leave(f, t);
		fold_frames__close_to(f, t, 0);
		t->worker = true;
		return begin_member(f, t, UINT64_MAX, number_map__get(&f->combined, rec->key));
	}
	close_calls(f, t);
	top = t->depth ? &t->frames[t->depth - 1] : NULL;
	return begin_member(f, t, rec->frame,
			    top && top->kind == FOLD_FRAME_REGION ? top->combined : GRAIN_NONE);
}

static int member_zero(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	const struct fold_frame *top;

	if (rec->arg) {
		size_t base = fold_frames__base(t);

		if (base == FOLD_NO_OWNER || t->frames[base].kind != FOLD_FRAME_MEMBER)
			return 0;
		fold_frames__close_to(f, t, base);
		return rec->arg == TRACE_TEAMS_OVER ? 0 : begin_member(f, t, rec->frame, GRAIN_NONE);
	}
	top = t->depth ? &t->frames[t->depth - 1] : NULL;
	return begin_member(f, t, rec->frame,
			    top && top->kind == FOLD_FRAME_REGION ? top->combined : GRAIN_NONE);
}

static int lost(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		const struct trace_record *rec)
{
	f->totals.lost += rec->arg;
	f->before_loss = f->serial;
	if (f->regions)
		fold_regions__lost(f->regions, rec);
	if (c->threads[rec->thread])
		fold_frames__spoil(f, t);
	for (uint32_t i = 0; !c->threads[rec->thread] && i < f->thread_count; i++)
		fold_frames__spoil(f, &f->threads[i]);
	return 0;
}

/* Ends a creation or a taskloop's call on top of the thread, if the record cannot happen in it. */
static void leave_call(struct fold *f, struct fold_thread *t, uint8_t kind)
{
	uint8_t top = t->depth ? t->frames[t->depth - 1].kind : FOLD_FRAME_KINDS;
	bool creating = kind == TRACE_TASK_CREATE_END || kind == TRACE_DEPEND || kind == TRACE_TASK_BOUNDS ||
			kind == TRACE_LOST || kind == TRACE_TASK_BEGIN;
	bool in_taskloop = creating || kind == TRACE_TASK_CREATE || kind == TRACE_TASK_END ||
			   kind == TRACE_UNDEFERRED_BEGIN || kind == TRACE_UNDEFERRED_END ||
			   kind == TRACE_WAIT_BEGIN || kind == TRACE_WAIT_END || kind == TRACE_GROUP_BEGIN ||
			   kind == TRACE_TASKLOOP_END;

	if ((top == FOLD_FRAME_CREATE && !creating) || (top == FOLD_FRAME_TASKLOOP && !in_taskloop))
		fold_frames__close_to(f, t, t->depth - 1);
}

static int taskloop_begin(struct fold *f, struct fold_thread *t, const struct trace_content *c,
			  const struct trace_record *rec)
{
	struct fold_frame frame = {.kind = FOLD_FRAME_TASKLOOP, .sp = rec->frame};
	int error;

	enter_code(f, t, rec->frame);
	error = fold_rows__find(&f->rows, c->sites[rec->site], rec->extra, FOLD_TASKLOOP, f->budget,
				&frame.id);
	return error ? error : fold_frames__push(f, t, frame);
}

static void taskloop_end(struct fold *f, struct fold_thread *t)
{
	size_t at = t->depth;

	while (at > 0 && t->frames[at - 1].kind != FOLD_FRAME_TASKLOOP &&
	       t->frames[at - 1].kind != FOLD_FRAME_TASK && t->frames[at - 1].kind != FOLD_FRAME_MEMBER)
		at--;
	if (at > 0 && t->frames[at - 1].kind == FOLD_FRAME_TASKLOOP)
		fold_frames__close_to(f, t, at - 1);
}

static int dispatch(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		    const struct trace_record *rec)
{
	switch ((enum trace_kind)rec->kind) {
	case TRACE_TASK_CREATE:
		return create(f, t, c, rec);
	case TRACE_TASK_CREATE_END:
		end_frame(f, t, FOLD_FRAME_CREATE);
		return 0;
	case TRACE_TASK_BEGIN:
		return begin(f, t, c, rec);
	case TRACE_TASK_END:
	case TRACE_UNDEFERRED_END:
		task_end(f, t, rec);
		return 0;
	case TRACE_UNDEFERRED_BEGIN:
		return undeferred(f, t, c, rec);
	case TRACE_WAIT_BEGIN:
		return wait_begin(f, t, rec);
	case TRACE_WAIT_END:
		wait_end(f, t, rec);
		return 0;
	case TRACE_REGION_BEGIN:
		return region_begin(f, t, c, rec);
	case TRACE_REGION_END:
		region_end(f, t, rec);
		return 0;
	case TRACE_TEAM_START:
		return start_team(f, t, rec);
	case TRACE_TEAM_STARTED:
		return member_zero(f, t, rec);
	case TRACE_MEMBER_BEGIN:
		return member(f, t, rec);
	case TRACE_TASKLOOP_BEGIN:
		return taskloop_begin(f, t, c, rec);
	case TRACE_TASKLOOP_END:
		taskloop_end(f, t);
		return 0;
	case TRACE_GROUP_BEGIN:
	case TRACE_TASK_FULFILL:
	case TRACE_CANCEL:
		enter_code(f, t, rec->frame);
		return 0;
	case TRACE_STATIC_SHARE:
		f->totals.shares++;
		t->share = true;
		return 0;
	case TRACE_LOST:
		return lost(f, t, c, rec);
	default:
		return fold_loops__record(f, t, c, rec);
	}
}

static bool is_silent(const struct trace_record *rec)
{
	switch (rec->kind) {
	case TRACE_OFF_CPU:
	case TRACE_ON_CPU:
	case TRACE_COUNTERS:
	case TRACE_SAMPLE:
	case TRACE_SAMPLE_STACK:
	case TRACE_ACCESS:
	case TRACE_LOST_SWITCHES:
	case TRACE_LOCK_WAIT:
	case TRACE_DEPEND:
	case TRACE_TASK_BOUNDS:
	case TRACE_CHUNK_STRIDE:
	case TRACE_SINGLE:
	case TRACE_SINGLE_END:
		return true;
	default:
		return false;
	}
}

/*
 * Whether this is a static loop of a region that may have begun before graind was attached. Its end may not
 * be recorded as a word, and then nothing ends the loop.
 */
static bool is_before_words(struct fold_thread *t, const struct trace_record *rec)
{
	if (rec->flags & TRACE_F_AMONG_WORDS)
		return !t->has_words;
	t->has_words |= rec->flags & TRACE_F_OUTSIDE || rec->kind == TRACE_MEMBER_BEGIN ||
			(rec->kind == TRACE_REGION_BEGIN && rec->arg & TRACE_REGION_OUTERMOST);
	return false;
}

int fold__records(struct fold *f, const struct trace_content *content, bool keyed)
{
	int error = fold__threads(f, content->thread_count);

	f->keyed = keyed;
	if (f->regions)
		fold__told(f, fold_regions__records(f->regions, content));
	for (size_t i = 0; i < content->count && !error; i++) {
		const struct trace_record *rec = &content->records[i];
		struct fold_thread *t = &f->threads[rec->thread];

		if (!f->totals.first_ns || rec->time_ns < f->totals.first_ns)
			f->totals.first_ns = rec->time_ns;
		if (rec->time_ns > f->totals.last_ns)
			f->totals.last_ns = rec->time_ns;
		f->totals.events += rec->kind != TRACE_COUNTERS && rec->kind != TRACE_SAMPLE_STACK &&
				    rec->kind != TRACE_LOST && rec->kind != TRACE_LOST_SWITCHES &&
				    !(rec->flags & RECORD_LOCK_BEGIN);
		if (rec->kind == TRACE_LOST_SWITCHES) {
			f->totals.lost += rec->arg;
			f->totals.lost_switches += rec->arg;
		}
		if (is_silent(rec))
			continue;
		if (is_before_words(t, rec))
			continue;
		charge(f, t, rec->time_ns);
		leave_call(f, t, rec->kind);
		error = dispatch(f, t, content, rec);
	}
	if (f->regions && !error)
		fold__told(f, fold_regions__folded(f->regions));
	return error;
}
