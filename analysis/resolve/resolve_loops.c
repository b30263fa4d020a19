// SPDX-License-Identifier: BSD-2-Clause
/*
 * Worksharing loops and sections. The n-th construct that each member of a team reaches is the same
 * construct. Chunks lie between the calls that ask for them.
 */
#include "analysis/resolve/resolver.h"

#include <errno.h>

typedef __int128 wide;

static wide widen(uint64_t value, bool is_unsigned)
{
	return is_unsigned ? (wide)value : (wide)(int64_t)value;
}

/*
 * Finds the last iteration of lower, lower + step, ... before `upper`, or lower - step if there is none.
 * Returns false if that is not a number of the loop's type.
 */
static bool last_before(uint64_t lower, uint64_t upper, int64_t step, bool is_unsigned, uint64_t *out)
{
	wide from = widen(lower, is_unsigned), to = widen(upper, is_unsigned), last;

	if (step == 0)
		step = to >= from ? 1 : -1;
	if (step > 0)
		last = to > from ? from + (to - 1 - from) / step * step : from - 1;
	else
		last = to < from ? from - (from - 1 - to) / -(wide)step * -(wide)step : from + 1;
	*out = (uint64_t)last;
	return is_unsigned ? last >= 0 && last <= UINT64_MAX : last >= INT64_MIN && last <= INT64_MAX;
}

static bool is_empty(uint64_t lower, uint64_t upper, int64_t step, bool is_unsigned)
{
	wide from = widen(lower, is_unsigned), to = widen(upper, is_unsigned);

	return step > 0 ? to < from : step < 0 && to > from;
}

static uint8_t schedule(uint32_t arg)
{
	switch (arg & TRACE_LOOP_SCHEDULE) {
	case TRACE_LOOP_STATIC:
		return EVENT_SCHED_STATIC;
	case TRACE_LOOP_DYNAMIC:
		return EVENT_SCHED_DYNAMIC;
	case TRACE_LOOP_GUIDED:
		return EVENT_SCHED_GUIDED;
	case TRACE_LOOP_AUTO:
		return EVENT_SCHED_AUTO;
	case TRACE_LOOP_RUNTIME:
		return EVENT_SCHED_RUNTIME;
	default:
		return EVENT_SCHED_UNKNOWN;
	}
}

static void describe(struct event_loop *loop, const struct loop_call *call)
{
	uint32_t arg = call->arg;
	uint64_t upper = call->upper;
	bool known = !(arg & TRACE_LOOP_BOUNDS_HIDDEN);

	loop->known = true;
	if (call->sections) {
		loop->lower = call->counted ? 0 : (int64_t)call->lower;
		loop->upper = call->counted ? (int64_t)call->upper - 1 : (int64_t)call->upper;
		loop->has_lower = loop->has_upper = known && (!call->counted || call->upper > 0);
		if (!loop->has_lower)
			loop->lower = loop->upper = 0;
		return;
	}
	loop->sched = schedule(arg);
	loop->is_unsigned = arg & TRACE_LOOP_UNSIGNED;
	loop->bounds_hidden = !known;
	loop->ordered = arg & TRACE_LOOP_ORDERED;
	loop->doacross = arg & TRACE_LOOP_DOACROSS;
	loop->nonmonotonic = arg & TRACE_LOOP_NONMONOTONIC;
	loop->distribute = arg & TRACE_LOOP_DISTRIBUTE;
	loop->step = (int64_t)call->step;
	loop->has_step = call->step != 0;
	loop->chunk = (int64_t)call->chunk;
	loop->has_chunk = call->chunk != 0;
	if (arg & TRACE_LOOP_UPPER_UNKNOWN)
		known = false;
	if (known && arg & TRACE_LOOP_UPPER_EXCLUSIVE)
		known = last_before(call->lower, call->upper, loop->step, loop->is_unsigned, &upper);
	loop->has_lower = loop->has_upper = known;
	loop->lower = known ? (int64_t)call->lower : 0;
	loop->upper = known ? (int64_t)upper : 0;
}

