/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task is closed if it waits for all tasks that it creates. The time that it takes, with all tasks below
 * it, depends on nothing else. Most tasks are closed. The walk measures them from the last context to the
 * first, so that it reads memory in sequence.
 *
 * It walks each other context once, from its creation. A context that waits is put aside until the last
 * context arrives that it waits for.
 *
 * The result does not depend on the order, as long as every wait gets exactly as many arrivals as it expects.
 * If a wait does not, the walk gives up.
 */
#include "analysis/advice/whatif_walk.h"
#include "analysis/base/large.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_FRAMES 256

enum state {
	STATE_OPEN,   /* not closed, or not examined yet */
	STATE_CLOSED, /* measured */
	STATE_BEGUN,  /* its creation was reached */
};

/* What is known of a context. */
struct extent {
	uint64_t ns; /* of a closed context: weight of the heaviest path from its begin to its end */
	uint32_t join;
	uint8_t state;
	bool chunk;
};

/* A context that is being walked. */
struct frame {
	uint64_t path; /* weight of the heaviest path up to here */
	uint32_t item, past;
	uint32_t context;
	uint32_t next;	/* the next frame in its list; the lists have frames that can go on, wait at one gate,
			   or are free */
	uint32_t below; /* of a chunk: the frame of its member, which goes on afterwards */
	bool scaled;
};

/* A join, or the end of a region. */
struct gate {
	uint64_t path;	  /* weight of the heaviest path that arrived */
	uint32_t waiting; /* list of frames that wait here */
	uint32_t pending : 30;
	uint32_t team : 1; /* the waiters are arrivals, too: a barrier of a team */
	uint32_t met : 1;  /* its only waiter has arrived */
};
#define MOST_PENDING ((1u << 30) - 1)

struct whatif_walk {
	const struct grain_graph *graph;
	const struct metrics_scale *scale;
	struct extent *extents; /* per context */
	struct gate *joins, *ends;
	struct frame *frames;
	uint32_t frame_count, frame_room, free, ready;
	uint64_t work_ns, span_ns;
	size_t ended;
	int error;
	bool lost; /* the result would depend on the order: the walk gives up */
};

static bool is_scaled(const struct whatif_walk *w, const struct context *c)
{
	return c->definition == w->scale->definition && w->scale->factor != 1;
}

static uint64_t weigh(const struct whatif_walk *w, uint32_t context, const struct item *item, bool scaled)
{
	return scaled ? metrics__scaled(w->graph, w->scale, context, item) : item->own_ns;
}

static void arrive(struct gate *gate, uint64_t path)
{
	if (path > gate->path)
		gate->path = path;
}

/* ---- closed contexts ------------------------------------------------------ */

static struct gate new_gate(uint32_t awaited, bool team)
{
	return (struct gate){.waiting = GRAIN_NONE, .pending = awaited & MOST_PENDING, .team = team};
}

static struct gate new_join(const struct join *join)
{
	return new_gate(join->awaited, join->region != GRAIN_NONE);
}

/* A context that is being measured. */
struct measure {
	uint64_t path, work_ns;
	size_t inner;	   /* number of contexts that it created */
	uint64_t unjoined; /* number of created contexts that no wait has joined yet */
};

/*
 * Counts a closed task as arrived at the later wait of its creator that joins it. Returns false if the task
 * is not closed, or another wait joins it.
 */
static bool add_task(struct whatif_walk *w, struct measure *m, uint32_t context)
{
	struct extent *x = &w->extents[context];
	struct gate *gate;

	if (x->state != STATE_CLOSED || x->chunk || x->join == GRAIN_NONE)
		return false;
	gate = &w->joins[x->join];
	if (gate->team || gate->met || !gate->pending)
		return false;
	gate->pending--;
	arrive(gate, m->path + x->ns);
	x->state = STATE_BEGUN;
	m->inner++;
	m->unjoined++;
	return true;
}

