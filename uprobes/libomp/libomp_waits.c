// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a task waits in libomp: at taskwait, taskgroups, barriers of all kinds, taskyield. Also
 * cancellation.
 */
#include "uprobes/libomp/libomp_patterns.h"

#include "uprobes/code/code_paths.h"

#include <stdio.h>
#include <string.h>

static const struct libomp_span waits[] = {
	{"__kmpc_omp_taskwait", "taskwait", "taskwait-end", "rdi = source, [rsp] = call site",
	 RING_WAIT_BEGIN, LIBOMP_WAIT_ENTRY, RING_WAIT_TASKWAIT, 0, RING_WAIT_END, RING_WAIT_TASKWAIT},
	{"__kmpc_end_taskgroup", "taskgroup-end", "taskgroup-ended", "rdi = source, [rsp] = call site",
	 RING_WAIT_BEGIN, LIBOMP_WAIT_ENTRY, RING_WAIT_TASKGROUP, 0, RING_WAIT_END, RING_WAIT_TASKGROUP},
	{"__kmpc_omp_taskyield", "taskyield", "taskyield-end", "rdi = source, [rsp] = call site",
	 RING_WAIT_BEGIN, LIBOMP_WAIT_ENTRY, RING_WAIT_TASKYIELD, 0, RING_WAIT_END, RING_WAIT_TASKYIELD},
	{"__kmpc_taskgroup", "taskgroup-begin", NULL, "rdi = source, [rsp] = call site", RING_GROUP_BEGIN, 0,
	 0, 0, RING_NONE, 0},
};

/* Newer runtimes have the second function, and the first calls it. */
static const struct libomp_span depend_waits[] = {
	{"__kmpc_omp_wait_deps", "taskwait-depend", "taskwait-depend-end", "edx, rcx, r8d, r9 = dependences",
	 RING_WAIT_BEGIN, LIBOMP_WAIT_DEPEND, RING_WAIT_TASKWAIT_DEPEND, 0, RING_WAIT_END,
	 RING_WAIT_TASKWAIT_DEPEND},
	{"__kmpc_omp_taskwait_deps_51", "taskwait-depend", "taskwait-depend-end",
	 "edx, rcx, r8d, r9 = dependences", RING_WAIT_BEGIN, LIBOMP_WAIT_DEPEND, RING_WAIT_TASKWAIT_DEPEND, 0,
	 RING_WAIT_END, RING_WAIT_TASKWAIT_DEPEND},
};

/* Functions of GCC's interface that call observed functions. Events in those get the call site of these. */
static const char *const outer[] = {
	"GOMP_task",
	"GOMP_taskloop",
	"GOMP_taskloop_ull",
	"GOMP_taskwait_depend",
	"GOMP_barrier",
	"GOMP_cancel",
	"GOMP_cancellation_point",
	"GOMP_workshare_task_reduction_unregister",
};

/* The same, but compilers may have merged two of these functions into one. */
static const struct {
	const char *inner;
	struct libomp_span span;
} outer_or_own[] = {
	{"__kmpc_omp_taskwait",
	 {"GOMP_taskwait", "taskwait", "taskwait-end", "[rsp] = call site", RING_WAIT_BEGIN, LIBOMP_WAIT_BARE,
	  RING_WAIT_TASKWAIT, 0, RING_WAIT_END, RING_WAIT_TASKWAIT}},
	/*
	 * It ends twice if cancellation is off, because it then calls the internal barrier. The second end
	 * has no effect.
	 */
	{"__kmpc_barrier",
	 {"GOMP_barrier_cancel", "barrier", "barrier-end", "[rsp] = call site", RING_WAIT_BEGIN,
	  LIBOMP_WAIT_BARE, RING_WAIT_BARRIER, 0, RING_WAIT_END, RING_WAIT_BARRIER}},
	{"__kmpc_omp_taskyield",
	 {"GOMP_taskyield", "taskyield", "taskyield-end", "[rsp] = call site", RING_WAIT_BEGIN,
	  LIBOMP_WAIT_BARE, RING_WAIT_TASKYIELD, 0, RING_WAIT_END, RING_WAIT_TASKYIELD}},
	{"__kmpc_taskgroup",
	 {"GOMP_taskgroup_start", "taskgroup-begin", NULL, "[rsp] = call site", RING_GROUP_BEGIN,
	  LIBOMP_GROUP_BARE, 0, 0, RING_NONE, 0}},
	{"__kmpc_end_taskgroup",
	 {"GOMP_taskgroup_end", "taskgroup-end", "taskgroup-ended", "[rsp] = call site", RING_WAIT_BEGIN,
	  LIBOMP_WAIT_BARE, RING_WAIT_TASKGROUP, 0, RING_WAIT_END, RING_WAIT_TASKGROUP}},
};

