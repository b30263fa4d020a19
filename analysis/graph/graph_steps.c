// SPDX-License-Identifier: BSD-2-Clause
/* The last steps of identifiers, computed from the elements alone. graph_ids.c makes whole identifiers. */
#include "analysis/include/grain_steps.h"
#include "analysis/graph/graph.h"

#include <stdio.h>
#include <string.h>

/* The identifier of a context or of a region, and what follows it. */
struct tail {
	uint32_t context, region;
	char text[sizeof(((struct grain_step *)0)->text)];
};

static bool tail_of(const struct grain_graph *g, const struct context *c, struct tail *out)
{
	const char *split = c->flags & CONTEXT_SPLIT ? "t" : "";
	uint32_t index = context__parent(g, c);
	const struct context *parent = index == GRAIN_NONE ? NULL : &g->contexts[index];

	*out = (struct tail){.context = GRAIN_NONE, .region = c->region};
	if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE) {
		snprintf(out->text, sizeof(out->text), ".%u", c->ordinal);
		return true;
	}
	if (c->kind != GRAIN_TASK || !parent)
		return false;
	out->region = GRAIN_NONE;
	if (parent->kind != GRAIN_IMPLICIT || parent->region == GRAIN_NONE) {
		out->context = index;
		if (c->single == GRAIN_NONE)
			snprintf(out->text, sizeof(out->text), ".%s%u", split, c->ordinal);
		else
			snprintf(out->text, sizeof(out->text), ".s%u.%s%u", c->single, split, c->ordinal);
		return true;
	}
	out->region = parent->region;
	if (c->single == GRAIN_NONE)
		snprintf(out->text, sizeof(out->text), ".%u.%s%u", parent->ordinal, split, c->ordinal);
	else
		snprintf(out->text, sizeof(out->text), ".s%u.%s%u", c->single, split, c->ordinal);
	return true;
}

bool grain_graph__step(const struct grain_graph *g, uint32_t context, struct grain_step *out)
{
	const struct context *c = &g->contexts[context], *parent;
	struct tail own, above;
	size_t same = 0;

	if (c->kind != GRAIN_TASK || c->parent == GRAIN_NONE)
		return false;
	parent = &g->contexts[c->parent];
	out->plain = c->single == GRAIN_NONE && !((c->flags | parent->flags) & CONTEXT_SPLIT);
	out->ordinal = c->ordinal;
	if (out->plain)
		return true;
	if (!tail_of(g, c, &own))
		return false;
	if (own.context == c->parent) {
		above.text[0] = '\0';
	} else if (!tail_of(g, parent, &above) || above.context != own.context ||
		   above.region != own.region) {
		return false;
	}
	while (own.text[same] && own.text[same] == above.text[same])
		same++;
	out->drop = strlen(above.text + same);
	memcpy(out->text, own.text + same, strlen(own.text + same) + 1);
	return true;
}

bool grain_graph__step_is_bounds(const struct grain_graph *g, uint32_t chunk)
{
	const struct context *c = &g->contexts[chunk];
	const struct chunk *bounds = &g->chunks[c->number];
	const struct loop *loop = &g->loops[bounds->loop];

	return !bounds->copy && !chunk__by_member(bounds) &&
	       (loop->region != GRAIN_NONE || (loop->context == c->parent && c->parent != GRAIN_NONE));
}

bool grain_graph__join_is_yield(const struct grain_graph *g, uint32_t join)
{
	return g->joins[join].flags & JOIN_YIELD;
}
