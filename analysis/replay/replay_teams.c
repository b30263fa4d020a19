/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel regions, their members, and single constructs. */
#include "analysis/replay/replay.h"

/* No runtime has larger teams. Larger numbers come from damaged files. */
#define MEMBER_LIMIT 65536u
#define NESTING_LIMIT 64

static struct region *region_of(const struct replay *r, const struct event *e)
{
	return e->id < r->graph->region_count ? &r->graph->regions[e->id] : NULL;
}

int replay__region_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct region *region = region_of(r, e);
	struct frame *f;
	uint32_t frame;
	int error;

	if (!region || region->begun) {
		g->truth.unmatched_begins++;
		return 0;
	}
	error = replay__top(r, thread, &frame);
	if (error < 0)
		return error;
	f = &r->frames[frame];
	region->begun = true;
	region->teams = e->sub == 1;
	region->start_ns = region->end_ns = r->now_ns;
	region->parent = f->context;
	region->single = f->single;
	region->ordinal = frame__scope(f)->regions++;
	region->definition = e->src < g->stream->source_count ? g->definition_of_source[e->src] : GRAIN_NONE;
	region->declared = e->value < MEMBER_LIMIT ? (uint32_t)e->value : 0;
	g->contexts[f->context].flags &= (uint16_t)~CONTEXT_LEAF;
	r->region_order[r->regions_begun++] = e->id;
	if (g->contexts[f->context].region == GRAIN_NONE) {
		region->active = region->declared;
		r->active_threads += region->active;
		r->active_region = e->id;
	}
	return frame__change(r, frame, GRAIN_REGION, e->id);
}

static void deactivate(struct replay *r, uint32_t region)
{
	r->active_threads -= r->graph->regions[region].active;
	r->graph->regions[region].active = 0;
	if (r->active_region == region)
		r->active_region = GRAIN_NONE;
}

int replay__region_end(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct region *region = region_of(r, e);
	const struct frame *f;
	uint32_t frame;
	int error;

	if (!region || !region->begun) {
		g->truth.unmatched_ends++;
		return 0;
	}
	frame = g->contexts[region->parent].frame;
	f = frame == GRAIN_NONE ? NULL : &r->frames[frame];
	if (!f || region->ended || f->thread != thread || f->item == GRAIN_NONE ||
	    g->raw[f->item].kind != GRAIN_REGION || g->raw[f->item].ref != e->id) {
		g->truth.unmatched_ends++;
		return 0;
	}
	error = frame__abandon_above(r, thread, frame);
	if (error < 0)
		return error;
	region->ended = true;
	region->end_ns = r->now_ns;
	deactivate(r, e->id);
	return frame__change(r, frame, GRAIN_FRAGMENT, GRAIN_NONE);
}

/*
 * A worker is in one team at a time, so frames that are still open on it never ended. The thread that
 * encountered the region is no worker (teams in turn).
 */
static int clear_worker(struct replay *r, uint32_t thread, const struct region *region)
{
	struct grain_graph *g = r->graph;
	uint32_t top = g->threads[thread].top,
		 encountering = region->begun ? g->contexts[region->parent].frame : GRAIN_NONE;

	if (top == GRAIN_NONE || g->contexts[r->frames[top].context].kind == GRAIN_INITIAL ||
	    top == encountering)
		return 0;
	return frame__abandon_above(r, thread, GRAIN_NONE);
}

int replay__member_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct region *region = region_of(r, e);
	uint32_t context, frame;
	struct context *c;
	int error;

	if (e->id == GRAIN_NONE)
		return replay__base(r, thread, true);
	if (!region || e->value >= MEMBER_LIMIT) {
		g->truth.unmatched_begins++;
		return 0;
	}
	if (e->value != 0) {
		error = clear_worker(r, thread, region);
		if (error < 0)
			return error;
	}
	error = GROW(g, members, member_count, member_capacity);
	if (error == 0)
		error = context__new(r, GRAIN_IMPLICIT, region->begun ? region->parent : GRAIN_NONE,
				     region->begun ? region->definition : GRAIN_NONE, &context);
	if (error < 0)
		return error;
	c = &g->contexts[context];
	c->region = e->id;
	c->ordinal = (uint32_t)e->value;
	c->flags |= CONTEXT_CREATED;
	if (!region->begun) {
		c->flags |= CONTEXT_INCOMPLETE;
		region->incomplete = true;
		if (region->start_ns == UINT64_MAX)
			region->start_ns = r->now_ns;
	}
	if (region->begun && !region->declared && g->contexts[region->parent].region == GRAIN_NONE) {
		region->active++;
		r->active_threads++;
	}
	c->number = (uint32_t)g->member_count;
	g->members[g->member_count++] =
		(struct member){.region = e->id, .number = c->ordinal, .context = context};
	g->threads[thread].member |= e->value != 0;
	return frame__enter(r, thread, context, &frame);
}

