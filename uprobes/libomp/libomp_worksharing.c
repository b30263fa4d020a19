// SPDX-License-Identifier: BSD-2-Clause
/*
 * libomp's loops, sections and singles. All are seen at the entry and return of exported functions. These
 * start with a push, which is cheap to probe. If a function of GCC's interface (GOMP_*) calls one of
 * LLVM's, it is recorded only there.
 */
#include "uprobes/planner/gomp_names.h"
#include "uprobes/libomp/libomp_patterns.h"

#include "bpf/abi/libomp_cookie.h"

static uint64_t cookie(uint32_t kind, uint32_t entry, uint32_t b)
{
	return cookie__make(kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, entry, b, 0);
}

/* Adds a point at the entry of its function. False: there is no such function. */
static bool add(struct planner *planner, unsigned needs, struct point_spec point)
{
	struct code_range f;

	if (!planner__function(planner, point.function, &f))
		return false;
	point.insn = planner__entry_point(planner, f.first, needs);
	planner__add(planner, &point);
	return true;
}

/* The functions that exist for each of the four types of iteration numbers: NAME_4, _4u, _8, _8u. */
static const struct {
	const char *names[4];
	const char *event, *reads;
	uint32_t at_entry, at_return; /* enum ring_kind */
	uint32_t entry;		      /* enum libomp_entry */
	bool required;
} typed[] = {
	{{"__kmpc_for_static_init_4", "__kmpc_for_static_init_4u", "__kmpc_for_static_init_8",
	  "__kmpc_for_static_init_8u"},
	 "static-loop/-chunk",
	 "edx = schedule, [r8], [r9] = bounds, before and after",
	 RING_LOOP_BEGIN,
	 RING_CHUNK_BEGIN,
	 LIBOMP_STATIC_INIT,
	 true},
	{{"__kmpc_dist_for_static_init_4", "__kmpc_dist_for_static_init_4u", "__kmpc_dist_for_static_init_8",
	  "__kmpc_dist_for_static_init_8u"},
	 "static-loop/-chunk",
	 "edx = schedule, [r8], [r9] = bounds, before and after",
	 RING_LOOP_BEGIN,
	 RING_CHUNK_BEGIN,
	 LIBOMP_DIST_FOR_STATIC_INIT,
	 false},
	{{"__kmpc_team_static_init_4", "__kmpc_team_static_init_4u", "__kmpc_team_static_init_8",
	  "__kmpc_team_static_init_8u"},
	 "static-loop/-chunk",
	 "[rcx], [r8] = bounds, before and after",
	 RING_LOOP_BEGIN,
	 RING_CHUNK_BEGIN,
	 LIBOMP_TEAM_STATIC_INIT,
	 false},
	{{"__kmpc_dispatch_init_4", "__kmpc_dispatch_init_4u", "__kmpc_dispatch_init_8",
	  "__kmpc_dispatch_init_8u"},
	 "loop-begin",
	 "edx = schedule, rcx, r8, r9 = bounds, step",
	 RING_LOOP_BEGIN,
	 0,
	 LIBOMP_DISPATCH_INIT,
	 true},
	{{"__kmpc_dist_dispatch_init_4", "__kmpc_dist_dispatch_init_4u", "__kmpc_dist_dispatch_init_8",
	  "__kmpc_dist_dispatch_init_8u"},
	 "loop-begin",
	 "edx = schedule, r8, r9, [rsp+8] = bounds, step",
	 RING_LOOP_BEGIN,
	 0,
	 LIBOMP_DIST_DISPATCH_INIT,
	 false},
	{{"__kmpc_dispatch_next_4", "__kmpc_dispatch_next_4u", "__kmpc_dispatch_next_8",
	  "__kmpc_dispatch_next_8u"},
	 "chunk-next/-begin",
	 "eax = got one, [rcx], [r8] = bounds, at return",
	 RING_CHUNK_NEXT,
	 RING_CHUNK_BEGIN,
	 LIBOMP_DISPATCH_NEXT,
	 true},
};