static bool calls(const struct planner *planner, const struct code_range *f, const char *name)
{
	struct code_range callee;

	if (!planner__function(planner, name, &callee))
		return false;
	for (size_t i = f->first; i < f->end; i++)
		if (libomp__callee(planner, i) == callee.first)
			return true;
	return false;
}

static void add_outer(struct planner *planner, const char *function, bool has_source)
{
	libomp__add_span(planner, &(struct libomp_span){.function = function,
							.event = "call-site",
							.reads = "[rsp] = call site",
							.kind = RING_NONE,
							.a = LIBOMP_KEEP_SITE,
							.b = has_source});
}

/* Whether one of the instructions before the call sets the register to 0, so that a NULL or 0 is passed. */
static bool passes_zero(const struct planner *planner, size_t call, uint8_t reg)
{
	for (size_t i = call; i-- > 0 && call - i < 12;) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow != FLOW_NEXT)
			return false;
		if (insn__writes(in, reg))
			return (in->op == CODE_XOR && in->operand[1].type == OPERAND_REG &&
				in->operand[1].reg == reg) ||
			       (in->op == CODE_COPY &&
				(in->operand[1].type == OPERAND_VALUE ? in->operand[1].value == 0
								      : in->operand[1].reg == CODE_REG_ZERO));
	}
	return false;
}

/* The internal barrier. __kmpc_barrier calls it last, as (plain, gtid, false, 0, NULL, NULL). */
static size_t find_barrier(const struct planner *planner, const struct code_range *f)
{
	size_t barrier = CODE_NONE;

	for (size_t i = f->first; i < f->end; i++)
		if (code__at(planner->code, i)->flow == FLOW_CALL &&
		    libomp__callee(planner, i) != CODE_NONE &&
		    passes_zero(planner, i, planner__argument(planner, 4)) &&
		    passes_zero(planner, i, planner__argument(planner, 5)))
			barrier = libomp__callee(planner, i);
	return barrier;
}

/* Constructs that contain barriers. Each of their calls of the barrier is a wait. */
static void add_barrier_calls(struct planner *planner, size_t barrier, const struct elf_function *function)
{
	struct code_range f;

	if (strcmp(function->name, "__kmpc_barrier") == 0 ||
	    strcmp(function->name, "__kmpc_cancel_barrier") == 0 ||
	    !planner__function(planner, function->name, &f))
		return;
	for (size_t i = f.first; i < f.end; i++) {
		int depth;

		if (code__at(planner->code, i)->flow != FLOW_CALL || libomp__callee(planner, i) != barrier)
			continue;
		depth = code_paths__depth(planner->code, &f, i);
		planner__add(planner,
			     &(struct point_spec){.insn = i,
						  .entry_cookie =
							  cookie__make(RING_WAIT_BEGIN, COOKIE_ALWAYS,
								       LIBOMP_WAIT_CALL, COOKIE_REG_NONE,
								       COOKIE_REG_NONE,
								       RING_WAIT_BARRIER_IMPLICIT, 0, depth),
						  .event = "barrier",
						  .function = function->name,
						  .reads = depth >= 0 ? "[rsp+n] = call site" : "-"});
	}
}

