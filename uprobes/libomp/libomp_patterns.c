// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/libomp/libomp_patterns.h"

#include "uprobes/code/code_paths.h"

uint64_t libomp__cookie(const struct planner *planner, size_t insn, uint32_t kind, uint32_t variant,
			uint32_t a, uint32_t b)
{
	const struct code *code = planner->code;
	uint64_t start = code__at(code, 0)->address;
	uint64_t size = code__at(code, code__count(code) - 1)->address - start;
	uint32_t units = (uint32_t)(size / LIBOMP_COOKIE_SIZE_UNIT + 1);

	if (units > 255)
		units = 255;
	return cookie__make(kind, COOKIE_ALWAYS, variant, units & 15, units >> 4, a, b,
			    (int)(int64_t)(start - code__at(code, insn)->address));
}

size_t libomp__callee(const struct planner *planner, size_t insn)
{
	const struct code_insn *in = code__at(planner->code, insn);
	const char *name;
	struct code_range f;

	if ((in->flow != FLOW_CALL && in->flow != FLOW_JUMP) || !in->target)
		return CODE_NONE;
	if (code__find(planner->code, in->target) != CODE_NONE)
		return code__find(planner->code, in->target);
	name = code__plt_name(planner->code, in->target);
	return name && planner__function(planner, name, &f) ? f.first : CODE_NONE;
}

/*
 * Whether a call of a function with variable arguments stands in place of a return. This is the runtime's
 * own tracing, which is off.
 */
static bool is_trace_jump(const struct planner *planner, const struct code_range *f, size_t jump)
{
	for (size_t i = jump; i-- > f->first;) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow != FLOW_NEXT)
			return false;
		if (in->op == CODE_XOR && in->operand[0].type == OPERAND_REG &&
		    in->operand[0].reg == COOKIE_RAX && in->operand[1].type == OPERAND_REG &&
		    in->operand[1].reg == COOKIE_RAX && !in->operand[0].wide)
			return true;
	}
	return false;
}

static size_t find_exits(const struct planner *planner, const struct code_range *f,
			 struct path_edge edges[PATH_EDGES_MAX])
{
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		size_t to;

		if (in->flow != FLOW_JUMP)
			continue;
		to = in->target ? code__find(planner->code, in->target) : CODE_NONE;
		if ((to == CODE_NONE || to < f->first || to >= f->end) && !is_trace_jump(planner, f, i))
			return 0;
	}
	return code_paths__exits(planner->code, f, f->first, PATH_TAIL_CALLS, edges);
}

void libomp__add_span_at(struct planner *planner, const struct code_range *f, const struct libomp_span *span)
{
	struct path_edge edges[PATH_EDGES_MAX];
	size_t at = planner__entry_point(planner, f->first, ENTRY_ARGUMENTS);
	size_t exits = span->end_kind ? find_exits(planner, f, edges) : 0;
	uint64_t end = cookie__make(span->end_kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE,
				    span->end_a, 0, 0);

	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie = libomp__cookie(planner, at, span->kind,
									 span->variant, span->a, span->b),
					  .return_cookie = span->end_kind && !exits ? end : 0,
					  .event = span->event,
					  .function = span->function,
					  .reads = span->reads});
	for (size_t i = 0; i < exits; i++)
		planner__add(planner,
			     &(struct point_spec){.insn = edges[i].insn,
						  .entry_cookie = cookie__make(
							  span->end_kind, edges[i].when,
							  code__at(planner->code, edges[i].insn)->test,
							  COOKIE_REG_NONE, COOKIE_REG_NONE, span->end_a, 0,
							  0),
						  .event = span->end_event,
						  .function = span->function,
						  .reads = "-"});
}

bool libomp__add_span(struct planner *planner, const struct libomp_span *span)
{
	struct code_range f;

	if (!planner__function(planner, span->function, &f))
		return false;
	libomp__add_span_at(planner, &f, span);
	return true;
}
