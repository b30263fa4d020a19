// SPDX-License-Identifier: BSD-2-Clause
/*
 * libomp's tasks: the exported functions that create them, the only internal function that calls their
 * bodies, and the internal functions that make the tasks of a taskloop.
 */
#include "uprobes/libomp/libomp_patterns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Bit 24 of the flags says that the task belongs to GCC's code. This is that byte's offset from the flags'
 * word.
 */
#define NATIVE_BYTE 3
#define NATIVE_MASK 1

#define FLAGS_WORDS_MAX (64 * 64 - 1) /* the largest distance that a cookie can express */

static const struct code_insn *at(const struct planner *planner, size_t i)
{
	return code__at(planner->code, i);
}

/* The call through a pointer that ends the straight-line code at `from`. */
static size_t indirect_call(const struct planner *planner, size_t from)
{
	for (size_t i = from; i < code__count(planner->code) && i < from + 8; i++) {
		if (at(planner, i)->flow == FLOW_CALL)
			return at(planner, i)->target ? CODE_NONE : i;
		if (at(planner, i)->flow != FLOW_NEXT)
			break;
	}
	return CODE_NONE;
}

/* `mov rdi, [task]` before the call. A body of GCC's code takes only its data. */
static uint8_t data_of(const struct planner *planner, size_t from, size_t call)
{
	for (size_t i = call; i-- > from;) {
		const struct code_insn *in = at(planner, i);

		if (!insn__writes(in, planner__argument(planner, 0)))
			continue;
		return in->op == CODE_COPY && in->operand[1].type == OPERAND_MEMORY &&
				       in->operand[1].value == 0 && in->operand[1].index == CODE_REG_NONE &&
				       !in->operand[1].thread
			       ? in->operand[1].reg
			       : CODE_REG_NONE;
	}
	return CODE_REG_NONE;
}

/* Before the call, rsi is the task and edi the thread's number. This is a body of clang's code. */
static bool passes_task(const struct planner *planner, size_t from, size_t call, uint8_t task)
{
	uint8_t second = planner__argument(planner, 1);
	bool passed = task == second, thread = false;

	for (size_t i = from; i < call; i++) {
		const struct code_insn *in = at(planner, i);

		if (insn__writes(in, second))
			passed = in->op == CODE_COPY && operand__is(&in->operand[1], task);
		thread |= insn__writes(in, planner__argument(planner, 0));
	}
	return passed && thread;
}

struct body_calls {
	size_t branch; /* which of the two calls */
	size_t calls[2];
	uint8_t task;
	int flags_at; /* offset of the task's flags from the task; 0: unknown */
};

/* Whether the conditional jump chooses between the two ways to call a body. */
static bool is_body_choice(const struct planner *planner, size_t branch, struct body_calls *out)
{
	const struct code_insn *in = at(planner, branch);
	size_t way[2] = {branch + 1, in->target ? code__find(planner->code, in->target) : CODE_NONE};

	if (in->flow != FLOW_BRANCH || !in->emulated || way[1] == CODE_NONE)
		return false;
	for (int k = 0; k < 2; k++) {
		out->calls[k] = indirect_call(planner, way[k]);
		if (out->calls[k] == CODE_NONE)
			return false;
	}
	for (int k = 0; k < 2; k++) {
		uint8_t task = data_of(planner, way[k], out->calls[k]);

		if (task == CODE_REG_NONE || planner__cookie_reg(task) == COOKIE_REG_NONE ||
		    !passes_task(planner, way[!k], out->calls[!k], task))
			continue;
		out->branch = branch;
		out->task = task;
		return true;
	}
	return false;
}

/*
 * The offset from the task to its flags. `memory` must be the place of the bit that says that the task
 * belongs to GCC's code: in the flags' word, or alone in its byte. 0: it is not.
 */
