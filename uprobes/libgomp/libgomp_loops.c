// SPDX-License-Identifier: BSD-2-Clause
/*
 * libgomp's loops. A loop begins at the entry of GOMP_loop_*_start, whose return says whether there was a
 * first chunk. Later chunks are recorded in the internal functions that take a chunk (two lists of three:
 * static, dynamic, guided). Most GOMP_loop_*_next functions jump to these at once and have nothing before
 * it that is cheap to probe. If they call instead of jumping, the call shows how deep the stack is. Ordered
 * loops have functions of their own.
 */
#include "uprobes/planner/gomp_names.h"
#include "uprobes/libgomp/libgomp_patterns.h"
#include "uprobes/code/code_track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAKERS 6

struct takers {
	uint64_t address[TAKERS]; /* 0: not found */
	bool zero_is_taken[TAKERS];
};

static uint64_t chunk_cookie(uint32_t kind, uint32_t call, uint32_t b)
{
	return cookie__make(kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, call, b, 0);
}

/* The only function outside `f` that its direct calls and jumps lead to. 0: there is not exactly one. */
static uint64_t only_target(const struct planner *planner, const struct code_range *f)
{
	uint64_t low = code__at(planner->code, f->first)->address, found = 0;
	uint64_t high = code__at(planner->code, f->end - 1)->address;

	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if ((in->flow != FLOW_CALL && in->flow != FLOW_JUMP) || !in->target ||
		    (in->target >= low && in->target <= high))
			continue;
		if (found && found != in->target)
			return 0;
		found = in->target;
	}
	return found;
}

/* `test eax, eax; sete al` */
static bool sets_if_zero(const struct planner *planner, size_t test)
{
	const struct code_insn *in = code__at(planner->code, test);

	return (in->op == CODE_TEST || (in->op == CODE_COMPARE && in->operand[1].type == OPERAND_VALUE &&
					in->operand[1].value == 0)) &&
	       code__at(planner->code, test + 1)->op == CODE_IF_EQUAL;
}

/* Whether a result of 0 means that a chunk was taken: the caller returns whether the result was 0. */
static bool is_negated(const struct planner *planner, const struct code_range *f)
{
	for (size_t i = f->first; i + 2 < f->end; i++)
		if (code__at(planner->code, i)->flow == FLOW_CALL)
			return sets_if_zero(planner, i + 1);
	return false;
}

static void add_taker(struct planner *planner, uint64_t address, bool zero_is_taken)
{
	struct track_point p;
	char reads[64];

	code_track__entry(planner->code, code__find(planner->code, address),
			  TRACK_ARGUMENT_0 | TRACK_ARGUMENT_0 << 1 | TRACK_RETURN, &p);
	snprintf(reads, sizeof(reads), "[%s], [%s] = bounds, %s, at return",
		 planner__reg_name(planner, p.argument[0]), planner__reg_name(planner, p.argument[1]),
		 zero_is_taken ? "eax = 0 if there are" : "al = whether there are");
	planner__add(planner,
		     &(struct point_spec){.insn = p.insn,
					  .entry_cookie = cookie__make(RING_CHUNK_NEXT, COOKIE_ALWAYS, 0,
								       p.argument[0], p.argument[1],
								       COOKIE_CALL_TAKES, 0, 0),
					  .return_cookie = chunk_cookie(RING_CHUNK_BEGIN, COOKIE_CALL_TAKES,
									zero_is_taken),
					  .event = "chunk-next/-begin",
					  .function = "gomp_iter_*_next",
					  .reads = reads});
}

static void find_takers(struct planner *planner, struct takers *takers)
{
	static const char *const names[TAKERS] = {
		"GOMP_loop_static_next",     "GOMP_loop_dynamic_next",	   "GOMP_loop_guided_next",
		"GOMP_loop_ull_static_next", "GOMP_loop_ull_dynamic_next", "GOMP_loop_ull_guided_next",
	};

	memset(takers, 0, sizeof(*takers));
	for (size_t i = 0; i < TAKERS; i++) {
		struct code_range f;
		uint64_t target;

		if (!planner__function(planner, names[i], &f) || !(target = only_target(planner, &f)) ||
		    code__find(planner->code, target) == CODE_NONE)
			continue;
		takers->address[i] = target;
		takers->zero_is_taken[i] = is_negated(planner, &f);
		add_taker(planner, target, takers->zero_is_taken[i]);
	}
}

static bool is_taker(const struct takers *takers, uint64_t address)
{
	for (size_t i = 0; i < TAKERS; i++)
		if (address && takers->address[i] == address)
			return true;
	return false;
}

