/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of created tasks that have not begun, found by an address inside
 * of them: where only the address of a task's data is known when it begins.
 */
#ifndef GRAIND_TASK_BLOCKS_H
#define GRAIND_TASK_BLOCKS_H

#include "analysis/event_build.h"
#include "analysis/number_map.h"

struct task_block {
	uint64_t start, body;
	uint32_t next; /* in the same page, or of those that are free; GRAIN_NONE */
};

/* All zero is empty. */
struct task_blocks {
	struct number_map pages; /* page -> first block that starts in it */
	struct task_block *list;
	size_t count, capacity;
	uint32_t unused; /* 1 + index of the first block that is free, 0 = none */
};

/* A task with this body was created; what was there before is gone. -ENOMEM, -E2BIG. */
int task_blocks__add(struct task_blocks *blocks, uint64_t start, uint64_t body, struct budget *budget);

/*
 * The task with this body in whose object `data` lies begins: returns the start
 * of the object, and forgets it; 0 if there is none.
 */
uint64_t task_blocks__take(struct task_blocks *blocks, uint64_t data, uint64_t body);

void task_blocks__free(struct task_blocks *blocks, struct budget *budget);

#endif