static bool add_join(struct whatif_walk *w, struct measure *m, uint32_t join)
{
	struct gate *gate = &w->joins[join];

	if (gate->team || gate->met || gate->pending)
		return false;
	gate->met = true;
	if (gate->path > m->path)
		m->path = gate->path;
	m->unjoined -= w->graph->joins[join].awaited;
	return true;
}

static bool add_chunk(struct whatif_walk *w, struct measure *m, uint32_t context, uint32_t chunk)
{
	struct extent *x = &w->extents[chunk];

	if (x->state != STATE_CLOSED || !x->chunk || w->graph->contexts[chunk].parent != context)
		return false;
	m->path += x->ns;
	x->state = STATE_BEGUN;
	m->inner++;
	return true;
}

/* Undoes the effect of the items of a context that is not closed after all. */
static void forget(struct whatif_walk *w, const struct item *item, const struct item *end)
{
	const struct join *joins = w->graph->joins;

	for (; item < end; item++) {
		uint32_t join = item->ref;

		if (item->kind == GRAIN_FORK || item->kind == GRAIN_CHUNK_ITEM) {
			w->extents[item->ref].state = STATE_CLOSED;
			join = w->extents[item->ref].join;
		}
		if (item->kind == GRAIN_FORK || item->kind == GRAIN_JOIN)
			w->joins[join] = new_join(&joins[join]);
	}
}

static void measure(struct whatif_walk *w, uint32_t context)
{
	const struct context *c = &w->graph->contexts[context];
	const struct item *first = &w->graph->items[c->first_item], *past = first + c->item_count, *item;
	struct extent *x = &w->extents[context];
	struct measure m = {0};
	bool scaled = is_scaled(w, c), closed = c->kind == GRAIN_TASK || c->kind == GRAIN_CHUNK;
	uint64_t ns;

	*x = (struct extent){.join = c->join, .chunk = c->kind == GRAIN_CHUNK};
	if (!closed)
		return;
	for (item = first; item < past; item++) {
		switch (item->kind) {
		case GRAIN_FRAGMENT:
			ns = weigh(w, context, item, scaled);
			m.path += ns;
			m.work_ns += ns;
			break;
		case GRAIN_FORK:
			closed = add_task(w, &m, item->ref);
			break;
		case GRAIN_JOIN:
			closed = add_join(w, &m, item->ref);
			break;
		case GRAIN_REGION:
			closed = false;
			break;
		case GRAIN_CHUNK_ITEM:
			closed = add_chunk(w, &m, context, item->ref);
			break;
		default:
			break;
		}
		if (!closed)
			break;
	}
	if (!closed || m.unjoined) {
		forget(w, first, item);
		return;
	}
	x->ns = m.path;
	x->state = STATE_CLOSED;
	w->work_ns += m.work_ns;
	w->ended += m.inner;
}

/* ---- the rest ------------------------------------------------------------- */

static uint32_t new_frame(struct whatif_walk *w)
{
	uint32_t at = w->free;

	if (at != GRAIN_NONE) {
		w->free = w->frames[at].next;
		return at;
	}
	if (w->frame_count == w->frame_room) {
		uint32_t room = w->frame_room ? 2 * w->frame_room : FIRST_FRAMES;
		struct frame *larger = realloc(w->frames, room * sizeof *larger);

		if (!larger) {
			w->error = -ENOMEM;
			return GRAIN_NONE;
		}
		w->frames = larger;
		w->frame_room = room;
	}
	return w->frame_count++;
}

static void go_on(struct whatif_walk *w, uint32_t at)
{
	w->frames[at].next = w->ready;
	w->ready = at;
}

static void stand(struct whatif_walk *w, struct gate *gate, uint32_t at)
{
	w->frames[at].next = gate->waiting;
	gate->waiting = at;
}

