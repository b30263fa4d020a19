/* SPDX-License-Identifier: BSD-2-Clause */
/* How the readers fill an event_stream. Internal to analysis. */
#ifndef GRAIND_EVENT_BUILD_H
#define GRAIND_EVENT_BUILD_H

#include "analysis/base/budget.h"
#include "analysis/event/event.h"

int event_stream__new(struct event_stream **out);

int event_stream__grow(struct event_stream *stream, struct budget *budget);
/* Makes room for `count` events in total, if there is memory for them. The stream may get more. */
void event_stream__expect(struct event_stream *stream, size_t count, struct budget *budget);
/*
 * Appends an event. Its fields are 0, except src and id, which are GRAIN_NONE. Returns NULL if memory or
 * budget is used up.
 */
static inline struct event *event_stream__push(struct event_stream *stream, struct budget *budget)
{
	struct event *e;

	if (stream->count == stream->capacity && event_stream__grow(stream, budget))
		return NULL;
	e = &stream->events[stream->count++];
	*e = (struct event){.id = GRAIN_NONE, .src = GRAIN_NONE};
	return e;
}

/* Takes ownership of what `source` points to, also on failure. */
int event_stream__add_source(struct event_stream *stream, struct event_source *source, struct budget *budget);
int event_stream__add_loss(struct event_stream *stream, const char *cause, size_t cause_bytes, uint64_t count,
			   struct budget *budget);
int event_stream__add_verbatim(struct event_stream *stream, const char *line, size_t bytes,
			       struct budget *budget);
#define EVENT_CAUSE_MAX 64
/* *sub is the value of `sub` in an EVENT_LOST with this cause. A name that is too long is cut. */
int event_stream__add_cause(struct event_stream *stream, const char *cause, size_t bytes, uint8_t *sub,
			    struct budget *budget);

#define EVENT_NEIGHBOURS_MAX 65536
/* Takes ownership of the strings. -EDOM: the number is 0 or too large. -EEXIST: another neighbour has it. */
int event_stream__add_neighbour(struct event_stream *stream, uint32_t number,
				const struct event_neighbour *neighbour, struct budget *budget);

/* event_counters.c */
#define EVENT_COUNTERS_MAX 64
/* Finds the counter with this number, or adds it. -EDOM: there are too many. */
int event_stream__counter(struct event_stream *stream, uint32_t number, struct budget *budget,
			  uint32_t *index);
/* Takes ownership of `name`. -EEXIST: the number or the name was declared before. */
int event_stream__declare_counter(struct event_stream *stream, uint32_t number, char *name,
				  struct budget *budget);
int event_stream__add_reading(struct event_stream *stream, uint32_t event, uint32_t counter, uint64_t value,
			      struct budget *budget);
/*
 * Before this call, each reading has a line in place of an event, and readings are sorted by line. Gives the
 * readings of line lines[i] to event i. lines[i] is 0 if the event has none. Puts the counters into the order
 * of their declarations.
 */
int event_stream__place_readings(struct event_stream *stream, const uint32_t *lines, size_t count,
				 struct budget *budget);
/* -ENOENT: there is no such counter. */
int event_stream__share_counter(struct event_stream *stream, uint32_t number, double share);
/* Takes ownership of both strings. -EDOM: there are too many. */
int event_stream__absent_counter(struct event_stream *stream, char *name, char *why, struct budget *budget);

void event_stream__free_counters(struct event_stream *stream);

/* event_samples.c */
void event_address__clear(struct event_address *address);
/* Takes ownership of the strings of `named`, also on failure. -EEXIST: the address has names already. */
int event_stream__name_address(struct event_stream *stream, struct event_address *named,
			       struct budget *budget);
#define EVENT_STACK_MAX 1024 /* the most addresses of a stack */
/* Makes a stack with no addresses yet and room for `room` of them. *id is its index. */
int event_stream__new_stack(struct event_stream *stream, uint32_t room, struct budget *budget, uint32_t *id);
/* Adds an address at the outer end. -EDOM: the stack has no room. */
int event_stream__push_address(struct event_stream *stream, uint32_t stack, uint64_t address,
			       struct budget *budget);
void event_stream__free_samples(struct event_stream *stream);

/* event_numa.c */
#define EVENT_AREAS_MAX 1024
#define EVENT_PAGES_MAX (UINT64_C(1) << 40)
#define EVENT_STEP_MAX (UINT64_C(1) << 40) /* this large because sanitizers map terabytes */
/*
 * Takes ownership of the strings of `area`, also on failure. -EDOM: there are too many. -EEXIST: another area
 * has its number.
 */
int event_stream__add_area(struct event_stream *stream, struct event_area *area, struct budget *budget);
/* Returns the index of the area with this number. GRAIN_NONE: there is none. */
uint32_t event_stream__find_area(const struct event_stream *stream, uint32_t number);
void event_stream__free_numa(struct event_stream *stream);

/* Finds start, end and threads of the stream's info in the events. */
void event_stream__summarize(struct event_stream *stream);

/* Names of enumerations, as in the log. NULL ends each list. */
extern const char *const event_wait_names[],
	*const event_depend_names[],
		*const event_flag_names[],
			*const event_lock_names[],
				*const event_access_names[],
					*const event_reason_names[],
						*const event_sched_names[],
							*const event_trouble_names[],
								*const event_cancel_names[];
enum event_kind event_kind__find(const char *name, size_t bytes); /* EVENT_KIND_MAX: none */

#define SORTED_MAX_BYTES 64
_Static_assert(offsetof(struct event, time_ns) == 0 && sizeof(struct event) <= SORTED_MAX_BYTES,
	       "sorted in place");
/*
 * Sorts `count` items of `size` bytes by time. Each item begins with its uint64_t time. The sort is stable.
 * `lines`, unless NULL, gets the same order.
 */
int sorted_items__sort(void *items, size_t size, uint32_t *lines, size_t count, struct budget *budget);

/*
 * Reorders sorted events: a task's creation comes before its begin, and a region's begin before its members.
 * tasks and regions have one CAUSE_* for each number.
 */
enum { CAUSE_NONE, CAUSE_LATER, CAUSE_SEEN };
void event_stream__order_causes(struct event_stream *stream, uint32_t *lines, uint8_t *tasks,
				uint8_t *regions);

void event_source__clear(struct event_source *source);

#endif
