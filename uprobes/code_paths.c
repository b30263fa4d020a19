// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/code_paths.h"

#include <stdlib.h>
#include <string.h>

/* No function of a runtime comes near; damaged files must not take for ever. */
#define FUNCTION_MAX 16384 /* instructions */
#define PASSES_MAX 64	   /* over a function, until what is known of it no longer changes */

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

static const struct code_insn *insn_at(const struct planner *planner, size_t i)
{
	return code__at(planner->code, i);
}

/* The successors inside `f`: [0] by going on, [1] by the jump. */
static void successors(const struct planner *planner, const struct code_range *f, size_t i, size_t next[2])
{
	const struct code_insn *in = insn_at(planner, i);

	next[0] = next[1] = CODE_NONE;
	if ((in->flow == FLOW_NEXT || in->flow == FLOW_CALL || in->flow == FLOW_BRANCH) && i + 1 < f->end)
		next[0] = i + 1;
	if ((in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP) && in->target) {
		size_t to = code__find(planner->code, in->target);

		if (to != CODE_NONE && to >= f->first && to < f->end)
			next[1] = to;
	}
}

static bool is_sane(const struct code_range *f)
{
	return f->end > f->first && f->end - f->first <= FUNCTION_MAX;
}

/* Marks in `seen` (one per instruction of `f`) what is reachable from `from`, itself included. */
static bool reach(const struct planner *planner, const struct code_range *f, size_t from, size_t avoiding,
		  bool *seen)
{
	size_t *work = calloc(f->end - f->first, sizeof(*work)), pending = 0;

	if (!work)
		return false;
	work[pending++] = from;
	seen[from - f->first] = true;
	while (pending) {
		size_t next[2];

		successors(planner, f, work[--pending], next);
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

bool code_paths__reaches(const struct planner *planner, const struct code_range *f, size_t from, size_t to,
			 size_t avoiding)
{
	bool *seen = calloc(f->end - f->first, sizeof(*seen)), found;

	found = seen && from != avoiding && reach(planner, f, from, avoiding, seen) && seen[to - f->first];
	free(seen);
	return found;
}

/* Calls that the code that returns may make: of imported functions. */
static bool calls_import(const struct planner *planner, const struct code_insn *in, const char *only)
{
	const char *name =
		in->flow == FLOW_CALL && in->target ? code__plt_name(planner->code, in->target) : NULL;

	return name && (!only || strcmp(name, only) == 0);
}

/* The code that returns: straight-line up to a `ret`, calling imported functions at most. */
static void mark_returns(const struct planner *planner, const struct code_range *f, bool *returns)
{
	for (size_t i = f->first; i < f->end; i++) {
		if (insn_at(planner, i)->flow != FLOW_RETURN)
			continue;
		returns[i - f->first] = true;
		for (size_t j = i; j > f->first; j--) {
			const struct code_insn *in = insn_at(planner, j - 1);

			if (in->flow != FLOW_NEXT && !calls_import(planner, in, NULL))
				break;
			returns[j - 1 - f->first] = true;
		}
	}
}

/* Adds the code that leads nowhere else and does at most free memory, but for what is `barred`. */
static bool mark_cleanup(const struct planner *planner, const struct code_range *f, const bool *barred,
			 bool *returns)
{
	bool changed = true;

	for (int passes = 0; changed; passes++) {
		changed = false;
		if (passes == PASSES_MAX)
			return false;
		for (size_t i = f->end; i-- > f->first;) {
			const struct code_insn *in = insn_at(planner, i);
			int lead = 0;
			size_t next[2];

			if (returns[i - f->first] || barred[i - f->first] ||
			    (in->flow == FLOW_CALL && !calls_import(planner, in, "free")))
				continue;
			successors(planner, f, i, next);
			for (int k = 0; k < 2; k++)
				lead += next[k] != CODE_NONE && returns[next[k] - f->first];
			if (lead == (in->flow == FLOW_BRANCH ? 2 : 1))
				returns[i - f->first] = changed = true;
		}
	}
	return true;
}

/*
 * Bars the jump at the end of straight-line code of `returns` into which other
 * code goes on without a jump: that jump will be the way in. Returns whether
 * there was such code.
 */
static bool bar_entered(const struct planner *planner, const struct code_range *f, const bool *seen,
			const bool *returns, bool *barred)
{
	bool any = false;

	for (size_t i = f->first; i + 1 < f->end; i++) {
		const struct code_insn *in = insn_at(planner, i);
		size_t j = i + 1;

		if (!seen[i - f->first] || returns[i - f->first] || !returns[j - f->first] ||
		    (in->flow != FLOW_NEXT && in->flow != FLOW_CALL))
			continue;
		while (j < f->end && returns[j - f->first] && insn_at(planner, j)->flow != FLOW_JUMP &&
		       insn_at(planner, j)->flow != FLOW_BRANCH && insn_at(planner, j)->flow != FLOW_RETURN)
			j++;
		if (j < f->end && insn_at(planner, j)->flow != FLOW_RETURN && !barred[j - f->first])
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

size_t code_paths__exits(const struct planner *planner, const struct code_range *f, size_t from,
			 unsigned flags, struct path_edge edges[PATH_EDGES_MAX])
{
	size_t size = f->end - f->first, count = 0;
	bool *seen = calloc(size, sizeof(*seen)), *returns = calloc(size, sizeof(*returns)), ok = false;
	bool *barred = calloc(size, sizeof(*barred));

	if (!seen || !returns || !barred || !is_sane(f) || !reach(planner, f, from, CODE_NONE, seen))
		goto out;
	do {
		memset(returns, 0, size * sizeof(*returns));
		mark_returns(planner, f, returns);
		if (flags & PATH_CLEANUP && !mark_cleanup(planner, f, barred, returns))
			goto out;
	} while (flags & PATH_CLEANUP && bar_entered(planner, f, seen, returns, barred));
	if (returns[from - f->first])
		goto out;
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = insn_at(planner, i);
		size_t next[2];
		bool falls, jumps;

		if (!seen[i - f->first] || returns[i - f->first])
			continue;
		if (in->flow == FLOW_JUMP && !in->target)
			goto out;
		successors(planner, f, i, next);
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

#define TRACE_MAX 64 /* values followed back for one question */

struct trace {
	const struct planner *planner;
	const struct code_range *f;
	uint16_t argument;
	struct {
		size_t at;
		struct code_operand value;
	} seen[TRACE_MAX];
	size_t count;
};

static bool is_slot(const struct code_operand *o)
{
	return o->type == X86_OP_MEM && o->reg == X86_REG_RBP && o->index == X86_REG_INVALID && !o->segment;
}

static bool same_value(const struct code_operand *a, const struct code_operand *b)
{
	return a->type == b->type && a->reg == b->reg && (a->type == X86_OP_REG || a->value == b->value);
}

static bool defines(const struct code_insn *in, const struct code_operand *value)
{
	if (value->type == X86_OP_REG)
		return insn__writes(in, value->reg);
	return in->flow == FLOW_NEXT && in->operand_count && in->id != X86_INS_CMP &&
	       in->id != X86_INS_TEST && is_slot(&in->operand[0]) && same_value(&in->operand[0], value);
}

static bool comes_from_argument(struct trace *t, size_t at, const struct code_operand *value);

static bool copies_argument(struct trace *t, size_t at)
{
	const struct code_insn *in = insn_at(t->planner, at);
	const struct code_operand *from = &in->operand[1];

	return in->id == X86_INS_MOV && in->operand_count == 2 &&
	       ((from->type == X86_OP_REG && reg__wide(from->reg) == from->reg) || is_slot(from)) &&
	       comes_from_argument(t, at, from);
}

/* A value that is asked for again while it is being followed adds nothing. */
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
	/* `wanted`: the value before this instruction is the one in question. */
	wanted[at - t->f->first] = true;
	while (changed) {
		changed = false;
		if (passes++ == PASSES_MAX)
			goto out;
		for (size_t i = t->f->end; i-- > t->f->first;) {
			size_t next[2];

			if (wanted[i - t->f->first] || defines(insn_at(t->planner, i), value))
				continue;
			successors(t->planner, t->f, i, next);
			for (int k = 0; k < 2; k++)
				if (next[k] != CODE_NONE && wanted[next[k] - t->f->first])
					wanted[i - t->f->first] = changed = true;
		}
	}
	if (wanted[0] && (value->type != X86_OP_REG || value->reg != t->argument))
		goto out;
	for (size_t i = t->f->first; i < t->f->end; i++) {
		size_t next[2];
		bool leads = false;

		if (!defines(insn_at(t->planner, i), value))
			continue;
		successors(t->planner, t->f, i, next);
		for (int k = 0; k < 2; k++)
			leads |= next[k] != CODE_NONE && wanted[next[k] - t->f->first];
		if (leads && !copies_argument(t, i))
			goto out;
	}
	ok = true;
out:
	free(wanted);
	return ok;
}

bool code_paths__is_argument(const struct planner *planner, const struct code_range *f, size_t at,
			     const struct code_operand *value, uint16_t argument)
{
	struct trace *t = calloc(1, sizeof(*t));
	bool ok;

	if (!t)
		return false;
	t->planner = planner;
	t->f = f;
	t->argument = argument;
	ok = (value->type == X86_OP_REG || is_slot(value)) && comes_from_argument(t, at, value);
	free(t);
	return ok;
}

size_t code_paths__loop_end(const struct planner *planner, const struct code_range *f, size_t inside)
{
	size_t size = f->end - f->first, end = CODE_NONE;
	bool *from = calloc(size, sizeof(*from)), *loop = calloc(size, sizeof(*loop)), changed = true;
	int passes = 0;

	if (!from || !loop || !is_sane(f) || !reach(planner, f, inside, CODE_NONE, from))
		goto out;
	/* What is reachable from `inside` and leads back to it. */
	loop[inside - f->first] = true;
	while (changed) {
		changed = false;
		if (passes++ == PASSES_MAX)
			goto out;
		for (size_t i = f->end; i-- > f->first;) {
			size_t next[2];

			if (loop[i - f->first] || !from[i - f->first])
				continue;
			successors(planner, f, i, next);
			for (int k = 0; k < 2; k++)
				if (next[k] != CODE_NONE && loop[next[k] - f->first])
					loop[i - f->first] = changed = true;
		}
	}
	for (size_t i = f->first; i < f->end; i++) {
		size_t next[2];

		if (!loop[i - f->first])
			continue;
		successors(planner, f, i, next);
		for (int k = 0; k < 2; k++) {
			if (next[k] == CODE_NONE || loop[next[k] - f->first])
				continue;
			if (end != CODE_NONE || insn_at(planner, i)->flow != FLOW_BRANCH ||
			    !insn_at(planner, i)->emulated) {
				end = CODE_NONE;
				goto out;
			}
			end = i;
		}
	}
	if (end != CODE_NONE && code_paths__reaches(planner, f, f->first, end, inside))
		end = CODE_NONE;
out:
	free(from);
	free(loop);
	return end;
}

bool code_paths__has_frame_pointer(const struct planner *planner, const struct code_range *f)
{
	bool pushed = false;

	for (size_t i = f->first; i < f->end && i < f->first + 12; i++) {
		const struct code_insn *in = insn_at(planner, i);

		if (in->id == X86_INS_PUSH && !pushed) {
			if (in->operand[0].reg != X86_REG_RBP)
				return false;
			pushed = true;
		} else if (pushed && in->id == X86_INS_MOV && in->operand[0].type == X86_OP_REG &&
			   in->operand[0].reg == X86_REG_RBP && in->operand[1].type == X86_OP_REG &&
			   in->operand[1].reg == X86_REG_RSP) {
			return true;
		}
	}
	return false;
}

static int depth_after(const struct code_insn *in, int depth)
{
	bool of_rsp =
		in->operand_count && in->operand[0].type == X86_OP_REG && in->operand[0].reg == X86_REG_RSP;
	bool by_constant = in->operand_count > 1 && in->operand[1].type == X86_OP_IMM;

	if (in->id == X86_INS_PUSH)
		return depth + 8;
	if (in->id == X86_INS_POP)
		return of_rsp || depth < 8 ? DEPTH_UNKNOWN : depth - 8;
	if (in->id == X86_INS_LEAVE)
		return DEPTH_UNKNOWN;
	if (!of_rsp || in->id == X86_INS_CMP || in->id == X86_INS_TEST || in->flow != FLOW_NEXT)
		return depth;
	if (in->id == X86_INS_SUB && by_constant)
		return depth + (int)in->operand[1].value;
	if (in->id == X86_INS_ADD && by_constant && in->operand[1].value <= depth)
		return depth - (int)in->operand[1].value;
	return DEPTH_UNKNOWN;
}

int code_paths__depth(const struct planner *planner, const struct code_range *f, size_t insn)
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
			after = depth_after(insn_at(planner, i), after);
		successors(planner, f, i, next);
		for (int k = 0; k < 2; k++) {
			int *there = next[k] == CODE_NONE ? NULL : &depth[next[k] - f->first];

			if (!there || *there == after || *there == DEPTH_UNKNOWN)
				continue;
			/* Each is put here twice at most: with its depth, and when that turns out to differ.
			 */
			*there = *there == DEPTH_UNSEEN ? after : DEPTH_UNKNOWN;
			work[pending++] = next[k];
		}
	}
	result = depth[insn - f->first] >= 0 ? depth[insn - f->first] : DEPTH_UNKNOWN;
out:
	free(work);
	free(depth);
	return result;
}