static int find_typed(struct planner *planner)
{
	static const uint32_t types[4] = {0, LIBOMP_NUMBER_UNSIGNED, LIBOMP_NUMBER_8_BYTES,
					  LIBOMP_NUMBER_8_BYTES | LIBOMP_NUMBER_UNSIGNED};

	for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
		for (size_t t = 0; t < 4; t++) {
			struct point_spec point = {
				.entry_cookie = cookie(typed[i].at_entry, typed[i].entry, types[t]),
				.event = typed[i].event,
				.function = typed[i].names[t],
				.reads = typed[i].reads,
			};

			if (typed[i].at_return)
				point.return_cookie = cookie(typed[i].at_return, typed[i].entry, types[t]);
			if (!add(planner, ENTRY_ARGUMENTS, point) && typed[i].required)
				return planner__refuse(planner, typed[i].names[t]);
		}
	}
	return 0;
}

/*
 * A cancelled loop or section ends only at GOMP_loop_end and GOMP_sections_end. Any other has ended before,
 * which readers know. The events read at most the argument edi. These functions have no jump before which
 * edi is lost.
 */
static const struct {
	const char *function, *event, *reads;
	uint32_t at_entry, at_return, entry;
	bool required;
} plain[] = {
	{"__kmpc_for_static_fini", "static-loop-end", "-", RING_LOOP_END, 0, 0, true},
	{"__kmpc_doacross_init", "doacross-loop", "-", RING_LOOP_BEGIN, 0, LIBOMP_DOACROSS_INIT, false},
	{"__kmpc_end_single", "single-end", "-", RING_SINGLE_END, 0, 0, true},
	{"GOMP_single_start", "single", "al = won, at return", 0, RING_SINGLE, LIBOMP_SINGLE, false},
	{"GOMP_single_copy_start", "single", "rax = 0 if won, at return", 0, RING_SINGLE, LIBOMP_SINGLE_COPY,
	 false},
	{"GOMP_sections_start", "sections-begin", "edi = sections, eax = first, at return",
	 RING_SECTIONS_BEGIN, RING_SECTION_BEGIN, LIBOMP_GOMP_SECTIONS, false},
	{"GOMP_sections2_start", "sections-begin", "edi = sections, eax = first, at return",
	 RING_SECTIONS_BEGIN, RING_SECTION_BEGIN, LIBOMP_GOMP_SECTIONS, false},
	{"GOMP_sections_next", "section-next/-begin", "eax = section, at return", RING_SECTION_NEXT,
	 RING_SECTION_BEGIN, LIBOMP_GOMP_SECTIONS, false},
	{"GOMP_single_copy_end", "single-end", "-", RING_SINGLE_END, 0, 0, false},
	{"GOMP_loop_end", "loop-end", "-", RING_LOOP_END, 0, 0, false},
	{"GOMP_loop_end_nowait", "loop-end", "-", RING_LOOP_END, 0, 0, false},
	{"GOMP_sections_end", "sections-end", "-", RING_SECTIONS_END, 0, 0, false},
	{"GOMP_sections_end_nowait", "sections-end", "-", RING_SECTIONS_END, 0, 0, false},
	{"omp_get_num_threads", "static-share", "[rsp] = call site", RING_STATIC_SHARE, 0, 0, false},
};

/* Barriers that occur only in these functions. */
static void find_cancelled(struct planner *planner)
{
	add(planner, 0,
	    (struct point_spec){.entry_cookie = cookie(RING_LOOP_END, LIBOMP_WAIT, 0),
				.return_cookie = cookie(RING_LOOP_END, LIBOMP_WAITED, 0),
				.event = "loop-end",
				.function = "GOMP_loop_end_cancel",
				.reads = "[rsp] = call site"});
	add(planner, 0,
	    (struct point_spec){.entry_cookie = cookie(RING_SECTIONS_END, LIBOMP_WAIT, 0),
				.return_cookie = cookie(RING_SECTIONS_END, LIBOMP_WAITED, 0),
				.event = "sections-end",
				.function = "GOMP_sections_end_cancel",
				.reads = "[rsp] = call site"});
}

