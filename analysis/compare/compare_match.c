/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matches the elements of two graphs that have the same identifier.
 *
 * An identifier is a path. Its last part (ordinals, an iteration range, a member) tells apart what lies in
 * one scope; the rest names the scope. So the scopes of both graphs are walked together from the outside in.
 * Within two scopes of the same name, their elements are merged in the order of the last part.
 *
 * Elements are contexts and, after them, regions; both are scopes, too. The outermost scope comes after all
 * of them.
 */
#include "analysis/compare/compare.h"

#include <errno.h>
#include <stdlib.h>

/* The kinds of last parts of an identifier. */
enum element_class {
	CLASS_INITIAL,
	CLASS_MEMBER,
	CLASS_TASK,
	CLASS_SPLIT,
	CLASS_REGION,
	CLASS_CHUNK,
	CLASS_SECTION,
	CLASS_SHARE, /* [t<member>] */
	CLASS_SECTIONS_SHARE,
};

struct name {
	uint64_t place;	 /* class, signedness of bounds, single */
	uint64_t number; /* ordinal; member */
	uint64_t lower, upper;
	uint32_t copy, element;
};

/* The elements of each scope: those of scope s are list[first[s]] up to list[first[s + 1]]. */
struct scopes {
	const struct grain_graph *graph;
	uint32_t *first, *list;
	size_t elements;
};

struct names {
	struct name *list;
	size_t count, capacity;
};

struct walk {
	struct memory *memory;
	struct scopes base, run;
	struct names base_names, run_names;
	uint32_t *waiting; /* matched scopes of the run whose elements are not matched yet */
	size_t waiting_count;
	uint32_t *base_of;
	uint64_t refused;
};

/* Returns the scope that numbers what `context` makes. `single`: whether inside its single. */
static uint32_t scope_of(const struct grain_graph *g, uint32_t context, uint32_t single)
{
	const struct context *c = &g->contexts[context];

	if (single != GRAIN_NONE && c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		return (uint32_t)g->context_count + c->region;
	return context;
}

/*
 * Returns the element's scope. GRAIN_NONE: the element is numbered as an orphan, and that number means
 * nothing in another run.
 */
static uint32_t scope_of_element(const struct grain_graph *g, uint32_t element)
{
	uint32_t outermost = (uint32_t)(g->context_count + g->region_count);
	const struct context *c;

	if (element >= g->context_count) {
		const struct region *region = &g->regions[element - g->context_count];

		return region->begun ? scope_of(g, region->parent, region->single) : GRAIN_NONE;
	}
	c = &g->contexts[element];
	if (c->kind == GRAIN_INITIAL)
		return outermost;
	if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		return (uint32_t)g->context_count + c->region;
	if (c->kind == GRAIN_CHUNK) {
		const struct loop *loop = &g->loops[g->chunks[c->number].loop];

		if (loop->region != GRAIN_NONE)
			return (uint32_t)g->context_count + loop->region;
		return c->parent == GRAIN_NONE ? 0 : c->parent;
	}
	return c->parent == GRAIN_NONE ? GRAIN_NONE : scope_of(g, context__parent(g, c), c->single);
}

static void name_chunk(const struct grain_graph *g, const struct context *c, struct name *out)
{
	const struct chunk *chunk = &g->chunks[c->number];
	const struct loop *loop = &g->loops[chunk->loop];
	bool by_member = chunk__by_member(chunk);
	enum element_class class = loop->sections ? CLASS_SECTION : CLASS_CHUNK;
	uint64_t is_unsigned = 0;

	out->number = (uint64_t)loop->ordinal << 32;
	out->copy = chunk->copy;
	if (by_member) {
		class = loop->sections ? CLASS_SECTIONS_SHARE : CLASS_SHARE;
		if (c->parent != GRAIN_NONE)
			out->number |= g->contexts[c->parent].ordinal;
	} else {
		out->lower = (uint64_t)chunk->lower;
		out->upper = (uint64_t)chunk->upper;
		is_unsigned = (chunk->lower < 0 || chunk->upper < 0) && g->stream->loops &&
			      g->stream->loops[chunk->loop].is_unsigned;
	}
	out->place = (uint64_t) class << 40 | is_unsigned << 32 | GRAIN_NONE;
}

static struct name name_of(const struct grain_graph *g, uint32_t element)
{
	struct name name = {.element = element};
	enum element_class class = CLASS_TASK;
	uint32_t single = GRAIN_NONE, ordinal;
	const struct context *c;

	if (element >= g->context_count) {
		const struct region *region = &g->regions[element - g->context_count];

		class = CLASS_REGION;
		ordinal = region->ordinal;
		single = region->single;
	} else {
		c = &g->contexts[element];
		ordinal = c->ordinal;
		if (c->kind == GRAIN_CHUNK) {
			name_chunk(g, c, &name);
			return name;
		}
		if (c->kind == GRAIN_INITIAL)
			class = CLASS_INITIAL;
		else if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
			class = CLASS_MEMBER;
		else
			single = c->single;
		if (c->flags & CONTEXT_SPLIT)
			class = CLASS_SPLIT;
	}
	name.place = (uint64_t) class << 40 | single;
	name.number = (uint64_t)ordinal << 32;
	return name;
}

static int compare_names(const struct name *x, const struct name *y)
{
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->lower != y->lower)
		return x->lower < y->lower ? -1 : 1;
	if (x->upper != y->upper)
		return x->upper < y->upper ? -1 : 1;
	return (x->copy > y->copy) - (x->copy < y->copy);
}