/* Entry and return of an exported function that stores the bounds through its arguments. */
static void add_next(struct planner *planner, const char *name, const struct code_range *f)
{
	struct track_point p;
	char reads[64];

	code_track__entry(planner->code, f->first, TRACK_ARGUMENT_0 | TRACK_ARGUMENT_0 << 1 | TRACK_RETURN,
			  &p);
	snprintf(reads, sizeof(reads), "[%s], [%s] = bounds, al = whether there are, at return",
		 planner__reg_name(planner, p.argument[0]), planner__reg_name(planner, p.argument[1]));
	planner__add(planner,
		     &(struct point_spec){.insn = p.insn,
					  .entry_cookie = cookie__make(RING_CHUNK_NEXT, COOKIE_ALWAYS, 0,
								       p.argument[0], p.argument[1],
								       COOKIE_CALL_OWN, 0, 0),
					  .return_cookie = chunk_cookie(RING_CHUNK_BEGIN, COOKIE_CALL_OWN, 0),
					  .event = "chunk-next/-begin",
					  .function = name,
					  .reads = reads});
}

/*
 * Adds the calls of functions that take a chunk, if every path through the function leads to one. (At a
 * jump, the target sees the stack of the entry.)
 */
static bool add_calls(struct planner *planner, const char *name, const struct code_range *f,
		      const struct takers *takers)
{
	bool *marks = calloc(f->end - f->first, sizeof(*marks)), ok;
	uint32_t words = 0;

	if (!marks)
		return false;
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		marks[i - f->first] =
			(in->flow == FLOW_CALL || in->flow == FLOW_JUMP) && is_taker(takers, in->target);
	}
	ok = code_track__all_pass(planner->code, f, marks);
	for (size_t i = f->first; i < f->end && ok; i++)
		ok = !marks[i - f->first] ||
		     (code_track__words(planner->code, f, i, &words) &&
		      (code__at(planner->code, i)->flow == FLOW_CALL ? words <= COOKIE_SMALL_MAX
								     : words == 0));
	for (size_t i = f->first; i < f->end && ok; i++) {
		if (!marks[i - f->first] || code__at(planner->code, i)->flow != FLOW_CALL ||
		    !code_track__words(planner->code, f, i, &words))
			continue;
		planner__add(planner,
			     &(struct point_spec){.insn = i,
						  .entry_cookie = chunk_cookie(RING_CHUNK_NEXT,
									       COOKIE_CALL_SITE, words),
						  .event = "chunk-next",
						  .function = name,
						  .reads = "-"});
	}
	free(marks);
	return ok;
}

static void add_start(struct planner *planner, const char *name, const struct code_range *f, uint64_t cookie)
{
	struct track_point p;

	code_track__entry(planner->code, f->first, TRACK_IN_PLACE | TRACK_RETURN | TRACK_ARGUMENT_0 * 63, &p);
	planner__add(planner,
		     &(struct point_spec){
			     .insn = p.insn,
			     .entry_cookie = cookie,
			     .return_cookie = chunk_cookie(RING_CHUNK_BEGIN, COOKIE_CALL_OWN, 0),
			     .event = "loop-begin/chunk-begin",
			     .function = name,
			     .reads = "bounds, step, chunk; [rsp] = call site; al, the chunk, at return"});
}

static bool is_next(const char *name)
{
	size_t n = strlen(name);

	return strncmp(name, "GOMP_loop_", 10) == 0 && n > 5 && strcmp(name + n - 5, "_next") == 0;
}

void libgomp_loops__find(struct planner *planner)
{
	static const struct {
		const char *name;
		uint32_t wait;
	} ends[] = {
		{"GOMP_loop_end", RING_WAIT_BARRIER_IMPLICIT},
		{"GOMP_loop_end_cancel", RING_WAIT_BARRIER_IMPLICIT},
		{"GOMP_loop_end_nowait", 0},
	};
	struct takers takers;
	struct code_range f;
	uint64_t cookie;

	find_takers(planner, &takers);
	for (size_t i = 0; i < elf_image__function_count(planner->image); i++) {
		const char *name = elf_image__function(planner->image, i)->name;

		if (gomp_names__loop_start(name, &cookie) && planner__function(planner, name, &f))
			add_start(planner, name, &f, cookie);
		else if (is_next(name) && planner__function(planner, name, &f) &&
			 (strstr(name, "_ordered_") || !add_calls(planner, name, &f, &takers)))
			add_next(planner, name, &f);
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		libgomp_sections__end(planner, ends[i].name, "loop-end", RING_LOOP_END, ends[i].wait);
}
