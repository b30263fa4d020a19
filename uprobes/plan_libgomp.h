/* SPDX-License-Identifier: BSD-2-Clause */
/* What the patterns of libgomp's functions have in common; private to uprobes/plan_*.c. */
#ifndef GRAIND_PLAN_LIBGOMP_H
#define GRAIND_PLAN_LIBGOMP_H

#include "uprobes/planner.h"

/* A cookie without operands but `a`. */
uint64_t libgomp__cookie(uint32_t kind, uint32_t a);

/* Whether `target` is a small function around malloc (gomp_malloc), or malloc itself. */
bool libgomp__is_allocator(const struct planner *planner, uint64_t target);

/*
 * The first conditional jump after the call of the allocator at `call`, and in
 * *reg (enum cookie_reg) the register that holds the new block there; CODE_NONE
 * if there is no such jump in straight line.
 */
size_t libgomp__allocated(const struct planner *planner, const struct code_range *f, size_t call,
			  uint32_t *reg);

/* Where the function keeps its first argument, the body: a slot of its frame or a register. */
bool libgomp__body_home(const struct planner *planner, const struct code_range *f, struct code_operand *out);
#define CALLS_MAX 8 /* of bodies or allocators in one function; more are not libgomp's */

enum libgomp_callee {
	CALLEE_OTHER,	/* a function of the runtime, or no call */
	CALLEE_BODY,	/* the first argument, fn */
	CALLEE_COPY,	/* the third, the copy constructors */
	CALLEE_UNKNOWN, /* an indirect call of something else */
};
/* What an instruction of GOMP_task or GOMP_taskloop calls. */
enum libgomp_callee libgomp__callee(const struct planner *planner, const struct code_range *f, size_t call);

/* The first conditional jump that control reaches from `from`, along unconditional jumps. */
size_t libgomp__next_branch(const struct planner *planner, size_t from);

/* Where GOMP_task has allocated a task; `b` of the cookie (cookie.h). */
int libgomp__find_create(struct planner *planner, const struct code_range *f, uint32_t b, size_t *out);
/* The jumps over which GOMP_task returns from a creation. */
int libgomp__find_create_end(struct planner *planner, const struct code_range *f, size_t create);

/* Where the runtime's thread-local block is, and fields in it. */
struct tls_layout {
	bool fixed;    /* the offset of the block from the thread pointer is known: an executable */
	uint64_t got;  /* else the GOT entry that holds it */
	int64_t block; /* that offset */
	int64_t team, number;
};
/* Both fields as a cookie can say them; false when they were not found. */
bool libgomp__find_tls(const struct planner *planner, struct tls_layout *tls);

/* GOMP_parallel and its combined forms. */
bool libgomp__is_parallel(const char *name);

/* In place of what was not found: see plan_bodies.c. */
int plan_bodies__tasks(struct planner *planner);
int plan_bodies__members(struct planner *planner);
/* After both: what else is handed the body of a construct. */
void plan_bodies__others(struct planner *planner);

/* Taskloops; `fn_offset`: where a task has its body, followed by the address of its data; 0: not known,
 * bodies are observed in the program's functions. */
int plan_taskloop__find(struct planner *planner, int64_t fn_offset);

#endif
