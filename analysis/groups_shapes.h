/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers for shapes: a shape is a label and a multiset of labels below it, and
 * has one number in a table. Shapes are compared in full, so that two of them
 * never share a number.
 */
#ifndef GRAIND_GROUPS_SHAPES_H
#define GRAIND_GROUPS_SHAPES_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of contexts, of which a shape only has numbers. */
enum { SHAPE_LEAVES = 4 };

struct shapes {
	uint32_t *words; /* of all shapes, in the order of their numbers */
	size_t word_count, word_capacity;
	size_t *first; /* per shape: into words */
	size_t first_capacity;
	uint32_t count;
	uint32_t *slots; /* a hash table of number + 1 */
	size_t slot_count;
	uint64_t seed;
};

/* All zero is an empty table, but for the seed. */
void shapes__start(struct shapes *shapes);
void shapes__clear(struct shapes *shapes); /* keeps the memory */
void shapes__free(struct shapes *shapes);
/*
 * The number of the shape, a new one when there is none like it. Sorts
 * `below`. leaves may be NULL, then of all shapes in the table. -ENOMEM.
 */
int shapes__number(struct shapes *shapes, uint32_t label, const uint32_t *leaves, uint32_t *below, size_t n,
		   uint32_t *out);

#endif
