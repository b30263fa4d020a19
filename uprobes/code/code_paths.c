// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/code/code_paths.h"

#include "uprobes/code/code_arch.h"

#include <stdlib.h>
#include <string.h>

/* Runtimes have no functions near this size. Without the limit, damaged files could take forever. */
#define FUNCTION_MAX 16384 /* instructions */
#define SEARCHED_MAX 4096  /* in instructions, for functions that need several searches per instruction */
#define SLOTS_MAX 32	   /* the most slots of a frame in which an argument is looked for */
#define PASSES_MAX 64	   /* the most passes over a function until nothing changes any more */

#define MAX_FRAME 65536

#define DEPTH_UNSEEN INT32_MIN
#define DEPTH_UNKNOWN (-1)

const char *path_edge__text(const struct path_edge *edge)
{
	switch (edge->when) {
	case COOKIE_IF_TAKEN:
		return "- (if it jumps)";
	case COOKIE_IF_NOT_TAKEN:
		return "- (if it does not jump)";
	default:
		return "-";
	}
}

static const struct code_insn *insn_at(const struct code *code, size_t i)
{
	return code__at(code, i);
}

/* The successors inside `f`: [0] is the next instruction, [1] the target of the jump. */
static void successors(const struct code *code, const struct code_range *f, size_t i, size_t next[2])
{
	const struct code_insn *in = insn_at(code, i);

	next[0] = next[1] = CODE_NONE;
	if ((in->flow == FLOW_NEXT || in->flow == FLOW_CALL || in->flow == FLOW_BRANCH) && i + 1 < f->end)
		next[0] = i + 1;
	if ((in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP) && in->target) {
		size_t to = code__find(code, in->target);

		if (to != CODE_NONE && to >= f->first && to < f->end)
			next[1] = to;
	}
}

static bool is_sane(const struct code_range *f)
{
	return f->end > f->first && f->end - f->first <= FUNCTION_MAX;
}

/* Marks in `seen` (one per instruction of `f`) everything that is reachable from `from`, including `from`. */
static bool reach(const struct code *code, const struct code_range *f, size_t from, size_t avoiding,
		  bool *seen)
{
	size_t *work = calloc(f->end - f->first, sizeof(*work)), pending = 0;

	if (!work)
		return false;
	work[pending++] = from;
	seen[from - f->first] = true;
	while (pending) {
		size_t next[2];

		successors(code, f, work[--pending], next);
		for (int k = 0; k < 2; k++) {
			if (next[k] == CODE_NONE || next[k] == avoiding || seen[next[k] - f->first])
				continue;
			seen[next[k] - f->first] = true;
			work[pending++] = next[k];
		}
	}
	free(work);
	return true;
}

bool code_paths__reaches(const struct code *code, const struct code_range *f, size_t from, size_t to,
			 size_t avoiding)
{
	bool *seen = calloc(f->end - f->first, sizeof(*seen)), found;

	found = seen && from != avoiding && reach(code, f, from, avoiding, seen) && seen[to - f->first];
	free(seen);
	return found;
}

size_t code_paths__parting(const struct code *code, const struct code_range *f, size_t to, size_t other,
			   size_t *out, size_t room)
{
	size_t size = f->end - f->first, count = 0;
	bool *inside = calloc(size, sizeof(*inside)), *from = calloc(size, sizeof(*from));

	if (!inside || !from || size > SEARCHED_MAX || !is_sane(f) ||
	    !reach(code, f, f->first, CODE_NONE, from))
		goto out;
	for (size_t i = f->first; i < f->end; i++)
		inside[i - f->first] = from[i - f->first] && code_paths__reaches(code, f, i, to, CODE_NONE) &&
				       !code_paths__reaches(code, f, i, other, CODE_NONE);
	for (size_t i = f->first; i < f->end; i++) {
		size_t next[2];

		if (!from[i - f->first] || inside[i - f->first])
			continue;
		successors(code, f, i, next);
		for (int k = 0; k < 2; k++) {
			size_t n = 0;

			if (next[k] == CODE_NONE || !inside[next[k] - f->first])
				continue;
			while (n < count && out[n] != next[k])
				n++;
			if (n == room) {
				count = 0;
				goto out;
			}
			if (n == count)
				out[count++] = next[k];
		}
	}
out:
	free(inside);
	free(from);
	return count;
}

