/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames on threads' stacks, and the items that frames open and close. */
#include "analysis/graph/counters.h"
#include "analysis/replay/replay.h"

#include <string.h>

void context__spoil(struct grain_graph *graph, uint32_t context)
{
	struct context *c = &graph->contexts[context];

	c->flags |= CONTEXT_INCOMPLETE;
	if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		graph->regions[c->region].incomplete = true;
}

int context__new(struct replay *r, enum grain_context_kind kind, uint32_t parent, uint32_t definition,
		 uint32_t *out)
{
	struct grain_graph *g = r->graph;
	int error = GROW(g, contexts, context_count, context_capacity);
	struct context *c;

	if (error < 0)
		return error;
	*out = (uint32_t)g->context_count++;
	c = &g->contexts[*out];
	memset(c, 0, sizeof *c);
	c->kind = (uint8_t)kind;
	c->parent = parent;
	c->definition = definition;
	c->start_ns = c->end_ns = r->now_ns;
	c->region = c->join = c->item = c->single = c->group = c->barrier = c->frame = c->link = c->number =
		GRAIN_NONE;
	c->min_parallelism = UINT32_MAX;
	c->flags = CONTEXT_LEAF;
	if (parent != GRAIN_NONE) {
		const struct context *p = &g->contexts[parent];

		c->depth = p->depth + (kind == GRAIN_TASK);
		c->region = p->region;
	}
	return 0;
}

static void add_busy(struct replay *r, struct frame *f, uint64_t ns)
{
	if (f->member != GRAIN_NONE)
		r->frames[f->member].busy_ns += ns;
}

int frame__open(struct replay *r, uint32_t frame, enum grain_item_kind kind, uint32_t ref)
{
	struct grain_graph *g = r->graph;
	struct frame *f = &r->frames[frame];
	int error = GROW(g, raw, raw_count, raw_capacity);

	if (error < 0)
		return error;
	f->item = (uint32_t)g->raw_count++;
	g->raw[f->item] = (struct raw_item){
		.start_ns = r->now_ns,
		.end_ns = r->now_ns,
		.context = f->context,
		.ref = ref,
		.thread = f->thread,
		.cpu = (uint16_t)g->threads[f->thread].cpu,
		.kind = (uint8_t)kind,
		.flags = ITEM_OPEN,
	};
	g->contexts[f->context].item_count++;
	if (kind == GRAIN_FRAGMENT) {
		r->running++;
		r->changed = true;
		if (g->counters)
			return counters__open(g, f->thread, f->context);
	} else if (kind == GRAIN_FORK || kind == GRAIN_BOOKKEEPING) {
		struct rare *rare;

		r->creating++;
		if (kind == GRAIN_BOOKKEEPING)
			return graph__rare(g, f->context, &rare);
	}
	return 0;
}

static void close_fragment(struct replay *r, struct frame *f, struct raw_item *item, bool keep)
{
	struct grain_graph *g = r->graph;
	struct context *c = &g->contexts[f->context];

	r->running--;
	r->changed = true;
	if (g->counters)
		counters__close(g, item->thread, item->context, !item->own_ns);
	if (item->own_ns) {
		uint32_t least = replay__least(r, item->start_ns);

		c->exec_ns += item->own_ns;
		add_busy(r, f, item->own_ns);
		if (least < c->min_parallelism)
			c->min_parallelism = least;
	} else if (!keep && c->item_count > 1) {
		c->item_count--;
		if (f->item == g->raw_count - 1)
			g->raw_count--;
		else
			item->flags |= ITEM_DROPPED;
	}
}

