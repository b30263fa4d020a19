/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the files of this folder share. */
#ifndef GRAIND_LIBGOMP_PATTERNS_H
#define GRAIND_LIBGOMP_PATTERNS_H

#include "uprobes/planner/planner.h"

/* Makes a cookie that has only the operand `a`. */
uint64_t libgomp__cookie(uint32_t kind, uint32_t a);

/* Whether `target` is a small function around malloc (gomp_malloc), or malloc itself. */
bool libgomp__is_allocator(const struct planner *planner, uint64_t target);

/*
 * Finds the first conditional jump after the call of the allocator at `call`. *reg is the register that
 * then holds the new block (enum cookie_reg). CODE_NONE: straight-line code does not lead to such a jump.
 */
size_t libgomp__allocated(const struct planner *planner, const struct code_range *f, size_t call,
			  uint32_t *reg);

#define CALLS_MAX 8 /* the most calls of bodies or allocators in one function; libgomp has no more */

enum libgomp_callee {
	CALLEE_OTHER,	/* another function of the runtime, or no call at all */
	CALLEE_BODY,	/* the body: the first argument, fn */
	CALLEE_COPY,	/* the copy constructors: the third argument, cpyfn */
	CALLEE_UNKNOWN, /* an indirect call of another value */
};
/* Tells what an instruction of GOMP_task or GOMP_taskloop calls. */
enum libgomp_callee libgomp__callee(const struct planner *planner, const struct code_range *f, size_t call);

/* Finds the first conditional jump after `from`, and follows unconditional jumps on the way. */
size_t libgomp__next_branch(const struct planner *planner, size_t from);

/* Numbers of GOMP_task's arguments. */
enum { TASK_FLAGS = 6, TASK_DEPENDS = 7 };
/*
 * Finds where the flags and the dependences of a GOMP_task call are at `insn`. 0: they are on the stack,
 * behind the return address.
 */
bool libgomp__task_homes(const struct planner *planner, const struct code_range *f, size_t insn, int *out);

/* Finds where GOMP_task has allocated a task; `b` is the cookie's operand (cookie.h). */
int libgomp__find_create(struct planner *planner, const struct code_range *f, uint32_t b, size_t *out);
/* Adds the jumps by which GOMP_task returns from a creation. */
int libgomp__find_create_end(struct planner *planner, const struct code_range *f, size_t create);

/* Where the runtime's thread-local data is, and the offsets of fields in it. */
struct tls_layout {
	bool fixed;   /* the data's offset from the thread pointer is constant; this is so in an executable */
	uint64_t got; /* if not fixed: the address of the GOT entry that holds the offset */
	int64_t block; /* if fixed: the offset */
	int64_t team, number;
};
/* Finds both fields. False: they are not found, or a cookie cannot express where they are. */
bool libgomp__find_tls(const struct planner *planner, struct tls_layout *tls);

/*
 * Each of these adds the points of some constructs. If the runtime hides where it calls the bodies of tasks
 * and regions, the first two functions call libgomp_bodies__tasks and libgomp_bodies__members instead.
 */
int libgomp_tasks__find(struct planner *planner); /* creations of tasks, and their bodies */
int libgomp_teams__find(struct planner *planner); /* regions, and their members */
int libgomp_waits__find(struct planner *planner); /* taskwait, taskgroup, barriers, single */
void libgomp_loops__find(struct planner *planner);
void libgomp_sections__find(struct planner *planner); /* sections and single copyprivate */
void libgomp_locks__find(struct planner *planner);    /* locks and ordered */
void libgomp_target__find(struct planner *planner);   /* target regions; call it after the tasks */
/* Adds the end of a loop or sections construct (`kind`). `wait` is the wait that is part of it, or 0. */
void libgomp_sections__end(struct planner *planner, const char *name, const char *event, uint32_t kind,
			   uint32_t wait);

/* These observe bodies in the programs, for a runtime that hides its calls of them (libgomp_bodies.c). */
int libgomp_bodies__tasks(struct planner *planner);
int libgomp_bodies__members(struct planner *planner);
/* Call it after both: adds the other runtime functions to which programs pass a body. */
void libgomp_bodies__others(struct planner *planner);

/*
 * Adds the points of taskloops. `fn_offset` is the offset of the body's address in a task; the address of
 * the body's data follows it. 0: the offset is not known, so bodies are probed in the programs.
 */
int libgomp_taskloop__find(struct planner *planner, int64_t fn_offset);

#endif
