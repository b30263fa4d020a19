/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the runtime's object of a created task that has not begun, by an address inside the object. Some
 * begins only have the address of the task's data.
 */
#ifndef GRAIND_TASK_BLOCKS_H
#define GRAIND_TASK_BLOCKS_H

#include "analysis/event/event_build.h"
#include "analysis/base/number_map.h"

struct task_block {
	uint64_t start, body;
	uint32_t next; /* next block in the same page, or in the free list; GRAIN_NONE: none */
};

/* All zero means an empty table. */
struct task_blocks {
	struct number_map pages; /* page -> first block that starts in it */
	struct task_block *list;
	size_t count, capacity;
	uint32_t unused; /* 1 + index of the first free block, 0: none */
};

/*
 * A task with this body was created. An older block at the same address no longer exists. Returns 0, -ENOMEM
 * or -E2BIG.
 */
int task_blocks__add(struct task_blocks *blocks, uint64_t start, uint64_t body, struct budget *budget);

/*
 * A task with this body begins, and its object contains `data`. Returns the start of the object and forgets
 * the object. Returns 0 if there is none.
 */
uint64_t task_blocks__take(struct task_blocks *blocks, uint64_t data, uint64_t body);

void task_blocks__free(struct task_blocks *blocks, struct budget *budget);

#endif
