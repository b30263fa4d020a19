/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides which groups of an aggregated drawing are open, and makes the boxes. */
#include <errno.h>
#include <stdlib.h>

#include "render/layout/layout_groups.h"
#include "render/base/array.h"

/* LAYOUT_OPEN_AUTO opens groups up to AUTO_NODES nodes, if they have 1 / AUTO_SHARE of the program's time. */
#define AUTO_NODES 320
#define AUTO_SHARE 16
#define MAX_LEVELS 400 /* largest depth of nested frames; renderers cannot show more */
#define CIRCLES 2      /* circles for a member of a family: fork and join */

static struct group_box *add(struct group_layout *l)
{
	if (!array__reserve((void **)&l->boxes, &l->capacity, l->count, sizeof(*l->boxes)))
		return NULL;
	l->boxes[l->count] = (struct group_box){.context = GRAIN_NONE, .group = GRAIN_NONE};
	l->nodes++;
	return &l->boxes[l->count++];
}

static bool add_member(struct group_layout *l, struct grain_member member, uint32_t level)
{
	struct group_box *box = add(l);

	if (!box)
		return false;
	box->level = level;
	if (!member.is_group) {
		box->shape = SCENE_BOX;
		box->context = member.index;
		return true;
	}
	box->shape = SCENE_CLOSED;
	box->group = member.index;
	grain_groups__get(l->groups, member.index, &box->of);
	return true;
}

static bool add_skip(struct group_layout *l, const struct grain_filtered *f, uint32_t level)
{
	struct group_box *box = add(l);

	if (!box)
		return false;
	box->shape = SCENE_SKIP;
	box->level = level;
	box->skipped = f->skipped;
	box->skipped_grains = f->skipped_grains;
	box->skipped_ns = f->skipped_exec_ns;
	return true;
}

/* Keeps the parent of a family, even if it does not have the problem: the chain begins with it. */
static void keep_parent(struct group_layout *l, const struct grain_member *parent, struct grain_filtered *f)
{
	struct grain_context c;

	grain_graph__context(l->graph, parent->index, &c);
	f->skipped--;
	f->first_skipped++;
	f->skipped_grains -=
		(c.kind == GRAIN_TASK || c.kind == GRAIN_CHUNK) && !c.runtime && f->skipped_grains;
	f->skipped_exec_ns -= c.exec_ns < f->skipped_exec_ns ? c.exec_ns : f->skipped_exec_ns;
}

static bool add_filtered(struct group_layout *l, uint32_t index, bool chain, uint32_t level)
{
	uint32_t group = l->boxes[index].group, members = l->boxes[index].of.members;
	struct grain_filtered *list = calloc(members + 1u, sizeof(*list)), rest = {.skipped = 0};
	size_t count;
	bool ok = list != NULL;

	if (!ok)
		return false;
	count = grain_groups__filter(l->groups, group, l->opts->lead, list, members);
	for (size_t i = 0; ok && i < count; i++) {
		struct grain_filtered *f = &list[i];

		if (i == 0 && chain && f->fast_forward) {
			struct grain_member parent = grain_groups__member(l->groups, group, 0);

			ok = add_member(l, parent, level);
			keep_parent(l, &parent, f);
			if (!f->skipped)
				continue;
		}
		if (!f->fast_forward) {
			ok = ok && add_member(l, f->member, level);
		} else if (chain) {
			ok = ok && add_skip(l, f, level);
		} else {
			rest.skipped += f->skipped;
			rest.skipped_grains += f->skipped_grains;
			rest.skipped_exec_ns += f->skipped_exec_ns;
		}
	}
	if (ok && rest.skipped)
		ok = add_skip(l, &rest, level);
	free(list);
	return ok;
}

static bool wants_open(const struct group_layout *l, const struct group_box *box, uint64_t program_ns)
{
	size_t more = (size_t)box->of.members * (box->of.kind == GRAIN_GROUP_FAMILY ? 1 + CIRCLES : 1);
	bool automatic = l->opts->open_depth == LAYOUT_OPEN_AUTO;
	size_t room = automatic && l->opts->max_nodes > AUTO_NODES ? AUTO_NODES : l->opts->max_nodes;

	if (box->shape != SCENE_CLOSED || box->level >= MAX_LEVELS || l->nodes + more > room)
		return false;
	if (!automatic)
		return box->level < l->opts->open_depth;
	return box->of.exec_ns >= program_ns / AUTO_SHARE &&
	       (l->opts->lead == GRAIN_PROBLEM_COUNT || box->of.problem_grains[l->opts->lead]);
}

static bool open_box(struct group_layout *l, uint32_t index)
{
	struct group_box *box = &l->boxes[index];
	bool chain = box->of.kind == GRAIN_GROUP_FAMILY;
	uint32_t level = box->level + 1, first = (uint32_t)l->count;

	box->shape = SCENE_OPEN;
	box->chain = chain;
	box->first = first;
	if (level > l->levels)
		l->levels = level;
	if (l->opts->filter && l->opts->lead < GRAIN_PROBLEM_COUNT) {
		if (!add_filtered(l, index, chain, level))
			return false;
	} else {
		uint32_t group = box->group, members = box->of.members;

		for (uint32_t i = 0; i < members; i++)
			if (!add_member(l, grain_groups__member(l->groups, group, i), level))
				return false;
	}
	box = &l->boxes[index];
	box->count = (uint32_t)l->count - first;
	for (uint32_t i = 0; chain && i < box->count; i++) {
		const struct group_box *member = &l->boxes[first + i];
		uint32_t join;

		l->nodes += group_box__forks(member) + group_box__joins(l, member, &join);
	}
	return true;
}

bool group_box__forks(const struct group_box *box)
{
	return box->group != GRAIN_NONE && box->of.loop == GRAIN_NONE;
}

bool group_box__joins(const struct group_layout *l, const struct group_box *box, uint32_t *join)
{
	*join = box->of.join;
	if (box->group == GRAIN_NONE)
		return false;
	if (box->of.kind == GRAIN_GROUP_REGION) {
		struct grain_region region;

		grain_graph__region(l->graph, box->of.region, &region);
		*join = region.end_join;
	}
	return box->of.loop == GRAIN_NONE || *join != GRAIN_NONE;
}

int group_layout__open(struct group_layout *l)
{
	struct grain_member root = {.is_group = true, .index = grain_groups__root(l->groups)};

	if (!add_member(l, root, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < l->count; i++)
		if (wants_open(l, &l->boxes[i], l->boxes[0].of.exec_ns) && !open_box(l, i))
			return -ENOMEM;
	return 0;
}