void frame__close(struct replay *r, uint32_t frame, bool keep)
{
	struct grain_graph *g = r->graph;
	struct frame *f = &r->frames[frame];
	struct context *c = &g->contexts[f->context];
	struct raw_item *item;
	uint64_t length, inside;

	if (f->item == GRAIN_NONE)
		return;
	item = &g->raw[f->item];
	length = r->now_ns - item->start_ns;
	inside = item->own_ns;
	item->end_ns = r->now_ns;
	item->own_ns = length > inside ? length - inside : 0;
	item->flags &= (uint8_t)~ITEM_OPEN;
	c->end_ns = r->now_ns;
	switch (item->kind) {
	case GRAIN_FRAGMENT:
		close_fragment(r, f, item, keep);
		break;
	case GRAIN_FORK:
		/* The thread creates nothing while a body runs inside. */
		r->creating -= f->above == GRAIN_NONE;
		g->contexts[item->ref].create_ns += item->own_ns;
		tasking__closed(r, f, item);
		break;
	case GRAIN_JOIN: {
		struct join *j = &g->joins[item->ref];

		c->wait_ns += item->own_ns;
		if (r->now_ns > j->end_ns)
			j->end_ns = r->now_ns;
		tasking__closed(r, f, item);
		break;
	}
	case GRAIN_BOOKKEEPING:
		r->creating--;
		g->rares[c->rare - 1].bookkeeping_ns += item->own_ns;
		break;
	default:
		break;
	}
	f->item = GRAIN_NONE;
}

bool frame__on_top_in_fragment(const struct replay *r, uint32_t frame)
{
	const struct frame *f = &r->frames[frame];

	return f->item != GRAIN_NONE && r->graph->raw[f->item].kind == GRAIN_FRAGMENT;
}

int frame__change(struct replay *r, uint32_t frame, enum grain_item_kind kind, uint32_t ref)
{
	struct grain_graph *g = r->graph;
	struct frame *f = &r->frames[frame];

	if (f->item != GRAIN_NONE && kind != GRAIN_FRAGMENT) {
		struct raw_item *item = &g->raw[f->item];

		if (item->kind != GRAIN_FRAGMENT && item->kind != GRAIN_BOOKKEEPING) {
			item->flags |= ITEM_UNCLOSED;
			context__spoil(g, f->context);
			if (item->kind == GRAIN_JOIN) {
				g->truth.unclosed_waits++;
				g->joins[item->ref].flags |= JOIN_UNCLOSED;
			} else if (item->kind == GRAIN_FORK) {
				context__spoil(g, item->ref);
			}
		}
		f->loop_left = f->region_end = GRAIN_NONE;
	}
	frame__close(r, frame, false);
	return frame__open(r, frame, kind, ref);
}

/* Puts a frame on top of a thread's stack. Its item is not open yet. */
static void push(struct replay *r, uint32_t frame, uint32_t thread)
{
	struct thread *t = &r->graph->threads[thread];
	struct frame *f = &r->frames[frame];

	f->thread = thread;
	f->below = t->top;
	f->above = GRAIN_NONE;
	f->pushed_ns = r->now_ns;
	f->losses = r->losses;
	if (t->top == GRAIN_NONE) {
		t->outside_ns += r->now_ns - t->outside_since;
	} else {
		if (frame__on_top_in_fragment(r, t->top))
			frame__close(r, t->top, false);
		r->frames[t->top].above = frame;
	}
	t->top = frame;
	t->framed = true;
}

/* Removes a frame, whose item is closed, from its thread. The frame below continues. */
static int unlink_frame(struct replay *r, uint32_t frame)
{
	struct frame *f = &r->frames[frame];
	struct thread *t;
	uint32_t below = f->below, above = f->above;
	int error;

	if (f->thread == GRAIN_NONE)
		return 0;
	if (f->losses != r->losses)
		context__spoil(r->graph, f->context);
	error = tasking__leaving(r, frame);
	if (error < 0)
		return error;
	t = &r->graph->threads[f->thread];
	f->thread = f->below = f->above = GRAIN_NONE;
	if (below != GRAIN_NONE) {
		r->frames[below].above = above;
		if (r->frames[below].item != GRAIN_NONE)
			r->graph->raw[r->frames[below].item].own_ns += r->now_ns - f->pushed_ns;
	}
	if (above != GRAIN_NONE) {
		r->frames[above].below = below;
		r->frames[above].pushed_ns = r->now_ns;
		return 0;
	}
	t->top = below;
	if (below == GRAIN_NONE) {
		t->outside_since = r->now_ns;
		return 0;
	}
	tasking__uncovered(r, below);
	return r->frames[below].item == GRAIN_NONE ? frame__open(r, below, GRAIN_FRAGMENT, GRAIN_NONE) : 0;
}

