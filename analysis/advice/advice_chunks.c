/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice on chunks that are too small: names a chunk size with which book-keeping no longer matters. Loops
 * whose iterations are so uneven that larger chunks would make the longest one worse get none (PPOPP16
 * section 4.3.4); the advice on balance mentions them.
 */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"
#include "analysis/metrics/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct piece {
	uint64_t exec_ns;
	int64_t lower;
	uint32_t loop, context;
};

struct small_chunks {
	uint32_t definition;
	uint32_t worst;	      /* the small chunk with the longest book-keeping */
	uint64_t small;	      /* chunks that are shorter than their book-keeping */
	struct piece *pieces; /* all chunks of the definition, by loop and iterations */
	size_t count;
	uint64_t *values;
	double exec_ns, bookkeeping_ns; /* medians over all chunks */
	double iterations;		/* median iterations of a chunk */
	double cost_ns;			/* book-keeping of all chunks, divided by the number of members */
	uint64_t room;	/* factor by which chunks can grow and still be enough for each member */
	uint64_t times; /* factor that is proposed; 0: one chunk for each member */
	double saves_ns;
};

static bool is_chunk(const struct grain_graph *g, const struct chunk *chunk)
{
	const struct context *c = &g->contexts[chunk->context];
	const struct loop *loop = &g->loops[chunk->loop];

	return !loop->sections && !loop->incomplete && loop->members && !chunk__by_member(chunk) &&
	       !(c->flags & (CONTEXT_INCOMPLETE | CONTEXT_DISCARDED));
}

/* Waiting does not count, because larger chunks do not shorten it. */
static bool is_small(const struct grain_graph *g, const struct chunk *chunk)
{
	const struct context *c = &g->contexts[chunk->context];

	return is_chunk(g, chunk) && c->problems & 1u << GRAIN_PROBLEM_PARALLEL_BENEFIT &&
	       c->exec_ns < context__bookkeeping(g, c);
}

static int by_iterations(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;

	if (a->loop != b->loop)
		return a->loop < b->loop ? -1 : 1;
	if (a->lower != b->lower)
		return a->lower < b->lower ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

static uint64_t iterations_of(const struct grain_graph *g, const struct chunk *chunk)
{
	const struct event_loop *said = g->stream->loops ? &g->stream->loops[chunk->loop] : NULL;
	uint64_t length = (uint64_t)chunk->upper - (uint64_t)chunk->lower;
	int64_t step = said && said->has_step && said->step ? said->step : 1;

	if (step < 0)
		return (0 - length) / (0 - (uint64_t)step) + 1;
	return length / (uint64_t)step + 1;
}

/* The lower bound as a signed number. Unsigned bounds get the right order, too. */
static int64_t order_of(const struct grain_graph *g, const struct chunk *chunk)
{
	bool is_unsigned = g->stream->loops && g->stream->loops[chunk->loop].is_unsigned;

	return (int64_t)((uint64_t)chunk->lower ^ (is_unsigned ? UINT64_C(1) << 63 : 0));
}

static void gather(const struct grain_graph *g, struct small_chunks *s)
{
	uint64_t longest = 0, sections = 0;
	size_t i, n = 0;

	for (i = 0; i < g->chunk_count; i++) {
		const struct chunk *chunk = &g->chunks[i];
		const struct context *c = &g->contexts[chunk->context];

		if (g->loops[chunk->loop].definition != s->definition || !is_chunk(g, chunk))
			continue;
		s->pieces[n++] = (struct piece){.exec_ns = c->exec_ns,
						.lower = order_of(g, chunk),
						.loop = chunk->loop,
						.context = chunk->context};
		s->cost_ns += (double)context__bookkeeping(g, c) / g->loops[chunk->loop].members;
		if (is_small(g, chunk) && context__bookkeeping(g, c) > longest) {
			longest = context__bookkeeping(g, c);
			s->worst = chunk->context;
		}
	}
	s->count = n;
	qsort(s->pieces, n, sizeof *s->pieces, by_iterations);
	for (i = 0; i < n; i++)
		s->values[i] = s->pieces[i].exec_ns;
	s->exec_ns = metrics__median(s->values, n);
	for (i = 0; i < n; i++)
		s->values[i] = context__bookkeeping(g, &g->contexts[s->pieces[i].context]);
	s->bookkeeping_ns = metrics__median(s->values, n);
	for (i = 0; i < n; i++)
		s->values[i] = iterations_of(g, &g->chunks[g->contexts[s->pieces[i].context].number]);
	s->iterations = metrics__median(s->values, n);
	for (i = 0; i < n; i++)
		if (i == 0 || s->pieces[i].loop != s->pieces[i - 1].loop)
			sections += (uint64_t)ADVICE_GRAINS_PER_THREAD * g->loops[s->pieces[i].loop].members;
	s->room = sections ? n / sections : 0;
}

/* A chunk may be this many times as long as the mean when each thread has just one. */
#define SHARE_TOLERANCE 1.25
/* Larger chunks are proposed only if loops that stay even have at least this part of the book-keeping. */
#define EVEN_SHARE 0.5

/*
 * Whether some chunk of the loop would be longer than an even share allows, if each `times` neighbours were
 * merged into one chunk.
 */
static bool is_uneven(const struct piece *pieces, size_t n, uint32_t members, uint64_t times,
		      double tolerance)
{
	uint64_t longest = 0, sum = 0, all = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (i % times == 0)
			sum = 0;
		sum += pieces[i].exec_ns;
		all += pieces[i].exec_ns;
		if (sum > longest)
			longest = sum;
	}
	return (double)longest > tolerance * (double)all / members;
}

