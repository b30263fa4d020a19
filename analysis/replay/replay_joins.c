/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits: taskwait, taskgroup and barriers, and what each of them synchronizes. */
#include "analysis/replay/replay.h"

#include <string.h>

/*
 * For an end, the search for its begin goes at most this many frames down the stack. Deeper ones stay
 * unmatched.
 */
#define SEARCH_DEPTH 64

static int new_join(struct replay *r, enum grain_join_kind kind, uint32_t *out)
{
	struct grain_graph *g = r->graph;
	int error = GROW(g, joins, join_count, join_capacity);
	struct join *j;

	if (error < 0)
		return error;
	*out = (uint32_t)g->join_count++;
	j = &g->joins[*out];
	memset(j, 0, sizeof *j);
	j->kind = (uint8_t)kind;
	j->start_ns = UINT64_MAX;
	j->waiter = j->region = j->next = j->definition = GRAIN_NONE;
	return 0;
}

static int own_join(struct replay *r, uint32_t frame, enum grain_join_kind kind, uint32_t *out)
{
	int error = new_join(r, kind, out);
	struct frame *f = &r->frames[frame];
	struct join *j;

	if (error < 0)
		return error;
	j = &r->graph->joins[*out];
	j->waiter = f->context;
	j->ordinal = f->joins++;
	return 0;
}

/* taskyield and waits for dependences join nothing, so they have their own numbers. */
static void number_apart(struct replay *r, uint32_t frame, uint32_t join)
{
	struct frame *f = &r->frames[frame];

	r->graph->joins[join].flags |= JOIN_YIELD;
	r->graph->joins[join].ordinal = f->yields++;
	f->joins--;
}

int frame__upcoming_barrier(struct replay *r, uint32_t frame, uint32_t *join)
{
	struct grain_graph *g = r->graph;
	struct frame *f = &r->frames[frame];
	uint32_t region = g->contexts[f->context].region;
	bool team = g->contexts[f->context].kind == GRAIN_IMPLICIT && region != GRAIN_NONE;
	struct region *team_region = team ? &g->regions[region] : NULL;
	uint32_t *next;
	int error;

	if (team)
		next = f->passed == GRAIN_NONE ? &team_region->first_barrier : &g->joins[f->passed].next;
	else
		next = &f->upcoming;
	if (*next != GRAIN_NONE) {
		*join = *next;
		return 0;
	}
	error = new_join(r, GRAIN_JOIN_BARRIER, join);
	if (error < 0)
		return error;
	if (!team) {
		f->upcoming = *join;
		g->joins[*join].waiter = f->context;
		return 0;
	}
	if (f->passed == GRAIN_NONE)
		team_region->first_barrier = *join;
	else
		g->joins[f->passed].next = *join;
	g->joins[*join].region = region;
	g->joins[*join].ordinal = team_region->barriers++;
	team_region->last_barrier = *join;
	return 0;
}

static int begin_barrier(struct replay *r, uint32_t frame, const struct event *e, uint32_t *join)
{
	struct grain_graph *g = r->graph;
	struct frame *f = &r->frames[frame];
	uint8_t kind = g->contexts[f->context].kind;
	int error;

	if (kind != GRAIN_IMPLICIT && kind != GRAIN_INITIAL)
		return own_join(r, frame, GRAIN_JOIN_BARRIER, join);
	f->single = GRAIN_NONE;
	error = frame__upcoming_barrier(r, frame, join);
	if (error < 0)
		return error;
	f = &r->frames[frame];
	f->passed = *join;
	if (f->upcoming != GRAIN_NONE) {
		g->joins[*join].ordinal = f->joins++;
		f->upcoming = GRAIN_NONE;
	}
	f->children = GRAIN_NONE;
	if (f->loop_left != GRAIN_NONE) {
		struct loop *loop = &g->loops[f->loop_left];

		/* An inline static loop ends with the same call as an explicit barrier. */
		if (loop->join == GRAIN_NONE && (e->sub == EVENT_WAIT_BARRIER_IMPLICIT || loop->hidden)) {
			loop->join = *join;
			if (g->joins[*join].kind == GRAIN_JOIN_BARRIER)
				g->joins[*join].kind = GRAIN_JOIN_LOOP;
		}
	}
	return 0;
}

/*
 * Returns the construct that a wait belongs to, if its own source was not seen. For a barrier this is its
 * loop or region.
 */
static uint32_t part_of(const struct replay *r, uint32_t frame, const struct event *e)
{
	const struct grain_graph *g = r->graph;
	const struct frame *f = &r->frames[frame];
	const struct context *c = &g->contexts[f->context];

	if (e->src < g->stream->source_count)
		return g->definition_of_source[e->src];
	if ((e->sub != EVENT_WAIT_BARRIER && e->sub != EVENT_WAIT_BARRIER_IMPLICIT) ||
	    c->kind != GRAIN_IMPLICIT)
		return GRAIN_NONE;
	if (f->loop_left != GRAIN_NONE &&
	    (e->sub == EVENT_WAIT_BARRIER_IMPLICIT || g->loops[f->loop_left].hidden))
		return g->loops[f->loop_left].definition;
	return c->region == GRAIN_NONE ? GRAIN_NONE : g->regions[c->region].definition;
}