static int new_loop(struct resolver *r, uint32_t *out)
{
	struct event_stream *s = r->stream;
	int error =
		array__make_room(&s->loops, s->loop_count, &r->loop_capacity, sizeof(*s->loops), r->budget);

	if (!error)
		error = array__make_room(&r->loops, s->loop_count, &r->loop_state_capacity, sizeof(*r->loops),
					 r->budget);
	if (error)
		return error;
	*out = s->loop_count++;
	s->loops[*out] = (struct event_loop){0};
	r->loops[*out] = (struct loop_state){0};
	return 0;
}

static int source_of(struct resolver *r, const struct loop_call *call, uint32_t *out)
{
	return site_table__source(&r->sites, call->site, call->ident,
				  call->sections ? SITE_SECTIONS : SITE_LOOP, out);
}

/* Finds the loop instance for the thread's innermost context. *fresh: no member has reached it before. */
static int instance(struct resolver *r, struct thread *t, const struct loop_call *call, uint32_t source,
		    uint32_t *loop, bool *fresh)
{
	struct frame *top = frames__top(t);
	const struct loop_state *known;
	struct region *region;
	uint64_t key;
	int error;

	*fresh = true;
	if (!top || top->kind != FRAME_MEMBER || top->id == GRAIN_NONE)
		return new_loop(r, loop);
	region = &r->regions[top->id];
	key = (uint64_t)top->id << 32 | top->constructs++;
	if (top->constructs > region->constructs)
		region->constructs = top->constructs;
	*loop = number_map__get(&r->instances, key);
	if (*loop == GRAIN_NONE) {
		error = new_loop(r, loop);
		return error ? error : resolver__map(r, &r->instances, key, *loop);
	}
	known = &r->loops[*loop];
	if (known->call.sections == call->sections && known->call.share == call->share &&
	    (known->call.site == call->site || (source != GRAIN_NONE && known->source == source))) {
		*fresh = false;
		return 0;
	}
	r->mismatched_loops++;
	frames__trouble(r, t);
	return new_loop(r, loop);
}

/* Begins the construct on the thread, in its innermost frame. */
static int begin(struct resolver *r, struct thread *t, uint64_t sp, const struct loop_call *call)
{
	struct frame *top = frames__top(t);
	uint32_t source = GRAIN_NONE, loop;
	struct event *e;
	int error = 0;

	if (top && top->kind == FRAME_MEMBER)
		error = frames__end_single(r, t, top);
	/* If the construct's line is not known, the parameters that follow may have it. */
	if (!error &&
	    (call->ident || !r->content->ident_count || site_table__has_line(&r->sites, call->site)))
		error = source_of(r, call, &source);
	if (!error)
		error = instance(r, t, call, source, &loop, &t->params_new);
	if (error)
		return error;
	if (t->params_new) {
		r->loops[loop] = (struct loop_state){.call = *call, .source = source};
		describe(&r->stream->loops[loop], call);
	}
	t->params = PARAMS_LOOP;
	t->params_of = loop;
	t->loop_event = r->stream->count;
	e = resolver__emit(r, t, call->sections ? EVENT_SECTIONS_BEGIN : EVENT_LOOP_BEGIN, loop);
	if (!e)
		return -E2BIG;
	e->src = source;
	return resolver__push(r, t,
			      (struct frame){.kind = FRAME_LOOP,
					     .sp = sp,
					     .id = loop,
					     .sections = call->sections,
					     .share = call->share,
					     .in_program = call->in_program});
}

/* Returns the loop that is open in the innermost context. GRAIN_NONE: none. */
static size_t open_loop(const struct thread *t)
{
	for (size_t i = t->depth; i-- > 0;) {
		uint8_t kind = t->frames[i].kind;

		if (kind == FRAME_LOOP)
			return i;
		if (kind != FRAME_CHUNK && kind != FRAME_WAIT && kind != FRAME_CREATE &&
		    kind != FRAME_TASKLOOP)
			break;
	}
	return GRAIN_NONE;
}

static int begin_chunk(struct resolver *r, struct thread *t, uint64_t sp, uint64_t lower, uint64_t upper)
{
	const struct frame *loop = frames__top(t);
	struct event *e;

	t->chunk_event = r->stream->count;
	e = resolver__emit(r, t, loop->sections ? EVENT_SECTION_BEGIN : EVENT_CHUNK_BEGIN, loop->id);
	if (!e)
		return -E2BIG;
	e->value = lower;
	e->extra = upper;
	e->sub = loop->share;
	return resolver__push(
		r, t,
		(struct frame){.kind = FRAME_CHUNK, .sp = sp, .id = loop->id, .sections = loop->sections});
}