/* Whether the instruction is a call that returning code may make: a call of an imported function. */
static bool calls_import(const struct code *code, const struct code_insn *in, const char *only)
{
	const char *name = in->flow == FLOW_CALL && in->target ? code__plt_name(code, in->target) : NULL;

	return name && (!only || strcmp(name, only) == 0);
}

/* Marks returning code: straight-line code up to a `ret` that calls only imported functions. */
static void mark_returns(const struct code *code, const struct code_range *f, bool *returns)
{
	for (size_t i = f->first; i < f->end; i++) {
		if (insn_at(code, i)->flow != FLOW_RETURN)
			continue;
		returns[i - f->first] = true;
		for (size_t j = i; j > f->first; j--) {
			const struct code_insn *in = insn_at(code, j - 1);

			if (in->flow != FLOW_NEXT && !calls_import(code, in, NULL))
				break;
			returns[j - 1 - f->first] = true;
		}
	}
}

/* Adds code that leads only to returning code and at most frees memory, except what is `barred`. */
static bool mark_cleanup(const struct code *code, const struct code_range *f, const bool *barred,
			 bool *returns)
{
	bool changed = true;

	for (int passes = 0; changed; passes++) {
		changed = false;
		if (passes == PASSES_MAX)
			return false;
		for (size_t i = f->end; i-- > f->first;) {
			const struct code_insn *in = insn_at(code, i);
			int lead = 0;
			size_t next[2];

			if (returns[i - f->first] || barred[i - f->first] ||
			    (in->flow == FLOW_CALL && !calls_import(code, in, "free")))
				continue;
			successors(code, f, i, next);
			for (int k = 0; k < 2; k++)
				lead += next[k] != CODE_NONE && returns[next[k] - f->first];
			if (lead == (in->flow == FLOW_BRANCH ? 2 : 1))
				returns[i - f->first] = changed = true;
		}
	}
	return true;
}

/*
 * Looks for straight-line code of `returns` that other code enters without a jump. Bars the jump at its
 * end, so that this jump becomes the entrance. Returns whether there was such code.
 */
static bool bar_entered(const struct code *code, const struct code_range *f, const bool *seen,
			const bool *returns, bool *barred)
{
	bool any = false;

	for (size_t i = f->first; i + 1 < f->end; i++) {
		const struct code_insn *in = insn_at(code, i);
		size_t j = i + 1;

		if (!seen[i - f->first] || returns[i - f->first] || !returns[j - f->first] ||
		    (in->flow != FLOW_NEXT && in->flow != FLOW_CALL))
			continue;
		while (j < f->end && returns[j - f->first] && insn_at(code, j)->flow != FLOW_JUMP &&
		       insn_at(code, j)->flow != FLOW_BRANCH && insn_at(code, j)->flow != FLOW_RETURN)
			j++;
		if (j < f->end && insn_at(code, j)->flow != FLOW_RETURN && !barred[j - f->first])
			any = barred[j - f->first] = true;
	}
	return any;
}

static bool add_edge(struct path_edge *edges, size_t *count, size_t insn, uint32_t when)
{
	if (*count == PATH_EDGES_MAX)
		return false;
	edges[(*count)++] = (struct path_edge){insn, when};
	return true;
}

size_t code_paths__exits(const struct code *code, const struct code_range *f, size_t from, unsigned flags,
			 struct path_edge edges[PATH_EDGES_MAX])
{
	size_t size = f->end - f->first, count = 0;
	bool *seen = calloc(size, sizeof(*seen)), *returns = calloc(size, sizeof(*returns)), ok = false;
	bool *barred = calloc(size, sizeof(*barred));

	if (!seen || !returns || !barred || !is_sane(f) || !reach(code, f, from, CODE_NONE, seen))
		goto out;
	do {
		memset(returns, 0, size * sizeof(*returns));
		mark_returns(code, f, returns);
		if (flags & PATH_CLEANUP && !mark_cleanup(code, f, barred, returns))
			goto out;
	} while (flags & PATH_CLEANUP && bar_entered(code, f, seen, returns, barred));
	if (returns[from - f->first])
		goto out;
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = insn_at(code, i);
		size_t next[2];
		bool falls, jumps;

