/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice on load balance: some siblings, or members of a loop, take much longer than others. If one chunk
 * takes most of a loop's time, no schedule helps, but fewer cores are as fast (PPOPP16 section 4.3.4).
 */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The members of one loop: their number, and the busiest. */
struct team {
	uint64_t longest_ns;
	uint32_t members;
};

/* The upper bound of what balancing saves: the idle time, spread over all threads. */
static double idle_bound(const struct grain_graph *g)
{
	double bound = 0;
	size_t i;

	for (i = 0; i < g->region_count; i++)
		if (g->regions[i].threads > 1)
			bound += (double)g->regions[i].idle_ns / g->regions[i].threads;
	return bound;
}

static double even_share(const struct loop *loop, const struct team *team)
{
	return (double)loop->exec_ns / team->members;
}

/*
 * Returns the definition's loop whose busiest member exceeds the mean the most. GRAIN_NONE: in no loop a
 * member does.
 */
static uint32_t worst_loop(const struct grain_graph *g, const struct team *teams, uint32_t definition)
{
	uint32_t worst = GRAIN_NONE;
	double most = 0;
	size_t i;

	for (i = 0; i < g->loop_count; i++) {
		const struct loop *loop = &g->loops[i];
		double excess;

		if (loop->definition != definition || loop->incomplete || !teams[i].members)
			continue;
		excess = (double)teams[i].longest_ns - even_share(loop, &teams[i]);
		if (excess > most) {
			most = excess;
			worst = (uint32_t)i;
		}
	}
	return worst;
}

static uint32_t longest_chunk(const struct grain_graph *g, uint32_t loop)
{
	uint32_t longest = GRAIN_NONE;
	size_t i;

	for (i = 0; i < g->chunk_count; i++) {
		uint32_t context = g->chunks[i].context;

		if (g->chunks[i].loop != loop)
			continue;
		if (longest == GRAIN_NONE || g->contexts[context].exec_ns > g->contexts[longest].exec_ns)
			longest = context;
	}
	return longest;
}

static bool is_static(const struct grain_graph *g, uint32_t loop)
{
	const struct event_loop *said = g->stream->loops ? &g->stream->loops[loop] : NULL;

	return g->loops[loop].hidden || g->loops[loop].derived ||
	       (said && (said->sched == EVENT_SCHED_STATIC || said->sched == EVENT_SCHED_RUNTIME_STATIC));
}

/* Whether the chunk has more than one iteration, so that a smaller chunk size divides it. */
static bool has_several(const struct grain_graph *g, uint32_t chunk)
{
	const struct chunk *c = chunk == GRAIN_NONE ? NULL : &g->chunks[g->contexts[chunk].number];

	return c && !g->loops[c->loop].sections && c->lower != c->upper;
}

/*
 * Writes the advice if the longest grain was off the CPU for at least half of its time. Returns false if it
 * was not.
 */
static bool say_preempted(const struct grain_graph *g, struct advice *out)
{
	const struct context *worst = &g->contexts[out->public.evidence.worst];
	const struct off_cpu what = {
		.off_ns = (double)context__off(g, worst),
		.ready_ns = (double)context__ready(g, worst),
		.off = "the thread of the longest was off its core",
		.blocked = "the longest was blocked",
		.of_what = "",
	};

	if (2 * context__off(g, worst) < worst->exec_ns || !context__off(g, worst))
		return false;
	out->public.evidence.off_cpu_percent = 100 * what.off_ns / (double)worst->exec_ns;
	advice__off_cpu(g, &what, out->text, sizeof out->text);
	return true;
}

static void say_dominated(const struct advisor *a, const struct loop *loop, const struct team *team,
			  bool uneven, struct advice *out)
{
	const char *where = advice__place(a->graph, loop->definition);
	size_t used;

	used = (size_t)
		snprintf(out->text, sizeof out->text,
			 "divide the longest %s of %s (tasks or a loop inside it, or a smaller chunk size "
			 "where it has several iterations)",
			 loop->sections ? "section" : "chunk", where);
	if (uneven && used < sizeof out->text)
		used += (size_t)snprintf(out->text + used, sizeof out->text - used,
					 "; most chunks are shorter than getting them takes, but larger ones "
					 "would make the longest longer");
	if (out->public.evidence.minimum_cores && used < sizeof out->text)
		snprintf(out->text + used, sizeof out->text - used,
			 "; if it cannot be divided, num_threads(%" PRIu32 ") takes no longer than %" PRIu32
			 " threads",
			 loop->minimum_cores, team->members);
}

