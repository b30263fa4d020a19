// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/planner/planner.h"
#include "uprobes/plan/plan_data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool planner__function(const struct planner *planner, const char *name, struct code_range *out)
{
	const struct elf_function *f = elf_image__find(planner->image, name);
	size_t first, end;

	if (!f || (first = code__find(planner->code, f->address)) == CODE_NONE)
		return false;
	for (end = first; end < code__count(planner->code); end++)
		if (code__at(planner->code, end)->address >= f->address + f->size)
			break;
	*out = (struct code_range){first, end};
	return end > first;
}

int planner__refuse(struct planner *planner, const char *what)
{
	planner->refused = what;
	snprintf(planner->err->text, sizeof(planner->err->text),
		 "%s: %s not found in this %s; it cannot be observed (please report its build-id %s)",
		 planner->plan->path, what, probe_runtime__name(planner->plan->runtime),
		 probe_plan__build_id(planner->plan));
	return -ENOTSUP;
}

void planner__missing(struct planner *planner, const char *name)
{
	if (planner->plan->missing_count < PLAN_MAX_MISSING)
		planner->plan->missing[planner->plan->missing_count++] = name;
}

void planner__add(struct planner *planner, const struct point_spec *spec)
{
	const struct code_insn *insn = code__at(planner->code, spec->insn);
	const struct probe_plan *plan = planner->plan;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->points[i].address == insn->address)
			return;
	planner__add_beside(planner, spec);
}

void planner__go_back(struct planner *planner, size_t count)
{
	planner->plan->count = count;
	planner->err->text[0] = '\0';
	planner__missing(planner, planner->refused);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Writes the text with the names of this processor's registers. */
static void put_reads(const struct code_arch *arch, const char *text, char *out, size_t size)
{
	const char *start = text;
	size_t used = 0;

	while (*text && used + 1 < size) {
		const char *const(*word)[2] = arch->words;

		while (word && (*word)[0] &&
		       (strncmp(text, (*word)[0], strlen((*word)[0])) != 0 ||
			(text > start && is_word(text[-1])) || is_word(text[strlen((*word)[0])])))
			word++;
		if (!word || !(*word)[0]) {
			out[used++] = *text++;
			continue;
		}
		used += (size_t)snprintf(out + used, size - used, "%s", (*word)[1]);
		used = used < size ? used : size - 1;
		text += strlen((*word)[0]);
	}
	out[used] = '\0';
}

bool planner__take_bytes(struct probe_point *point, const struct elf_image *image, size_t instruction)
{
	size_t count = PROBE_BYTES;
	const uint8_t *at;

	/* The bytes after the instruction also help to tell files apart. Near the end there may be fewer. */
	while (!(at = elf_image__bytes(image, point->address, count)) && count > instruction)
		count--;
	if (!at || !instruction)
		return false;
	memcpy(point->bytes, at, count);
	point->byte_count = (uint8_t)count;
	return true;
}

void planner__add_beside(struct planner *planner, const struct point_spec *spec)
{
	const struct code_insn *insn = code__at(planner->code, spec->insn);
	struct probe_plan *plan = planner->plan;
	struct probe_point *p;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->points[i].address == insn->address && !strcmp(plan->points[i].event, spec->event))
			return;
	if (insn->refused) {
		snprintf(planner->err->text, sizeof(planner->err->text),
			 "%s: the kernel cannot probe the instruction at %lx for %s; it cannot be observed",
			 plan->path, (unsigned long)insn->address, spec->event);
		planner->status = -ENOTSUP;
		return;
	}
	p = probe_plan__next(plan);
	if (!p) {
		planner->status = -E2BIG;
		return;
	}
	*p = (struct probe_point){
		.offset = elf_image__file_offset(planner->image, insn->address),
		.address = insn->address,
		.entry_cookie = spec->entry_cookie,
		.return_cookie = spec->return_cookie ? spec->return_cookie | COOKIE_RETURN : 0,
		.cost = insn->emulated ? PROBE_EMULATED : PROBE_SINGLE_STEPPED,
		.call = insn->flow == FLOW_CALL,
		.event = spec->event,
		.function = spec->function,
	};
	if (!planner__take_bytes(p, planner->image, insn->size)) {
		snprintf(planner->err->text, sizeof(planner->err->text),
			 "%s: the instruction at %lx for %s lies in no segment of the file", plan->path,
			 (unsigned long)insn->address, spec->event);
		planner->status = -ENOTSUP;
		return;
	}
	code__text(planner->code, spec->insn, p->instruction, sizeof(p->instruction));
	put_reads(code__arch(planner->code), spec->reads ? spec->reads : "", p->reads, sizeof(p->reads));
	plan->count++;
}

size_t planner__next_emulated(const struct planner *planner, size_t from, size_t limit)
{
	for (size_t i = from; i < code__count(planner->code) && i < from + limit; i++) {
		const struct code_insn *insn = code__at(planner->code, i);

		if (insn->emulated)
			return i;
		if (insn->flow != FLOW_NEXT)
			break;
	}
	return CODE_NONE;
}

size_t planner__entry_point(const struct planner *planner, size_t first, unsigned needs)
{
	const struct code_arch *arch = code__arch(planner->code);
	size_t best = first;

	for (size_t i = first; i < code__count(planner->code) && i < first + 16; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->emulated && in->flow != FLOW_CALL) {
			best = i;
			if (!(needs & ENTRY_PAST_BRANCH) || in->flow != FLOW_BRANCH)
				break;
		}
		if ((in->flow != FLOW_NEXT && in->flow != FLOW_BRANCH) || insn__writes(in, CODE_REG_SP) ||
		    insn__writes(in, arch->link))
			break;
		for (size_t a = 0; a < arch->argument_count; a++)
			if ((needs & ENTRY_ARGUMENTS) && insn__writes(in, arch->argument[a]))
				return best;
	}
	return best;
}

uint32_t planner__cookie_reg(uint8_t reg)
{
	return reg < COOKIE_REG_NONE ? reg : COOKIE_REG_NONE;
}

const char *planner__reg_name(const struct planner *planner, uint32_t reg)
{
	const char *name = reg < COOKIE_REG_NONE ? code__arch(planner->code)->names[reg] : NULL;

	return name ? name : "?";
}

uint8_t planner__argument(const struct planner *planner, uint32_t n)
{
	return code__arch(planner->code)->argument[n];
}