static int flags_of(const struct planner *planner, const struct body_calls *body, size_t insn,
		    const struct code_operand *memory, bool byte)
{
	int64_t displacement = memory->value - (byte ? NATIVE_BYTE : 0);
	uint8_t base = memory->reg;

	/*
	 * The base may be a register that was made from the function's second argument: lea base, [rsi - n]
	 */
	for (size_t k = insn; base != body->task && k-- > 0 && insn - k < 400;) {
		const struct code_insn *in = at(planner, k);

		if (!in->operand_count || !operand__is(&in->operand[0], base))
			continue;
		if (in->op == CODE_ADDRESS && in->operand[1].reg == planner__argument(planner, 1))
			displacement += in->operand[1].value;
		else if (in->op == CODE_SUB && in->operand_count == 3 &&
			 in->operand[1].type == OPERAND_VALUE &&
			 (operand__is(&in->operand[2], body->task) ||
			  operand__is(&in->operand[2], planner__argument(planner, 1))))
			displacement -= in->operand[1].value;
		else
			continue;
		base = body->task;
	}
	return base == body->task && displacement < 0 && displacement % 4 == 0 && displacement > INT16_MIN
		       ? (int)displacement
		       : 0;
}

/*
 * The test before the choice tests a bit of the task's flags. Returns the offset of the flags from the
 * task.
 */
static int find_flags(const struct planner *planner, const struct body_calls *body)
{
	uint32_t test = at(planner, body->branch)->test, bit = test >> 5 & 127;

	for (size_t i = body->branch; i-- > 0 && body->branch - i < 4;) {
		const struct code_insn *in = at(planner, i);
		const struct code_operand *o = in->operand;

		if (in->flow != FLOW_NEXT)
			return 0;
		if (test & COOKIE_TEST_REGISTER) { /* a load, then the test of a bit of the register */
			if (!insn__writes(in, test & 31))
				continue;
			return in->operand_count == 2 && o[1].type == OPERAND_MEMORY &&
					       o[1].index == CODE_REG_NONE &&
					       (bit == 0 || bit == 8 * NATIVE_BYTE)
				       ? flags_of(planner, body, i, &o[1], bit == 0)
				       : 0;
		}
		if (in->op != CODE_TEST)
			continue;
		if (o[0].type != OPERAND_MEMORY || o[1].type != OPERAND_VALUE ||
		    o[0].index != CODE_REG_NONE ||
		    (o[1].value != NATIVE_MASK && o[1].value != NATIVE_MASK << 8 * NATIVE_BYTE))
			return 0;
		return flags_of(planner, body, i, &o[0], o[1].value == NATIVE_MASK);
	}
	return 0;
}

/* The first conditional jump after the call, behind any unconditional jumps. */
static size_t first_branch(const struct planner *planner, size_t from)
{
	size_t i = from;

	for (int steps = 0; steps < 24 && i != CODE_NONE && i < code__count(planner->code); steps++) {
		const struct code_insn *in = at(planner, i);

		if (in->flow == FLOW_BRANCH && in->emulated)
			return i;
		if (in->flow == FLOW_JUMP && in->target)
			i = code__find(planner->code, in->target);
		else if (in->flow == FLOW_NEXT)
			i++;
		else
			break;
	}
	return CODE_NONE;
}

static int find_bodies(struct planner *planner, struct body_calls *body)
{
	char reads[64];
	size_t found = 0;

	/* Compilers may make two such tests. The calls are the same. */
	for (size_t i = 0; i < code__count(planner->code); i++) {
		struct body_calls candidate;

		if (at(planner, i)->flow != FLOW_BRANCH || !is_body_choice(planner, i, &candidate))
			continue;
		if (found && (candidate.task != body->task ||
			      candidate.calls[0] + candidate.calls[1] != body->calls[0] + body->calls[1]))
			return planner__refuse(planner, "the one place where the bodies of tasks are called");
		*body = candidate;
		found++;
		snprintf(reads, sizeof(reads), "%s = task, [%s+8] = body",
			 planner__reg_name(planner, body->task), planner__reg_name(planner, body->task));
		planner__add(planner,
			     &(struct point_spec){.insn = i,
						  .entry_cookie =
							  cookie__make(RING_TASK_BEGIN, COOKIE_ALWAYS, 0,
								       planner__cookie_reg(body->task),
								       COOKIE_REG_NONE, 0, 0, 0),
						  .event = "task-begin",
						  .function = "__kmp_invoke_task",
						  .reads = reads});
	}
	if (!found)
		return planner__refuse(planner, "where the bodies of tasks are called");
	body->flags_at = find_flags(planner, body);
	for (int k = 0; k < 2; k++) {
		size_t end = first_branch(planner, body->calls[k] + 1);

		if (end == CODE_NONE)
			return planner__refuse(planner, "the end of the bodies of tasks");
		planner__add(planner,
			     &(struct point_spec){.insn = end,
						  .entry_cookie = cookie__make(RING_TASK_END, COOKIE_ALWAYS,
									       0, COOKIE_REG_NONE,
									       COOKIE_REG_NONE, 0, 0, 0),
						  .event = "task-end",
						  .function = "__kmp_invoke_task",
						  .reads = "-"});
	}
	return 0;
}

