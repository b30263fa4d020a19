/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the folding of records carries on:
 *   fold.c         what each record means; time
 *   fold_loops.c   loops, sections, chunks
 *   fold_state.c   tasks and what is open on threads
 *   fold_rows.c    sums
 */
#ifndef GRAIND_FOLD_STATE_H
#define GRAIND_FOLD_STATE_H

#include "analysis/fold.h"
#include "analysis/resolver.h"

enum fold_task_flags {
	FOLD_TASK_CREATED = 1 << 0,  /* its creation was seen */
	FOLD_TASK_RETURNED = 1 << 1, /* and that it was over */
	FOLD_TASK_BEGUN = 1 << 2,
	FOLD_TASK_ENDED = 1 << 3,
	FOLD_TASK_SPOILED = 1 << 4, /* something of it was not seen */
	FOLD_TASK_PARENT = 1 << 5,
	FOLD_TASK_UNDEFERRED = 1 << 6,
	FOLD_TASK_REQUEUED = 1 << 7, /* its next part is in the runtime's hands */
	FOLD_TASK_SPLIT = 1 << 8,    /* made by the runtime to split a taskloop: no grain */
};

/* A task that is not over, or whose creation is not. */
struct fold_task {
	uint64_t key, serial;
	uint64_t exec_ns, create_ns, wait_ns;
	uint32_t row, thread; /* thread: that began it, or its last part */
	uint32_t next_free;
	uint16_t flags;
	bool in_map, live;
};

enum fold_frame_kind {
	FOLD_FRAME_TASK,
	FOLD_FRAME_LEFT, /* a task was here that goes on elsewhere */
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
	uint64_t site; /* REGION */
	uint64_t exec_ns, create_ns,
		wait_ns; /* CHUNK; LOOP: create_ns is book-keeping since the last chunk */
	uint32_t id; /* TASK, LEFT, CREATE: the task, GRAIN_NONE: its next part; TASKLOOP, LOOP, CHUNK: row */
	uint32_t owner;	   /* WAIT: the frame of the task or chunk that waits, FOLD_NO_OWNER */
	uint32_t combined; /* REGION, MEMBER: row of the loop that members begin without saying so, GRAIN_NONE
			    */
	uint8_t kind, wait;
	bool call;    /* TASK: undeferred, ends as that */
	bool spoiled; /* CHUNK */
	bool parent;  /* CHUNK: something was created in it */
};

struct fold_thread {
	struct fold_frame *frames;
	size_t depth, capacity;
	uint64_t last_ns;
	bool begun, worker;
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
	struct fold_regions *regions; /* NULL: nobody wants to know of them */
	int regions_error;
};

int fold__threads(struct fold *fold, uint32_t count);
/* What telling of regions ended with. */
void fold__told(struct fold *fold, int error);
int fold__map(struct fold *fold, struct number_map *map, uint64_t key, uint32_t value);

/* key 0: it has none. */
int fold_tasks__new(struct fold *fold, uint64_t key, uint32_t *out);
/* What was not seen of it will not be. */
void fold_tasks__give_up(struct fold *fold, uint32_t task);

int fold_frames__push(struct fold *fold, struct fold_thread *thread, struct fold_frame frame);
/* Ends the frame on top where it was seen to end. */
void fold_frames__pop(struct fold *fold, struct fold_thread *thread);
/* Ends all above although their ends were not seen. */
void fold_frames__close_to(struct fold *fold, struct fold_thread *thread, size_t depth);
/* A worker that is in its region's last wait: it does not always tell that this is over. */
void fold_frames__leave(struct fold *fold, struct fold_thread *thread);
/* Events are missing: whatever is open. */
void fold_frames__spoil(struct fold *fold, struct fold_thread *thread);
/* The innermost task, chunk or member; the innermost member or region; FOLD_NO_OWNER. */
size_t fold_frames__context(const struct fold_thread *thread);
size_t fold_frames__base(const struct fold_thread *thread);

/* Records of loops and sections; of others none. */
int fold_loops__record(struct fold *fold, struct fold_thread *thread, const struct trace_content *content,
		       const struct trace_record *record);

#endif