/* All waits in barriers end where the internal barrier returns. */
static int find_barriers(struct planner *planner)
{
	struct libomp_span span = {.function = "__kmpc_barrier",
				   .event = "barrier",
				   .end_event = "barrier-end",
				   .reads = "[rdi+4] = which, [rsp] = call site",
				   .kind = RING_WAIT_BEGIN,
				   .variant = LIBOMP_WAIT_BARRIER,
				   .a = RING_WAIT_BARRIER};
	struct code_range f;
	size_t barrier;

	if (!planner__function(planner, "__kmpc_barrier", &f))
		return planner__refuse(planner, "__kmpc_barrier");
	barrier = find_barrier(planner, &f);
	if (barrier == CODE_NONE) {
		planner__missing(planner, "barriers inside of other constructs");
		span.end_kind = RING_WAIT_END;
		span.end_a = RING_WAIT_BARRIER;
	}
	libomp__add_span(planner, &span);
	if (barrier == CODE_NONE)
		return 0;
	planner__add(planner,
		     &(struct point_spec){.insn = planner__entry_point(planner, barrier, 0),
					  .return_cookie = cookie__make(RING_WAIT_END, COOKIE_ALWAYS, 0,
									COOKIE_REG_NONE, COOKIE_REG_NONE,
									RING_WAIT_BARRIER, 0, 0),
					  .event = "barrier-end",
					  .function = "__kmp_barrier",
					  .reads = "-"});
	for (size_t i = 0; i < elf_image__function_count(planner->image); i++)
		add_barrier_calls(planner, barrier, elf_image__function(planner->image, i));
	return 0;
}

static void find_cancellation(struct planner *planner)
{
	static const struct libomp_span cancels[] = {
		{.function = "__kmpc_cancel", .kind = RING_NONE, .a = LIBOMP_KEEP_CANCEL},
		{.function = "__kmpc_cancellationpoint", .kind = RING_NONE, .a = LIBOMP_KEEP_CANCEL_POINT},
	};

	for (size_t i = 0; i < 2; i++) {
		struct code_range f;
		size_t at;

		if (!planner__function(planner, cancels[i].function, &f)) {
			planner__missing(planner, cancels[i].function);
			continue;
		}
		at = planner__entry_point(planner, f.first, ENTRY_ARGUMENTS);
		planner__add(planner,
			     &(struct point_spec){.insn = at,
						  .entry_cookie = libomp__cookie(planner, at, RING_NONE, 0,
										 cancels[i].a, 0),
						  .return_cookie = cookie__make(RING_CANCEL, COOKIE_ALWAYS, 0,
										COOKIE_REG_NONE,
										COOKIE_REG_NONE, 0, 0, 0),
						  .event = "cancel",
						  .function = cancels[i].function,
						  .reads = "edx = construct, eax = cancelled, at return"});
	}
}

int libomp_waits__find(struct planner *planner)
{
	struct code_range f;
	int r = find_barriers(planner);

	if (r)
		return r;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (!libomp__add_span(planner, &waits[i]))
			return planner__refuse(planner, waits[i].function);
	if (!planner__function(planner, depend_waits[0].function, &f))
		return planner__refuse(planner, depend_waits[0].function);
	if (calls(planner, &f, depend_waits[1].function))
		add_outer(planner, depend_waits[0].function, true);
	else
		libomp__add_span(planner, &depend_waits[0]);
	libomp__add_span(planner, &depend_waits[1]);
	for (size_t i = 0; i < sizeof(outer) / sizeof(outer[0]); i++)
		add_outer(planner, outer[i], false);
	add_outer(planner, "__kmpc_cancel_barrier", true);
	for (size_t i = 0; i < sizeof(outer_or_own) / sizeof(outer_or_own[0]); i++) {
		if (!planner__function(planner, outer_or_own[i].span.function, &f))
			continue;
		if (calls(planner, &f, outer_or_own[i].inner))
			add_outer(planner, outer_or_own[i].span.function, false);
		else
			libomp__add_span(planner, &outer_or_own[i].span);
	}
	find_cancellation(planner);
	return 0;
}
