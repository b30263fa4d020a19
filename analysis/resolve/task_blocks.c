// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/resolve/task_blocks.h"
#include "analysis/resolve/resolver.h"

#include <stdlib.h>

#define PAGE_SHIFT 12
/*
 * The size of libgomp's own part of a task, which is before the task's data. It is at least LEAST_OFFSET, and
 * at most MOST_OFFSET even with many dependences.
 */
#define LEAST_OFFSET 128
#define MOST_OFFSET 65536

/* Returns the first block that starts in the page. GRAIN_NONE: none. */
static uint32_t first_in(const struct task_blocks *blocks, uint64_t page)
{
	return number_map__get(&blocks->pages, page);
}

static int set_first(struct task_blocks *blocks, uint64_t page, uint32_t block)
{
	if (block != GRAIN_NONE)
		return number_map__put(&blocks->pages, page, block);
	number_map__remove(&blocks->pages, page);
	return 0;
}

static void forget(struct task_blocks *blocks, uint32_t block)
{
	uint64_t page = blocks->list[block].start >> PAGE_SHIFT;
	uint32_t at = first_in(blocks, page), next = blocks->list[block].next;

	if (at == block) {
		set_first(blocks, page, next);
	} else {
		while (blocks->list[at].next != block)
			at = blocks->list[at].next;
		blocks->list[at].next = next;
	}
	blocks->list[block].next = blocks->unused - 1;
	blocks->unused = block + 1;
}

/* Objects do not overlap. So blocks that start inside this one were freed without having begun. */
static void forget_within(struct task_blocks *blocks, uint64_t start, uint64_t end)
{
	for (uint64_t page = start >> PAGE_SHIFT; page <= end >> PAGE_SHIFT; page++) {
		uint32_t at = first_in(blocks, page), next;

		for (; at != GRAIN_NONE; at = next) {
			next = blocks->list[at].next;
			if (blocks->list[at].start >= start && blocks->list[at].start < end)
				forget(blocks, at);
		}
	}
}

int task_blocks__add(struct task_blocks *blocks, uint64_t start, uint64_t body, struct budget *budget)
{
	uint64_t page = start >> PAGE_SHIFT;
	uint32_t block;
	int error;

	if (start > UINT64_MAX - MOST_OFFSET)
		return 0;
	forget_within(blocks, start < LEAST_OFFSET ? 0 : start - LEAST_OFFSET + 1, start + LEAST_OFFSET);
	if (blocks->unused) {
		block = blocks->unused - 1;
		blocks->unused = blocks->list[block].next + 1;
	} else {
		error = array__make_room(&blocks->list, blocks->count, &blocks->capacity,
					 sizeof(*blocks->list), budget);
		if (error)
			return error;
		block = (uint32_t)blocks->count++;
	}
	blocks->list[block] = (struct task_block){start, body, first_in(blocks, page)};
	return set_first(blocks, page, block);
}

uint64_t task_blocks__take(struct task_blocks *blocks, uint64_t data, uint64_t body)
{
	uint64_t last = data < LEAST_OFFSET ? 0 : data - LEAST_OFFSET, start = 0;
	uint64_t first = data < MOST_OFFSET ? 0 : data - MOST_OFFSET;
	uint32_t found = GRAIN_NONE;

	for (uint64_t page = last >> PAGE_SHIFT; found == GRAIN_NONE && page + 1 > first >> PAGE_SHIFT;
	     page--) {
		for (uint32_t at = first_in(blocks, page); at != GRAIN_NONE; at = blocks->list[at].next) {
			const struct task_block *b = &blocks->list[at];

			if (b->body == body && b->start >= first && b->start <= last && b->start >= start) {
				start = b->start;
				found = at;
			}
		}
		if (!page)
			break;
	}
	if (found == GRAIN_NONE)
		return 0;
	forget(blocks, found);
	return start;
}

void task_blocks__free(struct task_blocks *blocks, struct budget *budget)
{
	budget__give(budget, blocks->capacity * sizeof(*blocks->list));
	free(blocks->list);
	number_map__free(&blocks->pages);
	*blocks = (struct task_blocks){0};
}