/* Ends the chunk of the loop at `at`, and everything that runs in it. */
static int end_chunk(struct resolver *r, struct thread *t, size_t at)
{
	int error;

	if (t->depth <= at + 1)
		return 0;
	error = frames__close_to(r, t, at + 2);
	if (!error && t->frames[at + 1].kind == FRAME_CHUNK)
		return frames__end_chunk(r, t);
	return error ? error : frames__close_to(r, t, at + 1);
}

/* Ends the construct that is still open in this context, because another one begins. */
static int leave(struct resolver *r, struct thread *t)
{
	size_t at = open_loop(t);

	return at == GRAIN_NONE ? 0 : frames__close_to(r, t, at);
}

int loops__begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	bool counted = rec->kind == TRACE_SECTIONS_BEGIN;
	bool combined = rec->arg & (counted ? TRACE_SECTIONS_OF_REGION : TRACE_LOOP_OF_REGION);
	struct loop_call call = {.lower = rec->key,
				 .upper = rec->extra,
				 .site = rec->site,
				 .arg = rec->arg,
				 .sections = counted || rec->arg & TRACE_LOOP_IS_SECTIONS,
				 .in_program = !counted && rec->arg & TRACE_LOOP_IN_PROGRAM};
	struct frame *top;
	int error;

	if (counted)
		call = (struct loop_call){.upper = rec->arg & ~TRACE_SECTIONS_OF_REGION,
					  .site = rec->site,
					  .ident = rec->extra,
					  .sections = true,
					  .counted = true};
	top = frames__top(t);
	if (!combined || !top || top->kind != FRAME_REGION) {
		error = resolver__enter_code(r, t, rec->frame, false);
		if (!error)
			error = leave(r, t);
		return error ? error : begin(r, t, rec->frame, &call);
	}
	error = array__make_room(&r->combined, r->combined_count, &r->combined_capacity, sizeof(*r->combined),
				 r->budget);
	if (error)
		return error;
	t->params = PARAMS_COMBINED;
	t->params_of = r->combined_count;
	call.site = call.site ? call.site : top->number;
	r->combined[r->combined_count++] = call;
	r->regions[top->id].combined = r->combined_count;
	return 0;
}

int loops__params(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct loop_call *call;
	int error = 0;

	if (t->params == PARAMS_NONE)
		return resolver__unmatched_end(r);
	call = t->params == PARAMS_LOOP ? &r->loops[t->params_of].call : &r->combined[t->params_of];
	if (t->params == PARAMS_COMBINED || t->params_new) {
		call->step = rec->key;
		call->chunk = rec->extra;
		call->ident = r->content->sites[rec->site];
	}
	if (t->params == PARAMS_LOOP) {
		if (t->params_new)
			describe(&r->stream->loops[t->params_of], call);
		error = source_of(r, call, &r->stream->events[t->loop_event].src);
		if (!error && t->params_new)
			r->loops[t->params_of].source = r->stream->events[t->loop_event].src;
	}
	t->params = PARAMS_NONE;
	return error;
}

/*
 * Makes sure that a loop is open in this context: a loop that began with its region, or one whose begin was
 * not seen.
 */
static int need_loop(struct resolver *r, struct thread *t, const struct trace_record *rec, bool unseen,
		     size_t *at)
{
	bool sections = rec->kind == TRACE_SECTION_NEXT || rec->kind == TRACE_SECTION_BEGIN;
	struct loop_call call = {.sections = sections, .arg = TRACE_LOOP_BOUNDS_HIDDEN};
	int error = resolver__enter_code(r, t, rec->frame, false);
	const struct frame *top;

	if (error)
		return error;
	*at = open_loop(t);
	if (*at != GRAIN_NONE && t->frames[*at].share) {
		error = frames__close_to(r, t, *at);
		*at = GRAIN_NONE;
	}
	if (error || *at != GRAIN_NONE)
		return error;
	top = frames__top(t);
	if (top && top->kind == FRAME_MEMBER && top->id != GRAIN_NONE && top->constructs == 0 &&
	    r->regions[top->id].combined) {
		error = begin(r, t, rec->frame, &r->combined[r->regions[top->id].combined - 1]);
	} else {
		if (!unseen)
			return 0;
		r->unmatched_loops++;
		frames__trouble(r, t);
		error = begin(r, t, rec->frame, &call);
		if (!error)
			r->stream->loops[t->params_of].bounds_hidden = false;
	}
	t->params = PARAMS_NONE;
	*at = t->depth - 1;
	return error;
}