static int new_frame(struct replay *r, uint32_t *frame)
{
	int error;

	if (r->free_frame != GRAIN_NONE) {
		*frame = r->free_frame;
		r->free_frame = r->frames[*frame].below;
		return 0;
	}
	error = memory__grow(&r->graph->memory, (void **)&r->frames, &r->frame_capacity, r->frame_count,
			     sizeof *r->frames);
	if (error < 0)
		return error;
	*frame = (uint32_t)r->frame_count++;
	return 0;
}

/* Counts a task that is on its member's stack from now on. */
static void count_active(struct replay *r, struct frame *f)
{
	struct grain_graph *g = r->graph;
	struct frame *m;
	uint32_t region;

	if (g->contexts[f->context].kind != GRAIN_TASK || f->member == GRAIN_NONE)
		return;
	m = &r->frames[f->member];
	region = g->contexts[m->context].region;
	m->active++;
	if (region != GRAIN_NONE && m->active > g->regions[region].max_active)
		g->regions[region].max_active = m->active;
}

static void uncount_active(struct replay *r, struct frame *f)
{
	if (r->graph->contexts[f->context].kind != GRAIN_TASK || f->member == GRAIN_NONE)
		return;
	r->frames[f->member].active--;
	f->member = GRAIN_NONE;
}

/*
 * Clears the fields one by one, which is much faster than clearing the whole struct. tasking__begun() sets
 * the account.
 */
static void clear_frame(struct frame *f)
{
	f->pushed_ns = f->busy_ns = f->losses = 0;
	f->parked_ref = f->singles = f->loops_seen = f->joins = f->yields = f->active = 0;
	f->own = f->in_single = (struct scope){0};
	f->single = f->children = f->group = f->passed = f->upcoming = f->item = f->loop = f->loop_left =
		f->region_end = f->visit = GRAIN_NONE;
	f->parked_kind = f->wait = 0;
	f->lost = false;
}

int frame__enter(struct replay *r, uint32_t thread, uint32_t context, uint32_t *frame)
{
	struct grain_graph *g = r->graph;
	struct context *c = &g->contexts[context];
	struct frame *f;
	uint32_t below = g->threads[thread].top;
	int error = new_frame(r, frame);

	if (error < 0)
		return error;
	f = &r->frames[*frame];
	clear_frame(f);
	f->context = context;
	f->member = below != GRAIN_NONE ? r->frames[below].member : GRAIN_NONE;
	if (c->kind == GRAIN_IMPLICIT || c->kind == GRAIN_INITIAL)
		f->member = *frame;
	count_active(r, f);
	c->frame = *frame;
	c->flags |= CONTEXT_BEGUN;
	c->start_ns = c->end_ns = r->now_ns;
	tasking__begun(r, f, context);
	push(r, *frame, thread);
	error = tasking__pushed(r, *frame);
	return error < 0 ? error : frame__open(r, *frame, GRAIN_FRAGMENT, GRAIN_NONE);
}

int frame__park(struct replay *r, uint32_t frame)
{
	struct frame *f = &r->frames[frame];
	uint32_t point = f->account.point;

	f->parked_kind = GRAIN_FRAGMENT;
	f->parked_ref = GRAIN_NONE;
	f->lost = false;
	if (f->item != GRAIN_NONE) {
		struct raw_item *item = &r->graph->raw[f->item];

		if (f->above != GRAIN_NONE)
			item->own_ns += r->now_ns - r->frames[f->above].pushed_ns;
		f->parked_kind = item->kind;
		f->parked_ref = item->ref;
		frame__close(r, frame, false);
		f->account.point = point;
	}
	uncount_active(r, f);
	return unlink_frame(r, frame);
}