		if (!seen[i - f->first] || returns[i - f->first])
			continue;
		if (in->flow == FLOW_JUMP && !in->target)
			goto out;
		successors(code, f, i, next);
		falls = next[0] != CODE_NONE && returns[next[0] - f->first];
		jumps = next[1] != CODE_NONE && returns[next[1] - f->first];
		if (in->flow == FLOW_JUMP && next[1] == CODE_NONE) {
			if (!(flags & PATH_TAIL_CALLS))
				goto out;
			jumps = true;
		}
		if (!falls && !jumps)
			continue;
		if ((in->flow != FLOW_BRANCH && in->flow != FLOW_JUMP) || !in->emulated)
			goto out;
		if (!add_edge(edges, &count, i,
			      in->flow == FLOW_JUMP || (falls && jumps) ? COOKIE_ALWAYS
			      : jumps					? COOKIE_IF_TAKEN
									: COOKIE_IF_NOT_TAKEN))
			goto out;
	}
	ok = true;
out:
	free(seen);
	free(returns);
	free(barred);
	return ok ? count : 0;
}

#define TRACE_MAX 64 /* the most values that are followed back for one question */

struct trace {
	const struct code *code;
	const struct code_range *f;
	uint8_t argument;
	bool narrow; /* half of the register is enough */
	struct {
		size_t at;
		struct code_operand value;
	} seen[TRACE_MAX];
	size_t count;
};

static bool is_slot(const struct trace *t, const struct code_operand *o)
{
	return operand__is_at(o, code__arch(t->code)->frame_pointer);
}

static bool same_value(const struct code_operand *a, const struct code_operand *b)
{
	return a->type == b->type && a->reg == b->reg && (a->type == OPERAND_REG || a->value == b->value);
}

static bool defines(const struct trace *t, const struct code_insn *in, const struct code_operand *value)
{
	struct code_operand to, from;

	if (value->type == OPERAND_REG)
		return insn__writes(in, value->reg);
	if (insn__move(in, 1, &to, &from) && is_slot(t, &to) && same_value(&to, value))
		return true;
	return in->flow == FLOW_NEXT && in->operand_count && in->op != CODE_COMPARE && in->op != CODE_TEST &&
	       is_slot(t, &in->operand[0]) && same_value(&in->operand[0], value);
}

static bool comes_from_argument(struct trace *t, size_t at, const struct code_operand *value);

/* The instruction defines `value`. Whether it makes `value` the argument. */
static bool copies_argument(struct trace *t, size_t at, const struct code_operand *value)
{
	const struct code_insn *in = insn_at(t->code, at);
	struct code_operand to, from;

	for (int k = 0; insn__move(in, k, &to, &from); k++)
		if (same_value(&to, value))
			return ((from.type == OPERAND_REG && (from.wide || t->narrow)) ||
				is_slot(t, &from)) &&
			       comes_from_argument(t, at, &from);
	return false;
}

/* A value that is already being followed back adds nothing new. */
static bool comes_from_argument(struct trace *t, size_t at, const struct code_operand *value)
{
	size_t size = t->f->end - t->f->first;
	bool *wanted, changed = true, ok = false;
	int passes = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->seen[i].at == at && same_value(&t->seen[i].value, value))
			return true;
	wanted = t->count < TRACE_MAX && is_sane(t->f) ? calloc(size, sizeof(*wanted)) : NULL;
	if (!wanted)
		return false;
	t->seen[t->count].at = at;
	t->seen[t->count++].value = *value;
	/* `wanted`: the question is about the value before this instruction. */
	wanted[at - t->f->first] = true;
	while (changed) {
		changed = false;
		if (passes++ == PASSES_MAX)
			goto out;
		for (size_t i = t->f->end; i-- > t->f->first;) {
			size_t next[2];

			if (wanted[i - t->f->first] || defines(t, insn_at(t->code, i), value))
				continue;
			successors(t->code, t->f, i, next);
			for (int k = 0; k < 2; k++)
				if (next[k] != CODE_NONE && wanted[next[k] - t->f->first])
					wanted[i - t->f->first] = changed = true;
		}
	}
	if (wanted[0] && (value->type != OPERAND_REG || value->reg != t->argument))
		goto out;
	for (size_t i = t->f->first; i < t->f->end; i++) {
		size_t next[2];
		bool leads = false;

		if (!defines(t, insn_at(t->code, i), value))
			continue;
		successors(t->code, t->f, i, next);
		for (int k = 0; k < 2; k++)
			leads |= next[k] != CODE_NONE && wanted[next[k] - t->f->first];
		if (leads && !copies_argument(t, i, value))
			goto out;
	}
	ok = true;
