/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the groups and their members.
 *
 * Contexts, regions and loops are elements. Each element has an owner: a task has its parent, an implicit
 * task its region, a chunk its loop, a region the context that encountered it, a loop its region or context.
 * An owner is older than what it owns. So a walk from the youngest context to the oldest has all members of a
 * group before the group itself.
 */
#include "analysis/groups/groups.h"
#include "analysis/groups/groups_order.h"
#include "analysis/base/large.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Prefetch distance in contexts, and the largest number of children that is prefetched. */
#define AHEAD 8
#define CHILDREN 4

/* The sibling group of a join. Valid while `seen_by` is the present parent. */
struct slot {
	uint32_t number, seen_by;
};

struct builder {
	const struct grain_graph *graph;
	struct grain_groups *groups;
	uint32_t contexts, regions, loops;
	uint32_t root;	 /* the owner of elements without a real owner; equals the number of elements */
	uint32_t *first; /* per owner: index of its first element in list; its elements end at the next
			    owner's first */
	uint32_t *list;
	uint32_t *group_of; /* per element: the group that it is the head of; GRAIN_NONE: none */
	struct slot *slot;  /* per join */
	/* Of the present parent: */
	uint32_t *slot_of;		/* per child */
	uint32_t *slot_first, *slotted; /* children by slot */
	struct ordered *entries;
};

static uint32_t program_parent(const struct grain_graph *g, uint32_t context)
{
	while (context != GRAIN_NONE && g->contexts[context].flags & CONTEXT_SPLIT)
		context = g->contexts[context].parent;
	return context;
}

static uint32_t owner_of_context(const struct builder *b, uint32_t context)
{
	const struct grain_graph *g = b->graph;
	const struct context *c = &g->contexts[context];
	uint32_t parent;

	if (c->kind == GRAIN_CHUNK)
		return b->contexts + b->regions + g->chunks[c->number].loop;
	if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		return b->contexts + c->region;
	parent = context__parent(g, c);
	return parent == GRAIN_NONE ? b->root : parent;
}

/* Returns the region's owner. GRAIN_NONE: the region is empty and makes no group. */
static uint32_t owner_of_region(const struct builder *b, uint32_t region, const uint32_t *owned)
{
	const struct region *r = &b->graph->regions[region];
	uint32_t parent = r->begun ? program_parent(b->graph, r->parent) : GRAIN_NONE;

	if (!owned[b->contexts + region])
		return GRAIN_NONE;
	return parent == GRAIN_NONE ? b->root : parent;
}

static uint32_t owner_of_loop(const struct builder *b, uint32_t loop, const uint32_t *owned)
{
	const struct loop *l = &b->graph->loops[loop];
	uint32_t parent;

	if (!owned[b->contexts + b->regions + loop])
		return GRAIN_NONE;
	if (l->region != GRAIN_NONE)
		return b->contexts + l->region;
	parent = program_parent(b->graph, l->context);
	return parent == GRAIN_NONE ? b->root : parent;
}

/* Sorts all elements by owner, then by kind, then by number. */
static int list_owned(struct builder *b)
{
	uint32_t elements = b->root, *owner, *first, e, total = 0;

	owner = large__new((elements + (size_t)1) * sizeof *owner);
	first = b->first = large__zeroed((elements + (size_t)2) * sizeof *first);
	b->list = large__new((elements + (size_t)1) * sizeof *b->list);
	if (!owner || !first || !b->list) {
		free(owner);
		return -ENOMEM;
	}
	for (e = 0; e < b->contexts; e++)
		first[owner[e] = owner_of_context(b, e)]++;
	/* Only regions with members and loops with chunks are elements. */
	for (e = b->contexts; e < elements; e++) {
		owner[e] = e < b->contexts + b->regions
				   ? owner_of_region(b, e - b->contexts, first)
				   : owner_of_loop(b, e - b->contexts - b->regions, first);
		if (owner[e] != GRAIN_NONE)
			first[owner[e]]++;
	}
	for (e = 0; e <= elements; e++)
		first[e] = total += first[e];
	first[elements + 1] = total;
	for (e = elements; e-- > 0;)
		if (owner[e] != GRAIN_NONE)
			b->list[--first[owner[e]]] = e;
	free(owner);
	return 0;
}

static uint32_t owned(const struct builder *b, uint32_t owner, uint32_t **list)
{
	*list = &b->list[b->first[owner]];
	return b->first[owner + 1] - b->first[owner];
}

