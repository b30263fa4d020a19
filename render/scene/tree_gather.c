/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up subtrees, and finds the phases and children of one context. */
#include "render/scene/tree_builder.h"
#include "render/base/array.h"

#include <math.h>

#include "render/base/severity.h"

/* Prefetch distance in steps. */
#define AHEAD 16

/* ---- sums ------------------------------------------------------------- */

void tree_sum__add(struct tree_sum *to, const struct tree_sum *sum)
{
	to->grains += sum->grains;
	to->exec_ns += sum->exec_ns;
	to->flagged += sum->flagged;
	to->severity = fmaxf(to->severity, sum->severity);
	to->critical |= sum->critical;
	to->incomplete |= sum->incomplete;
}

static struct tree_sum own_sum(const struct tree_builder *b, uint32_t context)
{
	struct grain_context c;
	struct tree_sum sum = {0};
	double severity;

	grain_graph__context(b->outline->graph, context, &c);
	severity = severity__of(&c, b->problem, b->threshold);
	sum.grains = (c.kind == GRAIN_TASK && !c.runtime) || c.kind == GRAIN_CHUNK;
	sum.exec_ns = c.exec_ns;
	sum.flagged = severity > 0;
	sum.severity = (float)severity;
	sum.critical = c.critical;
	sum.incomplete = c.incomplete;
	return sum;
}

static void add_chunks(const struct tree_builder *b, struct tree_sum *to, uint32_t context)
{
	struct outline_walk walk;
	struct grain_item item;
	uint32_t chunk = GRAIN_NONE;

	if (!grain_graph__totals(b->outline->graph)->chunks)
		return;
	outline_walk__start(&walk, b->outline, context);
	while (outline_walk__next(&walk, &item)) {
		if (walk.chunk != GRAIN_NONE && walk.chunk != chunk) {
			struct tree_sum sum = own_sum(b, walk.chunk);

			tree_sum__add(to, &sum);
		}
		chunk = walk.chunk;
	}
}

void tree_build__add_context(const struct tree_builder *b, struct tree_sum *to, uint32_t context)
{
	struct tree_sum sum = own_sum(b, context);

	tree_sum__add(to, &sum);
	add_chunks(b, to, context);
}

void tree_build__sum_up(struct tree_builder *b)
{
	const struct outline *o = b->outline;

	/*
	 * Goes in the order of the graph, which is the order in memory. The order of the drawing would jump.
	 */
	for (uint32_t i = 0; i < o->contexts; i++)
		if (o->context[i].kind != GRAIN_CHUNK)
			b->sums[i] = own_sum(b, i);
	for (size_t i = o->count; i-- > 0;) {
		const struct outline_entry *e = &o->order[i];

		if (i >= AHEAD) {
			const struct outline_entry *soon = &o->order[i - AHEAD];

			__builtin_prefetch(&b->sums[soon->context]);
			if (soon->parent != GRAIN_NONE)
				__builtin_prefetch(&b->sums[soon->parent], 1);
		}
		add_chunks(b, &b->sums[e->context], e->context);
		if (e->parent != GRAIN_NONE) {
			tree_sum__add(&b->sums[e->parent], &b->sums[e->context]);
			b->has_below[e->parent] = 1;
		} else if (e->region != GRAIN_NONE) {
			tree_sum__add(&b->region_sums[e->region], &b->sums[e->context]);
		}
	}
}

/* ---- what hangs below a context --------------------------------------- */

static bool add_phase(struct tree_builder *b, uint32_t join, uint32_t region)
{
	if (!array__reserve((void **)&b->phases, &b->phase_capacity, b->phase_count, sizeof(*b->phases)))
		return false;
	b->phases[b->phase_count++] = (struct tree_phase){.join = join, .region = region, .merged = 1};
	return true;
}

bool tree_build__add_child(struct tree_builder *b, uint32_t index, bool is_region)
{
	if (!array__reserve((void **)&b->children, &b->child_capacity, b->child_count, sizeof(*b->children)))
		return false;
	b->children[b->child_count++] =
		(struct tree_child){.index = index,
				    .phase = b->phase_count ? (uint32_t)b->phase_count - 1 : 0,
				    .is_region = is_region};
	return true;
}

