/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Importing the per-task profile of the MIR runtime (README.md, "MIR
 * profiles"). Three steps: lines become rows (mir_reader.c), rows become a
 * tree of contexts (mir_tree.c) and each context's script (mir_script.c), and
 * the scripts are placed in time as events (mir_place.c). Nothing recurses:
 * profiles are as deep as the program's recursion was.
 */
#ifndef GRAIND_MIR_H
#define GRAIND_MIR_H

#include "analysis/event_build.h"
#include "analysis/number_map.h"

/* Times stay within these, so that sums and differences of two fit. */
#define MIR_TIME_LIMIT (INT64_C(1) << 61)

enum mir_kind {
	MIR_TASK,    /* an explicit task */
	MIR_MEMBER,  /* GOMP_parallel*: a member of a team */
	MIR_INITIAL, /* the idle task that made the regions, or the runtime itself */
	MIR_BOOK,    /* chunk_start, chunk_continuation: obtaining a chunk */
	MIR_CHUNK,   /* chunk_<start>_<end> */
	MIR_UNUSED,  /* an idle task without children; a row that was dropped */
};

struct mir_row {
	uint64_t task, parent;
	uint64_t exec; /* all its own time, on its own clock: bodies that ran in its waits are not in it */
	uint64_t creation; /* what its parent spent on making it */
	uint64_t overhead; /* of exec: its children's creation, queueing and waiting */
	uint64_t created;  /* end of its creation on its parent's clock */
	uint64_t end;	   /* since the runtime's start */
	int64_t lower, upper;
	uint32_t line;
	uint32_t joins_at; /* the parent's wait that synchronizes it; the parent's number of waits: none */
	uint32_t cpu, number, children_said;
	uint32_t worker;	    /* thread: the CPU, but for members of one team on one CPU */
	uint32_t first_wait, waits; /* index into mir.waits */
	uint32_t source;
	uint32_t up; /* the parent's row, GRAIN_NONE */
	uint32_t first_child, children;
	uint32_t first_step, steps;
	uint64_t tail;	    /* its last fragment */
	int64_t begin;	    /* it began then at the latest */
	uint32_t join_step; /* of its parent, GRAIN_NONE: it is not joined there */
	uint32_t region;    /* of a member; team number in `member` */
	uint32_t member;
	uint8_t kind;  /* enum mir_kind */
	uint8_t sched; /* enum event_sched of a chunk's loop */
	bool made;     /* stands for what has no line */
	bool spoiled;
};

enum mir_step_kind {
	MIR_CREATE, /* row is made in `length` */
	MIR_WAIT,   /* a taskwait of its own time `length` */
	MIR_REGION, /* until all its members are over */
	MIR_BARRIER,
	MIR_LOOP_BEGIN,
	MIR_BOOKKEEP, /* for `length` */
	MIR_CHUNK_BEGIN,
	MIR_CHUNK_END,
	MIR_LOOP_END,
};

/* What a context does, in order; `before` is the fragment that leads to it. */
struct mir_step {
	uint64_t before, length;
	int64_t after; /* what follows a wait began then at the latest */
	int64_t done;  /* of a wait or region: all that it joins is over */
	uint32_t row;  /* created, chunk; of a region its first member in mir.child */
	uint32_t left; /* contexts that it joins and that are not over */
	uint32_t id;   /* region or loop; of a taskwait index into mir.waits, GRAIN_NONE */
	uint8_t kind;
	bool unsure;   /* the file has one sum for this and other waits */
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
	int64_t *passed; /* when they ended at the latest */
	struct mir_step *steps;
	uint32_t *child; /* rows by parent, in the order of their making */
	uint32_t *order; /* rows, parents before children */
	uint32_t *lines; /* of the stream's events */
	struct number_map row_of, sources;
	size_t row_count, wait_count, step_count, order_count, line_count;
	uint32_t region_count;
	uint32_t worker_count; /* threads are numbered below this */
	uint32_t line;
};

/* The error of a broken line; with keep_going counts the damage and returns 0. */
int mir__broken(struct mir *m, uint32_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* 0 with a zeroed array in *out; -ENOMEM, -E2BIG. */
int mir__array(struct mir *m, size_t count, size_t size, void **out);

#define MIR_MAX_FIELDS 512
struct mir_field {
	char *text; /* no NUL behind it */
	size_t bytes;
};
/* Splits a line as RFC 4180 has it, unquoting in place; NULL, or what is wrong. */
const char *mir_fields__split(char *line, struct mir_field fields[MIR_MAX_FIELDS], size_t *count);
bool mir_field__is(const struct mir_field *f, const char *text);
bool mir_field__starts(const struct mir_field *f, const char *text);
/* Digits, or round numbers as R writes them (1e+05), up to `limit`. */
bool mir_field__number(const struct mir_field *f, uint64_t limit, uint64_t *out);
bool mir_field__signed(struct mir_field f, int64_t *out);

int mir__tree(struct mir *m);
int mir__scripts(struct mir *m);
/* Lowers every row's `begin` to what the bodies around it leave, and finds `passed`. */
int mir__walk(struct mir *m);
int mir__place(struct mir *m);

/* Whether the first bytes of a file are the header of such a profile. */
bool mir_reader__recognizes(const char *start, size_t bytes);
/* As log_reader__read. */
int mir_reader__read(int fd, const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		     struct grain_error *err);

static inline bool mir_row__of_loop(const struct mir_row *row)
{
	return row->kind == MIR_BOOK || row->kind == MIR_CHUNK;
}

#endif