static void count_down(struct whatif_walk *w, struct gate *gate)
{
	uint32_t at = gate->waiting;

	if (!gate->pending) {
		w->lost = true;
		return;
	}
	if (--gate->pending)
		return;
	gate->waiting = GRAIN_NONE;
	while (at != GRAIN_NONE) {
		uint32_t next = w->frames[at].next;

		w->frames[at].path = gate->path;
		go_on(w, at);
		at = next;
	}
}

static void finish(struct whatif_walk *w, uint32_t context, uint64_t path)
{
	const struct extent *x = &w->extents[context];
	const struct context *c = &w->graph->contexts[context];
	struct gate *gate = NULL;

	if (path > w->span_ns)
		w->span_ns = path;
	w->ended++;
	if (x->chunk)
		return;
	/* Members are never closed. A closed context needs no walk, because its extent is known. */
	if (x->state != STATE_CLOSED && c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		gate = &w->ends[c->region];
	else if (x->join != GRAIN_NONE)
		gate = &w->joins[x->join];
	if (gate) {
		arrive(gate, path);
		count_down(w, gate);
	}
}

/*
 * Begins a context and returns its frame. GRAIN_NONE: the context is closed and over, or the walk gives up.
 * `below`: the frame of a chunk's member; GRAIN_NONE if it is no chunk.
 */
static uint32_t begin(struct whatif_walk *w, uint32_t context, uint64_t path, uint32_t below)
{
	const struct context *c = &w->graph->contexts[context];
	struct extent *x = &w->extents[context];
	uint32_t at;

	if (x->state == STATE_BEGUN || x->chunk != (below != GRAIN_NONE)) {
		w->lost = true;
		return GRAIN_NONE;
	}
	if (x->state == STATE_CLOSED) {
		finish(w, context, path + x->ns);
		x->state = STATE_BEGUN;
		return GRAIN_NONE;
	}
	x->state = STATE_BEGUN;
	at = new_frame(w);
	if (at != GRAIN_NONE)
		w->frames[at] = (struct frame){.path = path,
					       .item = c->first_item,
					       .past = c->first_item + c->item_count,
					       .context = context,
					       .below = below,
					       .scaled = is_scaled(w, c)};
	return at;
}

static void begin_team(struct whatif_walk *w, const struct region *region, uint32_t context, uint64_t path)
{
	const struct member *members = &w->graph->members[region->first_member];
	uint32_t k;

	for (k = 0; k < region->threads; k++) {
		uint32_t member = members[k].context, at;

		if (member == GRAIN_NONE || w->graph->contexts[member].parent != context)
			continue;
		at = begin(w, member, path, GRAIN_NONE);
		if (at != GRAIN_NONE)
			go_on(w, at);
	}
}

/* A frame arrives at a gate where it waits. Returns true if it can go on at once. */
static bool meet(struct whatif_walk *w, struct gate *gate, uint32_t at)
{
	struct frame *f = &w->frames[at];

	arrive(gate, f->path);
	if (gate->team) {
		stand(w, gate, at);
		count_down(w, gate);
		return false;
	}
	w->lost |= gate->met;
	gate->met = true;
	if (gate->pending) {
		stand(w, gate, at);
		return false;
	}
	f->path = gate->path;
	return true;
}

static bool meet_team(struct whatif_walk *w, const struct item *item, uint32_t at)
{
	begin_team(w, &w->graph->regions[item->ref], w->frames[at].context, w->frames[at].path);
	return meet(w, &w->ends[item->ref], at);
}

/*
 * Handles a chunk of the frame's member. Returns true if the frame goes on at once. Else *inner is the frame
 * to go on with; GRAIN_NONE: any frame.
 */
static bool run_chunk(struct whatif_walk *w, uint32_t chunk, uint32_t at, uint32_t *inner)
{
	bool closed = w->extents[chunk].state == STATE_CLOSED;

	w->lost |= w->graph->contexts[chunk].parent != w->frames[at].context;
	*inner = begin(w, chunk, w->frames[at].path, at);
	if (closed)
		w->frames[at].path += w->extents[chunk].ns;
	return closed;
}

/* Ends a frame. Returns the frame that the walk must go on with. GRAIN_NONE: any frame can be next. */
static uint32_t end(struct whatif_walk *w, uint32_t at)
{
	struct frame *f = &w->frames[at];
	uint32_t below = f->below;

	f->next = w->free;
	w->free = at;
	finish(w, f->context, f->path);
	if (below != GRAIN_NONE)
		w->frames[below].path = f->path;
	return below;
}

/*
 * Walks a frame until it has to wait. Returns the frame that the walk must go on with. GRAIN_NONE: any frame
 * can be next.
 */
static uint32_t step(struct whatif_walk *w, uint32_t at)
{
	struct frame *f = &w->frames[at];
	uint32_t inner;
	uint64_t ns;

	while (f->item < f->past && !w->lost && !w->error) {
		const struct item *item = &w->graph->items[f->item++];

		switch (item->kind) {
		case GRAIN_FRAGMENT:
			ns = weigh(w, f->context, item, f->scaled);
			f->path += ns;
			w->work_ns += ns;
			break;
		case GRAIN_FORK:
			inner = begin(w, item->ref, f->path, GRAIN_NONE);
			if (inner != GRAIN_NONE) {
				go_on(w, at);
				return inner;
			}
			break;
		case GRAIN_JOIN:
			if (!meet(w, &w->joins[item->ref], at))
				return GRAIN_NONE;
			break;
		case GRAIN_REGION:
			if (!meet_team(w, item, at))
				return GRAIN_NONE;
			f = &w->frames[at]; /* the array may have moved */
			break;
		case GRAIN_CHUNK_ITEM:
			if (!run_chunk(w, item->ref, at, &inner))
				return inner;
			break;
		default:
			break;
		}
	}
	return w->lost || w->error ? GRAIN_NONE : end(w, at);
}

/* Walks frames until none of them can go on. */
static void drain(struct whatif_walk *w, uint32_t at)
{
	while (!w->lost && !w->error) {
		if (at == GRAIN_NONE) {
			at = w->ready;
			if (at == GRAIN_NONE)
				return;
			w->ready = w->frames[at].next;
		}
		at = step(w, at);
	}
}

static int prepare(struct whatif_walk *w)
{
	const struct grain_graph *g = w->graph;
	size_t i;

	w->extents = large__zeroed((g->context_count + 1) * sizeof *w->extents);
	w->joins = large__new((g->join_count + 1) * sizeof *w->joins);
	w->ends = malloc((g->region_count + 1) * sizeof *w->ends);
	if (!w->extents || !w->joins || !w->ends)
		return -ENOMEM;
	for (i = 0; i < g->join_count; i++)
		w->joins[i] = new_join(&g->joins[i]);
	for (i = 0; i < g->region_count; i++)
		w->ends[i] = new_gate(g->regions[i].awaited, false);
	return 0;
}

int whatif_walk__run(const struct grain_graph *g, const struct metrics_scale *scale, uint64_t *work_ns,
		     uint64_t *span_ns)
{
	struct whatif_walk w = {.graph = g, .scale = scale, .free = GRAIN_NONE, .ready = GRAIN_NONE};
	size_t i;

	if (g->depend_count || g->depend_wait_count || graph__windows_follow(g) ||
	    g->item_count + g->context_count > MOST_PENDING)
		return 0;
	w.error = prepare(&w);
	for (i = g->context_count; i-- > 0 && !w.error;)
		measure(&w, (uint32_t)i);
	for (i = 0; i < g->context_count && !w.error && !w.lost; i++)
		if (g->contexts[i].parent == GRAIN_NONE)
			drain(&w, begin(&w, (uint32_t)i, 0, GRAIN_NONE));
	free(w.frames);
	free(w.extents);
	free(w.joins);
	free(w.ends);
	*work_ns = w.work_ns;
	*span_ns = w.span_ns;
	return w.error ? w.error : !w.lost && w.ended == g->context_count;
}
