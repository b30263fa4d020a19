/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that find the points of a runtime; private to uprobes/. */
#ifndef GRAIND_PLANNER_H
#define GRAIND_PLANNER_H

#include "bpf/cookie.h"
#include "uprobes/code_arch.h"

struct planner {
	const struct elf_image *image;
	const struct code *code;
	struct probe_plan *plan;
	struct uprobes_error *err;
	int status;	     /* first failure to allocate */
	const char *refused; /* by the last planner__refuse */
};

/* A function's instructions, as far as the dynamic symbol table bounds them. */
struct code_range {
	size_t first, end; /* indices */
};

/* The exported function; false when there is none. */
bool planner__function(const struct planner *planner, const char *name, struct code_range *out);

/* -ENOTSUP with "<what> not found ..." in the error. */
int planner__refuse(struct planner *planner, const char *what);

struct point_spec {
	size_t insn; /* index */
	uint64_t entry_cookie, return_cookie;
	const char *event, *function; /* static, or owned by the image */
	const char *reads;
};
/* Adds the point; one that is already there at the same address is kept. */
void planner__add(struct planner *planner, const struct point_spec *spec);
/* Adds it beside those at the same address: each of them gets every hit. */
void planner__add_beside(struct planner *planner, const struct point_spec *spec);
/* Back to when the plan had `count` points, after a refusal for which there is another way. */
void planner__go_back(struct planner *planner, size_t count);
void planner__missing(struct planner *planner, const char *name);

/* First emulated instruction from `from` on in straight line, within `limit` instructions; else CODE_NONE. */
size_t planner__next_emulated(const struct planner *planner, size_t from, size_t limit);

enum entry_need {
	ENTRY_ARGUMENTS = 1,   /* the argument registers must still hold the arguments */
	ENTRY_PAST_BRANCH = 2, /* prefer to go beyond conditional jumps, along the fall-through */
};

/*
 * The cheapest instruction at the start of a function at which the stack
 * pointer is still that of the entry, so that [rsp] is the return address and
 * a return probe can be set there.
 */
size_t planner__entry_point(const struct planner *planner, size_t first, unsigned needs);

/* A register as a cookie says it; COOKIE_REG_NONE for those that it cannot. */
uint32_t planner__cookie_reg(uint8_t reg);
const char *planner__reg_name(const struct planner *planner, uint32_t reg);
/* The register that holds argument `n` of a function at its entry. */
uint8_t planner__argument(const struct planner *planner, uint32_t n);

/* libgomp; where bodies cannot be seen in the runtime, both fall back on plan_bodies.c */
int plan_tasks__find(struct planner *planner);	     /* creations and bodies */
int plan_teams__find(struct planner *planner);	     /* regions and their members */
int plan_waits__find(struct planner *planner);	     /* taskwait, taskgroup, barriers, single */
int plan_worksharing__find(struct planner *planner); /* loops, sections, copyprivate, ordered, locks */
/* Called by it. */
void plan_loops__find(struct planner *planner);
void plan_sections__find(struct planner *planner); /* and single copyprivate */
void plan_locks__find(struct planner *planner);	   /* and ordered */
/* The end of a loop or sections (`kind`), with the wait that is part of it or 0. */
void plan_sections__end(struct planner *planner, const char *name, const char *event, uint32_t kind,
			uint32_t wait);
/* The cookie of the entry of a GOMP_loop_*_start (LOOP_BEGIN, rsp not moved); false for other functions. */
bool plan_worksharing__loop_start(const char *function, uint64_t *cookie);
/* a of REGION_BEGIN's cookie at a GOMP_parallel_*: what the region is combined with, enum cookie_region. */
uint32_t plan_worksharing__region_layout(const char *function);

/* libomp: all of it */
int plan_libomp__find(struct planner *planner);
/* Called by it. */
int plan_libomp_worksharing__find(struct planner *planner); /* loops, sections, single */
int plan_libomp_locks__find(struct planner *planner);	    /* critical, ordered, doacross, locks */

#endif