/*
 * Book-keeping, divided by the number of members. Counts only loops that stay even when `times` neighbours
 * become one chunk. times 0: one chunk for each member.
 */
static double even_cost(const struct grain_graph *g, const struct small_chunks *s, uint64_t times)
{
	double cost_ns = 0;
	size_t begin, end;

	for (begin = 0; begin < s->count; begin = end) {
		uint32_t members = g->loops[s->pieces[begin].loop].members;
		uint64_t all = 0, group = times;

		for (end = begin; end < s->count && s->pieces[end].loop == s->pieces[begin].loop; end++)
			all += context__bookkeeping(g, &g->contexts[s->pieces[end].context]);
		if (!group)
			group = (end - begin + members - 1) / members;
		if (!is_uneven(&s->pieces[begin], end - begin, members, group, times ? 1 : SHARE_TOLERANCE))
			cost_ns += (double)all / members;
	}
	return cost_ns;
}

/* Sets s->times. Returns false if larger chunks do not help, or make a loop uneven. */
static bool choose_times(struct advisor *a, struct small_chunks *s)
{
	const struct grain_graph *g = a->graph;
	bool *uneven = &a->uneven[s->definition == GRAIN_NONE ? g->definition_count : s->definition];
	double enough_ns = EVEN_SHARE * s->cost_ns;

	s->times = advisor__whole(
		fmin((double)s->room, ceil(ADVICE_WORTHWHILE * s->bookkeeping_ns / fmax(s->exec_ns, 1))));
	if (s->times < 2) {
		s->times = 0;
		s->saves_ns = even_cost(g, s, 0);
		return s->exec_ns < s->bookkeeping_ns && s->saves_ns >= enough_ns;
	}
	while (s->times > 1 && even_cost(g, s, s->times) < enough_ns)
		s->times /= 2;
	*uneven = s->times < 2;
	if (s->times > 1)
		s->saves_ns = even_cost(g, s, s->times) * (1 - 1 / (double)s->times);
	return !*uneven;
}

static const char *schedule_of(const struct grain_graph *g, const struct small_chunks *s)
{
	const struct event_loop *said = g->stream->loops ? &g->stream->loops[s->pieces[0].loop] : NULL;

	if (said && (said->sched == EVENT_SCHED_GUIDED || said->sched == EVENT_SCHED_RUNTIME_GUIDED))
		return "guided";
	if (said && (said->sched == EVENT_SCHED_STATIC || said->sched == EVENT_SCHED_RUNTIME_STATIC))
		return "static";
	return "dynamic";
}

