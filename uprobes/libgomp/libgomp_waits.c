// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a task waits: at taskwait, at the end of a taskgroup, for dependences, at explicit barriers. Also:
 * who wins a single; what is cancelled or fulfilled.
 */
#include "uprobes/code/code_paths.h"
#include "uprobes/libgomp/libgomp_patterns.h"

#include <stdio.h>

/*
 * Whether the function runs tasks while it waits. Then it waits itself, and does not just jump to a
 * function that waits.
 */
static bool calls_bodies(const struct planner *planner, const struct code_range *f)
{
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && !in->target)
			return true;
	}
	return false;
}

/* Like planner__entry_point(), but only the first argument must still be in place. */
static size_t entry_with_first(const struct planner *planner, const struct code_range *f)
{
	for (size_t i = f->first; i < f->end && i < f->first + 16; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->emulated && in->flow != FLOW_CALL)
			return i;
		if (in->flow != FLOW_NEXT || insn__writes(in, CODE_REG_SP) ||
		    insn__writes(in, code__arch(planner->code)->link) ||
		    insn__writes(in, planner__argument(planner, 0)))
			break;
	}
	return f->first;
}

/*
 * A wait begins at the first cheap instruction, which need not be at the entry. Best is the test for
 * whether there is anything to wait for, which is also one of the ends. The wait ends at the jumps into the
 * code that returns. Return probes would work as well, but the kernel drops them in deep recursion.
 */
static size_t wait_start(const struct planner *planner, const struct code_range *f,
			 const struct path_edge *exits, size_t count)
{
	size_t cheap = CODE_NONE;

	for (size_t i = f->first; i < f->end && i < f->first + 24; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		for (size_t k = 0; k < count; k++)
			if (exits[k].insn == i && exits[k].when != COOKIE_ALWAYS)
				return i;
		if (in->emulated && cheap == CODE_NONE)
			cheap = i;
		if (in->flow != FLOW_NEXT)
			break;
	}
	return cheap;
}

static bool add_without_return_probe(struct planner *planner, const struct code_range *f, const char *event,
				     const char *function, uint32_t wait)
{
	struct path_edge exits[PATH_EDGES_MAX];
	size_t count = code_paths__exits(planner->code, f, f->first, PATH_TAIL_CALLS | PATH_CLEANUP, exits);
	size_t begin = wait_start(planner, f, exits, count);
	uint32_t over = COOKIE_REG_NONE;
	int depths[PATH_EDGES_MAX], depth;
	char reads[64];

	if (!count || !calls_bodies(planner, f) || begin == CODE_NONE ||
	    (depth = code_paths__depth(planner->code, f, begin)) < 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		depths[i] = code_paths__depth(planner->code, f, exits[i].insn);
		if (depths[i] < 0)
			return false;
		if (exits[i].insn == begin)
			over = exits[i].when;
	}
	if (over == COOKIE_ALWAYS)
		return false;
	if (code__arch(planner->code)->link != CODE_REG_NONE)
		snprintf(reads, sizeof(reads), depth ? "[rbp+8] = call site" : "[rsp] = call site");
	else
		snprintf(reads, sizeof(reads), depth ? "[rsp+%d] = call site" : "[rsp] = call site", depth);
	planner__add(planner,
		     &(struct point_spec){.insn = begin,
					  .entry_cookie = cookie__make(RING_WAIT_BEGIN, COOKIE_ALWAYS,
								       code__at(planner->code, begin)->test,
								       COOKIE_REG_NONE, over, wait, 0, depth),
					  .event = event,
					  .function = function,
					  .reads = reads});
	for (size_t i = 0; i < count; i++)
		if (exits[i].insn != begin)
			planner__add(planner, &(struct point_spec){
						      .insn = exits[i].insn,
						      .entry_cookie = cookie__make(
							      RING_WAIT_END, exits[i].when,
							      code__at(planner->code, exits[i].insn)->test,
							      COOKIE_REG_NONE, COOKIE_REG_NONE, wait, 0,
							      depths[i] + 8),
						      .event = "wait-end",
						      .function = function,
						      .reads = path_edge__text(&exits[i])});
	return true;
}

