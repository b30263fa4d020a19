/* SPDX-License-Identifier: BSD-2-Clause */
/* Between resolve.c (what each event means) and resolve_frames.c (what is open on a thread). */
#ifndef GRAIND_RESOLVER_H
#define GRAIND_RESOLVER_H

#include "analysis/resolve.h"
#include "analysis/trace_format.h"

enum frame_kind { FRAME_TASK, FRAME_UNDEFERRED, FRAME_WAIT, FRAME_REGION, FRAME_MEMBER };

struct frame {
	uint64_t sp;
	uint64_t team;	 /* FRAME_REGION: the team bound to it, 0 = none yet */
	uint32_t id;	 /* task or region; GRAIN_NONE: member of an unknown region */
	uint32_t number; /* FRAME_MEMBER */
	uint8_t kind;	 /* enum frame_kind */
	uint8_t wait;	 /* FRAME_WAIT: enum trace_wait */
	bool in_single, won;
};

/* The stack grows down: the innermost frame is the last and has the smallest sp. */
struct thread {
	uint32_t tid;
	uint16_t cpu;
	bool begun, orphan_start, start_known;
	uint64_t region_sp;   /* of the outermost region while the start is looked for, 0 = none */
	uint32_t open_create; /* task, GRAIN_NONE */
	uint32_t last_record;
	struct frame *frames;
	size_t depth, capacity;
};

#define REGION_ENDED UINT32_MAX

struct resolver {
	struct event_stream *stream;
	struct trace_content *content;
	struct budget *budget;
	struct site_table sites;
	struct thread *threads;
	struct number_map tasks; /* key -> task that is created and not begun */
	struct number_map teams; /* team -> region */
	struct number_map members;
	uint32_t *region_event;	    /* where its region-begin stands in the stream; REGION_ENDED */
	uint32_t tasks_before_loss; /* tasks below were created before the last LOST */
	uint64_t now;
	size_t task_capacity, region_capacity;
	uint64_t unclosed_creations, unmatched_teams;
};

int resolver__record(struct resolver *r, struct thread *t, const struct trace_record *rec);

struct event *resolver__emit(struct resolver *r, const struct thread *t, enum event_kind kind, uint32_t id);
int resolver__push(struct resolver *r, struct thread *t, struct frame frame);
int resolver__new_task(struct resolver *r, unsigned trouble, uint32_t *out);
int resolver__new_region(struct resolver *r, uint32_t *out);

/* Ends the innermost frame although its end was not seen. */
int frames__close_top(struct resolver *r, struct thread *t);
int frames__close_to(struct resolver *r, struct thread *t, size_t depth);
/* Closes what the stack pointer proves to be over: frames at or below sp. */
int frames__close_below(struct resolver *r, struct thread *t, uint64_t sp);
/* Closes the waits on top: what comes now cannot happen inside one. */
int frames__close_waits(struct resolver *r, struct thread *t);
int frames__close_create(struct resolver *r, struct thread *t);
/* Ends the member frame on top; `seen`: at its observed end. */
int frames__end_member(struct resolver *r, struct thread *t, bool seen);
/* End the frame of that kind on top where it was seen to end. */
int frames__end_wait(struct resolver *r, struct thread *t);
int frames__end_task(struct resolver *r, struct thread *t);
int frames__end_region(struct resolver *r, struct thread *t);
uint8_t frames__wait_name(uint8_t wait); /* enum event_wait of an enum trace_wait */
int frames__end_single(struct resolver *r, struct thread *t, struct frame *member);
/* Index of the innermost member or region frame, GRAIN_NONE when the thread is in its initial task. */
size_t frames__base(const struct thread *t);
/*
 * At the end of the trace: a worker that has not left the barrier of a region
 * that is over was still on its way out; nothing is missing.
 */
int frames__leave_barrier(struct resolver *r, struct thread *t);
void frames__mark_lost(struct resolver *r, const struct thread *t);

#endif