/* Elements with the same name occur only in damaged files. They keep their order. */
static int by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int r = compare_names(x, y);

	return r ? r : (x->element > y->element) - (x->element < y->element);
}

static int gather_scopes(struct scopes *s, const struct grain_graph *g, struct memory *memory)
{
	size_t i, n = g->context_count + g->region_count;
	uint32_t total = 0;
	int error;

	if (n >= MATCH_OTHER_WORK)
		return -E2BIG;
	s->graph = g;
	s->elements = n;
	error = memory__array(memory, n + 2, sizeof *s->first, (void **)&s->first);
	if (error == 0)
		error = memory__array(memory, n, sizeof *s->list, (void **)&s->list);
	if (error < 0)
		return error;
	/* During the filling, first[s + 1] is the place of the next element of scope s. */
	for (i = 0; i < n; i++) {
		uint32_t scope = scope_of_element(g, (uint32_t)i);

		if (scope != GRAIN_NONE)
			s->first[scope + 1]++;
	}
	for (i = 1; i < n + 2; i++) {
		uint32_t count = s->first[i];

		s->first[i] = total;
		total += count;
	}
	for (i = 0; i < n; i++) {
		uint32_t scope = scope_of_element(g, (uint32_t)i);

		if (scope != GRAIN_NONE)
			s->list[s->first[scope + 1]++] = (uint32_t)i;
	}
	return 0;
}

static void release_scopes(struct scopes *s, struct memory *memory)
{
	memory__release(memory, (void **)&s->first, s->elements + 2, sizeof *s->first);
	memory__release(memory, (void **)&s->list, s->elements, sizeof *s->list);
}

static bool is_empty(const struct scopes *s, uint32_t scope)
{
	return s->first[scope] == s->first[scope + 1];
}

/*
 * Lists the names in a scope in ascending order. Most names are in that order already, because it is the
 * order of creation.
 */
static int gather_names(struct walk *w, const struct scopes *s, uint32_t scope, struct names *names)
{
	bool sorted = true;
	uint32_t i;

	names->count = 0;
	for (i = s->first[scope]; i < s->first[scope + 1]; i++) {
		int error = memory__grow(w->memory, (void **)&names->list, &names->capacity, names->count,
					 sizeof *names->list);

		if (error < 0)
			return error;
		names->list[names->count] = name_of(s->graph, s->list[i]);
		if (names->count &&
		    compare_names(&names->list[names->count - 1], &names->list[names->count]) > 0)
			sorted = false;
		names->count++;
	}
	if (!sorted)
		qsort(names->list, names->count, sizeof *names->list, by_name);
	return 0;
}

static uint32_t team_of(const struct grain_graph *g, const struct chunk *chunk)
{
	uint32_t region = g->loops[chunk->loop].region;

	return region == GRAIN_NONE ? 1 : g->regions[region].threads;
}

