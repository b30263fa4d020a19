// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds where a share is computed that several loops have, or that belongs to a loop that is executed again
 * and again.
 */
#include "uprobes/static_loops/match_shared.h"

struct share_search {
	struct match at;
	uint32_t quotient, rest, thread, threads, sp;
	struct found_loop found;
	bool any;
};

static bool take_share(void *data, uint32_t insn, const struct flow_state *state)
{
	struct share_search *s = data;
	const struct code_insn *base = &s->at.code->insns[insn].base;
	struct found_loop loop = {.form = LOOP_SHARE, .jump = insn, .leave = INSN_NONE, .count = -1};
	uint8_t size = s->at.state.size;

	if (base->refused || state->reg[CODE_REG_SP] != s->sp || (s->any && !base->emulated))
		return false;
	s->at.state = *state;
	s->at.state.size = size;
	if (!match__place_of(&s->at, s->quotient, &loop.quotient) ||
	    !match__place_of(&s->at, s->rest, &loop.rest) ||
	    !match__place_of(&s->at, s->thread, &loop.thread))
		return false;
	match__place_of(&s->at, s->threads, &loop.threads);
	s->found = loop;
	s->any = true;
	return base->emulated;
}

bool match_share__find(const struct match *m, uint32_t quotient, bool teams, struct found_loop *out)
{
	struct share_search s = {.at = *m, .quotient = quotient, .sp = m->state.reg[CODE_REG_SP]};
	uint32_t block = m->block, of;

	s.threads = values__atom(m->values, ATOM_THREADS, teams, 0, 0);
	s.thread = values__atom(m->values, ATOM_THREAD, teams, 0, 0);
	if (quotient == VALUE_NONE || s.threads == VALUE_NONE || s.thread == VALUE_NONE)
		return false;
	of = values__is_atom(m->values, quotient)->a;
	s.rest = values__add(m->values, of, values__multiply(m->values, quotient, s.threads), -1);
	while (!loop_flow__walk(m->flow, block, take_share, &s)) {
		if (block == 0 || m->code->blocks[block].dominator == block)
			break;
		block = m->code->blocks[block].dominator;
	}
	*out = s.found;
	out->wide = m->state.size == 8;
	out->teams = teams;
	return s.any;
}
