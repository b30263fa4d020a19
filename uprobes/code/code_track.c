// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/code/code_track.h"

#include "uprobes/code/code_arch.h"
#include "uprobes/code/code_paths.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_WINDOW 24

/* The change of the stack pointer in words, downwards. False: it is not a known number. */
static bool stack_words(const struct code_insn *in, int *words)
{
	*words = in->stack == CODE_STACK_UNKNOWN ? 0 : in->stack / 8;
	return in->stack != CODE_STACK_UNKNOWN && in->stack % 8 == 0;
}

/* holder[r]: 1 + the argument that register r (enum cookie_reg) holds; 0: none. */
static void step_registers(const struct code_insn *in, uint8_t *holder)
{
	uint8_t before[COOKIE_REG_NONE];
	struct code_operand to, from;

	memcpy(before, holder, sizeof(before));
	for (uint8_t r = 0; r < COOKIE_REG_NONE; r++)
		if (insn__writes(in, r))
			holder[r] = 0;
	if (in->flow == FLOW_NEXT && insn__move(in, 0, &to, &from) && to.type == OPERAND_REG && to.wide &&
	    to.reg < COOKIE_REG_NONE && from.type == OPERAND_REG && from.reg < COOKIE_REG_NONE)
		holder[to.reg] = before[from.reg];
}

/* Fills out->argument. False: a needed argument is in no register (any more). */
static bool find_arguments(const struct code_arch *arch, const uint8_t *holder, unsigned needs,
			   struct track_point *out)
{
	for (uint32_t a = 0; a < TRACK_ARGUMENTS; a++) {
		uint32_t home = arch->argument[a];

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

void code_track__entry(const struct code *code, size_t first, unsigned needs, struct track_point *out)
{
	const struct code_arch *arch = code__arch(code);
	uint8_t holder[COOKIE_REG_NONE + 1] = {0};
	int words = 0, change;

	for (uint32_t a = 0; a < TRACK_ARGUMENTS; a++)
		holder[arch->argument[a]] = (uint8_t)(a + 1);
	for (size_t i = first; i < code__count(code) && i < first + ENTRY_WINDOW; i++) {
		const struct code_insn *in = code__at(code, i);

		*out = (struct track_point){.insn = i, .words = (uint32_t)words};
		if (!find_arguments(arch, holder, needs, out) || (needs & TRACK_RETURN && words) ||
		    words < 0 || words > COOKIE_SMALL_MAX || (words && arch->link != CODE_REG_NONE))
			break;
		if (in->emulated && in->flow != FLOW_CALL)
			return;
		if (in->flow != FLOW_NEXT || !in->plain || !stack_words(in, &change) ||
		    insn__writes(in, arch->link))
			break;
		words += change;
		step_registers(in, holder);
	}
	*out = (struct track_point){.insn = first};
	for (uint32_t a = 0; a < TRACK_ARGUMENTS; a++)
		out->argument[a] = arch->argument[a];
}

/* Finds the instructions of the function that can follow instruction `i`. Calls count as returning. */
static size_t successors(const struct code *code, const struct code_range *f, size_t i, size_t *next)
{
	const struct code_insn *in = code__at(code, i);
	size_t n = 0, target;

	if ((in->flow == FLOW_NEXT || in->flow == FLOW_CALL || in->flow == FLOW_BRANCH) && i + 1 < f->end)
		next[n++] = i + 1;
	if ((in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP) && in->target) {
		target = code__find(code, in->target);
		if (target != CODE_NONE && target >= f->first && target < f->end)
			next[n++] = target;
	}
	return n;
}

bool code_track__words(const struct code *code, const struct code_range *f, size_t insn, uint32_t *words)
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
		size_t n = successors(code, f, i, next);
		int change;

		if (!stack_words(code__at(code, i), &change)) {
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
	ok = ok && seen[insn - f->first] &&
	     code_paths__return_address(code, f, insn, 8 * depth[insn - f->first]);
	if (ok)
		*words = (uint32_t)depth[insn - f->first];
	free(work);
	free(depth);
	free(seen);
	return ok;
}

bool code_track__all_pass(const struct code *code, const struct code_range *f, const bool *marks)
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
		size_t n = successors(code, f, i, next);

		if (code__at(code, i)->flow == FLOW_RETURN)
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
