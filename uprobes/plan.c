// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/planner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POINTS 512
#define MAX_MISSING 16

struct probe_plan {
	struct elf_image *image; /* names of functions live in it */
	char *path;
	enum probe_runtime runtime;
	struct probe_point *points;
	size_t count;
	const char *missing[MAX_MISSING + 1];
	size_t missing_count;
};

void probe_plan__free(struct probe_plan *plan)
{
	if (!plan)
		return;
	elf_image__close(plan->image);
	free(plan->path);
	free(plan->points);
	free(plan);
}

const char *probe_plan__path(const struct probe_plan *plan)
{
	return plan->path;
}

enum probe_runtime probe_plan__runtime(const struct probe_plan *plan)
{
	return plan->runtime;
}

const char *probe_runtime__name(enum probe_runtime runtime)
{
	return runtime == RUNTIME_LIBOMP ? "libomp" : "libgomp";
}

const char *probe_plan__build_id(const struct probe_plan *plan)
{
	return elf_image__build_id(plan->image);
}

size_t probe_plan__count(const struct probe_plan *plan)
{
	return plan->count;
}

const struct probe_point *probe_plan__point(const struct probe_plan *plan, size_t index)
{
	return &plan->points[index];
}

const char *probe_plan__missing(const struct probe_plan *plan, size_t index)
{
	return index < plan->missing_count ? plan->missing[index] : NULL;
}

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
	snprintf(planner->err->text, sizeof(planner->err->text),
		 "%s: %s not found in this %s; it cannot be observed (please report its build-id %s)",
		 planner->plan->path, what, probe_runtime__name(planner->plan->runtime),
		 probe_plan__build_id(planner->plan));
	return -ENOTSUP;
}

void planner__missing(struct planner *planner, const char *name)
{
	if (planner->plan->missing_count < MAX_MISSING)
		planner->plan->missing[planner->plan->missing_count++] = name;
}

void planner__add(struct planner *planner, const struct point_spec *spec)
{
	const struct code_insn *insn = code__at(planner->code, spec->insn);
	struct probe_plan *plan = planner->plan;
	struct probe_point *p;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->points[i].address == insn->address)
			return;
	if (plan->count == MAX_POINTS) {
		planner->status = -E2BIG;
		return;
	}
	p = &plan->points[plan->count];
	*p = (struct probe_point){
		.offset = elf_image__file_offset(planner->image, insn->address),
		.address = insn->address,
		.entry_cookie = spec->entry_cookie,
		.return_cookie = spec->return_cookie,
		.cost = insn->emulated ? PROBE_EMULATED : PROBE_SINGLE_STEPPED,
		.event = spec->event,
		.function = spec->function,
	};
	code__text(planner->code, spec->insn, p->instruction, sizeof(p->instruction));
	snprintf(p->reads, sizeof(p->reads), "%s", spec->reads ? spec->reads : "");
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
	static const uint16_t arguments[] = {X86_REG_RDI, X86_REG_RSI, X86_REG_RDX, X86_REG_RCX, X86_REG_R8};
	size_t best = first;

	for (size_t i = first; i < code__count(planner->code) && i < first + 16; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->emulated && in->flow != FLOW_CALL) {
			best = i;
			if (!(needs & ENTRY_PAST_BRANCH) || in->flow != FLOW_BRANCH)
				break;
		}
		if ((in->flow != FLOW_NEXT && in->flow != FLOW_BRANCH) || in->id == X86_INS_PUSH ||
		    in->id == X86_INS_POP || insn__writes(in, X86_REG_RSP))
			break;
		for (size_t a = 0; a < sizeof(arguments) / sizeof(arguments[0]); a++)
			if ((needs & ENTRY_ARGUMENTS) && insn__writes(in, arguments[a]))
				return best;
	}
	return best;
}

static const struct {
	uint16_t reg;
	const char *name;
} cookie_regs[] = {
	[COOKIE_R15] = {X86_REG_R15, "r15"}, [COOKIE_R14] = {X86_REG_R14, "r14"},
	[COOKIE_R13] = {X86_REG_R13, "r13"}, [COOKIE_R12] = {X86_REG_R12, "r12"},
	[COOKIE_RBP] = {X86_REG_RBP, "rbp"}, [COOKIE_RBX] = {X86_REG_RBX, "rbx"},
	[COOKIE_R11] = {X86_REG_R11, "r11"}, [COOKIE_R10] = {X86_REG_R10, "r10"},
	[COOKIE_R9] = {X86_REG_R9, "r9"},    [COOKIE_R8] = {X86_REG_R8, "r8"},
	[COOKIE_RAX] = {X86_REG_RAX, "rax"}, [COOKIE_RCX] = {X86_REG_RCX, "rcx"},
	[COOKIE_RDX] = {X86_REG_RDX, "rdx"}, [COOKIE_RSI] = {X86_REG_RSI, "rsi"},
	[COOKIE_RDI] = {X86_REG_RDI, "rdi"},
};

uint32_t planner__cookie_reg(uint16_t reg)
{
	for (uint32_t i = 0; i < sizeof(cookie_regs) / sizeof(cookie_regs[0]); i++)
		if (cookie_regs[i].reg == reg)
			return i;
	return COOKIE_REG_NONE;
}

const char *cookie_reg__name(uint32_t reg)
{
	return reg < COOKIE_REG_NONE ? cookie_regs[reg].name : "?";
}

static int plan_libgomp__find(struct planner *planner)
{
	int r;

	if ((r = plan_tasks__find(planner)) || (r = plan_teams__find(planner)) ||
	    (r = plan_waits__find(planner)) || (r = plan_worksharing__find(planner)))
		return r;
	return 0;
}

int probe_plan__create(const char *path, struct probe_plan **out, struct uprobes_error *err)
{
	struct uprobes_error ignored;
	struct planner planner = {.err = err ? err : &ignored};
	struct probe_plan *plan = calloc(1, sizeof(*plan));
	struct code *code = NULL;
	int r = -ENOMEM;

	planner.err->text[0] = '\0';
	if (!plan || !(plan->path = strdup(path)) ||
	    !(plan->points = calloc(MAX_POINTS, sizeof(*plan->points))))
		goto out;
	r = elf_image__open(path, &plan->image, planner.err);
	if (r)
		goto out;
	planner.image = plan->image;
	planner.plan = plan;
	if (elf_image__find(plan->image, "__kmpc_fork_call")) {
		plan->runtime = RUNTIME_LIBOMP;
	} else if (!elf_image__find(plan->image, "GOMP_parallel") ||
		   !elf_image__find(plan->image, "GOMP_task")) {
		snprintf(planner.err->text, sizeof(planner.err->text),
			 "%s: no OpenMP runtime in it (neither GOMP_parallel and GOMP_task nor "
			 "__kmpc_fork_call are exported)",
			 path);
		r = -ENOENT;
		goto out;
	}
	r = code__load(plan->image, &code, planner.err);
	if (r)
		goto out;
	planner.code = code;
	r = plan->runtime == RUNTIME_LIBOMP ? plan_libomp__find(&planner) : plan_libgomp__find(&planner);
	if (r || (r = planner.status))
		goto out;
	*out = plan;
	plan = NULL;
out:
	if (r && !planner.err->text[0])
		snprintf(planner.err->text, sizeof(planner.err->text), "%s: %s", path, strerror(-r));
	code__free(code);
	probe_plan__free(plan);
	return r;
}