int replay__wait_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t frame, join = GRAIN_NONE, definition;
	struct join *j;
	int error = replay__top(r, thread, &frame);

	if (error < 0)
		return error;
	definition = part_of(r, frame, e);
	switch (e->sub) {
	case EVENT_WAIT_TASKGROUP:
		error = own_join(r, frame, GRAIN_JOIN_TASKGROUP, &join);
		if (error == 0 && r->frames[frame].group != GRAIN_NONE)
			r->groups[r->frames[frame].group].join = join;
		break;
	case EVENT_WAIT_BARRIER:
	case EVENT_WAIT_BARRIER_IMPLICIT:
		error = begin_barrier(r, frame, e, &join);
		break;
	default:
		error = own_join(r, frame, GRAIN_JOIN_TASKWAIT, &join);
		if (error == 0 && e->sub != EVENT_WAIT_TASKWAIT)
			number_apart(r, frame, join);
		break;
	}
	if (error < 0)
		return error;
	j = &g->joins[join];
	j->flags |= JOIN_REACHED;
	if (r->now_ns < j->start_ns)
		j->start_ns = r->now_ns;
	if (j->definition == GRAIN_NONE && e->src < g->stream->source_count)
		j->definition = definition;
	error = frame__change(r, frame, GRAIN_JOIN, join);
	r->frames[frame].wait = e->sub;
	return error < 0 ? error : tasking__wait(r, frame, e->sub, definition);
}

/*
 * Joins the waiting task's children that no taskgroup has joined. These include children made in chunks that
 * the task executed.
 */
static void join_children(struct replay *r, uint32_t waiter, uint32_t join)
{
	struct grain_graph *g = r->graph;
	uint32_t frame = replay__task_frame(r, waiter), c;

	if (frame == GRAIN_NONE)
		return;
	c = r->frames[frame].children;
	while (c != GRAIN_NONE) {
		struct context *child = &g->contexts[c];
		uint32_t next = child->link;

		child->join = join;
		if (child->group != GRAIN_NONE && r->groups[child->group].closed)
			child->join = r->groups[child->group].join;
		child->link = GRAIN_NONE;
		c = next;
	}
	r->frames[frame].children = GRAIN_NONE;
}

static bool waits(const struct replay *r, uint32_t frame, uint8_t kind)
{
	const struct frame *f = &r->frames[frame];

	return f->item != GRAIN_NONE && r->graph->raw[f->item].kind == GRAIN_JOIN && f->wait == kind;
}

/* Uses the wait's own time if it was measured directly. */
static void measured_wait(struct grain_graph *g, uint32_t index, const struct event *e)
{
	struct raw_item *item = &g->raw[index];

	g->contexts[item->context].wait_ns += e->extra - 1 - item->own_ns;
	item->own_ns = e->extra - 1;
	if (e->value)
		item->flags |= ITEM_UNCLOSED;
}

int replay__wait_end(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t frame = g->threads[thread].top, join, context, item;
	unsigned depth = 0;
	int error;

	while (frame != GRAIN_NONE && !waits(r, frame, e->sub) && depth++ < SEARCH_DEPTH)
		frame = r->frames[frame].below;
	if (frame == GRAIN_NONE || !waits(r, frame, e->sub)) {
		g->truth.unmatched_ends++;
		return 0;
	}
	error = frame__abandon_above(r, thread, frame);
	if (error < 0)
		return error;
	item = r->frames[frame].item;
	join = g->raw[item].ref;
	error = frame__change(r, frame, GRAIN_FRAGMENT, GRAIN_NONE);
	if (error < 0)
		return error;
	context = r->frames[frame].context;
	if (e->extra && g->info.times_derived)
		measured_wait(g, item, e);
	switch (e->sub) {
	case EVENT_WAIT_TASKWAIT:
		join_children(r, context, join);
		break;
	case EVENT_WAIT_TASKGROUP:
		if (r->frames[frame].group != GRAIN_NONE) {
			struct group *group = &r->groups[r->frames[frame].group];

			group->closed = true;
			r->frames[frame].group = group->outer;
		}
		break;
	case EVENT_WAIT_BARRIER:
	case EVENT_WAIT_BARRIER_IMPLICIT:
		if (g->contexts[context].kind == GRAIN_TASK || g->contexts[context].kind == GRAIN_CHUNK)
			join_children(r, context, join);
		else if (e->sub == EVENT_WAIT_BARRIER_IMPLICIT)
			r->frames[frame].region_end = join;
		break;
	default:
		break;
	}
	return 0;
}

int replay__group_begin(struct replay *r, uint32_t thread)
{
	uint32_t frame;
	int error = replay__top(r, thread, &frame);

	if (error < 0)
		return error;
	error = memory__grow(&r->graph->memory, (void **)&r->groups, &r->group_capacity, r->group_count,
			     sizeof *r->groups);
	if (error < 0)
		return error;
	r->groups[r->group_count] = (struct group){.offers.since_ns = r->now_ns,
						   .join = GRAIN_NONE,
						   .outer = r->frames[frame].group};
	r->frames[frame].group = (uint32_t)r->group_count++;
	r->frames[frame].loop_left = GRAIN_NONE;
	return 0;
}