/* A member that ended without a barrier has not waited at the region's end. */
static int end_region_join(struct replay *r, uint32_t frame, struct region *region)
{
	struct grain_graph *g = r->graph;
	uint32_t join = r->frames[frame].region_end;
	int error;

	if (join == GRAIN_NONE) {
		error = frame__upcoming_barrier(r, frame, &join);
		if (error == 0)
			error = frame__change(r, frame, GRAIN_JOIN, join);
		if (error < 0)
			return error;
		r->frames[frame].passed = join;
		r->frames[frame].region_end = join;
		g->joins[join].flags |= JOIN_REACHED;
		if (r->now_ns < g->joins[join].start_ns)
			g->joins[join].start_ns = r->now_ns;
		frame__close(r, frame, true);
	}
	if (region->end_join == GRAIN_NONE) {
		region->end_join = join;
		g->joins[join].kind = GRAIN_JOIN_REGION_END;
	} else if (region->end_join != join) {
		region->incomplete = true;
	}
	return 0;
}

/* Returns the innermost frame of the thread for this member; for GRAIN_NONE, that of an unseen region. */
static uint32_t find_member(const struct replay *r, uint32_t thread, const struct event *e)
{
	uint32_t frame = r->graph->threads[thread].top;
	unsigned depth;

	for (depth = 0; frame != GRAIN_NONE && depth < NESTING_LIMIT; depth++) {
		const struct context *c;

		frame = r->frames[frame].member;
		if (frame == GRAIN_NONE)
			break;
		c = &r->graph->contexts[r->frames[frame].context];
		if (c->kind == GRAIN_IMPLICIT && c->region == e->id &&
		    (e->id == GRAIN_NONE || c->ordinal == e->value))
			return frame;
		frame = r->frames[frame].below;
	}
	return GRAIN_NONE;
}

int replay__member_end(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct region *region = region_of(r, e);
	uint32_t frame = find_member(r, thread, e);
	int error;

	g->threads[thread].member |= e->value != 0;
	if (frame == GRAIN_NONE) {
		g->truth.unmatched_ends++;
		return 0;
	}
	error = frame__abandon_above(r, thread, frame);
	if (error < 0)
		return error;
	if (!region)
		return frame__leave(r, frame);
	if (!frame__on_top_in_fragment(r, frame)) {
		context__spoil(g, r->frames[frame].context);
	} else {
		error = end_region_join(r, frame, region);
		if (error < 0)
			return error;
	}
	g->members[g->contexts[r->frames[frame].context].number].busy_ns = r->frames[frame].busy_ns;
	return frame__leave(r, frame);
}

void replay__single_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	uint32_t top = r->graph->threads[thread].top;
	struct frame *f;
	uint8_t kind;

	if (top == GRAIN_NONE)
		return;
	f = &r->frames[top];
	f->loop_left = GRAIN_NONE;
	kind = r->graph->contexts[f->context].kind;
	if (kind != GRAIN_IMPLICIT && kind != GRAIN_INITIAL)
		return;
	f->single = GRAIN_NONE;
	if (e->value) {
		f->single = f->singles;
		f->in_single = (struct scope){0};
	}
	f->singles++;
}

void replay__single_end(struct replay *r, uint32_t thread)
{
	uint32_t top = r->graph->threads[thread].top;

	if (top != GRAIN_NONE)
		r->frames[top].single = GRAIN_NONE;
}