/* Starts of functions that are exported or called. */
struct starts {
	size_t *first; /* indices of instructions, ascending */
	size_t count;
};

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int starts__find(const struct planner *planner, struct starts *out)
{
	size_t capacity = elf_image__function_count(planner->image), n = 0;

	for (size_t i = 0; i < code__count(planner->code); i++)
		capacity += at(planner, i)->flow == FLOW_CALL && at(planner, i)->target;
	out->first = malloc((capacity + 1) * sizeof(*out->first));
	if (!out->first)
		return -ENOMEM;
	for (size_t i = 0; i < elf_image__function_count(planner->image); i++)
		out->first[n++] = code__find(planner->code, elf_image__function(planner->image, i)->address);
	for (size_t i = 0; i < code__count(planner->code); i++)
		if (at(planner, i)->flow == FLOW_CALL && at(planner, i)->target)
			out->first[n++] = code__find(planner->code, at(planner, i)->target);
	qsort(out->first, n, sizeof(*out->first), by_index);
	out->count = 0;
	for (size_t i = 0; i < n && out->first[i] != CODE_NONE; i++)
		if (!out->count || out->first[out->count - 1] != out->first[i])
			out->first[out->count++] = out->first[i];
	return 0;
}

/* The function that contains the instruction or starts at it. */
static struct code_range starts__around(const struct starts *starts, const struct planner *planner,
					size_t insn)
{
	size_t low = 0, high = starts->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (starts->first[mid] <= insn)
			low = mid + 1;
		else
			high = mid;
	}
	return (struct code_range){low ? starts->first[low - 1] : 0,
				   low < starts->count ? starts->first[low] : code__count(planner->code)};
}

/* The functions that `f` calls, without repetition. */
#define CALLEES_MAX 64

static size_t callees(const struct planner *planner, struct code_range f, size_t out[CALLEES_MAX])
{
	size_t count = 0;

	for (size_t i = f.first; i < f.end; i++) {
		size_t callee = at(planner, i)->flow == FLOW_CALL ? libomp__callee(planner, i) : CODE_NONE,
		       k = 0;

		while (k < count && out[k] != callee)
			k++;
		if (callee != CODE_NONE && k == count && count < CALLEES_MAX)
			out[count++] = callee;
	}
	return count;
}

static bool calls(const struct planner *planner, struct code_range f, size_t callee)
{
	size_t list[CALLEES_MAX], n = callees(planner, f, list);

	for (size_t i = 0; i < n; i++)
		if (list[i] == callee)
			return true;
	return false;
}

/*
 * Whether `f` is a function (loc, gtid, task, ...) that enqueues the task or executes it at once. It passes
 * its third argument on as the second one of the function that calls bodies, or of a function that calls
 * that one.
 */
static bool is_enqueuer(const struct planner *planner, const struct starts *starts, size_t function,
			size_t invoke)
{
	struct code_range f = starts__around(starts, planner, function);
	uint8_t task = CODE_REG_NONE;

	for (size_t i = f.first; i < f.end; i++) {
		const struct code_insn *in = at(planner, i);
		size_t callee = in->flow == FLOW_CALL ? libomp__callee(planner, i) : CODE_NONE;

		if (task == CODE_REG_NONE) {
			/* it is kept in a register before anything else happens */
			if (in->flow != FLOW_NEXT || i > f.first + 24)
				return false;
			if (in->op == CODE_COPY && in->operand[0].type == OPERAND_REG &&
			    operand__is(&in->operand[1], planner__argument(planner, 2)))
				task = in->operand[0].reg;
			continue;
		}
		if (insn__writes(in, task) && in->op != CODE_POP)
			return false;
		if (callee == CODE_NONE ||
		    (callee != invoke && !calls(planner, starts__around(starts, planner, callee), invoke)))
			continue;
		for (size_t k = i; k-- > f.first && at(planner, k)->flow == FLOW_NEXT;)
			if (insn__writes(at(planner, k), planner__argument(planner, 1)))
				return at(planner, k)->op == CODE_COPY &&
				       operand__is(&at(planner, k)->operand[1], task);
	}
	return false;
}

