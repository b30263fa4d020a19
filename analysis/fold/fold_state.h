/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of folding. To fold is to count and sum up records that are not kept. These files work on it:
 *   fold.c         what each record means, and time
 *   fold_loops.c   loops, sections, chunks
 *   fold_state.c   tasks, and what is open on threads
 *   fold_rows.c    sums
 */
#ifndef GRAIND_FOLD_STATE_H
#define GRAIND_FOLD_STATE_H

#include "analysis/fold/fold.h"
#include "analysis/trace/trace_content.h"
#include "analysis/trace/trace_format.h"

enum fold_task_flags {
	FOLD_TASK_CREATED = 1 << 0,  /* its creation was seen */
	FOLD_TASK_RETURNED = 1 << 1, /* the end of its creation was seen */
	FOLD_TASK_BEGUN = 1 << 2,
	FOLD_TASK_ENDED = 1 << 3,
	FOLD_TASK_SPOILED = 1 << 4, /* some of its events were not seen */
	FOLD_TASK_PARENT = 1 << 5,
	FOLD_TASK_UNDEFERRED = 1 << 6,
	FOLD_TASK_REQUEUED = 1 << 7, /* the runtime has its next part (untied tasks of libomp) */
	FOLD_TASK_SPLIT = 1 << 8,    /* the runtime made it to split a taskloop: it is no grain */
};

/* A task that has not ended, or whose creation has not ended. */
struct fold_task {
	uint64_t key, serial;
	uint64_t exec_ns, create_ns, wait_ns;
	uint32_t row, thread; /* thread: began the task, or its latest part */
	uint32_t next_free;
	uint16_t flags;
	bool in_map, live;
};

enum fold_frame_kind {
	FOLD_FRAME_TASK,
	FOLD_FRAME_LEFT, /* in place of a task that continues on another thread */
	FOLD_FRAME_CREATE,
	FOLD_FRAME_WAIT,
	FOLD_FRAME_REGION,
	FOLD_FRAME_MEMBER,
	FOLD_FRAME_LOOP,
	FOLD_FRAME_CHUNK,
	FOLD_FRAME_TASKLOOP,
	FOLD_FRAME_KINDS
};

#define FOLD_NO_OWNER UINT32_MAX

struct fold_frame {
	uint64_t sp;
	uint64_t site; /* REGION: its call site */
	/* CHUNK: its times. LOOP: create_ns is the book-keeping since the last chunk. */
	uint64_t exec_ns, create_ns, wait_ns;
	uint32_t id; /* TASK, LEFT, CREATE: the task; GRAIN_NONE: a task creates its own next part. TASKLOOP,
			LOOP, CHUNK: the row */
	uint32_t owner; /* WAIT: the frame of the task or chunk that waits, or FOLD_NO_OWNER */
	/*
	 * REGION, MEMBER: the row of a combined construct's loop; members begin it without an event.
	 * GRAIN_NONE: the region is not combined.
	 */
	uint32_t combined;
	uint8_t kind, wait;
	bool call;    /* TASK: it is undeferred, so an UNDEFERRED_END ends it */
	bool spoiled; /* CHUNK: some of its events were not seen */
	bool parent;  /* CHUNK: something was created in it */
};

struct fold_thread {
	struct fold_frame *frames;
	size_t depth, capacity;
	uint64_t last_ns;
	bool begun, worker;
	bool has_words; /* words report all regions that it is in */
	bool share; /* it asked for its share of a static loop, and no loop with known bounds has begun since
		     */
};

struct fold {
	struct budget *budget;
	struct fold_rows rows;
	struct fold_totals totals;
	struct number_map open;	    /* key -> task */
	struct number_map combined; /* team -> row */
	struct fold_task *tasks;
	uint32_t task_count, task_capacity, free_task, live;
	struct fold_thread *threads;
	uint32_t thread_count;
	uint64_t serial, before_loss;
	bool keyed;
	struct fold_regions *regions; /* NULL: regions are not reported */
	int regions_error;
};

int fold__threads(struct fold *fold, uint32_t count);
/* Takes the result of reporting a region. After an error, no more regions are reported. */
void fold__told(struct fold *fold, int error);
int fold__map(struct fold *fold, struct number_map *map, uint64_t key, uint32_t value);

/* Makes a task. key 0: it has no key. */
int fold_tasks__new(struct fold *fold, uint64_t key, uint32_t *out);
/* The missing events of the task will not come. */
void fold_tasks__give_up(struct fold *fold, uint32_t task);

int fold_frames__push(struct fold *fold, struct fold_thread *thread, struct fold_frame frame);
/* Ends the top frame. Its end was seen. */
void fold_frames__pop(struct fold *fold, struct fold_thread *thread);
/* Ends all frames above `depth`. Their ends were not seen. */
void fold_frames__close_to(struct fold *fold, struct fold_thread *thread, size_t depth);
/* Ends the last wait of a worker in its region, because workers do not always record its end. */
void fold_frames__leave(struct fold *fold, struct fold_thread *thread);
/* Events are missing: marks everything that is open as spoiled. */
void fold_frames__spoil(struct fold *fold, struct fold_thread *thread);
/*
 * fold_frames__context() returns the innermost task, chunk or member; fold_frames__base() the innermost
 * member or region. FOLD_NO_OWNER: none.
 */
size_t fold_frames__context(const struct fold_thread *thread);
size_t fold_frames__base(const struct fold_thread *thread);

/* Handles records of loops and sections, and ignores others. */
int fold_loops__record(struct fold *fold, struct fold_thread *thread, const struct trace_content *content,
		       const struct trace_record *record);

#endif