int loops__next(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	size_t at;
	int error = need_loop(r, t, rec, false, &at);

	return error || at == GRAIN_NONE ? error : end_chunk(r, t, at);
}

int loops__chunk(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	uint64_t lower = rec->key, upper = rec->extra;
	const struct event_loop *loop;
	size_t at;
	int error = need_loop(r, t, rec, true, &at);

	if (!error)
		error = end_chunk(r, t, at);
	if (error)
		return error;
	if (rec->kind == TRACE_SECTION_BEGIN)
		return begin_chunk(r, t, rec->frame, rec->arg, rec->arg);
	loop = &r->stream->loops[t->frames[at].id];
	if (rec->arg & TRACE_LOOP_UPPER_EXCLUSIVE) {
		if (lower == upper || !last_before(lower, upper, loop->step, loop->is_unsigned, &upper))
			return 0;
	}
	if (is_empty(lower, upper, loop->step, loop->is_unsigned))
		return 0;
	return begin_chunk(r, t, rec->frame, lower, upper);
}

/* Computes how many of lower, lower + stride, ... are in the loop. */
int loops__stride(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int64_t stride = (int64_t)rec->key;
	struct event_loop *loop;
	struct event *e;
	wide from, to, count;

	if (t->chunk_event == SIZE_MAX || stride == 0)
		return 0;
	e = &r->stream->events[t->chunk_event];
	t->chunk_event = SIZE_MAX;
	if (e->kind != EVENT_CHUNK_BEGIN)
		return 0;
	loop = &r->stream->loops[e->id];
	if (!loop->has_stride) {
		loop->stride = stride;
		loop->has_stride = true;
	}
	if (!loop->has_upper || loop->stride != stride)
		return 0;
	from = widen(e->value, loop->is_unsigned);
	to = widen((uint64_t)loop->upper, loop->is_unsigned);
	count = ((stride > 0 ? to - from : from - to) / (stride > 0 ? stride : -(wide)stride)) + 1;
	if (count > 1)
		e->src = count < GRAIN_NONE ? (uint32_t)count : GRAIN_NONE - 1;
	return 0;
}

int loops__end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = frames__close_below(r, t, rec->frame);
	size_t at = open_loop(t);

	if (error)
		return error;
	/* Some ends are recorded twice, so that cancelled loops have an end, too. */
	if (at == GRAIN_NONE || t->frames[at].share)
		return 0;
	error = end_chunk(r, t, at);
	return error ? error : frames__end_loop(r, t, true);
}

int loops__share(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct loop_call call = {.site = rec->site,
				 .share = true,
				 .arg = TRACE_LOOP_STATIC | TRACE_LOOP_BOUNDS_HIDDEN};
	uint32_t number = 0;
	size_t base;
	int error = resolver__enter_code(r, t, rec->frame, false);

	if (!error)
		error = leave(r, t);
	if (!error)
		error = begin(r, t, rec->frame, &call);
	t->params = PARAMS_NONE;
	base = frames__base(t);
	if (base != GRAIN_NONE && t->frames[base].kind == FRAME_MEMBER)
		number = t->frames[base].number;
	if (!error)
		error = begin_chunk(r, t, rec->frame, number, number);
	t->chunk_event = SIZE_MAX;
	return error;
}

void loops__cancel(struct thread *t)
{
	size_t at = open_loop(t);

	if (at != GRAIN_NONE)
		t->frames[at].cancelled = true;
}

uint64_t loops__frame_among_words(const struct thread *t)
{
	size_t at = open_loop(t);

	if (at != GRAIN_NONE)
		return t->frames[at].sp;
	return t->depth ? t->frames[t->depth - 1].sp - sizeof(uint64_t) : UINT64_MAX;
}