/*
 * The enqueuer that the function calls, if the function also calls through a pointer (to copy private
 * data). CODE_NONE: there is none.
 */
static size_t enqueuer_in(const struct planner *planner, const struct starts *starts, struct code_range f,
			  size_t invoke)
{
	size_t list[CALLEES_MAX], n = callees(planner, f, list);
	bool copies = false;

	for (size_t i = f.first; i < f.end; i++)
		copies |= at(planner, i)->flow == FLOW_CALL && !at(planner, i)->target;
	for (size_t i = 0; copies && i < n; i++)
		if (list[i] != invoke && is_enqueuer(planner, starts, list[i], invoke))
			return list[i];
	return CODE_NONE;
}

/*
 * Whether __kmpc_taskloop, or a function that it calls, lets __kmpc_taskgroup make the taskgroup around the
 * tasks.
 */
static bool calls_taskgroup(const struct planner *planner, const struct starts *starts, struct code_range f)
{
	size_t list[CALLEES_MAX], n = callees(planner, f, list);
	struct code_range group;

	if (!planner__function(planner, "__kmpc_taskgroup", &group) || calls(planner, f, group.first))
		return true;
	for (size_t i = 0; i < n; i++)
		if (calls(planner, starts__around(starts, planner, list[i]), group.first))
			return true;
	return false;
}

static void add_taskloop(struct planner *planner, const struct starts *starts, const char *function,
			 uint32_t flags_words)
{
	struct code_range f;

	if (!planner__function(planner, function, &f))
		return;
	libomp__add_span(planner, &(struct libomp_span){.function = function,
							.event = "taskloop-begin",
							.end_event = "taskloop-end",
							.reads = "[rdx+8] = body, [rsp] = call site",
							.kind = RING_TASKLOOP_BEGIN,
							.variant = calls_taskgroup(planner, starts, f)
									   ? LIBOMP_TASKLOOP_PLAIN
									   : LIBOMP_TASKLOOP_GROUPS,
							.a = flags_words & 63,
							.b = flags_words >> 6,
							.end_kind = RING_TASKLOOP_END});
}

/*
 * Follows the calls from __kmpc_taskloop, through the function that it shares with its newer form, to the
 * two functions that make tasks. The first makes them one after another. The second splits the loop and
 * calls the first.
 */
static void find_taskloops(struct planner *planner, const struct body_calls *body, uint32_t flags_words)
{
	size_t first[CALLEES_MAX], n, linear = CODE_NONE, enqueue = CODE_NONE, invoke;
	struct starts starts = {0};
	struct code_range f;

	if (!planner__function(planner, "__kmpc_taskloop", &f))
		return;
	planner->status = starts__find(planner, &starts);
	if (planner->status)
		return;
	add_taskloop(planner, &starts, "__kmpc_taskloop", flags_words);
	add_taskloop(planner, &starts, "__kmpc_taskloop_5", flags_words);
	invoke = starts__around(&starts, planner, body->branch).first;
	n = callees(planner, f, first);
	for (size_t i = 0; i < n && enqueue == CODE_NONE; i++) {
		size_t second[CALLEES_MAX],
			m = callees(planner, starts__around(&starts, planner, first[i]), second);

		for (size_t k = 0; k < m; k++) {
			struct code_range g = starts__around(&starts, planner, second[k]);
			size_t found = enqueuer_in(planner, &starts, g, invoke);

			if (found == CODE_NONE)
				continue;
			enqueue = found;
			if (linear == CODE_NONE ||
			    calls(planner, starts__around(&starts, planner, linear), second[k]))
				linear = second[k];
		}
	}
	if (enqueue == CODE_NONE) {
		planner__missing(planner, "the tasks of taskloops");
		goto out;
	}
	f = starts__around(&starts, planner, linear);
	libomp__add_span_at(planner, &f,
			    &(struct libomp_span){.function = "__kmp_taskloop_linear",
						  .event = "taskloop-tasks",
						  .reads = "rdx = task, rcx, r8 = where its bounds are",
						  .a = LIBOMP_KEEP_TASKLOOP});
	f = starts__around(&starts, planner, enqueue);
	libomp__add_span_at(planner, &f,
			    &(struct libomp_span){.function = "__kmp_omp_taskloop_task",
						  .event = "task-create",
						  .end_event = "task-create-end",
						  .reads = "rdx = task, its bounds and flags",
						  .kind = RING_TASK_CREATE,
						  .variant = LIBOMP_CREATE_TASKLOOP,
						  .a = flags_words & 63,
						  .b = flags_words >> 6,
						  .end_kind = RING_TASK_CREATE_END});
out:
	free(starts.first);
}

