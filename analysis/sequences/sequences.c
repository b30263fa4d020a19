// SPDX-License-Identifier: BSD-2-Clause
/* Which repeats are told of: those that take most, each followed by those inside it. */
#include "analysis/sequences/sequences.h"

#include <errno.h>
#include <stdlib.h>

struct outer {
	uint64_t sum_ns;
	uint32_t rule;
};

static int by_time(const void *a, const void *b)
{
	const struct outer *x = a, *y = b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns > y->sum_ns ? -1 : 1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

/* 0: it is not repeated here. */
static uint64_t time_of(const struct grain_sequences *s, uint32_t rule, uint32_t entry)
{
	const struct folding_run *run = folding__run_at(&s->folding, rule, entry);
	uint64_t start, end;

	if (!run || run->count < 2)
		return 0;
	start = sequences__start(s, run, 0);
	end = sequences__end(s, run, run->count - 1);
	return end > start ? end - start : 0;
}

/* Finds the repeats that are in no other, with the time that they take there. */
static size_t find_outer(struct grain_sequences *s, uint64_t *times, struct outer *out)
{
	const struct folding *f = &s->folding;
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++) {
		uint64_t ns;

		if (f->symbols[i] < f->leaves || f->symbols[i] >= FOLDING_BREAKS)
			continue;
		ns = time_of(s, f->symbols[i] - f->leaves, f->firsts[i]);
		times[f->symbols[i] - f->leaves] += ns;
		if (s->list.entries[f->firsts[i]].region == GRAIN_NONE)
			s->info.repeated_ns += ns;
	}
	for (uint32_t i = 0; i < f->rule_count; i++)
		if (times[i])
			out[count++] = (struct outer){times[i], i};
	qsort(out, count, sizeof(*out), by_time);
	return count;
}

/* Adds the repeat and those inside it that are not there yet. `index`: per rule, 1 + its index; 0: none. */
static int add(struct grain_sequences *s, uint32_t *index, uint32_t rule, uint32_t parent)
{
	size_t first = s->repeat_count, next = first;
	int error = 0;

	if (index[rule] || s->repeat_count == SEQUENCES_REPEATS)
		return 0;
	s->repeats[s->repeat_count++] = (struct sequences_repeat){.rule = rule, .public.parent = parent};
	index[rule] = (uint32_t)s->repeat_count;
	for (; next < s->repeat_count && !error; next++) {
		struct sequences_repeat *r = &s->repeats[next];

		r->public.length = s->folding.rules[r->rule].length;
		error = sequences__measure(s, r);
		if (!error)
			error = sequences__measure_elements(s, r);
		for (uint32_t i = 0; i < r->public.length && !error; i++) {
			uint32_t inner = r->elements[i].repeat;

			if (inner == GRAIN_NONE || index[inner] || s->repeat_count == SEQUENCES_REPEATS)
				continue;
			s->repeats[s->repeat_count++] =
				(struct sequences_repeat){.rule = inner, .public.parent = (uint32_t)next};
			index[inner] = (uint32_t)s->repeat_count;
		}
	}
	return error;
}

static int tell(struct grain_sequences *s)
{
	size_t rules = s->folding.rule_count, count;
	uint64_t *times = calloc(rules + 1, sizeof(*times));
	struct outer *outer = calloc(rules + 1, sizeof(*outer));
	uint32_t *index = calloc(rules + 1, sizeof(*index));
	int error = times && outer && index ? 0 : -ENOMEM;

	s->repeats = calloc(SEQUENCES_REPEATS, sizeof(*s->repeats));
	if (!s->repeats)
		error = -ENOMEM;
	count = error ? 0 : find_outer(s, times, outer);
	for (size_t i = 0; i < count && !error; i++)
		error = add(s, index, outer[i].rule, GRAIN_NONE);
	for (size_t i = 0; i < s->repeat_count && !error; i++) {
		for (uint32_t k = 0; k < s->repeats[i].public.length; k++) {
			struct grain_repeat_element *e = &s->repeats[i].elements[k];

			if (e->repeat != GRAIN_NONE)
				e->repeat = index[e->repeat] ? index[e->repeat] - 1 : SEQUENCES_REPEATS;
		}
	}
	free(times);
	free(outer);
	free(index);
	return error;
}

int grain_sequences__new(const struct grain_graph *graph, struct grain_sequences **out)
{
	struct grain_sequences *s = calloc(1, sizeof(*s));
	int error;

	if (!s)
		return -ENOMEM;
	s->graph = graph;
	error = sequences_list__make(&s->list, graph);
	if (!error)
		error = folding__fold(&s->folding, s->list.symbols, s->list.symbol_count, s->list.leaves);
	if (!error)
		error = tell(s);
	if (error) {
		grain_sequences__free(s);
		return error;
	}
	s->info.regions = s->list.regions;
	s->info.loops = s->list.loops;
	s->info.wall_ns = graph->coverage.partial ? graph->coverage.wall_ns : graph->totals.wall_ns;
	s->info.partial = graph->coverage.partial || graph->stream->window_count;
	s->info.unfinished = s->folding.unfinished;
	*out = s;
	return 0;
}

void grain_sequences__free(struct grain_sequences *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->repeat_count; i++)
		free(s->repeats[i].elements);
	free(s->repeats);
	folding__free(&s->folding);
	sequences_list__free(&s->list);
	free(s);
}

void grain_sequences__info(const struct grain_sequences *s, struct grain_sequences_info *out)
{
	*out = s->info;
}

size_t grain_sequences__count(const struct grain_sequences *s)
{
	return s->repeat_count;
}

void grain_sequences__get(const struct grain_sequences *s, size_t index, struct grain_repeat *out)
{
	*out = s->repeats[index].public;
}

void grain_sequences__element(const struct grain_sequences *s, size_t repeat, uint32_t index,
			      struct grain_repeat_element *out)
{
	*out = s->repeats[repeat].elements[index];
}

void grain_sequences__odd(const struct grain_sequences *s, size_t repeat, size_t index,
			  struct grain_odd_repetition *out)
{
	*out = s->repeats[repeat].odd[index];
}

void grain_sequences__strip(const struct grain_sequences *s, size_t repeat, size_t index,
			    struct grain_repeat_strip *out)
{
	*out = s->repeats[repeat].strip[index];
}