/*
 * Whether both execute the same iterations. The number of threads decides how many shares of a static loop or
 * tasks of a taskloop there are, so the same identifier may stand for other iterations.
 */
static bool same_work(const struct grain_graph *base, uint32_t x, const struct grain_graph *run, uint32_t y)
{
	const struct task_bounds *before, *after;
	const struct chunk *share, *other;

	if (x >= base->context_count)
		return true;
	if (base->contexts[x].kind == GRAIN_CHUNK) {
		share = &base->chunks[base->contexts[x].number];
		other = &run->chunks[run->contexts[y].number];
		if (!chunk__by_member(share))
			return true;
		if (team_of(base, share) != team_of(run, other))
			return false;
		return share->hidden || other->hidden ||
		       (share->lower == other->lower && share->upper == other->upper &&
			share->count == other->count);
	}
	if (!base->bounds_count || !run->bounds_count)
		return true;
	before = graph__task_bounds(base, x);
	after = graph__task_bounds(run, y);
	return !before || !after || (before->lower == after->lower && before->upper == after->upper);
}

static void accept(struct walk *w, uint32_t x, uint32_t y)
{
	if (!same_work(w->base.graph, x, w->run.graph, y)) {
		w->base_of[y] = MATCH_OTHER_WORK;
		w->refused += context__is_complete_grain(&w->base.graph->contexts[x]);
		return;
	}
	w->base_of[y] = x;
	if (!is_empty(&w->base, x) && !is_empty(&w->run, y))
		w->waiting[w->waiting_count++] = y;
}

static int merge(struct walk *w, uint32_t base_scope, uint32_t run_scope)
{
	int error = gather_names(w, &w->base, base_scope, &w->base_names);
	size_t i = 0, k = 0;

	if (error == 0)
		error = gather_names(w, &w->run, run_scope, &w->run_names);
	if (error < 0)
		return error;
	while (i < w->base_names.count && k < w->run_names.count) {
		const struct name *x = &w->base_names.list[i], *y = &w->run_names.list[k];
		int order = compare_names(x, y);

		if (order == 0)
			accept(w, x->element, y->element);
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

static int walk(struct walk *w)
{
	size_t i;
	int error;

	for (i = 0; i < w->run.elements; i++)
		w->base_of[i] = GRAIN_NONE;
	error = merge(w, (uint32_t)w->base.elements, (uint32_t)w->run.elements);
	while (error == 0 && w->waiting_count) {
		uint32_t scope = w->waiting[--w->waiting_count];

		error = merge(w, /* regions come after contexts in both */ w->base_of[scope], scope);
	}
	return error;
}

static void release_names(struct names *names, struct memory *memory)
{
	memory__release(memory, (void **)&names->list, names->capacity, sizeof *names->list);
}

int match__find(const struct grain_graph *base, const struct grain_graph *run, struct memory *memory,
		struct match *out)
{
	size_t n = run->context_count + run->region_count;
	struct walk w = {.memory = memory};
	int error = gather_scopes(&w.base, base, memory);

	if (error == 0)
		error = gather_scopes(&w.run, run, memory);
	if (error == 0)
		error = memory__array(memory, n, sizeof *w.waiting, (void **)&w.waiting);
	if (error == 0)
		error = memory__array(memory, n, sizeof *w.base_of, (void **)&w.base_of);
	if (error == 0)
		error = walk(&w);
	release_scopes(&w.base, memory);
	release_scopes(&w.run, memory);
	release_names(&w.base_names, memory);
	release_names(&w.run_names, memory);
	memory__release(memory, (void **)&w.waiting, n, sizeof *w.waiting);
	if (error < 0) {
		memory__release(memory, (void **)&w.base_of, n, sizeof *w.base_of);
		return error;
	}
	*out = (struct match){
		.base = base, .run = run, .base_of = w.base_of, .count = n, .refused = w.refused};
	return 0;
}

void match__release(struct match *match, struct memory *memory)
{
	memory__release(memory, (void **)&match->base_of, match->count, sizeof *match->base_of);
}