/*
 * Gives each task among the parent's children the number of its sibling group. Returns the number of groups.
 */
static uint32_t find_slots(struct builder *b, uint32_t parent)
{
	uint32_t *children, n = owned(b, parent, &children), i, slots = 0, unjoined = GRAIN_NONE;

	for (i = 0; i < n && children[i] < b->contexts; i++) {
		const struct context *c = &b->graph->contexts[children[i]];
		uint32_t *slot = c->join == GRAIN_NONE ? &unjoined : &b->slot[c->join].number;

		if (c->flags & CONTEXT_SPLIT)
			continue;
		if (c->join != GRAIN_NONE && b->slot[c->join].seen_by != parent) {
			b->slot[c->join].seen_by = parent;
			*slot = GRAIN_NONE;
		}
		if (*slot == GRAIN_NONE)
			*slot = slots++;
		b->slot_of[i] = *slot;
	}
	return slots;
}

/*
 * Returns an upper bound of the number of groups: one for each owner, and siblings. *largest is the largest
 * number of children of one context.
 */
static uint32_t count_groups(struct builder *b, uint32_t *largest)
{
	uint32_t groups = 1, siblings = 0, i, *list, n;

	*largest = 0;
	for (i = 0; i < b->contexts; i++) {
		n = owned(b, i, &list);
		groups += n > 0;
		siblings += n;
		if (n > *largest)
			*largest = n;
	}
	for (; i < b->root; i++)
		groups += owned(b, i, &list) > 0;
	return groups + siblings;
}

/* Frees the unused part of the rows and members. */
static void give_back(struct grain_groups *g)
{
	void *smaller = large__grown(g->rows, (g->count + (size_t)1) * sizeof *g->rows);

	g->rows = smaller ? smaller : g->rows;
	smaller = large__grown(g->members, (g->member_count + (size_t)1) * sizeof *g->members);
	g->members = smaller ? smaller : g->members;
}

static int allocate(struct builder *b)
{
	struct grain_groups *g = b->groups;
	size_t joins = b->graph->join_count + 1;
	uint32_t groups, largest;

	b->slot = large__new(joins * sizeof *b->slot);
	b->group_of = large__new((b->root + (size_t)1) * sizeof *b->group_of);
	g->of_context = large__new((b->contexts + (size_t)1) * sizeof *g->of_context);
	if (!b->slot || !b->group_of || !g->of_context)
		return -ENOMEM;
	memset(b->slot, 0xff, joins * sizeof *b->slot);
	memset(b->group_of, 0xff, (b->root + (size_t)1) * sizeof *b->group_of);
	groups = count_groups(b, &largest);
	b->slot_of = large__new((largest + (size_t)1) * sizeof *b->slot_of);
	b->slot_first = large__new((largest + (size_t)2) * sizeof *b->slot_first);
	b->slotted = large__new((largest + (size_t)1) * sizeof *b->slotted);
	b->entries = large__new((largest + (size_t)1) * sizeof *b->entries);
	g->rows = large__new((groups + (size_t)1) * sizeof *g->rows);
	g->members = large__new((b->contexts + (size_t)groups) * sizeof *g->members);
	return b->slot_of && b->slot_first && b->slotted && b->entries && g->rows && g->members ? 0 : -ENOMEM;
}

static uint32_t begin_group(struct builder *b, enum grain_group_kind kind, uint32_t context, uint32_t element)
{
	struct grain_groups *g = b->groups;

	g->rows[g->count] = (struct group_row){
		.parent = GRAIN_NONE,
		.first_member = g->member_count,
		.context = context,
		.element = element,
		.definition = GRAIN_NONE,
		.first = GRAIN_NONE,
		.last = GRAIN_NONE,
		.kind = (uint8_t)kind,
	};
	return g->count++;
}

/*
 * Adds a member to the group that was begun last. The member is a context, or the group that an element is
 * the head of.
 */
static void add_member(struct builder *b, uint32_t member)
{
	struct grain_groups *g = b->groups;

	if (member & GROUP_MEMBER)
		g->rows[member & ~GROUP_MEMBER].parent = g->count - 1;
	else
		g->of_context[member] = g->count - 1;
	g->members[g->member_count++] = member;
}

