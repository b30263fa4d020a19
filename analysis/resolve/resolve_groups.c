// SPDX-License-Identifier: BSD-2-Clause
/*
 * Taskgroups and cancellation. Finds created tasks that will never begin because their taskgroup or region
 * was cancelled. This is certain when the wait that joins them has ended. Done only for traces with
 * cancellation.
 */
#include "analysis/resolve/resolver.h"

#include <errno.h>

/* No program nests taskgroups deeper. Deeper ones come from damaged files and are ignored. */
#define NESTING_LIMIT 256

struct context_groups {
	uint32_t *group, *own;
};

static struct context_groups groups_of(struct thread *t)
{
	size_t at = frames__context(t);

	if (at == GRAIN_NONE)
		return (struct context_groups){&t->group, &t->groups};
	return (struct context_groups){&t->frames[at].group, &t->frames[at].groups};
}

uint32_t groups__of_context(const struct thread *t)
{
	size_t at = frames__context(t);

	return at == GRAIN_NONE ? t->group : t->frames[at].group;
}

static uint32_t region_of(const struct thread *t)
{
	size_t at = frames__base(t);

	return at != GRAIN_NONE && t->frames[at].kind == FRAME_MEMBER ? t->frames[at].id : GRAIN_NONE;
}

int groups__begin(struct resolver *r, struct thread *t)
{
	struct context_groups c = groups_of(t);
	int error = array__make_room(&r->groups, r->group_count, &r->group_capacity, sizeof(*r->groups),
				     r->budget);

	if (error)
		return error;
	r->groups[r->group_count] =
		(struct group){.parent = *c.group, .first_waiting = GRAIN_NONE, .last_waiting = GRAIN_NONE};
	*c.group = r->group_count++;
	++*c.own;
	return 0;
}

/* Emits that a created task will never begin. */
static int discard(struct resolver *r, struct thread *t, const struct waiting *w)
{
	uint8_t *trouble = &r->stream->task_trouble[w->task];

	/* The task's begin may have been lost. */
	if (w->task < r->tasks_before_loss || !(*trouble & EVENT_TROUBLE_NO_BEGIN))
		return 0;
	/* If the task was discarded early, its block may belong to another task by now. */
	if (number_map__get(&r->tasks, w->key) == w->task)
		number_map__remove(&r->tasks, w->key);
	*trouble &= (uint8_t)~EVENT_TROUBLE_NO_BEGIN;
	return resolver__emit(r, t, EVENT_TASK_DISCARD, w->task) ? 0 : -E2BIG;
}

int groups__end(struct resolver *r, struct thread *t, bool seen)
{
	struct context_groups c = groups_of(t);
	uint32_t group = *c.group, outer = group, region = region_of(t);
	bool cancelled = region != GRAIN_NONE && r->regions[region].cancelled;
	int error = 0;

	if (!*c.own)
		return 0;
	for (int level = 0; level < NESTING_LIMIT && outer != GRAIN_NONE && !cancelled; level++) {
		cancelled = r->groups[outer].cancelled;
		outer = r->groups[outer].parent;
	}
	for (uint32_t i = r->groups[group].first_waiting; seen && cancelled && i != GRAIN_NONE && !error;
	     i = r->waiting[i].next_in_group)
		error = discard(r, t, &r->waiting[i]);
	--*c.own;
	*c.group = r->groups[group].parent;
	return error;
}

int groups__region_joined(struct resolver *r, struct thread *t, uint32_t region)
{
	int error = 0;

	if (region == GRAIN_NONE || !r->regions[region].cancelled)
		return 0;
	for (uint32_t i = r->regions[region].first_waiting; i != GRAIN_NONE && !error;
	     i = r->waiting[i].next_in_region)
		error = discard(r, t, &r->waiting[i]);
	r->regions[region].first_waiting = r->regions[region].last_waiting = GRAIN_NONE;
	return error;
}

static void append(uint32_t *first, uint32_t *last, uint32_t *next_of_last, uint32_t index)
{
	if (*last == GRAIN_NONE)
		*first = index;
	else
		*next_of_last = index;
	*last = index;
}

int groups__created(struct resolver *r, struct thread *t, uint64_t key, uint32_t task)
{
	uint32_t group = groups__of_context(t), region = region_of(t), index = r->waiting_count;
	int error = array__make_room(&r->waiting, r->waiting_count, &r->waiting_capacity, sizeof(*r->waiting),
				     r->budget);

	if (error)
		return error;
	r->waiting[r->waiting_count++] = (struct waiting){.key = key,
							  .task = task,
							  .next_in_group = GRAIN_NONE,
							  .next_in_region = GRAIN_NONE};
	if (group != GRAIN_NONE) {
		struct group *g = &r->groups[group];

		append(&g->first_waiting, &g->last_waiting,
		       g->last_waiting == GRAIN_NONE ? NULL : &r->waiting[g->last_waiting].next_in_group,
		       index);
		error = resolver__map(r, &r->task_groups, task, group);
	}
	if (region != GRAIN_NONE) {
		struct region *in = &r->regions[region];

		append(&in->first_waiting, &in->last_waiting,
		       in->last_waiting == GRAIN_NONE ? NULL : &r->waiting[in->last_waiting].next_in_region,
		       index);
	}
	return error;
}

void groups__cancel(struct resolver *r, struct thread *t, uint32_t what)
{
	uint32_t group = groups__of_context(t), region = region_of(t);

	if (what & TRACE_CANCEL_TASKGROUP && group != GRAIN_NONE)
		r->groups[group].cancelled = true;
	if (what & TRACE_CANCEL_PARALLEL && region != GRAIN_NONE)
		r->regions[region].cancelled = true;
}
