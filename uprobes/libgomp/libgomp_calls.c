// SPDX-License-Identifier: BSD-2-Clause
/* What the functions of libgomp call: allocators of blocks, and bodies of constructs. */
#include "uprobes/code/code_paths.h"
#include "uprobes/libgomp/libgomp_patterns.h"

#include <string.h>

uint64_t libgomp__cookie(uint32_t kind, uint32_t a)
{
	return cookie__make(kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, a, 0, 0);
}

static bool is_malloc(const struct planner *planner, uint64_t target)
{
	const char *name = code__plt_name(planner->code, target);
	const struct elf_function *f;

	if (name)
		return strcmp(name, "malloc") == 0;
	f = elf_image__find(planner->image, "malloc"); /* statically linked */
	return f && f->address == target;
}

bool libgomp__is_allocator(const struct planner *planner, uint64_t target)
{
	size_t at = code__find(planner->code, target);

	if (is_malloc(planner, target))
		return true;
	if (at == CODE_NONE || code__plt_name(planner->code, target))
		return false;
	for (size_t i = at; i < code__count(planner->code) && i < at + 8; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && in->target)
			return is_malloc(planner, in->target);
		if (in->flow != FLOW_NEXT)
			break;
	}
	return false;
}

size_t libgomp__allocated(const struct planner *planner, const struct code_range *f, size_t call,
			  uint32_t *reg)
{
	uint8_t result = code__arch(planner->code)->result, block = result;

	for (size_t i = call + 1; i < f->end && i < call + 64; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_BRANCH) {
			*reg = planner__cookie_reg(block);
			return in->emulated && *reg != COOKIE_REG_NONE ? i : CODE_NONE;
		}
		if (in->flow != FLOW_NEXT)
			break;
		if (block == result && in->op == CODE_COPY && in->operand[0].type == OPERAND_REG &&
		    operand__is(&in->operand[1], result))
			block = in->operand[0].reg;
		else if (insn__writes(in, block))
			break;
	}
	return CODE_NONE;
}

enum libgomp_callee libgomp__callee(const struct planner *planner, const struct code_range *f, size_t call)
{
	const struct code_insn *in = code__at(planner->code, call);

	if (in->flow != FLOW_CALL || in->target || !in->operand_count)
		return CALLEE_OTHER;
	if (code_paths__is_argument(planner->code, f, call, &in->operand[0], planner__argument(planner, 0)))
		return CALLEE_BODY;
	return code_paths__is_argument(planner->code, f, call, &in->operand[0], planner__argument(planner, 2))
		       ? CALLEE_COPY
		       : CALLEE_UNKNOWN;
}

size_t libgomp__next_branch(const struct planner *planner, size_t from)
{
	for (int steps = 0; steps < 32 && from < code__count(planner->code); steps++) {
		const struct code_insn *in = code__at(planner->code, from);

		if (in->flow == FLOW_BRANCH)
			return in->emulated ? from : CODE_NONE;
		if (in->flow == FLOW_JUMP && in->target)
			from = code__find(planner->code, in->target);
		else if (in->flow == FLOW_NEXT)
			from++;
		else
			return CODE_NONE;
	}
	return CODE_NONE;
}
