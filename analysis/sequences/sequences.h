/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of sequences/ share. An entry is a region or a loop. Entries are in the order of time, those
 * of one thread that starts regions, or of one region, together.
 */
#ifndef GRAIND_SEQUENCES_H
#define GRAIND_SEQUENCES_H

#include "analysis/graph/graph.h"
#include "analysis/include/grain_sequences.h"
#include "analysis/sequences/folding.h"

/* So many repeats are told of, so many odd repetitions of each, and values of its strip. */
#define SEQUENCES_REPEATS 16
#define SEQUENCES_ODD 20
#define SEQUENCES_STRIP 240

struct sequences_entry {
	uint64_t start_ns, end_ns;
	uint32_t symbol;
	uint32_t region; /* GRAIN_NONE: it is a region; else the region that the loop is in */
};

/* All entries, and their symbols with breaks between those that do not belong together. */
struct sequences_list {
	struct sequences_entry *entries;
	size_t count;
	uint32_t *symbols;
	size_t symbol_count;
	uint32_t leaves; /* symbols are below this */
	uint64_t regions, loops;
};

/* A symbol is a definition and whether it is a loop. */
static inline uint32_t sequences__symbol(const struct grain_graph *graph, uint32_t definition, bool loop)
{
	return 2 * (definition == GRAIN_NONE ? (uint32_t)graph->definition_count : definition) + loop;
}

/* sequences_list.c: returns 0 or -ENOMEM. The caller frees *out in both cases. */
int sequences_list__make(struct sequences_list *out, const struct grain_graph *graph);
void sequences_list__free(struct sequences_list *list);

struct sequences_repeat {
	struct grain_repeat public;
	uint32_t rule;
	struct grain_repeat_element *elements; /* public.length of them */
	struct grain_odd_repetition odd[SEQUENCES_ODD];
	struct grain_repeat_strip strip[SEQUENCES_STRIP];
};

struct grain_sequences {
	const struct grain_graph *graph;
	struct grain_sequences_info info;
	struct sequences_list list;
	struct folding folding;
	struct sequences_repeat *repeats;
	size_t repeat_count;
};

/* When an entry's repetition ends: where the next one in the run begins, or with its last entry. */
static inline uint64_t sequences__end(const struct grain_sequences *s, const struct folding_run *run,
				      uint32_t repetition)
{
	const struct sequences_entry *entries = s->list.entries;

	if (repetition + 1 < run->count)
		return entries[s->folding.begins[run->begin + repetition + 1]].start_ns;
	return entries[run->end - 1].end_ns;
}

static inline uint64_t sequences__start(const struct grain_sequences *s, const struct folding_run *run,
					uint32_t repetition)
{
	return s->list.entries[s->folding.begins[run->begin + repetition]].start_ns;
}

/* sequences_measure.c: durations, odd repetitions, the strip. Returns 0 or -ENOMEM. */
int sequences__measure(struct grain_sequences *sequences, struct sequences_repeat *repeat);
/*
 * sequences_elements.c: what each element of the body takes, and to which of them odd repetitions owe their
 * length. Returns 0 or -ENOMEM.
 */
int sequences__measure_elements(struct grain_sequences *sequences, struct sequences_repeat *repeat);
/* The median of values, which are sorted; 0: there are none. */
uint64_t sequences__median(uint64_t *values, size_t count);

#endif