/* Proposes a dynamic schedule. With it, members end at most one chunk apart, if all of them take part. */
static void say_dynamic(const struct grain_graph *g, uint32_t index, const struct team *team,
			struct advice *out)
{
	const struct loop *loop = &g->loops[index];
	const char *where = advice__place(g, loop->definition);
	const struct chunk *longest = &g->chunks[g->contexts[out->public.evidence.worst].number];

	if ((double)team->longest_ns - even_share(loop, team) > (double)loop->longest_ns)
		snprintf(out->text, sizeof out->text,
			 "the chunks of %s are small enough: threads came late to it or were held up in it; "
			 "look at "
			 "what they do before it (nowait where it does not matter), and measure while "
			 "nothing else "
			 "runs",
			 where);
	else if (loop->sections)
		snprintf(out->text, sizeof out->text,
			 "divide the longest of the sections at %s, or put it first", where);
	else if (longest->lower != longest->upper)
		snprintf(out->text, sizeof out->text,
			 "hand out the last iterations of %s in smaller pieces: a smaller chunk size or "
			 "schedule(guided), or the longest iterations first",
			 where);
	else
		snprintf(out->text, sizeof out->text,
			 "begin with the longest iterations of %s, or divide them: with one at a time the "
			 "last ones "
			 "decide",
			 where);
}

static void say_bound(const struct grain_graph *g, const struct chunk *chunk, int64_t bound, char text[32])
{
	if (g->stream->loops && g->stream->loops[chunk->loop].is_unsigned)
		snprintf(text, 32, "%" PRIu64, (uint64_t)bound);
	else
		snprintf(text, 32, "%" PRId64, bound);
}

/* Names the longest chunk by its iterations. */
static void say_longest(const struct grain_graph *g, uint32_t context, char *text, size_t size)
{
	const struct chunk *chunk = &g->chunks[g->contexts[context].number];
	bool sections = g->loops[chunk->loop].sections, several = chunk->lower != chunk->upper;
	char longest[32], lower[32], upper[32];

	say_bound(g, chunk, chunk->lower, lower);
	say_bound(g, chunk, chunk->upper, upper);
	snprintf(text, size, ". The longest %s (%s%s %s%s%s) takes %s", sections ? "section" : "chunk",
		 sections ? "number" : "iteration", several ? "s" : "", lower, several ? " to " : "",
		 several ? upper : "", advice__time((double)g->contexts[context].exec_ns, longest));
}

static void say_loop(const struct advisor *a, uint32_t index, const struct team *team, struct advice *out)
{
	const struct grain_graph *g = a->graph;
	const struct loop *loop = &g->loops[index];
	const char *where = advice__place(g, loop->definition);
	struct grain_evidence *evidence = &out->public.evidence;
	bool shares = loop->hidden || loop->derived;
	/* If one chunk takes more than an even share, no distribution of the chunks is even. */
	bool dominated = !shares && (double)loop->longest_ns > even_share(loop, team) &&
			 !(is_static(g, index) && has_several(g, longest_chunk(g, index)));
	char busiest[32], mean[32];
	int used;

	evidence->grains = loop->chunks;
	evidence->of = loop->chunks;
	evidence->worst = longest_chunk(g, index);
	evidence->threads = team->members;
	if (dominated && loop->minimum_cores < team->members)
		evidence->minimum_cores = loop->minimum_cores;
	advice__time((double)team->longest_ns, busiest);
	advice__time(even_share(loop, team), mean);
	used = snprintf(out->finding, sizeof out->finding,
			"the busiest of %" PRIu32
			" threads in the %s at %s executes %s, their mean is %s; the others "
			"wait for it",
			team->members, loop->sections ? "sections" : "loop", where, busiest, mean);
	if (!shares && evidence->worst != GRAIN_NONE && used > 0 && (size_t)used < sizeof out->finding)
		say_longest(g, evidence->worst, out->finding + used, sizeof out->finding - (size_t)used);
	if (evidence->worst != GRAIN_NONE && say_preempted(g, out))
		return;
	if (dominated)
		say_dominated(
			a, loop, team,
			a->uneven[loop->definition == GRAIN_NONE ? g->definition_count : loop->definition],
			out);
	else if (is_static(g, index))
		snprintf(out->text, sizeof out->text,
			 "hand out the iterations of %s as threads become free: schedule(dynamic) with "
			 "chunks of "
			 "which each thread gets several, or schedule(guided)",
			 where);
	else
		say_dynamic(g, index, team, out);
}