/*
 * omp_fulfill_event(event), or its Fortran form. Finds where the event holds its task, from the first
 * pointer that is read at an offset from the event.
 */
static void find_fulfill(struct planner *planner, const char *function)
{
	struct code_range f;
	size_t first;

	if (!planner__function(planner, function, &f))
		return;
	first = f.first;
	for (int depth = 0; depth < 3; depth++) {
		size_t next = CODE_NONE;
		uint8_t first_argument = planner__argument(planner, 0), event = first_argument;

		for (size_t i = first; i < code__count(planner->code) && i < first + 40; i++) {
			const struct code_insn *in = at(planner, i);

			if (in->op == CODE_COPY && operand__is(&in->operand[1], first_argument) &&
			    in->operand[0].type == OPERAND_REG)
				event = in->operand[0].reg;
			if (in->op == CODE_COPY && in->operand[0].type == OPERAND_REG &&
			    in->operand[0].wide && in->operand[1].type == OPERAND_MEMORY &&
			    (in->operand[1].reg == event || in->operand[1].reg == first_argument) &&
			    !in->operand[1].thread && in->operand[1].value >= 8 &&
			    in->operand[1].value <= 64 && in->operand[1].value % 8 == 0) {
				libomp__add_span(planner,
						 &(struct libomp_span){.function = function,
								       .event = "task-fulfill",
								       .reads = "[rdi+n] = task",
								       .kind = RING_TASK_FULFILL,
								       .a = (uint32_t)in->operand[1].value /
									    8});
				return;
			}
			if (libomp__callee(planner, i) != CODE_NONE && next == CODE_NONE)
				next = libomp__callee(planner, i);
			if (in->flow == FLOW_RETURN || in->flow == FLOW_JUMP)
				break;
		}
		if (next == CODE_NONE)
			break;
		first = next;
	}
	planner__missing(planner, function);
}

int libomp_tasks__find(struct planner *planner)
{
	struct body_calls body = {0};
	uint32_t words, low, high;
	int r = find_bodies(planner, &body);

	if (r)
		return r;
	words = (uint32_t)(-body.flags_at / 4);
	if (words > FLAGS_WORDS_MAX)
		words = 0;
	low = words & 63;
	high = words >> 6;
	const struct libomp_span spans[] = {
		{.function = "__kmpc_omp_task",
		 .event = "task-create",
		 .end_event = "task-create-end",
		 .reads = "rdx = task, its flags, [rsp] = call site",
		 .kind = RING_TASK_CREATE,
		 .variant = LIBOMP_CREATE_PLAIN,
		 .a = low,
		 .b = high,
		 .end_kind = RING_TASK_CREATE_END},
		{.function = "__kmpc_omp_task_with_deps",
		 .event = "task-create",
		 .end_event = "task-create-end",
		 .reads = "rdx = task, ecx, r8, r9d, [rsp+8] = dependences",
		 .kind = RING_TASK_CREATE,
		 .variant = LIBOMP_CREATE_DEPEND,
		 .a = low,
		 .b = high,
		 .end_kind = RING_TASK_CREATE_END},
		{.function = "__kmpc_omp_task_begin_if0",
		 .event = "undeferred-begin",
		 .reads = "[rdx+8] = body, [rsp] = call site",
		 .kind = RING_UNDEFERRED_BEGIN,
		 .a = low,
		 .b = high},
		{.function = "__kmpc_omp_task_complete_if0",
		 .event = "undeferred-end",
		 .reads = "-",
		 .kind = RING_UNDEFERRED_END},
	};

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		if (!libomp__add_span(planner, &spans[i]))
			return planner__refuse(planner, spans[i].function);
	find_taskloops(planner, &body, words);
	find_fulfill(planner, "omp_fulfill_event");
	find_fulfill(planner, "omp_fulfill_event_");
	return 0;
}
