// SPDX-License-Identifier: BSD-2-Clause
/* How long the repetitions of a body take, which of them are odd, and what the account says of their regions.
 */
#include "analysis/sequences/sequences.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Medians are of at most so many repetitions, evenly spaced. */
#define SAMPLES_MOST 16384
/* From so many repetitions on, one of them can be odd. It is then this much longer than the median. */
#define ODD_REPETITIONS 5
#define ODD_DEVIATIONS 3
#define ODD_PART 10

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t sequences__median(uint64_t *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2]
			 : values[count / 2 - 1] + (values[count / 2] - values[count / 2 - 1]) / 2;
}

static const struct folding_run *runs_of(const struct grain_sequences *s, const struct sequences_repeat *r,
					 uint32_t *count)
{
	*count = s->folding.rules[r->rule].runs;
	return &s->folding.runs[s->folding.rules[r->rule].first_run];
}

static void add_to_strip(struct sequences_repeat *r, uint64_t number, uint64_t start_ns, uint64_t length_ns)
{
	size_t at = number / r->public.strip_every;
	struct grain_repeat_strip *strip = &r->strip[at];

	if (at >= r->public.strip_count) {
		r->public.strip_count = at + 1;
		*strip = (struct grain_repeat_strip){start_ns, length_ns, length_ns};
	}
	if (length_ns > strip->longest_ns)
		strip->longest_ns = length_ns;
	if (length_ns < strip->shortest_ns)
		strip->shortest_ns = length_ns;
}

/* Sums and extremes; `samples` gets every `every`-th duration. */
static size_t sum_up(const struct grain_sequences *s, struct sequences_repeat *r, uint64_t every,
		     uint64_t *samples)
{
	uint32_t count;
	const struct folding_run *runs = runs_of(s, r, &count);
	struct grain_repeat *p = &r->public;
	uint64_t number = 0;
	size_t kept = 0;

	p->min_ns = UINT64_MAX;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < runs[i].count; k++, number++) {
			uint64_t start = sequences__start(s, &runs[i], k);
			uint64_t end = sequences__end(s, &runs[i], k), length = end > start ? end - start : 0;

			p->sum_ns += length;
			p->min_ns = length < p->min_ns ? length : p->min_ns;
			p->max_ns = length > p->max_ns ? length : p->max_ns;
			add_to_strip(r, number, start, length);
			if (number % every == 0)
				samples[kept++] = length;
		}
	}
	p->mean_ns = (double)p->sum_ns / (double)p->count;
	return kept;
}

/* Keeps the longest odd repetitions, in the order of time. */
static void keep_odd(struct sequences_repeat *r, const struct grain_odd_repetition *odd)
{
	size_t shortest = 0;

	r->public.odd++;
	if (r->public.odd_count < SEQUENCES_ODD) {
		r->odd[r->public.odd_count++] = *odd;
		return;
	}
	for (size_t i = 1; i < SEQUENCES_ODD; i++)
		if (r->odd[i].length_ns < r->odd[shortest].length_ns)
			shortest = i;
	if (r->odd[shortest].length_ns >= odd->length_ns)
		return;
	memmove(&r->odd[shortest], &r->odd[shortest + 1], (SEQUENCES_ODD - 1 - shortest) * sizeof(r->odd[0]));
	r->odd[SEQUENCES_ODD - 1] = *odd;
}

static void find_odd(const struct grain_sequences *s, struct sequences_repeat *r, uint64_t *samples,
		     size_t kept)
{
	uint64_t median = r->public.median_ns, number = 0, limit;
	uint32_t count;
	const struct folding_run *runs = runs_of(s, r, &count);

	if (r->public.count < ODD_REPETITIONS)
		return;
	for (size_t i = 0; i < kept; i++)
		samples[i] = samples[i] > median ? samples[i] - median : median - samples[i];
	limit = ODD_DEVIATIONS * sequences__median(samples, kept);
	if (limit < median / ODD_PART)
		limit = median / ODD_PART;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < runs[i].count; k++) {
			uint64_t start = sequences__start(s, &runs[i], k),
				 end = sequences__end(s, &runs[i], k);

			number++;
			if (end <= start || end - start <= median || end - start - median <= limit)
				continue;
			keep_odd(r, &(struct grain_odd_repetition){.number = number,
								   .start_ns = start,
								   .length_ns = end - start,
								   .longer_ns = end - start - median});
		}
	}
}