static void say_siblings(const struct grain_graph *g, const struct imbalance *im, struct advice *out)
{
	const char *where = advice__place(g, out->public.definition);
	char members[32], longest[32], mean[32];

	out->public.evidence.grains = im->members;
	out->public.evidence.of = im->members;
	out->public.evidence.worst = im->worst;
	snprintf(out->finding, sizeof out->finding,
		 "of %s siblings from %s the longest takes %s, their mean is %s; the others wait for it",
		 advice__count(im->members, members), where, advice__time(im->longest_ns, longest),
		 advice__time(im->mean_ns, mean));
	if (say_preempted(g, out))
		return;
	snprintf(out->text, sizeof out->text,
		 "divide the work at %s more evenly: split the longest pieces, or create them first", where);
}

static int advise(struct advisor *a, const struct team *teams, const struct stake *stake)
{
	struct grain_graph *g = a->graph;
	uint32_t definition = stake->definition, loop = worst_loop(g, teams, definition);
	struct advice *advice;
	int error = advisor__add(a, GRAIN_ADVICE_IMBALANCE, GRAIN_PROBLEM_LOAD_BALANCE, definition,
				 stake->saves_ns, &advice);

	if (error < 0)
		return error;
	if (loop == GRAIN_NONE)
		say_siblings(g, &g->imbalance[definition == GRAIN_NONE ? g->definition_count : definition],
			     advice);
	else
		say_loop(a, loop, &teams[loop], advice);
	return 0;
}

/* Wall time that the loop's members wait for the busiest of them. */
static double excess_of(const struct advisor *a, const struct team *teams, size_t loop)
{
	const struct loop *l = &a->graph->loops[loop];

	return l->incomplete || !teams[loop].members
		       ? 0
		       : (double)teams[loop].longest_ns - even_share(l, &teams[loop]);
}

static bool is_explained(const struct advisor *a, const struct loop *loop)
{
	return loop->region != GRAIN_NONE && a->explained[loop->region];
}

/* Marks for which idle time of regions loops with advice are the reason. */
static void explain(struct advisor *a, const struct team *teams, struct stake *stakes)
{
	const struct grain_graph *g = a->graph;
	size_t i;

	for (i = 0; i < g->loop_count; i++) {
		const struct loop *loop = &g->loops[i];

		if (loop->region != GRAIN_NONE && !a->explained[loop->region] &&
		    stakes__of(g, stakes, loop->definition)->saves_ns >= a->worth_ns)
			a->uneven_ns[loop->region] += excess_of(a, teams, i) * teams[i].members;
	}
}

int advisor__balance(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	double bound = idle_bound(g);
	struct stake *stakes = NULL;
	struct team *teams = NULL;
	size_t i, n = 0;
	int error = memory__array(&g->memory, g->loop_count, sizeof *teams, (void **)&teams);

	if (error == 0)
		error = stakes__new(g, &stakes);
	for (i = 0; error == 0 && i < g->visit_count; i++) {
		struct team *team = &teams[g->visits[i].loop];

		team->members++;
		if (g->visits[i].exec_ns > team->longest_ns)
			team->longest_ns = g->visits[i].exec_ns;
	}
	for (i = 0; error == 0 && i <= g->definition_count; i++) {
		stakes[i].grains = g->imbalance[i].members;
		stakes[i].saves_ns = g->imbalance[i].excess_ns;
	}
	for (i = 0; error == 0 && i < g->loop_count; i++)
		if (is_explained(a, &g->loops[i]))
			stakes__of(g, stakes, g->loops[i].definition)->saves_ns -= excess_of(a, teams, i);
	for (i = 0; error == 0 && i <= g->definition_count; i++)
		stakes[i].saves_ns = fmin(stakes[i].saves_ns, bound);
	if (error == 0)
		explain(a, teams, stakes);
	n = error == 0 ? stakes__sort(a, stakes) : 0;
	for (i = 0; error == 0 && i < n; i++)
		error = advise(a, teams, &stakes[i]);
	stakes__free(g, &stakes);
	memory__release(&g->memory, (void **)&teams, g->loop_count, sizeof *teams);
	return error;
}