static void say(const struct grain_graph *g, const struct small_chunks *s, struct advice *out)
{
	struct grain_evidence *evidence = &out->public.evidence;
	char small[32], all[32], exec[32], bookkeeping[32];

	evidence->grains = s->small;
	evidence->of = s->count;
	evidence->worst = s->worst;
	evidence->median_exec_ns = s->exec_ns;
	evidence->median_cost_ns = s->bookkeeping_ns;
	evidence->times = s->times;
	snprintf(
		out->finding, sizeof out->finding,
		"%s of the %s chunks of the loop at %s run shorter than it takes to get them; typically they "
		"run %s, and getting one takes %s",
		advice__count(s->small, small), advice__count(s->count, all), advice__place(g, s->definition),
		advice__time(s->exec_ns, exec), advice__time(s->bookkeeping_ns, bookkeeping));
	if (s->times) {
		evidence->chunk = advisor__whole(s->iterations * (double)s->times + 0.5);
		evidence->vanish = s->count - s->count / s->times;
		snprintf(out->text, sizeof out->text,
			 "hand out more iterations at a time: schedule(%s, %" PRIu64
			 ") instead of %.0f; that "
			 "leaves at least %d chunks a thread",
			 schedule_of(g, s), evidence->chunk, s->iterations, ADVICE_GRAINS_PER_THREAD);
	} else {
		evidence->vanish = s->count;
		snprintf(out->text, sizeof out->text,
			 "the loop is short: schedule(static) divides it once, without getting chunks; or "
			 "share an outer loop among the threads instead of this one");
	}
}

/* The part of the book-keeping that is there only because it is measured. */
static double measured_share(const struct advisor *a, const struct small_chunks *s)
{
	uint32_t region = s->count ? a->graph->loops[s->pieces[0].loop].region : GRAIN_NONE;
	const struct grain_account_part *part =
		region == GRAIN_NONE ? NULL : advisor__part(a, a->graph->regions[region].definition);
	double measured, all;

	if (!part)
		return 0;
	measured = (double)part->cause_ns[GRAIN_CAUSE_MEASURING];
	all = measured + (double)part->cause_ns[GRAIN_CAUSE_MANAGEMENT];
	return all > 0 ? measured / all : 0;
}

static int advise(struct advisor *a, const struct stake *stake)
{
	struct grain_graph *g = a->graph;
	struct small_chunks s = {.definition = stake->definition,
				 .small = stake->grains,
				 .worst = GRAIN_NONE};
	struct advice *advice;
	int error = memory__array(&g->memory, g->chunk_count, sizeof *s.pieces, (void **)&s.pieces);

	if (error == 0)
		error = memory__array(&g->memory, g->chunk_count, sizeof *s.values, (void **)&s.values);
	if (error == 0) {
		gather(g, &s);
		if (choose_times(a, &s) && (s.saves_ns *= 1 - measured_share(a, &s)) >= a->worth_ns) {
			error = advisor__add(a, GRAIN_ADVICE_SMALL_CHUNKS, GRAIN_PROBLEM_PARALLEL_BENEFIT,
					     s.definition, s.saves_ns, &advice);
			if (error == 0)
				say(g, &s, advice);
		}
	}
	memory__release(&g->memory, (void **)&s.pieces, g->chunk_count, sizeof *s.pieces);
	memory__release(&g->memory, (void **)&s.values, g->chunk_count, sizeof *s.values);
	return error;
}

/* There is advice to have fewer regions. Then its loops need no other schedule. */
static bool is_explained(const struct advisor *a, const struct loop *loop)
{
	return loop->region != GRAIN_NONE && a->explained[loop->region];
}

int advisor__small_chunks(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	struct stake *stakes = NULL;
	size_t i, n;
	int error = stakes__new(g, &stakes);

	for (i = 0; error == 0 && i < g->chunk_count; i++) {
		const struct chunk *chunk = &g->chunks[i];
		struct stake *stake;

		if (!is_small(g, chunk) || is_explained(a, &g->loops[chunk->loop]))
			continue;
		stake = stakes__of(g, stakes, g->loops[chunk->loop].definition);
		stake->grains++;
		stake->saves_ns += (double)context__bookkeeping(g, &g->contexts[chunk->context]) /
				   g->loops[chunk->loop].members;
	}
	n = error == 0 ? stakes__sort(a, stakes) : 0;
	for (i = 0; error == 0 && i < n; i++)
		error = advise(a, &stakes[i]);
	stakes__free(g, &stakes);
	return error;
}
