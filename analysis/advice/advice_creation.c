/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice on creation: one thread creates all tasks, and the others run them faster than it creates them
 * (ICPPW12 section III).
 */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"

#include <inttypes.h>
#include <math.h>

/*
 * A context is the creator of a region if three things hold: it creates this share of the region's tasks; it
 * spends this share of the time on creating them; the threads are idle for this share of their time.
 */
#define CREATOR_SHARE 0.8
#define CREATION_SHARE 0.5
#define IDLE_SHARE 0.1

/* The context that spends the most time on creating tasks of a region. */
struct creator {
	uint64_t create_ns;
	uint64_t phase_ns; /* time of its creations and fragments, from the first creation to the last */
	uint64_t tasks;
	uint32_t context;
	bool bottleneck;
};

struct creation {
	double create_ns, phase_ns, wall_ns, idle_ns, core_ns;
	uint64_t created, tasks, regions;
	uint32_t creator; /* ns of the longest creation */
	uint64_t longest_ns;
	uint32_t threads;
};

static void find_creators(const struct grain_graph *g, struct creator *creators)
{
	size_t i, k;

	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		struct creator own = {.context = (uint32_t)i};
		uint64_t between_ns = 0;

		if (c->flags & CONTEXT_LEAF || c->region == GRAIN_NONE)
			continue;
		for (k = c->first_item; k < (size_t)c->first_item + c->item_count; k++) {
			if (own.tasks && g->items[k].kind == GRAIN_FRAGMENT)
				between_ns += g->items[k].own_ns;
			if (g->items[k].kind != GRAIN_FORK)
				continue;
			own.create_ns += g->items[k].own_ns;
			own.phase_ns += between_ns + g->items[k].own_ns;
			between_ns = 0;
			own.tasks++;
		}
		if (own.phase_ns > creators[c->region].phase_ns)
			creators[c->region] = own;
	}
	for (i = 0; i < g->region_count; i++) {
		const struct region *r = &g->regions[i];
		struct creator *own = &creators[i];

		own->bottleneck =
			region__is_team(r) && own->tasks >= (uint64_t)ADVICE_GRAINS_PER_THREAD * r->threads &&
			(double)own->tasks >= CREATOR_SHARE * (double)r->tasks &&
			(double)own->phase_ns >= CREATION_SHARE * (double)(r->end_ns - r->start_ns) &&
			(double)r->idle_ns >= IDLE_SHARE * region__core_ns(r);
	}
}

/*
 * Returns the definition on whose tasks the creator spends the most creation time. `time` has one element for
 * each definition. All elements are zero before and after the call.
 */
static uint32_t most_created(const struct grain_graph *g, uint32_t creator, uint64_t *time)
{
	const struct context *c = &g->contexts[creator];
	uint32_t most = GRAIN_NONE;
	uint64_t longest = 0;
	size_t k, end = (size_t)c->first_item + c->item_count;

	for (k = c->first_item; k < end; k++) {
		uint32_t definition =
			g->items[k].kind == GRAIN_FORK ? g->contexts[g->items[k].ref].definition : GRAIN_NONE;

		if (definition == GRAIN_NONE)
			continue;
		time[definition] += g->items[k].own_ns;
		if (time[definition] > longest) {
			longest = time[definition];
			most = definition;
		}
	}
	for (k = c->first_item; k < end; k++)
		if (g->items[k].kind == GRAIN_FORK && g->contexts[g->items[k].ref].definition != GRAIN_NONE)
			time[g->contexts[g->items[k].ref].definition] = 0;
	return most;
}

/*
 * An upper bound of the saving. Larger tasks need less creation, and more creators share it. Neither makes
 * the other work shorter.
 */
static double creation_saving(const struct region *r, const struct creator *creator)
{
	return fmin((double)creator->phase_ns,
		    ((double)creator->create_ns + (double)r->idle_ns) / r->threads);
}

