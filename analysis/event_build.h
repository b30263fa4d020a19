/* SPDX-License-Identifier: BSD-2-Clause */
/* How the readers fill an event_stream. Internal to analysis. */
#ifndef GRAIND_EVENT_BUILD_H
#define GRAIND_EVENT_BUILD_H

#include "analysis/event.h"

#include <errno.h>
#include <stdarg.h>

/* Memory that a load may still take. */
struct budget {
	uint64_t left;
};

/* What a load, and then its graph, may take. */
uint64_t memory_bound(const struct grain_load_opts *opts);
/* The line's end for -E2BIG: how much was too little, and what to do. */
void memory_bound__say(uint64_t bytes, char text[160]);

void budget__init(struct budget *budget, const struct grain_load_opts *opts);
static inline int budget__take(struct budget *budget, uint64_t bytes) /* -E2BIG */
{
	if (bytes > budget->left)
		return -E2BIG;
	budget->left -= bytes;
	return 0;
}
void budget__give(struct budget *budget, uint64_t bytes);

/* Fills *err when it is not NULL and returns `error`. */
int load_error(struct grain_error *err, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The line for -ENOMEM and -E2BIG while `path` is read. */
int load_error__memory(struct grain_error *err, int error, const char *path,
		       const struct grain_load_opts *opts);

int event_stream__new(struct event_stream **out);

int event_stream__grow(struct event_stream *stream, struct budget *budget);
/* Makes room for so many in all, where there is memory for it; more may come. */
void event_stream__expect(struct event_stream *stream, size_t count, struct budget *budget);
/* The next event, all zero but src and id, which are GRAIN_NONE; NULL: no memory or budget. */
static inline struct event *event_stream__push(struct event_stream *stream, struct budget *budget)
{
	struct event *e;

	if (stream->count == stream->capacity && event_stream__grow(stream, budget))
		return NULL;
	e = &stream->events[stream->count++];
	*e = (struct event){.id = GRAIN_NONE, .src = GRAIN_NONE};
	return e;
}

/*
 * Makes room for one more element of an array with `count` elements whose
 * capacity is the next power of two (at least 8).
 */
int array__grow(void *array_pointer, size_t count, size_t element_bytes, struct budget *budget);

/* Takes ownership of what `source` points to, also on failure. */
int event_stream__add_source(struct event_stream *stream, struct event_source *source, struct budget *budget);
int event_stream__add_loss(struct event_stream *stream, const char *cause, size_t cause_bytes, uint64_t count,
			   struct budget *budget);
int event_stream__add_verbatim(struct event_stream *stream, const char *line, size_t bytes,
			       struct budget *budget);
#define EVENT_CAUSE_MAX 64
/* *sub is what EVENT_LOST's sub says of this cause; longer names are cut. */
int event_stream__add_cause(struct event_stream *stream, const char *cause, size_t bytes, uint8_t *sub,
			    struct budget *budget);

#define EVENT_NEIGHBOURS_MAX 65536
/* Takes ownership of the strings. -EDOM: the number is 0 or too large; -EEXIST: it is taken. */
int event_stream__add_neighbour(struct event_stream *stream, uint32_t number,
				const struct event_neighbour *neighbour, struct budget *budget);

/* event_counters.c */
#define EVENT_COUNTERS_MAX 64
/* The index of the counter with this number, known or new. -EDOM: there are too many. */
int event_stream__counter(struct event_stream *stream, uint32_t number, struct budget *budget,
			  uint32_t *index);
/* Takes ownership of `name`. -EEXIST: it, or its name, has been declared before. */
int event_stream__declare_counter(struct event_stream *stream, uint32_t number, char *name,
				  struct budget *budget);
int event_stream__add_reading(struct event_stream *stream, uint32_t event, uint32_t counter, uint64_t value,
			      struct budget *budget);
/*
 * Of readings that ascend by line: moves those of line lines[i] to event i;
 * lines[i] 0 has none. Counters come into the order of their declarations.
 */
int event_stream__place_readings(struct event_stream *stream, const uint32_t *lines, size_t count,
				 struct budget *budget);
/* -ENOENT: there is no such counter. */
int event_stream__share_counter(struct event_stream *stream, uint32_t number, double share);
/* Takes both strings. -EDOM: too many. */
int event_stream__absent_counter(struct event_stream *stream, char *name, char *why, struct budget *budget);

void event_stream__free_counters(struct event_stream *stream);

/* event_samples.c */
void event_address__clear(struct event_address *address);
/* Takes the strings of `named`, also on failure. -EEXIST: it has names already. */
int event_stream__name_address(struct event_stream *stream, struct event_address *named,
			       struct budget *budget);
#define EVENT_STACK_MAX 1024 /* addresses */
/* A stack without addresses as yet, with room for so many (at most EVENT_STACK_MAX). */
int event_stream__new_stack(struct event_stream *stream, uint32_t room, struct budget *budget, uint32_t *id);
/* One further out; -EDOM: it has no room. */
int event_stream__push_address(struct event_stream *stream, uint32_t stack, uint64_t address,
			       struct budget *budget);
void event_stream__free_samples(struct event_stream *stream);

/* event_numa.c */
#define EVENT_AREAS_MAX 1024
#define EVENT_PAGES_MAX (UINT64_C(1) << 40)
#define EVENT_STEP_MAX (UINT64_C(1) << 40) /* a sanitizer maps terabytes */
/* Takes the strings of `area`, also on failure. -EDOM: too many; -EEXIST: its number is taken. */
int event_stream__add_area(struct event_stream *stream, struct event_area *area, struct budget *budget);
/* The index of the area with this number, GRAIN_NONE. */
uint32_t event_stream__find_area(const struct event_stream *stream, uint32_t number);
void event_stream__free_numa(struct event_stream *stream);

/* start, end and threads of info, from the events. */
void event_stream__summarize(struct event_stream *stream);

/* Names of enumerations as the log spells them; NULL ends each list. */
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
 * Orders `count` items of `size` bytes, each of which begins with its uint64_t
 * time, stably by that time; `lines`, when not NULL, goes along.
 */
int sorted_items__sort(void *items, size_t size, uint32_t *lines, size_t count, struct budget *budget);

/*
 * Of sorted events: a task's creation before its begin, a region's begin
 * before its members. tasks and regions say of each number what is known.
 */
enum { CAUSE_NONE, CAUSE_LATER, CAUSE_SEEN };
void event_stream__order_causes(struct event_stream *stream, uint32_t *lines, uint8_t *tasks,
				uint8_t *regions);

/*
 * Of an event log that was read and sorted: checks nesting, makes numbers
 * dense, closes what is open, counts. A broken rule is an error naming the
 * line; with keep_going the event is dropped and the stream marked damaged.
 * Events carry trouble bits in `extra` (create-begin, task-begin, region-begin).
 */
int log_check__run(struct event_stream *stream, uint32_t *lines, const char *path, bool keep_going,
		   struct budget *budget, struct grain_error *err);

/* A line that starts with "@", in logs and in the text chunks of traces. */
enum meta_kind { META_KEPT, META_SOURCE, META_SITE, META_MODULE };
struct meta {
	enum meta_kind kind;
	struct event_source source; /* META_SOURCE; the caller owns its strings */
	uint64_t address;	    /* META_SITE */
	uint32_t number;	    /* META_SITE */
};
/* What a @truth line says; it overrules what the reader counts. */
struct meta_truth {
	bool given, damaged;
	struct grain_truth truth;
};
int meta__line(struct event_stream *stream, const char *line, size_t bytes, struct meta_truth *truth,
	       struct budget *budget, struct meta *out, char why[128]);
void meta_truth__apply(const struct meta_truth *given, struct event_stream *stream);
void event_source__clear(struct event_source *source);

int log_reader__read(int fd, const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		     struct grain_error *err);
int trace_reader__read(int fd, const char *path, const struct grain_load_opts *opts,
		       struct event_stream **out, struct grain_error *err);

#endif