int frame__resume(struct replay *r, uint32_t frame, uint32_t thread)
{
	struct frame *f = &r->frames[frame];
	enum grain_item_kind kind = f->parked_kind;
	int error;

	push(r, frame, thread);
	error = tasking__pushed(r, frame);
	if (error < 0)
		return error;
	if (r->graph->contexts[f->context].kind == GRAIN_TASK && f->below != GRAIN_NONE) {
		f->member = r->frames[f->below].member;
		count_active(r, f);
	}
	/* Only fragments and waits can be resumed. A fork, region or chunk cannot be split. */
	if (kind != GRAIN_FRAGMENT && kind != GRAIN_JOIN) {
		context__spoil(r->graph, f->context);
		f->account.point = GRAIN_NONE;
		return frame__open(r, frame, GRAIN_FRAGMENT, GRAIN_NONE);
	}
	error = frame__open(r, frame, kind, kind == GRAIN_JOIN ? f->parked_ref : GRAIN_NONE);
	tasking__resumed(r, frame);
	return error;
}

int frame__leave(struct replay *r, uint32_t frame)
{
	struct grain_graph *g = r->graph;
	struct frame *f = &r->frames[frame];
	struct context *c = &g->contexts[f->context];
	int error;

	if (f->thread == GRAIN_NONE) {
		context__spoil(g, f->context);
	} else if (f->item != GRAIN_NONE) {
		struct raw_item *item = &g->raw[f->item];
		bool after_join = f->region_end != GRAIN_NONE;

		if (f->above != GRAIN_NONE)
			item->own_ns += r->now_ns - r->frames[f->above].pushed_ns;
		if (item->kind == GRAIN_FRAGMENT) {
			frame__close(r, frame, !after_join);
		} else {
			item->flags |= ITEM_UNCLOSED;
			context__spoil(g, f->context);
			if (item->kind == GRAIN_JOIN)
				g->truth.unclosed_waits++;
			else if (item->kind == GRAIN_FORK)
				context__spoil(g, item->ref);
			frame__close(r, frame, true);
		}
	}
	c->flags |= CONTEXT_ENDED;
	c->frame = GRAIN_NONE;
	error = tasking__ended(r, f);
	if (error < 0)
		return error;
	uncount_active(r, f);
	/* For a member of the outer team, a whole inner region counts as busy time. */
	if (f->member == frame && f->below != GRAIN_NONE && r->frames[f->below].member != GRAIN_NONE)
		r->frames[r->frames[f->below].member].busy_ns += r->now_ns - f->pushed_ns;
	error = unlink_frame(r, frame);
	r->frames[frame].below = r->free_frame;
	r->free_frame = frame;
	return error;
}

void replay__count_never_ended(struct replay *r, uint32_t context)
{
	struct grain_graph *g = r->graph;
	const struct context *c = &g->contexts[context];
	const uint8_t *trouble = g->stream->task_trouble;

	context__spoil(g, context);
	if (c->kind != GRAIN_TASK || c->number == GRAIN_NONE || !trouble ||
	    !(trouble[c->number] & EVENT_TROUBLE_NO_END))
		g->truth.never_ended++;
}

int frame__abandon_above(struct replay *r, uint32_t thread, uint32_t frame)
{
	struct grain_graph *g = r->graph;
	struct thread *t = &g->threads[thread];

	while (t->top != GRAIN_NONE && t->top != frame) {
		int error;

		replay__count_never_ended(r, r->frames[t->top].context);
		error = frame__leave(r, t->top);
		if (error < 0)
			return error;
	}
	return 0;
}