out:
	free(wanted);
	return ok;
}

static bool is_argument(const struct code *code, const struct code_range *f, size_t at,
			const struct code_operand *value, uint8_t argument, bool narrow)
{
	struct trace *t = calloc(1, sizeof(*t));
	bool ok;

	if (!t)
		return false;
	t->code = code;
	t->f = f;
	t->argument = argument;
	t->narrow = narrow;
	ok = (value->type == OPERAND_REG || is_slot(t, value)) && comes_from_argument(t, at, value);
	free(t);
	return ok;
}

bool code_paths__is_argument(const struct code *code, const struct code_range *f, size_t at,
			     const struct code_operand *value, uint8_t argument)
{
	return is_argument(code, f, at, value, argument, false);
}

bool code_paths__argument_home(const struct code *code, const struct code_range *f, size_t insn,
			       uint8_t argument, bool narrow, struct code_operand *out)
{
	struct code_operand home = {.type = OPERAND_REG, .index = CODE_REG_NONE, .wide = true};
	int64_t tried[SLOTS_MAX];
	size_t count = 0;

	if (f->end - f->first > SEARCHED_MAX)
		return false;

	home.reg = argument;
	if (is_argument(code, f, insn, &home, argument, narrow))
		goto found;
	for (home.reg = 0; home.reg < CODE_REG_SP; home.reg++)
		if (is_argument(code, f, insn, &home, argument, narrow))
			goto found;
	for (size_t i = f->first; i < f->end; i++) {
		struct code_operand from;

		for (int k = 0; insn__move(insn_at(code, i), k, &home, &from); k++) {
			size_t n = 0;

			while (n < count && tried[n] != home.value)
				n++;
			if (n < count || count == SLOTS_MAX ||
			    !operand__is_at(&home, code__arch(code)->frame_pointer))
				continue;
			tried[count++] = home.value;
			if (is_argument(code, f, insn, &home, argument, narrow))
				goto found;
		}
	}
	return false;
found:
	*out = home;
	return true;
}

size_t code_paths__loop_end(const struct code *code, const struct code_range *f, size_t inside)
{
	size_t size = f->end - f->first, end = CODE_NONE;
	bool *from = calloc(size, sizeof(*from)), *loop = calloc(size, sizeof(*loop)), changed = true;
	int passes = 0;

	if (!from || !loop || !is_sane(f) || !reach(code, f, inside, CODE_NONE, from))
		goto out;
	/* The loop is everything that is reachable from `inside` and leads back to it. */
	loop[inside - f->first] = true;
	while (changed) {
		changed = false;
		if (passes++ == PASSES_MAX)
			goto out;
		for (size_t i = f->end; i-- > f->first;) {
			size_t next[2];

			if (loop[i - f->first] || !from[i - f->first])
				continue;
			successors(code, f, i, next);
			for (int k = 0; k < 2; k++)
				if (next[k] != CODE_NONE && loop[next[k] - f->first])
					loop[i - f->first] = changed = true;
		}
	}
	for (size_t i = f->first; i < f->end; i++) {
		size_t next[2];

		if (!loop[i - f->first])
			continue;
		successors(code, f, i, next);
		for (int k = 0; k < 2; k++) {
			if (next[k] == CODE_NONE || loop[next[k] - f->first])
				continue;
			if (end != CODE_NONE || insn_at(code, i)->flow != FLOW_BRANCH ||
			    !insn_at(code, i)->emulated) {
				end = CODE_NONE;
				goto out;
			}
			end = i;
		}
	}
	if (end != CODE_NONE && code_paths__reaches(code, f, f->first, end, inside))
		end = CODE_NONE;
out:
	free(from);
	free(loop);
	return end;
}