static void add_with_return_probe(struct planner *planner, const struct code_range *f, const char *event,
				  const char *function, uint32_t wait, unsigned needs)
{
	planner__add(planner, &(struct point_spec){.insn = planner__entry_point(planner, f->first, needs),
						   .entry_cookie = libgomp__cookie(RING_WAIT_BEGIN, wait),
						   .return_cookie = libgomp__cookie(RING_WAIT_END, wait),
						   .event = event,
						   .function = function,
						   .reads = "[rsp] = call site"});
}

/* A function that is missing is never called: executables contain what they use. */
static void find_waits(struct planner *planner)
{
	static const struct {
		const char *function, *event;
		uint32_t wait;
		unsigned needs; /* behind the jump that is taken if there is nothing to wait for */
		bool nests;
	} waits[] = {
		{"GOMP_taskwait", "taskwait", RING_WAIT_TASKWAIT, 0, true},
		{"GOMP_taskgroup_end", "taskgroup-end", RING_WAIT_TASKGROUP, 0, true},
		{"GOMP_barrier", "barrier", RING_WAIT_BARRIER, ENTRY_PAST_BRANCH, false},
		{"GOMP_barrier_cancel", "barrier", RING_WAIT_BARRIER, ENTRY_PAST_BRANCH, false},
	};
	struct code_range f;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (!planner__function(planner, waits[i].function, &f))
			planner__missing(planner, waits[i].function);
		else if (!waits[i].nests || !add_without_return_probe(planner, &f, waits[i].event,
								      waits[i].function, waits[i].wait))
			add_with_return_probe(planner, &f, waits[i].event, waits[i].function, waits[i].wait,
					      waits[i].needs);
	}
}

/* The only jump by which `f` leaves to another function; CODE_NONE: there is not exactly one. */
static size_t tail_jump(const struct planner *planner, const struct code_range *f)
{
	size_t found = CODE_NONE;

	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		size_t to = in->target ? code__find(planner->code, in->target) : CODE_NONE;

		if (in->flow != FLOW_JUMP || to == CODE_NONE || (to >= f->first && to < f->end))
			continue;
		if (found != CODE_NONE)
			return CODE_NONE;
		found = i;
	}
	return found;
}

/*
 * The end of a worksharing construct with task reductions is the end of a taskgroup, then a jump to the
 * function that GOMP_barrier jumps to.
 */
static void find_reduction_barrier(struct planner *planner)
{
	static const char name[] = "GOMP_workshare_task_reduction_unregister";
	struct code_range barrier, f;
	size_t wait, at;

	if (!planner__function(planner, "GOMP_barrier", &barrier) || !planner__function(planner, name, &f) ||
	    (wait = tail_jump(planner, &barrier)) == CODE_NONE ||
	    (at = tail_jump(planner, &f)) == CODE_NONE || code_paths__depth(planner->code, &f, at) != 0 ||
	    code__at(planner->code, at)->target != code__at(planner->code, wait)->target) {
		planner__missing(planner, name);
		return;
	}
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie = libgomp__cookie(RING_WAIT_BEGIN,
									  RING_WAIT_BARRIER_IMPLICIT),
					  .return_cookie =
						  libgomp__cookie(RING_WAIT_END, RING_WAIT_BARRIER_IMPLICIT),
					  .event = "barrier",
					  .function = name,
					  .reads = "[rsp] = call site"});
}

/* GOMP_taskwait_depend(depend) */
static void find_taskwait_depend(struct planner *planner)
{
	struct code_range f;

	if (!planner__function(planner, "GOMP_taskwait_depend", &f)) {
		planner__missing(planner, "GOMP_taskwait_depend");
		return;
	}
	planner__add(planner,
		     &(struct point_spec){.insn = entry_with_first(planner, &f),
					  .entry_cookie =
						  libgomp__cookie(RING_WAIT_BEGIN, RING_WAIT_TASKWAIT_DEPEND),
					  .return_cookie =
						  libgomp__cookie(RING_WAIT_END, RING_WAIT_TASKWAIT_DEPEND),
					  .event = "taskwait-depend",
					  .function = "GOMP_taskwait_depend",
					  .reads = "rdi = depend, [rsp] = call site"});
}

/* The function that GOMP_taskwait_depend goes to; 0: there is none. */
static uint64_t depend_wait(const struct planner *planner)
{
	struct code_range wait;
	uint64_t target = 0;

	if (!planner__function(planner, "GOMP_taskwait_depend", &wait))
		return 0;
	for (size_t i = wait.first; i < wait.end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		size_t to = in->target ? code__find(planner->code, in->target) : CODE_NONE;

		if ((in->flow == FLOW_JUMP || in->flow == FLOW_CALL) && to != CODE_NONE &&
		    (to < wait.first || to >= wait.end)) {
			if (target && target != in->target)
				return 0;
			target = in->target;
		}
	}
	return target;
}

