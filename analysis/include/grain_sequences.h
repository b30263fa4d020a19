/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iterative programs: what a program does again and again. The outermost regions in the order of time, and
 * the loops inside a region that has many, are folded: a repeat is a body that runs several times in a row,
 * such as a time step. A body has regions, loops, and other repeats. METRICS.md, "Repeated sequences", has
 * the exact definitions.
 */
#ifndef GRAIND_GRAIN_SEQUENCES_H
#define GRAIND_GRAIN_SEQUENCES_H

#include "analysis/include/grain_account.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grain_sequences;

/* The graph must outlive *out. Takes about linear time in regions and loops. Returns 0 or -ENOMEM. */
int grain_sequences__new(const struct grain_graph *graph, struct grain_sequences **out);
void grain_sequences__free(struct grain_sequences *sequences); /* accepts NULL */

struct grain_sequences_info {
	uint64_t regions,
		loops; /* numbers of outermost regions, and of loops inside them, that were looked at */
	uint64_t repeated_ns; /* wall time in repeats that are not inside another; may overlap if several
				 threads start regions */
	uint64_t wall_ns;     /* of the part of the run that the graph has */
	bool partial;	      /* the graph has only a part of the run */
	bool unfinished;      /* folding took too long and was stopped: there may be more repeats */
};
void grain_sequences__info(const struct grain_sequences *sequences, struct grain_sequences_info *out);

/* A body, and all the times that it ran. */
struct grain_repeat {
	uint32_t parent; /* the repeat whose body has it; GRAIN_NONE: it is in no other */
	uint32_t region; /* GRAIN_NONE: they are regions; else they are loops: the first region that has them
			  */
	uint64_t runs;	 /* how often it was repeated in a row */
	uint64_t count;	 /* number of repetitions in all runs */
	uint64_t least, most;		    /* repetitions of one run */
	uint32_t length;		    /* number of elements of the body */
	uint64_t regions;		    /* number of regions, or of loops, in all repetitions */
	uint64_t start_ns, end_ns;	    /* of the first and the last run */
	uint64_t sum_ns;		    /* wall time of all repetitions */
	uint64_t min_ns, median_ns, max_ns; /* of one repetition */
	double mean_ns;
	uint64_t outside_ns; /* of sum_ns: in no region (or loop) */
	/*
	 * The threads' time of the account in these regions, by cause. Of definitions that also run
	 * elsewhere, a share by number. 0 if there is no account, and for loops.
	 */
	uint64_t cause_ns[GRAIN_CAUSE_COUNT];
	uint64_t capacity_ns; /* the sum of cause_ns */
	uint64_t odd;	      /* number of odd repetitions: longer than usual */
	size_t odd_count;     /* number of those that grain_sequences__odd() has: the longest ones */
	size_t strip_count;   /* see grain_sequences__strip() */
	uint64_t strip_every; /* repetitions in one value of the strip */
};
/* A repeat comes before those in its body. The repeat that takes the most time comes first. */
size_t grain_sequences__count(const struct grain_sequences *sequences);
void grain_sequences__get(const struct grain_sequences *sequences, size_t index, struct grain_repeat *out);

/* An element of a body. */
struct grain_repeat_element {
	uint32_t repeat; /* GRAIN_NONE: it is a region or a loop; grain_sequences__count() or more: a repeat
			    that is not told of */
	uint32_t definition;  /* of the region or loop; GRAIN_NONE: unknown */
	bool loop;	      /* it is a loop */
	uint64_t least, most; /* of a repeat: its repetitions in one repetition of the body; else 1 */
	uint64_t sum_ns;      /* its wall time in all repetitions of the body */
	uint64_t median_ns;   /* in one repetition; of long repeats: of a sample of them */
	uint64_t after_ns;    /* wall time from its end to what comes next, in all repetitions */
	uint64_t after_median_ns;
};
void grain_sequences__element(const struct grain_sequences *sequences, size_t repeat, uint32_t index,
			      struct grain_repeat_element *out);

/* A repetition that took longer than usual. */
struct grain_odd_repetition {
	uint64_t number; /* from 1 on, in the order of time */
	uint64_t start_ns, length_ns;
	uint64_t longer_ns; /* than the median */
	uint32_t element;   /* the element of the body that took most of this */
	bool after;	    /* not the element itself, but the time after it */
	uint64_t element_longer_ns;
};
/* In the order of time. `index` is below odd_count. */
void grain_sequences__odd(const struct grain_sequences *sequences, size_t repeat, size_t index,
			  struct grain_odd_repetition *out);

/* The durations of all repetitions, for a chart: of `strip_every` in a row the longest. */
struct grain_repeat_strip {
	uint64_t start_ns, longest_ns, shortest_ns;
};
void grain_sequences__strip(const struct grain_sequences *sequences, size_t repeat, size_t index,
			    struct grain_repeat_strip *out);

#ifdef __cplusplus
}
#endif

#endif