static uint32_t as_member(const struct builder *b, uint32_t element)
{
	return b->group_of[element] == GRAIN_NONE ? element : b->group_of[element] | GROUP_MEMBER;
}

/*
 * Returns the item of its parent in the program at which a task was created, by the parent or by tasks of the
 * runtime.
 */
static uint32_t made_at(const struct grain_graph *g, uint32_t context)
{
	uint32_t parent = g->contexts[context].parent;

	while (parent != GRAIN_NONE && g->contexts[parent].flags & CONTEXT_SPLIT) {
		context = parent;
		parent = g->contexts[context].parent;
	}
	return g->contexts[context].item;
}

static struct ordered build_siblings(struct builder *b, uint32_t parent, uint32_t *tasks, uint32_t n)
{
	const struct grain_graph *g = b->graph;
	struct ordered entry = {.key = GRAIN_NONE};
	bool adopted = false;
	uint32_t i, key;

	for (i = 0; i < n; i++) {
		adopted |= g->contexts[tasks[i]].parent != parent;
		key = made_at(g, tasks[i]);
		entry.key = key < entry.key ? key : entry.key;
	}
	if (adopted)
		order__tasks(g, tasks, n);
	entry.member =
		begin_group(b, GRAIN_GROUP_SIBLINGS, parent, g->contexts[tasks[0]].join) | GROUP_MEMBER;
	for (i = 0; i < n; i++)
		add_member(b, as_member(b, tasks[i]));
	return entry;
}

static struct ordered build_loop(struct builder *b, uint32_t loop)
{
	const struct grain_graph *g = b->graph;
	struct ordered entry = {.key = GRAIN_NONE};
	uint32_t *chunks, n = owned(b, b->contexts + b->regions + loop, &chunks), i, group;
	const struct loop *l = &g->loops[loop];
	uint32_t context = l->context;

	if (l->region != GRAIN_NONE)
		context = g->regions[l->region].begun ? g->regions[l->region].parent : GRAIN_NONE;
	order__chunks(g, chunks, n);
	group = begin_group(b, GRAIN_GROUP_SIBLINGS, context, loop);
	b->groups->rows[group].is_loop = true;
	for (i = 0; i < n; i++) {
		uint32_t key = g->contexts[chunks[i]].item;

		entry.key = key < entry.key ? key : entry.key;
		add_member(b, as_member(b, chunks[i]));
	}
	b->group_of[b->contexts + b->regions + loop] = group;
	entry.member = group | GROUP_MEMBER;
	return entry;
}

static struct ordered build_region(struct builder *b, uint32_t region)
{
	const struct grain_graph *g = b->graph;
	const struct region *r = &g->regions[region];
	uint32_t *members, n = owned(b, b->contexts + region, &members), team = 0, i, group;

	while (team < n && members[team] < b->contexts)
		team++;
	order__team(g, members, team);
	for (i = team; i < n; i++)
		members[i] -= b->contexts + b->regions;
	order__loops(g, members + team, n - team);
	for (i = team; i < n; i++)
		members[i] = build_loop(b, members[i]).member;
	group = begin_group(b, GRAIN_GROUP_REGION, r->begun ? r->parent : GRAIN_NONE, region);
	for (i = 0; i < n; i++)
		add_member(b, i < team ? as_member(b, members[i]) : members[i]);
	b->group_of[b->contexts + region] = group;
	return (struct ordered){.key = r->item, .member = group | GROUP_MEMBER};
}

static struct ordered build_element(struct builder *b, uint32_t element)
{
	return element < b->contexts + b->regions ? build_region(b, element - b->contexts)
						  : build_loop(b, element - b->contexts - b->regions);
}

/* Writes the sibling groups of a parent's tasks to `entries`; returns their number. */
static uint32_t build_children(struct builder *b, uint32_t parent, const uint32_t *tasks, uint32_t n)
{
	uint32_t slots = find_slots(b, parent), *first = b->slot_first, i, s;

	memset(first, 0, (slots + (size_t)1) * sizeof *first);
	for (i = 0; i < n; i++)
		if (!(b->graph->contexts[tasks[i]].flags & CONTEXT_SPLIT))
			first[b->slot_of[i]]++;
	for (s = 1; s <= slots; s++)
		first[s] += first[s - 1];
	for (i = n; i-- > 0;)
		if (!(b->graph->contexts[tasks[i]].flags & CONTEXT_SPLIT))
			b->slotted[--first[b->slot_of[i]]] = tasks[i];
	for (s = 0; s < slots; s++)
		b->entries[s] = build_siblings(b, parent, &b->slotted[first[s]], first[s + 1] - first[s]);
	return slots;
}

