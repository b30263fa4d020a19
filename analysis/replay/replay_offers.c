/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks that a waiting thread could have begun: deferred tasks, from the start of their creation to their
 * begin, once all their predecessors have ended. In a barrier these are the tasks of the team, in a taskwait
 * the children of its task, at the end of a taskgroup the tasks of the group. For each of these sets, the
 * time without such a task is summed up. A wait's idle time is the difference of two readings of that sum.
 */
#include "analysis/replay/replay.h"
#include "analysis/graph/tasking.h"

static struct offers *of_team(const struct replay *r, uint32_t context)
{
	const struct grain_graph *g = r->graph;
	uint32_t region = g->contexts[context].region;

	return &g->tasking->teams[region == GRAIN_NONE ? g->region_count : region];
}

/* Returns the offers of the children of the context's task. NULL: that task has ended. */
static struct offers *of_children(const struct replay *r, uint32_t context)
{
	uint32_t frame = context == GRAIN_NONE ? GRAIN_NONE : replay__task_frame(r, context);

	return frame == GRAIN_NONE ? NULL : &r->frames[frame].account.children;
}

static struct offers *of_wait(const struct replay *r, const struct frame *f)
{
	struct offers *offers = NULL;

	if (f->account.wait == EVENT_WAIT_TASKWAIT || f->account.wait == EVENT_WAIT_TASKWAIT_DEPEND)
		offers = of_children(r, f->context);
	else if (f->account.wait == EVENT_WAIT_TASKGROUP && f->group != GRAIN_NONE)
		offers = &r->groups[f->group].offers;
	return offers ? offers : of_team(r, f->context);
}

uint64_t tasking__idle_clock(const struct replay *r, const struct frame *f)
{
	const struct offers *o = of_wait(r, f);

	return o->idle_ns + (o->count ? 0 : r->now_ns - o->since_ns);
}

static void count(const struct replay *r, struct offers *o, bool more)
{
	if (!o)
		return;
	if (more && o->count++ == 0)
		o->idle_ns += r->now_ns - o->since_ns;
	if (!more && --o->count == 0)
		o->since_ns = r->now_ns;
}

static void count_everywhere(const struct replay *r, uint32_t context, bool more)
{
	const struct context *c = &r->graph->contexts[context];

	count(r, of_team(r, context), more);
	count(r, of_children(r, c->parent), more);
	if (c->group != GRAIN_NONE)
		count(r, &r->groups[c->group].offers, more);
}

static bool has_unmet(const struct tasking *t, uint32_t context)
{
	return context < t->unmet_count && t->unmet[context].predecessors;
}

void tasking__offer(struct replay *r, uint32_t context)
{
	r->graph->contexts[context].flags |= CONTEXT_OFFERED;
	if (!has_unmet(r->graph->tasking, context))
		count_everywhere(r, context, true);
}

void tasking__withdraw(struct replay *r, uint32_t context)
{
	struct context *c = &r->graph->contexts[context];

	if (!(c->flags & CONTEXT_OFFERED))
		return;
	c->flags &= (uint16_t)~CONTEXT_OFFERED;
	if (!has_unmet(r->graph->tasking, context))
		count_everywhere(r, context, false);
}

/* A detached task is over when its body has ended and its event was fulfilled. */
static bool is_over(const struct context *c)
{
	if (c->flags & CONTEXT_DISCARDED)
		return true;
	return c->flags & CONTEXT_ENDED &&
	       (!(c->task_flags & EVENT_TASK_DETACH) || c->flags & CONTEXT_FULFILLED);
}

static int reach(struct replay *r, uint32_t context)
{
	struct tasking *t = r->graph->tasking;

	while (t->unmet_count <= context) {
		int error = memory__grow(&r->graph->memory, (void **)&t->unmet, &t->unmet_capacity,
					 t->unmet_count, sizeof *t->unmet);

		if (error < 0)
			return error;
		t->unmet[t->unmet_count++] = (struct unmet){.successors = GRAIN_NONE};
	}
	return 0;
}

int tasking__depends(struct replay *r, uint32_t from, uint32_t to)
{
	struct grain_graph *g = r->graph;
	struct tasking *t = g->tasking;
	int error;

	if (is_over(&g->contexts[from]))
		return 0;
	error = reach(r, from > to ? from : to);
	if (error == 0)
		error = memory__grow(&g->memory, (void **)&t->successors, &t->successor_capacity,
				     t->successor_count, sizeof *t->successors);
	if (error < 0)
		return error;
	t->successors[t->successor_count] = (struct successor){to, t->unmet[from].successors};
	t->unmet[from].successors = (uint32_t)t->successor_count++;
	if (t->unmet[to].predecessors++ == 0 && g->contexts[to].flags & CONTEXT_OFFERED)
		count_everywhere(r, to, false);
	return 0;
}

void tasking__over(struct replay *r, uint32_t context)
{
	struct grain_graph *g = r->graph;
	struct tasking *t = g->tasking;
	uint32_t s;

	if (context >= t->unmet_count || !is_over(&g->contexts[context]))
		return;
	for (s = t->unmet[context].successors; s != GRAIN_NONE; s = t->successors[s].next) {
		uint32_t to = t->successors[s].task;

		if (--t->unmet[to].predecessors == 0 && g->contexts[to].flags & CONTEXT_OFFERED)
			count_everywhere(r, to, true);
	}
	t->unmet[context].successors = GRAIN_NONE;
}