static int find_plain(struct planner *planner)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct point_spec point = {.event = plain[i].event,
					   .function = plain[i].function,
					   .reads = plain[i].reads};

		if (plain[i].at_entry)
			point.entry_cookie = cookie(plain[i].at_entry, plain[i].entry, 0);
		if (plain[i].at_return)
			point.return_cookie = cookie(plain[i].at_return, plain[i].entry, 0);
		if (!add(planner, 0, point) && plain[i].required)
			return planner__refuse(planner, plain[i].function);
	}
	return 0;
}

/*
 * An instruction near the entry that is not the one at which the region of the function is recorded. It is
 * the second push, before which nothing else has changed the stack pointer. If calls leave the return
 * address in a register, it is simply the second instruction. *depth: the bytes by which the stack pointer
 * has gone down.
 */
static size_t second_point(const struct planner *planner, const struct code_range *f, int *depth)
{
	size_t pushes = 0;

	*depth = 0;
	for (size_t i = f->first; i < f->end && i < f->first + 8; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (code__arch(planner->code)->link != CODE_REG_NONE
			    ? i == f->first + 1
			    : in->op == CODE_PUSH && in->emulated && pushes++ == 1)
			return i;
		if (in->flow != FLOW_NEXT || in->stack == CODE_STACK_UNKNOWN ||
		    (code__arch(planner->code)->link == CODE_REG_NONE && in->op != CODE_PUSH &&
		     insn__writes(in, CODE_REG_SP)))
			break;
		*depth += in->stack;
	}
	return CODE_NONE;
}

static void add_combined(struct planner *planner, const char *function, uint64_t at_entry, const char *event,
			 const char *reads)
{
	struct code_range f;
	size_t insn;
	int depth;

	if (!planner__function(planner, function, &f))
		return;
	insn = second_point(planner, &f, &depth);
	if (insn == CODE_NONE) {
		planner__missing(planner, function);
		return;
	}
	planner__add(planner,
		     &(struct point_spec){.insn = insn,
					  .entry_cookie = at_entry | cookie__make(0, 0, 0, 0, 0, 0, 0, depth),
					  .event = event,
					  .function = function,
					  .reads = reads});
}

static void find_gomp_loops(struct planner *planner)
{
	for (size_t i = 0; i < elf_image__function_count(planner->image); i++) {
		const char *name = elf_image__function(planner->image, i)->name;
		uint32_t layout = gomp_names__region_layout(name);
		uint64_t start;

		if (gomp_names__loop_start(name, &start))
			add(planner, ENTRY_ARGUMENTS,
			    (struct point_spec){.entry_cookie = start | cookie__make(RING_NONE, 0, 0, 0, 0,
										     COOKIE_LOOP_ALONE, 0, 0),
						.event = "loop-begin",
						.function = name,
						.reads = "arguments = bounds, step, chunk size"});
		else if (layout == COOKIE_REGION_SECTIONS)
			add_combined(planner, name,
				     cookie(RING_SECTIONS_BEGIN, LIBOMP_GOMP_PARALLEL_SECTIONS, 0),
				     "region-sections", "ecx = sections");
		else if (layout)
			add_combined(planner, name,
				     cookie(RING_LOOP_BEGIN, LIBOMP_GOMP_PARALLEL_LOOP, layout),
				     "region-loop", "rcx, r8, r9 = bounds, step");
	}
}

int libomp_worksharing__find(struct planner *planner)
{
	const struct point_spec single = {.entry_cookie = cookie(RING_SINGLE, LIBOMP_SINGLE_CALLED, 0),
					  .return_cookie = cookie(RING_SINGLE, LIBOMP_SINGLE, 0),
					  .event = "single",
					  .function = "__kmpc_single",
					  .reads = "[rdi+16] = ident, eax = won, at return"};
	int r;

	if ((r = find_typed(planner)) || (r = find_plain(planner)))
		return r;
	if (!add(planner, ENTRY_ARGUMENTS, single))
		return planner__refuse(planner, single.function);
	find_cancelled(planner);
	find_gomp_loops(planner);
	return libomp_locks__find(planner);
}
