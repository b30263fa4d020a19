// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/track.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_WINDOW 24

static const uint16_t passed_in[TRACK_ARGUMENTS] = {X86_REG_RDI, X86_REG_RSI, X86_REG_RDX,
						    X86_REG_RCX, X86_REG_R8,  X86_REG_R9};

/* Instructions that write nothing but their first operand. */
static bool is_plain(const struct code_insn *in)
{
	switch (in->id) {
	case X86_INS_ENDBR64:
	case X86_INS_NOP:
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_LEA:
	case X86_INS_XOR:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_PUSH:
		return true;
	default:
		return false;
	}
}

/* Change of rsp in words, downwards; false when it is not a known number. */
static bool stack_words(const struct code_insn *in, int *words)
{
	bool immediate = in->operand_count == 2 && in->operand[1].type == X86_OP_IMM &&
			 in->operand[1].value % 8 == 0 && llabs(in->operand[1].value) < 65536;

	*words = 0;
	if (in->id == X86_INS_PUSH)
		*words = 1;
	else if (in->id == X86_INS_POP)
		*words = -1;
	else if (in->id == X86_INS_LEAVE)
		return false;
	else if (insn__writes(in, X86_REG_RSP)) {
		if (!immediate || (in->id != X86_INS_SUB && in->id != X86_INS_ADD))
			return false;
		*words = (int)(in->operand[1].value / 8) * (in->id == X86_INS_SUB ? 1 : -1);
	}
	return true;
}

/* holder[r]: 1 + the argument that register r (enum cookie_reg) holds, 0 none. */
static void step_registers(const struct code_insn *in, uint8_t *holder)
{
	uint32_t to, from;

	if (in->flow != FLOW_NEXT || !in->operand_count || in->operand[0].type != X86_OP_REG ||
	    in->id == X86_INS_CMP || in->id == X86_INS_TEST || in->id == X86_INS_PUSH)
		return;
	to = planner__cookie_reg(reg__wide(in->operand[0].reg));
	if (to == COOKIE_REG_NONE)
		return;
	holder[to] = 0;
	if (in->id == X86_INS_MOV && in->operand[1].type == X86_OP_REG &&
	    in->operand[0].reg == reg__wide(in->operand[0].reg)) {
		from = planner__cookie_reg(in->operand[1].reg);
		if (from != COOKIE_REG_NONE)
			holder[to] = holder[from];
	}
}

/* Fills out->argument; false when something needed is in no register (any more). */
static bool find_arguments(const uint8_t *holder, unsigned needs, struct track_point *out)
{
	for (uint32_t a = 0; a < TRACK_ARGUMENTS; a++) {
		uint32_t home = planner__cookie_reg(passed_in[a]);

		out->argument[a] = COOKIE_REG_NONE;
		if (holder[home] == a + 1)
			out->argument[a] = home;
		for (uint32_t r = 0; r < COOKIE_REG_NONE && out->argument[a] == COOKIE_REG_NONE; r++)
			if (holder[r] == a + 1 && !(needs & TRACK_IN_PLACE))
				out->argument[a] = r;
		if (needs & (TRACK_ARGUMENT_0 << a) && out->argument[a] == COOKIE_REG_NONE)
			return false;
	}
	return true;
}

void track__entry(const struct planner *planner, size_t first, unsigned needs, struct track_point *out)
{
	uint8_t holder[COOKIE_REG_NONE + 1] = {0};
	int words = 0, change;

	for (uint32_t a = 0; a < TRACK_ARGUMENTS; a++)
		holder[planner__cookie_reg(passed_in[a])] = (uint8_t)(a + 1);
	for (size_t i = first; i < code__count(planner->code) && i < first + ENTRY_WINDOW; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		*out = (struct track_point){.insn = i, .words = (uint32_t)words};
		if (!find_arguments(holder, needs, out) || (needs & TRACK_RETURN && words) || words < 0 ||
		    words > COOKIE_SMALL_MAX)
			break;
		if (in->emulated && in->flow != FLOW_CALL)
			return;
		if (in->flow != FLOW_NEXT || !is_plain(in) || !stack_words(in, &change))
			break;
		words += change;
		step_registers(in, holder);
	}
	*out = (struct track_point){.insn = first};
	for (uint32_t a = 0; a < TRACK_ARGUMENTS; a++)
		out->argument[a] = planner__cookie_reg(passed_in[a]);
}

/* The instructions to which control goes from `i` within the function; calls return. */
static size_t successors(const struct planner *planner, const struct code_range *f, size_t i, size_t *next)
{
	const struct code_insn *in = code__at(planner->code, i);
	size_t n = 0, target;

	if ((in->flow == FLOW_NEXT || in->flow == FLOW_CALL || in->flow == FLOW_BRANCH) && i + 1 < f->end)
		next[n++] = i + 1;
	if ((in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP) && in->target) {
		target = code__find(planner->code, in->target);
		if (target != CODE_NONE && target >= f->first && target < f->end)
			next[n++] = target;
	}
	return n;
}

bool track__words(const struct planner *planner, const struct code_range *f, size_t insn, uint32_t *words)
{
	size_t size = f->end - f->first, pending = 0;
	size_t *work = calloc(size, sizeof(*work));
	int *depth = calloc(size, sizeof(*depth));
	bool *seen = calloc(size, sizeof(*seen)), ok = work && depth && seen;

	if (ok) {
		work[pending++] = f->first;
		seen[0] = true;
	}
	while (ok && pending) {
		size_t i = work[--pending], next[2];
		size_t n = successors(planner, f, i, next);
		int change;

		if (!stack_words(code__at(planner->code, i), &change)) {
			ok = i == insn || n == 0;
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			size_t to = next[k] - f->first;
			int there = depth[i - f->first] + change;

			if (!seen[to]) {
				seen[to] = true;
				depth[to] = there;
				work[pending++] = next[k];
			} else if (depth[to] != there) {
				ok = false;
			}
		}
	}
	ok = ok && seen[insn - f->first] && depth[insn - f->first] >= 0;
	if (ok)
		*words = (uint32_t)depth[insn - f->first];
	free(work);
	free(depth);
	free(seen);
	return ok;
}

bool track__all_pass(const struct planner *planner, const struct code_range *f, const bool *marks)
{
	size_t size = f->end - f->first, pending = 0;
	size_t *work = calloc(size, sizeof(*work));
	bool *seen = calloc(size, sizeof(*seen)), ok = work && seen;

	if (ok && !marks[0]) {
		work[pending++] = f->first;
		seen[0] = true;
	}
	while (ok && pending) {
		size_t i = work[--pending], next[2];
		size_t n = successors(planner, f, i, next);

		if (code__at(planner->code, i)->flow == FLOW_RETURN)
			ok = false;
		for (size_t k = 0; k < n; k++) {
			if (seen[next[k] - f->first] || marks[next[k] - f->first])
				continue;
			seen[next[k] - f->first] = true;
			work[pending++] = next[k];
		}
	}
	free(work);
	free(seen);
	return ok;
}