static int say_creation(struct advisor *a, const struct stake *stake, const struct creation *creation)
{
	struct grain_graph *g = a->graph;
	struct advice *out;
	struct grain_evidence *evidence;
	char created[32], tasks[32], create[32], phase[32], wall[32];
	int error = advisor__add(a, GRAIN_ADVICE_CREATION, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM,
				 stake->definition, stake->saves_ns, &out);

	if (error < 0)
		return error;
	evidence = &out->public.evidence;
	evidence->grains = creation->created;
	evidence->of = creation->tasks;
	evidence->worst = creation->creator;
	evidence->threads = creation->threads;
	evidence->idle_percent = 100 * creation->idle_ns / creation->core_ns;
	snprintf(out->finding, sizeof out->finding,
		 "one thread creates %s of the %s tasks; from the first to the last that takes it %s of the "
		 "region's %s, %s of them in the creations themselves; its %" PRIu32
		 " threads take them faster than they come and have nothing to run for %.0f %% of their time",
		 advice__count(creation->created, created), advice__count(creation->tasks, tasks),
		 advice__time(creation->phase_ns, phase), advice__time(creation->wall_ns, wall),
		 advice__time(creation->create_ns, create), creation->threads, evidence->idle_percent);
	snprintf(
		out->text, sizeof out->text,
		"let several threads create the tasks of %s: a few tasks that create a part of them each, or "
		"a recursive division; or give each task more to do (taskloop with grainsize, a loop inside)",
		advice__place(g, stake->definition));
	return 0;
}

static int advise(struct advisor *a, const struct creator *creators)
{
	struct grain_graph *g = a->graph;
	struct stake *stakes = NULL;
	struct creation *creations = NULL;
	uint64_t *time = NULL;
	size_t i, n = g->definition_count + 1;
	int error = stakes__new(g, &stakes);

	if (error == 0)
		error = memory__array(&g->memory, n, sizeof *creations, (void **)&creations);
	if (error == 0)
		error = memory__array(&g->memory, n, sizeof *time, (void **)&time);
	for (i = 0; error == 0 && i < g->region_count; i++) {
		const struct region *r = &g->regions[i];
		struct creation *creation;
		struct stake *stake;

		if (!creators[i].bottleneck)
			continue;
		stake = stakes__of(g, stakes, most_created(g, creators[i].context, time));
		creation = &creations[stake - stakes];
		stake->grains += creators[i].tasks;
		stake->saves_ns += creation_saving(r, &creators[i]);
		creation->create_ns += (double)creators[i].create_ns;
		creation->phase_ns += (double)creators[i].phase_ns;
		creation->wall_ns += (double)(r->end_ns - r->start_ns);
		creation->idle_ns += (double)r->idle_ns;
		creation->core_ns += region__core_ns(r);
		creation->created += creators[i].tasks;
		creation->tasks += r->tasks;
		creation->regions++;
		if (creators[i].phase_ns > creation->longest_ns) {
			creation->longest_ns = creators[i].phase_ns;
			creation->creator = creators[i].context;
			creation->threads = r->threads;
		}
	}
	n = error == 0 ? stakes__sort(a, stakes) : 0;
	for (i = 0; error == 0 && i < n; i++) {
		uint32_t definition = stakes[i].definition;

		error = say_creation(a, &stakes[i],
				     &creations[definition == GRAIN_NONE ? g->definition_count : definition]);
	}
	memory__release(&g->memory, (void **)&time, g->definition_count + 1, sizeof *time);
	memory__release(&g->memory, (void **)&creations, g->definition_count + 1, sizeof *creations);
	stakes__free(g, &stakes);
	return error;
}

int advisor__creation(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	struct creator *creators = NULL;
	size_t i;
	int error;

	/* If begins are computed from durations, idle times are not known. */
	if (g->info.times_derived)
		return 0;
	error = memory__array(&g->memory, g->region_count, sizeof *creators, (void **)&creators);
	if (error == 0) {
		find_creators(g, creators);
		error = advise(a, creators);
	}
	for (i = 0; error == 0 && i < g->region_count; i++)
		a->explained[i] |= creators[i].bottleneck;
	memory__release(&g->memory, (void **)&creators, g->region_count, sizeof *creators);
	return error;
}