/* Prefetches what is needed to build the family of a parent. */
static void fetch_family(const struct builder *b, uint32_t parent)
{
	uint32_t *children, n = owned(b, parent, &children), i;

	for (i = 0; i < n && i < CHILDREN && children[i] < b->contexts; i++) {
		__builtin_prefetch(&b->graph->contexts[children[i]]);
		__builtin_prefetch(&b->group_of[children[i]]);
		__builtin_prefetch(&b->groups->of_context[children[i]], 1);
	}
}

static void build_family(struct builder *b, uint32_t parent)
{
	uint32_t *children, n = owned(b, parent, &children), tasks = 0, i, entries, group;

	if (!n)
		return;
	while (tasks < n && children[tasks] < b->contexts)
		tasks++;
	entries = build_children(b, parent, children, tasks);
	for (i = tasks; i < n; i++)
		b->entries[entries++] = build_element(b, children[i]);
	order__members(b->entries, entries);
	group = begin_group(b, GRAIN_GROUP_FAMILY, parent, GRAIN_NONE);
	add_member(b, parent);
	for (i = 0; i < entries; i++)
		add_member(b, b->entries[i].member);
	for (i = 0; i < tasks; i++)
		if (b->graph->contexts[children[i]].flags & CONTEXT_SPLIT)
			b->groups->of_context[children[i]] = group;
	b->group_of[parent] = group;
}

/* Elements without an owner belong to the root. If they form one group, that group is the root. */
static void build_root(struct builder *b)
{
	uint32_t *tops, n = owned(b, b->root, &tops), i, group;

	for (i = 0; i < n; i++)
		if (tops[i] >= b->contexts)
			build_element(b, tops[i]);
	if (n == 1 && b->group_of[tops[0]] != GRAIN_NONE)
		return;
	group = begin_group(b, GRAIN_GROUP_PROGRAM, GRAIN_NONE, GRAIN_NONE);
	for (i = 0; i < n; i++) {
		if (tops[i] < b->contexts && b->graph->contexts[tops[i]].flags & CONTEXT_SPLIT)
			b->groups->of_context[tops[i]] = group;
		else
			add_member(b, as_member(b, tops[i]));
	}
}

static int build(struct builder *b)
{
	struct grain_groups *g = b->groups;
	uint32_t i;
	int error = list_owned(b);

	if (error == 0)
		error = allocate(b);
	if (error < 0)
		return error;
	for (i = b->contexts; i-- > 0;) {
		if (i >= AHEAD)
			fetch_family(b, i - AHEAD);
		build_family(b, i);
	}
	build_root(b);
	g->rows[g->count].first_member = g->member_count;
	give_back(g);
	return 0;
}

int grain_groups__new(const struct grain_graph *graph, struct grain_groups **out)
{
	struct builder b = {.graph = graph};
	struct grain_groups *g;
	int error;

	/* There are at most twice as many groups as contexts. A member's number has one bit less than 32. */
	if (graph->context_count + graph->region_count + graph->loop_count >= GROUP_MEMBER / 2 - 1)
		return -E2BIG;
	g = calloc(1, sizeof *g);
	if (!g)
		return -ENOMEM;
	g->graph = graph;
	b.groups = g;
	b.contexts = (uint32_t)graph->context_count;
	b.regions = (uint32_t)graph->region_count;
	b.loops = (uint32_t)graph->loop_count;
	b.root = b.contexts + b.regions + b.loops;
	error = build(&b);
	free(b.first);
	free(b.list);
	free(b.group_of);
	free(b.slot);
	free(b.slot_of);
	free(b.slot_first);
	free(b.slotted);
	free(b.entries);
	if (error == 0)
		error = groups__sum_up(g);
	if (error < 0) {
		grain_groups__free(g);
		return error;
	}
	*out = g;
	return 0;
}

void grain_groups__free(struct grain_groups *groups)
{
	int i;

	if (!groups)
		return;
	for (i = 0; i < GRAIN_PROBLEM_COUNT; i++) {
		free(groups->worst[i]);
		free(groups->flagged[i]);
	}
	free(groups->rows);
	free(groups->members);
	free(groups->of_context);
	free(groups);
}
