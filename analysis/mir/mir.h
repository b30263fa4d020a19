/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Imports the per-task profile of the MIR runtime (analysis/FORMATS.md, "MIR profiles") in three steps. Lines
 * become rows (mir_reader.c). Rows become a tree of contexts (mir_tree.c), each with a script (mir_script.c).
 * Scripts are placed in time as events (mir_place.c). No function is recursive, because profiles are as deep
 * as the program's recursion was.
 */
#ifndef GRAIND_MIR_H
#define GRAIND_MIR_H

#include "analysis/event/event_build.h"
#include "analysis/base/number_map.h"

/* Times stay within this limit, so that sums and differences of two times fit. */
#define MIR_TIME_LIMIT (INT64_C(1) << 61)

enum mir_kind {
	MIR_TASK,    /* an explicit task */
	MIR_MEMBER,  /* GOMP_parallel*: a member of a team */
	MIR_INITIAL, /* the idle task that made the regions, or the runtime itself */
	MIR_BOOK,    /* chunk_start, chunk_continuation: getting a chunk */
	MIR_CHUNK,   /* chunk_<start>_<end> */
	MIR_UNUSED,  /* an idle task without children, or a row that was dropped */
};

struct mir_row {
	uint64_t task, parent;
	uint64_t exec;	   /* its own time on its own clock, without the bodies that ran in its waits */
	uint64_t creation; /* time that its parent spent creating it */
	uint64_t overhead; /* part of exec: time for creating children, queueing and waiting */
	uint64_t created;  /* end of its creation, on its parent's clock */
	uint64_t end;	   /* since the start of the runtime */
	int64_t lower, upper;
	uint32_t line;
	uint32_t joins_at; /* number of the parent's wait that joins it; if no wait joins it, the parent's
			      number of waits */
	uint32_t cpu, number, children_said;
	uint32_t worker;	    /* thread: its CPU, unless members of one team share a CPU */
	uint32_t first_wait, waits; /* index into mir.waits */
	uint32_t source;
	uint32_t up; /* the parent's row; GRAIN_NONE: none */
	uint32_t first_child, children;
	uint32_t first_step, steps;
	uint64_t tail;	    /* length of its last fragment */
	int64_t begin;	    /* latest possible time of its begin */
	uint32_t join_step; /* step of its parent that joins it; GRAIN_NONE: none */
	uint32_t region;    /* region of a team member; its team number is in `member` */
	uint32_t member;
	uint8_t kind;  /* enum mir_kind */
	uint8_t sched; /* enum event_sched of a chunk's loop */
	bool made;     /* it stands for a context that has no line in the file */
	bool spoiled;
};

enum mir_step_kind {
	MIR_CREATE, /* creates `row`; the creation takes `length` */
	MIR_WAIT,   /* a taskwait; its own time is `length` */
	MIR_REGION, /* a region, until all its members have ended */
	MIR_BARRIER,
	MIR_LOOP_BEGIN,
	MIR_BOOKKEEP, /* book-keeping of length `length` */
	MIR_CHUNK_BEGIN,
	MIR_CHUNK_END,
	MIR_LOOP_END,
};

/* A step of a context's script; `before` is the length of the fragment before it. */
struct mir_step {
	uint64_t before, length;
	int64_t after; /* latest possible begin of what follows the wait */
	int64_t done;  /* wait or region: time when everything that it joins has ended */
	uint32_t row;  /* created task or chunk; for a region its first member in mir.child */
	uint32_t left; /* number of contexts that it joins and that have not ended yet */
	uint32_t id;   /* number of the region or loop; of a taskwait: index into mir.waits, or GRAIN_NONE */
	uint8_t kind;
	bool unsure;   /* the file has only one sum for this and other waits */
	bool in_chunk; /* a step of a chunk, not of the context that executes it */
};

struct mir {
	const char *path;
	const struct grain_load_opts *opts;
	struct grain_error *err;
	bool keep_going;
	struct budget budget;
	struct event_stream *stream;
	struct mir_row *rows;
	uint64_t *waits;
	int64_t *passed; /* per wait: latest possible time of its end */
	struct mir_step *steps;
	uint32_t *child; /* rows by parent, in the order of creation */
	uint32_t *order; /* rows, parents before children */
	uint32_t *lines; /* per event of the stream: its line */
	struct number_map row_of, sources;
	size_t row_count, wait_count, step_count, order_count, line_count;
	uint32_t region_count;
	uint32_t worker_count; /* numbers of threads are smaller than this */
	uint32_t line;
};

/* Reports a broken line as an error. With keep_going, counts the damage instead and returns 0. */
int mir__broken(struct mir *m, uint32_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Makes an array of zeros in *out. Returns 0, -ENOMEM or -E2BIG. */
int mir__array(struct mir *m, size_t count, size_t size, void **out);

#define MIR_MAX_FIELDS 512
struct mir_field {
	char *text; /* text without a NUL at the end */
	size_t bytes;
};
/* Splits a line by RFC 4180, unquoting in place. Returns NULL, or what is wrong. */
const char *mir_fields__split(char *line, struct mir_field fields[MIR_MAX_FIELDS], size_t *count);
bool mir_field__is(const struct mir_field *f, const char *text);
bool mir_field__starts(const struct mir_field *f, const char *text);
/* Reads digits, or round numbers as R writes them (1e+05), up to `limit`. */
bool mir_field__number(const struct mir_field *f, uint64_t limit, uint64_t *out);
bool mir_field__signed(struct mir_field f, int64_t *out);

int mir__tree(struct mir *m);
int mir__scripts(struct mir *m);
/* Lowers every row's `begin` to the latest time that the bodies around it allow, and computes `passed`. */
int mir__walk(struct mir *m);
int mir__place(struct mir *m);

/* Whether the first bytes of a file are the header of such a profile. */
bool mir_reader__recognizes(const char *start, size_t bytes);
/* Errors are as for log_reader__read. */
int mir_reader__read(int fd, const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		     struct grain_error *err);

static inline bool mir_row__of_loop(const struct mir_row *row)
{
	return row->kind == MIR_BOOK || row->kind == MIR_CHUNK;
}

#endif