/* The call of `target` in `f` at or after `from`; CODE_NONE: there is none. */
static size_t next_call(const struct planner *planner, const struct code_range *f, size_t from,
			uint64_t target)
{
	for (size_t i = from; i < f->end && i + 1 < code__count(planner->code); i++)
		if (code__at(planner->code, i)->flow == FLOW_CALL &&
		    code__at(planner->code, i)->target == target)
			return i;
	return CODE_NONE;
}

/* An undeferred target region waits in the same function. This is seen at the calls in GOMP_target_ext. */
static void add_target_waits(struct planner *planner, uint64_t target)
{
	uint32_t words = code__arch(planner->code)->link == CODE_REG_NONE;
	struct code_range ext;
	size_t call;
	int depth;

	if (!planner__function(planner, "GOMP_target_ext", &ext) ||
	    !code_paths__frame(planner->code, &ext, &depth))
		return;
	for (call = ext.first; (call = next_call(planner, &ext, call, target)) != CODE_NONE; call++)
		planner__add(planner,
			     &(struct point_spec){.insn = call,
						  .entry_cookie =
							  cookie__make(RING_WAIT_BEGIN, COOKIE_ALWAYS, 0, 0,
								       COOKIE_REG_NONE,
								       RING_WAIT_TASKWAIT_DEPEND, words, 0),
						  .event = "depend-wait",
						  .function = "GOMP_target_ext",
						  .reads = "rdi = depend, [rbp+8] = call site"});
}

/*
 * An undeferred task with dependences waits in the function that GOMP_taskwait_depend goes to. GOMP_task
 * calls that function.
 */
static bool find_depend_wait(struct planner *planner)
{
	uint64_t target = depend_wait(planner);
	struct code_range task, inner;
	size_t call, at;
	int64_t distance;

	if (!target || !planner__function(planner, "GOMP_task", &task))
		return false;
	call = next_call(planner, &task, task.first, target);
	if (call == CODE_NONE || next_call(planner, &task, call + 1, target) != CODE_NONE)
		return false;
	inner.first = code__find(planner->code, target);
	inner.end = code__count(planner->code);
	at = entry_with_first(planner, &inner);
	distance =
		(int64_t)(code__at(planner->code, call + 1)->address - code__at(planner->code, at)->address);
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie =
						  cookie__make(RING_WAIT_BEGIN, COOKIE_ALWAYS, 0, 0,
							       COOKIE_REG_NONE, RING_WAIT_TASKWAIT_DEPEND, 0,
							       (int)distance),
					  .return_cookie = cookie__make(RING_WAIT_END, COOKIE_ALWAYS, 0, 0,
									COOKIE_REG_NONE,
									RING_WAIT_TASKWAIT_DEPEND, 0, 0),
					  .event = "depend-wait",
					  .function = "gomp_task_maybe_wait_for_dependencies",
					  .reads = "rdi = depend, [rsp] = whether GOMP_task called"});
	add_target_waits(planner, target);
	return true;
}

static void find_cancel(struct planner *planner)
{
	static const struct {
		const char *function;
		uint32_t a;
	} functions[] = {{"GOMP_cancel", 0}, {"GOMP_cancellation_point", RING_CANCEL_POINT}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct code_range f;

		if (!planner__function(planner, functions[i].function, &f)) {
			planner__missing(planner, functions[i].function);
			continue;
		}
		planner__add(planner,
			     &(struct point_spec){
				     .insn = planner__entry_point(planner, f.first, ENTRY_ARGUMENTS),
				     .entry_cookie = libgomp__cookie(RING_CANCEL, functions[i].a),
				     .return_cookie = cookie__make(RING_CANCEL, COOKIE_ALWAYS, 0,
								   COOKIE_REG_NONE, COOKIE_REG_NONE, 0, 1, 0),
				     .event = "cancel",
				     .function = functions[i].function,
				     .reads = "edi = what, [rsp] = call site; al at return"});
	}
}

