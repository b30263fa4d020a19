/* SPDX-License-Identifier: BSD-2-Clause */
/* Worksharing loops and sections: book-keeping and chunks. */
#include "analysis/replay/replay.h"

#define SEARCH_DEPTH 64

int replay__loop_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct frame *f;
	struct loop *loop;
	uint32_t frame, ordinal;
	int error;

	if (e->id >= g->loop_count) {
		g->truth.unmatched_begins++;
		return 0;
	}
	error = replay__top(r, thread, &frame);
	if (error == 0)
		error = GROW(g, visits, visit_count, visit_capacity);
	if (error < 0)
		return error;
	f = &r->frames[frame];
	loop = &g->loops[e->id];
	ordinal = f->loops_seen++;
	if (!loop->seen) {
		loop->seen = true;
		loop->sections = e->kind == EVENT_SECTIONS_BEGIN;
		loop->context = f->context;
		if (g->contexts[f->context].kind == GRAIN_IMPLICIT)
			loop->region = g->contexts[f->context].region;
		loop->start_ns = r->now_ns;
		loop->hidden = g->stream->loops && g->stream->loops[e->id].bounds_hidden;
		loop->definition =
			e->src < g->stream->source_count ? g->definition_of_source[e->src] : GRAIN_NONE;
		loop->ordinal = ordinal;
		loop->join = GRAIN_NONE;
	}
	loop->end_ns = r->now_ns;
	loop->members++;
	f->loop = e->id;
	f->visit = (uint32_t)g->visit_count;
	g->visits[g->visit_count++] = (struct visit){.loop = e->id, .member = f->context};
	return frame__change(r, frame, GRAIN_BOOKKEEPING, e->id);
}

static void describe_chunk(struct grain_graph *g, struct chunk *chunk, const struct event *e)
{
	struct loop *loop = &g->loops[chunk->loop];

	if (e->kind == EVENT_SECTION_BEGIN) {
		if (chunk->upper < chunk->lower)
			chunk->upper = chunk->lower;
		return;
	}
	if (e->sub) {
		chunk->hidden = loop->hidden = true;
		chunk->lower = chunk->upper = 0;
	} else if (e->src > 1 && e->src != GRAIN_NONE) {
		chunk->count = e->src;
		loop->derived = true;
	}
}

int replay__chunk_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t frame = g->threads[thread].top, context, visit, chunk_frame;
	const struct frame *f;
	struct context *c;
	struct rare *rare;
	uint64_t bookkeeping;
	int error;

	if (e->id >= g->loop_count || frame == GRAIN_NONE || r->frames[frame].loop != e->id) {
		g->truth.unmatched_begins++;
		return 0;
	}
	error = GROW(g, chunks, chunk_count, chunk_capacity);
	if (error == 0)
		error = context__new(r, GRAIN_CHUNK, r->frames[frame].context, g->loops[e->id].definition,
				     &context);
	if (error < 0)
		return error;
	f = &r->frames[frame];
	visit = f->visit;
	c = &g->contexts[context];
	c->flags |= CONTEXT_CREATED;
	c->number = (uint32_t)g->chunk_count;
	c->group = f->group;
	c->ordinal = g->visits[visit].chunks++;
	g->loops[e->id].chunks++;
	g->chunks[g->chunk_count++] = (struct chunk){
		.lower = (int64_t)e->value,
		.upper = (int64_t)e->extra,
		.loop = e->id,
		.context = context,
		.visit = visit,
		.count = 1,
	};
	describe_chunk(g, &g->chunks[g->chunk_count - 1], e);
	error = frame__upcoming_barrier(r, frame, &g->contexts[context].barrier);
	if (error < 0)
		return error;
	bookkeeping = context__bookkeeping(g, &g->contexts[f->context]);
	error = frame__change(r, frame, GRAIN_CHUNK_ITEM, context);
	if (error < 0)
		return error;
	error = graph__rare(g, context, &rare);
	if (error < 0)
		return error;
	rare->bookkeeping_ns =
		context__bookkeeping(g, &g->contexts[g->contexts[context].parent]) - bookkeeping;
	return frame__enter(r, thread, context, &chunk_frame);
}

int replay__chunk_end(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t frame = g->threads[thread].top, below;
	const struct context *c = NULL;
	unsigned depth;
	int error;

	for (depth = 0; frame != GRAIN_NONE && depth < SEARCH_DEPTH; depth++) {
		c = &g->contexts[r->frames[frame].context];
		if (c->kind == GRAIN_CHUNK && g->chunks[c->number].loop == e->id)
			break;
		frame = r->frames[frame].below;
	}
	if (frame == GRAIN_NONE || depth == SEARCH_DEPTH) {
		g->truth.unmatched_ends++;
		return 0;
	}
	error = frame__abandon_above(r, thread, frame);
	if (error < 0)
		return error;
	below = r->frames[frame].below;
	error = frame__leave(r, frame);
	if (error < 0 || below == GRAIN_NONE)
		return error;
	g->visits[g->chunks[c->number].visit].exec_ns += c->exec_ns;
	frame__close(r, below, true);
	return frame__open(r, below, GRAIN_BOOKKEEPING, e->id);
}

int replay__loop_end(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t frame = g->threads[thread].top;
	int error;

	if (e->id >= g->loop_count || frame == GRAIN_NONE || r->frames[frame].loop != e->id) {
		g->truth.unmatched_ends++;
		return 0;
	}
	g->loops[e->id].end_ns = r->now_ns;
	error = frame__change(r, frame, GRAIN_FRAGMENT, GRAIN_NONE);
	r->frames[frame].loop = r->frames[frame].visit = GRAIN_NONE;
	r->frames[frame].loop_left = e->id;
	return error;
}
