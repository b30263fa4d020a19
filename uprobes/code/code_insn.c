// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/code/code_insn.h"

bool insn__writes(const struct code_insn *insn, uint8_t reg)
{
	return reg <= CODE_REG_SP && insn->writes >> reg & 1;
}

bool operand__is(const struct code_operand *operand, uint8_t reg)
{
	return operand->type == OPERAND_REG && operand->reg == reg && operand->wide;
}

bool operand__is_at(const struct code_operand *operand, uint8_t reg)
{
	return operand->type == OPERAND_MEMORY && operand->reg == reg && operand->index == CODE_REG_NONE &&
	       !operand->thread;
}

bool insn__move(const struct code_insn *insn, int k, struct code_operand *to, struct code_operand *from)
{
	if (insn->op != CODE_COPY || insn->operand_count < 2 || k > insn->pair)
		return false;
	*to = insn->operand[0];
	*from = insn->operand[1];
	for (struct code_operand *o = to; k && o; o = o == to ? from : NULL) {
		if (o->type == OPERAND_MEMORY)
			o->value += insn->operand[0].wide || insn->operand[1].wide ? 8 : 4;
		else
			o->reg = insn->pair_reg;
	}
	return true;
}