/*
 * Whether the jump depends on whether a byte that the first argument points to is 0. *when: how the jump
 * goes if the byte is not 0. *home: a register that then holds the argument.
 */
static bool tests_byte_of_first(const struct planner *planner, const struct code_range *f, size_t jump,
				uint32_t *when, struct code_operand *home)
{
	const struct code_insn *in = code__at(planner->code, jump), *test = code__at(planner->code, jump - 1);
	struct code_operand base = {.type = OPERAND_REG, .index = CODE_REG_NONE, .wide = true};
	uint8_t first = planner__argument(planner, 0);
	bool if_set;

	if (in->flow != FLOW_BRANCH || !in->emulated)
		return false;
	if (in->test & COOKIE_TEST_REGISTER) { /* a load, then the test of the register */
		if (test->operand_count < 2 || test->operand[0].type != OPERAND_REG ||
		    test->operand[0].reg != (in->test & 31) || test->operand[1].type != OPERAND_MEMORY)
			return false;
		base.reg = test->operand[1].reg;
		if_set = in->test & COOKIE_TEST_SET;
	} else {
		if (test->op != CODE_COMPARE || test->operand[0].type != OPERAND_MEMORY ||
		    (in->test | 1) != 5)
			return false;
		base.reg = test->operand[0].reg;
		if_set = in->test == 5;
	}
	*when = if_set ? COOKIE_IF_TAKEN : COOKIE_IF_NOT_TAKEN;
	return base.reg < CODE_REG_SP && code_paths__is_argument(planner->code, f, jump - 1, &base, first) &&
	       code_paths__argument_home(planner->code, f, jump, first, false, home) &&
	       home->type == OPERAND_REG;
}

/*
 * An event handle is the address of its task. An undeferred task is not recorded here, because its creator
 * waits for it. A byte of the task tells it apart at the first jump.
 */
static void find_fulfill(struct planner *planner)
{
	struct code_range f;
	size_t at;
	uint32_t when = COOKIE_ALWAYS, condition = 0;
	struct code_operand home;
	char reads[64];

	if (!planner__function(planner, "omp_fulfill_event", &f)) {
		planner__missing(planner, "omp_fulfill_event");
		return;
	}
	for (at = f.first + 1; at < f.end && at < f.first + 16; at++) {
		const struct code_insn *in = code__at(planner->code, at);

		if (tests_byte_of_first(planner, &f, at, &when, &home)) {
			condition = in->test;
			break;
		}
		if (in->flow != FLOW_NEXT)
			break;
	}
	if (when == COOKIE_ALWAYS) {
		at = planner__entry_point(planner, f.first, ENTRY_ARGUMENTS);
		home.reg = planner__argument(planner, 0);
	}
	snprintf(reads, sizeof(reads), "%s = task", planner__reg_name(planner, home.reg));
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie = cookie__make(RING_TASK_FULFILL, when, condition,
								       home.reg, COOKIE_REG_NONE, 0, 0, 0),
					  .event = "fulfill",
					  .function = "omp_fulfill_event",
					  .reads = reads});
}

static void find_group_and_single(struct planner *planner)
{
	struct code_range f;

	if (planner__function(planner, "GOMP_taskgroup_start", &f))
		planner__add(planner,
			     &(struct point_spec){.insn = planner__entry_point(planner, f.first, 0),
						  .entry_cookie = libgomp__cookie(RING_GROUP_BEGIN, 0),
						  .event = "taskgroup-begin",
						  .function = "GOMP_taskgroup_start",
						  .reads = "[rsp] = call site"});
	else
		planner__missing(planner, "GOMP_taskgroup_start");
	if (planner__function(planner, "GOMP_single_start", &f))
		planner__add(planner, &(struct point_spec){.insn = planner__entry_point(planner, f.first, 0),
							   .return_cookie = libgomp__cookie(RING_SINGLE, 0),
							   .event = "single",
							   .function = "GOMP_single_start",
							   .reads = "al = won, at return"});
	else
		planner__missing(planner, "GOMP_single_start");
}

int libgomp_waits__find(struct planner *planner)
{
	find_waits(planner);
	find_reduction_barrier(planner);
	find_taskwait_depend(planner);
	if (!find_depend_wait(planner))
		planner__missing(planner, "the wait of undeferred tasks for their dependences");
	find_cancel(planner);
	find_fulfill(planner);
	find_group_and_single(planner);
	return 0;
}