static bool gather_region(struct tree_builder *b, uint32_t index)
{
	struct grain_region region;

	grain_graph__region(b->outline->graph, index, &region);
	if (!add_phase(b, region.end_join, index))
		return false;
	for (uint32_t m = 0; m < region.threads; m++) {
		uint32_t member = grain_graph__member(b->outline->graph, region.first_member + m);

		if (member < b->outline->contexts && !tree_build__add_child(b, member, false))
			return false;
	}
	return true;
}

static bool gather_fork(struct tree_builder *b, uint32_t context, uint32_t child, uint32_t *unjoined)
{
	struct grain_context c;
	uint32_t *phase = unjoined;

	grain_graph__context(b->outline->graph, child, &c);
	if (c.join < b->outline->joins) {
		phase = &b->join_phase[c.join];
		if (b->join_owner[c.join] != context)
			*phase = GRAIN_NONE;
		b->join_owner[c.join] = context;
	}
	if (*phase == GRAIN_NONE) {
		*phase = (uint32_t)b->phase_count;
		if (!add_phase(b, c.join, GRAIN_NONE))
			return false;
	}
	if (!tree_build__add_child(b, child, false))
		return false;
	b->children[b->child_count - 1].phase = *phase;
	return true;
}

static bool gather_context(struct tree_builder *b, uint32_t context)
{
	struct outline_walk walk;
	struct grain_item item;
	struct grain_context c;
	uint32_t unjoined = GRAIN_NONE;

	outline_walk__start(&walk, b->outline, context);
	while (outline_walk__next(&walk, &item)) {
		if (item.kind == GRAIN_FORK && item.ref < b->outline->contexts) {
			if (!gather_fork(b, context, item.ref, &unjoined))
				return false;
		} else if (item.kind == GRAIN_REGION && item.ref < b->outline->regions) {
			if (!gather_region(b, item.ref))
				return false;
		} else if (item.kind == GRAIN_JOIN && item.ref < b->outline->joins) {
			b->join_waiter[item.ref] = context;
		}
	}
	grain_graph__context(b->outline->graph, context, &c);
	for (size_t i = 0; i < b->phase_count; i++) {
		struct tree_phase *p = &b->phases[i];

		p->own = p->region != GRAIN_NONE || (p->join < b->outline->joins &&
						     b->join_waiter[p->join] == context && p->join != c.join);
	}
	return true;
}

/* Folds neighbouring phases, so that at most max_joins are left. */
static void merge_phases(struct tree_builder *b)
{
	size_t count = b->phase_count, kept = b->max_joins;

	if (count <= kept)
		return;
	for (size_t i = 0; i < b->child_count; i++)
		b->children[i].phase = (uint32_t)(b->children[i].phase * (uint64_t)kept / count);
	for (size_t i = 0; i < count; i++) {
		size_t to = i * kept / count;

		if (i && (i - 1) * kept / count == to) {
			b->phases[to].merged++;
			b->phases[to].own |= b->phases[i].own;
		} else {
			b->phases[to] = b->phases[i];
		}
	}
	b->phase_count = kept;
}

/* Sorts the children by phase, and within a phase in the order of their creation. */
static bool sort_children(struct tree_builder *b)
{
	uint32_t at = 0;

	if (!array__reserve((void **)&b->sorted, &b->sorted_capacity, b->child_count, sizeof(*b->sorted)))
		return false;
	for (size_t i = 0; i < b->child_count; i++)
		b->phases[b->children[i].phase].child_count++;
	for (size_t i = 0; i < b->phase_count; i++) {
		b->phases[i].first_child = at;
		at += b->phases[i].child_count;
		b->phases[i].forks = b->phases[i].child_count;
		b->phases[i].child_count = 0;
	}
	for (size_t i = 0; i < b->child_count; i++) {
		struct tree_phase *p = &b->phases[b->children[i].phase];

		b->sorted[p->first_child + p->child_count++] = b->children[i];
	}
	return true;
}

bool tree_build__gather(struct tree_builder *b, uint32_t index, bool is_region)
{
	b->phase_count = b->child_count = 0;
	if (is_region) {
		if (!gather_region(b, index))
			return false;
		b->phases[0].own = true;
	} else if (!gather_context(b, index)) {
		return false;
	}
	merge_phases(b);
	return sort_children(b);
}