/* The instruction that sets the function's frame pointer; CODE_NONE: there is none. */
static size_t sets_frame(const struct code *code, const struct code_range *f, int *depth)
{
	uint8_t frame = code__arch(code)->frame_pointer, link = code__arch(code)->link;
	int64_t down = 0, saved = -1;

	for (size_t i = f->first; i < f->end && i < f->first + 12; i++) {
		const struct code_insn *in = insn_at(code, i);
		struct code_operand to, from;
		bool copies;

		if (in->stack == CODE_STACK_UNKNOWN)
			return CODE_NONE;
		down += in->stack;
		if (in->op == CODE_PUSH && saved < 0) {
			if (!operand__is(&in->operand[0], frame))
				return CODE_NONE;
			saved = down;
		}
		/* This stores the pair of the caller's frame pointer and the return address. */
		if (in->pair && in->pair_reg == link && insn__move(in, 0, &to, &from) &&
		    operand__is(&from, frame) && operand__is_at(&to, CODE_REG_SP))
			saved = down - to.value;
		if (!insn__writes(in, frame))
			continue;
		copies = in->op == CODE_COPY && operand__is(&in->operand[1], CODE_REG_SP);
		if (in->op == CODE_ADD && in->operand_count == 3 &&
		    operand__is(&in->operand[2], CODE_REG_SP) && in->operand[1].type == OPERAND_VALUE) {
			copies = true;
			down -= in->operand[1].value;
		}
		*depth = (int)saved - (link == CODE_REG_NONE ? 0 : 8);
		return copies && saved > 0 && saved == down && saved < MAX_FRAME ? i : CODE_NONE;
	}
	return CODE_NONE;
}

bool code_paths__frame(const struct code *code, const struct code_range *f, int *depth)
{
	return sets_frame(code, f, depth) != CODE_NONE;
}

bool code_paths__return_address(const struct code *code, const struct code_range *f, size_t insn, int depth)
{
	size_t frame;
	int ignored;

	if (depth <= 0 || code__arch(code)->link == CODE_REG_NONE)
		return depth >= 0;
	frame = sets_frame(code, f, &ignored);
	return frame != CODE_NONE && frame != insn && !code_paths__reaches(code, f, f->first, insn, frame);
}

static int depth_after(const struct code_insn *in, int depth)
{
	return in->stack == CODE_STACK_UNKNOWN || in->stack < -depth ? DEPTH_UNKNOWN : depth + in->stack;
}

int code_paths__depth(const struct code *code, const struct code_range *f, size_t insn)
{
	size_t size = f->end - f->first, *work = calloc(2 * size, sizeof(*work)), pending = 0;
	int *depth = calloc(size, sizeof(*depth)), result = DEPTH_UNKNOWN;

	if (!work || !depth || !is_sane(f))
		goto out;
	for (size_t i = 0; i < size; i++)
		depth[i] = DEPTH_UNSEEN;
	depth[0] = 0;
	work[pending++] = f->first;
	while (pending) {
		size_t i = work[--pending], next[2];
		int after = depth[i - f->first];

		if (after != DEPTH_UNKNOWN)
			after = depth_after(insn_at(code, i), after);
		successors(code, f, i, next);
		for (int k = 0; k < 2; k++) {
			int *there = next[k] == CODE_NONE ? NULL : &depth[next[k] - f->first];

			if (!there || *there == after || *there == DEPTH_UNKNOWN)
				continue;
			/*
			 * Each instruction is queued at most twice: with its depth, and when another depth
			 * is found.
			 */
			*there = *there == DEPTH_UNSEEN ? after : DEPTH_UNKNOWN;
			work[pending++] = next[k];
		}
	}
	result = depth[insn - f->first] >= 0 ? depth[insn - f->first] : DEPTH_UNKNOWN;
	if (!code_paths__return_address(code, f, insn, result))
		result = DEPTH_UNKNOWN;
out:
	free(work);
	free(depth);
	return result;
}
