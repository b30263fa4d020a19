// SPDX-License-Identifier: BSD-2-Clause
/* What each element of a body takes, and which one made an odd repetition long. */
#include "analysis/sequences/sequences.h"

#include <errno.h>
#include <stdlib.h>

/* Medians of elements are of at most so many values for all elements together. */
#define VALUES_MOST 32768
#define SAMPLES_LEAST 16

/* What an element and the time after it took in one repetition. */
struct times {
	uint64_t length_ns, after_ns, count;
};

struct samples {
	uint64_t *values; /* per element: `most` lengths, then `most` times after it */
	size_t most, count;
};

/* Measures one repetition. Returns false if the body is not there, which cannot be. */
static bool measure_one(const struct grain_sequences *s, const struct folding_rule *rule,
			const struct folding_run *run, uint32_t repetition, struct times *out)
{
	const struct sequences_entry *entries = s->list.entries;
	uint32_t at = s->folding.begins[run->begin + repetition];
	uint64_t end_ns = sequences__end(s, run, repetition);

	for (uint32_t i = 0; i < rule->length; i++) {
		uint32_t symbol = s->folding.pool[rule->body + i], next = at + 1;
		uint64_t reached, follows;

		out[i].count = 1;
		if (symbol >= s->folding.leaves) {
			const struct folding_run *inner =
				folding__run_at(&s->folding, symbol - s->folding.leaves, at);

			if (!inner)
				return false;
			next = inner->end;
			out[i].count = inner->count;
		}
		reached = entries[next - 1].end_ns;
		follows = i + 1 < rule->length ? entries[next].start_ns : end_ns;
		out[i].length_ns = reached > entries[at].start_ns ? reached - entries[at].start_ns : 0;
		out[i].after_ns = follows > reached ? follows - reached : 0;
		at = next;
	}
	return true;
}

static void add(struct sequences_repeat *r, const struct times *times)
{
	for (uint32_t i = 0; i < r->public.length; i++) {
		struct grain_repeat_element *e = &r->elements[i];

		e->sum_ns += times[i].length_ns;
		e->after_ns += times[i].after_ns;
		e->least = !e->most || times[i].count < e->least ? times[i].count : e->least;
		e->most = times[i].count > e->most ? times[i].count : e->most;
	}
}

static void sample(struct samples *samples, uint32_t length, const struct times *times)
{
	if (samples->count == samples->most)
		return;
	for (uint32_t i = 0; i < length; i++) {
		uint64_t *values = &samples->values[2 * i * samples->most];

		values[samples->count] = times[i].length_ns;
		values[samples->most + samples->count] = times[i].after_ns;
	}
	samples->count++;
}

/* The element that took most of what the repetition is longer. */
static void blame(const struct sequences_repeat *r, const struct times *times,
		  struct grain_odd_repetition *odd)
{
	for (uint32_t i = 0; i < r->public.length; i++) {
		const struct grain_repeat_element *e = &r->elements[i];
		uint64_t length = times[i].length_ns > e->median_ns ? times[i].length_ns - e->median_ns : 0;
		uint64_t after =
			times[i].after_ns > e->after_median_ns ? times[i].after_ns - e->after_median_ns : 0;

		if (length <= odd->element_longer_ns && after <= odd->element_longer_ns)
			continue;
		odd->element = i;
		odd->after = after > length;
		odd->element_longer_ns = after > length ? after : length;
	}
}

static void measure_all(const struct grain_sequences *s, struct sequences_repeat *r, struct times *times,
			struct samples *samples)
{
	const struct folding_rule *rule = &s->folding.rules[r->rule];
	uint64_t every = (r->public.count + samples->most - 1) / samples->most, number = 0;

	for (uint32_t i = 0; i < rule->runs; i++) {
		const struct folding_run *run = &s->folding.runs[rule->first_run + i];

		for (uint32_t k = 0; k < run->count; k++, number++) {
			if (!measure_one(s, rule, run, k, times))
				continue;
			add(r, times);
			if (number % every == 0)
				sample(samples, rule->length, times);
		}
	}
	for (uint32_t i = 0; i < rule->length; i++) {
		uint64_t *values = &samples->values[2 * i * samples->most];

		r->elements[i].median_ns = sequences__median(values, samples->count);
		r->elements[i].after_median_ns = sequences__median(values + samples->most, samples->count);
	}
}

static void blame_all(const struct grain_sequences *s, struct sequences_repeat *r, struct times *times)
{
	const struct folding_rule *rule = &s->folding.rules[r->rule];
	uint64_t before = 0;
	size_t odd = 0;

	for (uint32_t i = 0; i < rule->runs; i++) {
		const struct folding_run *run = &s->folding.runs[rule->first_run + i];

		for (; odd < r->public.odd_count && r->odd[odd].number <= before + run->count; odd++) {
			uint32_t repetition = (uint32_t)(r->odd[odd].number - before - 1);

			if (measure_one(s, rule, run, repetition, times))
				blame(r, times, &r->odd[odd]);
		}
		before += run->count;
	}
}

/* A repeat that has one region and is there once is that region. */
static void name_elements(const struct grain_sequences *s, struct sequences_repeat *r)
{
	const struct folding *f = &s->folding;

	for (uint32_t i = 0; i < r->public.length; i++) {
		struct grain_repeat_element *e = &r->elements[i];
		uint32_t symbol = f->pool[f->rules[r->rule].body + i];

		if (symbol >= f->leaves && e->most <= 1 && f->rules[symbol - f->leaves].length == 1 &&
		    f->pool[f->rules[symbol - f->leaves].body] < f->leaves)
			symbol = f->pool[f->rules[symbol - f->leaves].body];
		/* The repeats are found when all of them are known. */
		e->repeat = symbol >= f->leaves ? symbol - f->leaves : GRAIN_NONE;
		e->definition = GRAIN_NONE;
		if (symbol < f->leaves) {
			e->loop = symbol % 2;
			e->definition = symbol / 2 < s->graph->definition_count ? symbol / 2 : GRAIN_NONE;
		}
	}
}

int sequences__measure_elements(struct grain_sequences *s, struct sequences_repeat *r)
{
	uint32_t length = r->public.length;
	struct times *times = calloc(length, sizeof(*times));
	struct samples samples = {.most = VALUES_MOST / 2 / length};

	if (samples.most < SAMPLES_LEAST)
		samples.most = SAMPLES_LEAST;
	if (samples.most > r->public.count)
		samples.most = r->public.count;
	r->elements = calloc(length, sizeof(*r->elements));
	samples.values = calloc(2 * (size_t)length * samples.most, sizeof(*samples.values));
	if (times && r->elements && samples.values) {
		measure_all(s, r, times, &samples);
		blame_all(s, r, times);
		name_elements(s, r);
	}
	free(times);
	free(samples.values);
	return times && r->elements && samples.values ? 0 : -ENOMEM;
}
