// SPDX-License-Identifier: BSD-2-Clause
/* Loops and sections. Book-keeping before a chunk counts as the chunk's creation. */
#include "analysis/fold/fold_state.h"

/* Returns the open loop of the innermost task or member. FOLD_NO_OWNER: none. */
static size_t open_loop(const struct fold_thread *t)
{
	for (size_t i = t->depth; i-- > 0;) {
		if (t->frames[i].kind == FOLD_FRAME_LOOP)
			return i;
		if (t->frames[i].kind == FOLD_FRAME_TASK || t->frames[i].kind == FOLD_FRAME_MEMBER)
			break;
	}
	return FOLD_NO_OWNER;
}

/* Ends the open chunk of the loop and everything in it. */
static void end_chunk(struct fold *f, struct fold_thread *t, size_t loop)
{
	if (t->depth <= loop + 1)
		return;
	fold_frames__close_to(f, t, loop + 2);
	if (t->depth > loop + 1)
		fold_frames__pop(f, t);
}

static int push_loop(struct fold *f, struct fold_thread *t, uint64_t sp, uint32_t row)
{
	return fold_frames__push(f, t, (struct fold_frame){.kind = FOLD_FRAME_LOOP, .sp = sp, .id = row});
}

/*
 * Returns the frame of an event. If it cannot be compared with the open frames, returns a frame just below
 * them.
 */
static uint64_t frame_of(const struct fold_thread *t, const struct trace_record *rec)
{
	size_t loop = open_loop(t);

	if (!(rec->flags & TRACE_F_AMONG_WORDS))
		return rec->frame;
	if (loop != FOLD_NO_OWNER)
		return t->frames[loop].sp;
	return t->depth ? t->frames[t->depth - 1].sp - sizeof(uint64_t) : rec->frame;
}

static int loop_begin(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		      const struct trace_record *rec)
{
	bool sections = rec->kind == TRACE_SECTIONS_BEGIN;
	enum fold_kind kind = sections || rec->arg & TRACE_LOOP_IS_SECTIONS ? FOLD_SECTIONS : FOLD_LOOP;
	bool of_region = rec->arg & (sections ? TRACE_SECTIONS_OF_REGION : TRACE_LOOP_OF_REGION);
	struct fold_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;
	size_t open = open_loop(t);
	bool in_region = of_region && top && top->kind == FOLD_FRAME_REGION;
	uint64_t site = c->sites[rec->site];
	uint32_t row;
	int error = fold_rows__find(&f->rows, !site && in_region ? top->site : site,
				    sections ? rec->extra : 0, kind, f->budget, &row);

	if (error)
		return error;
	if (rec->arg & TRACE_LOOP_IN_PROGRAM && !sections && t->share) {
		f->totals.shares--;
		t->share = false;
	}
	if (of_region) {
		if (in_region)
			top->combined = row;
		return 0;
	}
	/* The end of a loop is not always seen. */
	if (open != FOLD_NO_OWNER) {
		end_chunk(f, t, open);
		fold_frames__pop(f, t);
	}
	return push_loop(f, t, frame_of(t, rec), row);
}

/* For libomp's loops, `site` is the address of their ident. */
static int params(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		  const struct trace_record *rec)
{
	struct fold_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;
	uint32_t *row = NULL;

	if (top && top->kind == FOLD_FRAME_LOOP)
		row = &top->id;
	else if (top && top->kind == FOLD_FRAME_REGION && top->combined != GRAIN_NONE)
		row = &top->combined;
	if (!row || !rec->site)
		return 0;
	return fold_rows__find(&f->rows, f->rows.rows[*row].site, c->sites[rec->site],
			       (enum fold_kind)f->rows.rows[*row].kind, f->budget, row);
}

/* The loop of a combined construct begins when its member asks for the first chunk. */
static int next(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	size_t loop = open_loop(t), base = fold_frames__base(t);

	if (loop != FOLD_NO_OWNER) {
		end_chunk(f, t, loop);
		return 0;
	}
	if (base == FOLD_NO_OWNER || t->frames[base].kind != FOLD_FRAME_MEMBER ||
	    t->frames[base].combined == GRAIN_NONE)
		return 0;
	return push_loop(f, t, rec->frame, t->frames[base].combined);
}

static int chunk(struct fold *f, struct fold_thread *t, const struct trace_record *rec)
{
	size_t loop = open_loop(t);
	struct fold_frame frame = {.kind = FOLD_FRAME_CHUNK, .sp = frame_of(t, rec)};
	int error = loop == FOLD_NO_OWNER ? next(f, t, rec) : 0;

	loop = open_loop(t);
	if (error || loop == FOLD_NO_OWNER) {
		f->totals.unmatched_ends += !error;
		return error;
	}
	end_chunk(f, t, loop);
	frame.id = t->frames[loop].id;
	frame.create_ns = t->frames[loop].create_ns;
	frame.spoiled = t->frames[loop].spoiled || rec->flags & TRACE_F_FAULT;
	t->frames[loop].create_ns = 0;
	return fold_frames__push(f, t, frame);
}

int fold_loops__record(struct fold *f, struct fold_thread *t, const struct trace_content *c,
		       const struct trace_record *rec)
{
	size_t loop;

	switch ((enum trace_kind)rec->kind) {
	case TRACE_LOOP_BEGIN:
	case TRACE_SECTIONS_BEGIN:
		return loop_begin(f, t, c, rec);
	case TRACE_LOOP_PARAMS:
		return params(f, t, c, rec);
	case TRACE_CHUNK_NEXT:
	case TRACE_SECTION_NEXT:
		return next(f, t, rec);
	case TRACE_CHUNK_BEGIN:
	case TRACE_SECTION_BEGIN:
		return chunk(f, t, rec);
	case TRACE_LOOP_END:
	case TRACE_SECTIONS_END:
		loop = open_loop(t);
		if (loop == FOLD_NO_OWNER)
			return 0;
		end_chunk(f, t, loop);
		fold_frames__pop(f, t);
		return 0;
	default:
		return 0;
	}
}
