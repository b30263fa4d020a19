/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives numbers to shapes. A shape is a label with a multiset of labels below it. Within a table, equal
 * shapes have the same number. Shapes are compared completely, so different shapes never have the same
 * number.
 */
#ifndef GRAIND_GROUPS_SHAPES_H
#define GRAIND_GROUPS_SHAPES_H

#include <stddef.h>
#include <stdint.h>

/* The kinds of contexts that a shape only counts. */
enum { SHAPE_LEAVES = 4 };

/* A slot of the hash table: a shape's number + 1, and its hash; 0: free. */
struct shape_slot {
	uint32_t number, hash;
};

struct shapes {
	uint32_t *words; /* the words of all shapes, in the order of their numbers */
	size_t word_count, word_capacity;
	size_t *first; /* per shape: index of its first word */
	size_t first_capacity;
	uint32_t count;
	struct shape_slot *slots;
	size_t slot_count;
	uint64_t seed;
};

/* Starts an empty table. All fields except the seed are 0. */
void shapes__start(struct shapes *shapes);
void shapes__clear(struct shapes *shapes); /* keeps the memory */
void shapes__free(struct shapes *shapes);
/*
 * Finds the number of a shape, or gives it a new one. Sorts `below`. `leaves` may be NULL, if it is NULL for
 * all shapes of the table. Returns 0 or -ENOMEM.
 */
int shapes__number(struct shapes *shapes, uint32_t label, const uint32_t *leaves, uint32_t *below, size_t n,
		   uint32_t *out);

#endif
