// SPDX-License-Identifier: BSD-2-Clause
/*
 * Advice on regions that are too small: to begin and end them takes long beside the work in them. What helps
 * is fewer regions, or one thread. To divide such a region further makes it worse, so no other advice is
 * given for it.
 */
#include "analysis/advice/advice_text.h"
#include "analysis/advice/advisor.h"

/* A region is small if begin and end are at least this part of its threads' time. */
#define SMALL_REGION 0.1
/* And if there are so many. A single region is not worth a change, and the first one creates threads. */
#define LEAST_REGIONS 10
/* To begin and end a region never takes so long that a region of this length is small: something else is
 * wrong. */
#define LONG_NS 1000000
/* In so short a region, threads wait for each other because they come late, not because of its loops. */
#define SHORT_NS 20000

static double wall_of(const struct grain_account *a, uint64_t thread_ns)
{
	return (double)thread_ns / a->threads;
}

static double mean_ns(const struct grain_account *a, const struct grain_account_part *part)
{
	return wall_of(a, part->capacity_ns) / (double)part->regions;
}

static bool is_small(const struct grain_account *a, const struct grain_account_part *part)
{
	uint64_t begin_end = part->cause_ns[GRAIN_CAUSE_FORK_JOIN];

	return !part->serial && part->regions >= LEAST_REGIONS && mean_ns(a, part) < LONG_NS &&
	       (double)begin_end >= SMALL_REGION * (double)part->capacity_ns &&
	       (mean_ns(a, part) < SHORT_NS || begin_end > part->cause_ns[GRAIN_CAUSE_IMBALANCE]);
}

/* What one region around all of them would save: nothing is left but the work. */
static double saving(const struct grain_account *a, const struct grain_account_part *part)
{
	static const enum grain_cause causes[] = {GRAIN_CAUSE_FORK_JOIN, GRAIN_CAUSE_MANAGEMENT,
						  GRAIN_CAUSE_IMBALANCE, GRAIN_CAUSE_LACK_OF_WORK};
	uint64_t lost = 0;

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		lost += part->cause_ns[causes[i]];
	return wall_of(a, lost);
}

static int advise(struct advisor *a, const struct grain_account *account,
		  const struct grain_account_part *part)
{
	const char *where = advice__place(a->graph, part->definition);
	double begin_end = wall_of(account, part->cause_ns[GRAIN_CAUSE_FORK_JOIN]) / (double)part->regions;
	struct advice *out;
	char count[32], length[32], cost[32];
	int error = advisor__add(a, GRAIN_ADVICE_SMALL_REGIONS, GRAIN_PROBLEM_COUNT, part->definition,
				 saving(account, part), &out);

	if (error < 0)
		return error;
	out->public.evidence.grains = out->public.evidence.of = part->regions;
	out->public.evidence.threads = account->threads;
	out->public.evidence.median_cost_ns = begin_end;
	snprintf(out->finding, sizeof out->finding,
		 "%s regions of %s take %s on average, %s of it to begin and end",
		 advice__count(part->regions, count), where, advice__time(mean_ns(account, part), length),
		 advice__time(begin_end, cost));
	snprintf(out->text, sizeof out->text,
		 "give the region at %s more work: merge it with the regions beside it, or begin it once "
		 "around the loop that repeats it; leave small ones to one thread (if clause)",
		 where);
	for (size_t i = 0; i < a->graph->region_count; i++)
		a->explained[i] |= a->graph->regions[i].definition == part->definition;
	return 0;
}

int advisor__small_regions(struct advisor *a)
{
	const struct grain_account *account = grain_graph__account(a->graph);
	size_t found = 0, i;
	int error = 0;

	if (account->why || !account->threads)
		return 0;
	for (i = 0; i < grain_graph__account_part_count(a->graph) && found < ADVICE_CANDIDATES && !error;
	     i++) {
		const struct grain_account_part *part = grain_graph__account_part(a->graph, i);

		if (!is_small(account, part) || saving(account, part) < a->worth_ns)
			continue;
		error = advise(a, account, part);
		found++;
	}
	return error;
}