/* The time in no region: what is left of the time of each run. */
static void measure_outside(const struct grain_sequences *s, struct sequences_repeat *r)
{
	uint32_t count;
	const struct folding_run *runs = runs_of(s, r, &count);
	const struct sequences_entry *entries = s->list.entries;
	uint64_t outside = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = s->folding.begins[runs[i].begin];
		uint64_t reached = entries[from].start_ns;

		for (uint32_t k = from; k < runs[i].end; k++) {
			if (entries[k].start_ns > reached)
				outside += entries[k].start_ns - reached;
			if (entries[k].end_ns > reached)
				reached = entries[k].end_ns;
		}
		r->public.regions += runs[i].end - from;
	}
	r->public.outside_ns = outside < r->public.sum_ns ? outside : r->public.sum_ns;
}

static const struct grain_account_part *part_of(const struct grain_graph *g, uint32_t definition)
{
	for (size_t i = 0; i < grain_graph__account_part_count(g); i++) {
		const struct grain_account_part *part = grain_graph__account_part(g, i);

		if (!part->serial && part->definition == definition)
			return part;
	}
	return NULL;
}

/* The account knows definitions. The repeat has as much of each as it has of its regions. */
static int share_account(const struct grain_sequences *s, struct sequences_repeat *r)
{
	const struct grain_graph *g = s->graph;
	uint32_t count;
	const struct folding_run *runs = runs_of(s, r, &count);
	uint64_t *times;

	if (grain_graph__account(g)->why || r->public.region != GRAIN_NONE)
		return 0;
	times = calloc(s->list.leaves, sizeof(*times));
	if (!times)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = s->folding.begins[runs[i].begin]; k < runs[i].end; k++)
			times[s->list.entries[k].symbol]++;
	for (uint32_t d = 0; d <= g->definition_count; d++) {
		uint64_t here = times[2 * d];
		const struct grain_account_part *part =
			here ? part_of(g, d == g->definition_count ? GRAIN_NONE : d) : NULL;

		for (int c = 0; part && c < GRAIN_CAUSE_COUNT; c++) {
			double share = part->regions > here ? (double)here / (double)part->regions : 1;
			uint64_t ns = (uint64_t)(share * (double)part->cause_ns[c]);

			r->public.cause_ns[c] += ns;
			r->public.capacity_ns += ns;
		}
	}
	free(times);
	return 0;
}

int sequences__measure(struct grain_sequences *s, struct sequences_repeat *r)
{
	uint32_t count;
	const struct folding_run *runs = runs_of(s, r, &count);
	struct grain_repeat *p = &r->public;
	uint64_t every, *samples;
	size_t kept;

	p->least = UINT64_MAX;
	for (uint32_t i = 0; i < count; i++) {
		p->count += runs[i].count;
		p->least = runs[i].count < p->least ? runs[i].count : p->least;
		p->most = runs[i].count > p->most ? runs[i].count : p->most;
	}
	p->runs = count;
	p->start_ns = sequences__start(s, &runs[0], 0);
	p->end_ns = sequences__end(s, &runs[count - 1], runs[count - 1].count - 1);
	p->region = s->list.entries[s->folding.begins[runs[0].begin]].region;
	p->strip_every = (p->count + SEQUENCES_STRIP - 1) / SEQUENCES_STRIP;
	every = (p->count + SAMPLES_MOST - 1) / SAMPLES_MOST;
	samples = malloc((p->count / every + 1) * sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	kept = sum_up(s, r, every, samples);
	p->median_ns = sequences__median(samples, kept);
	find_odd(s, r, samples, kept);
	free(samples);
	measure_outside(s, r);
	return share_account(s, r);
}
