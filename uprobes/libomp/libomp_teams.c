// SPDX-License-Identifier: BSD-2-Clause
/*
 * libomp's parallel regions and their implicit tasks. One exported function calls the outlined body of a
 * region on every member. For GCC's code, member 0 calls the body itself, in GOMP_parallel and its combined
 * forms.
 */
#include "uprobes/libomp/libomp_patterns.h"

#include <stdio.h>
#include <string.h>

/* Where the runtime keeps its threads, and where a thread keeps its team and its number in the team. */
struct thread_layout {
	uint64_t variable;
	uint32_t derefs; /* number of pointers from the variable to the array */
	int64_t team, number;
};

/*
 * Decodes threads[gtid]->field in a small exported function. A variable holds the array's address. The code
 * names it by rip, directly or through the GOT.
 */
static bool decode_field(const struct planner *planner, const char *function, struct thread_layout *threads,
			 int64_t *field)
{
	uint8_t reg = CODE_REG_NONE;
	struct code_range f;
	bool indexed = false;

	if (!planner__function(planner, function, &f))
		return false;
	for (size_t i = f.first; i < f.end && i < f.first + 60; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		const struct code_operand *to = &in->operand[0], *from = &in->operand[1];

		if (in->operand_count < 2 || to->type != OPERAND_REG || from->type != OPERAND_MEMORY ||
		    (in->op != CODE_COPY && in->op != CODE_ADDRESS))
			continue;
		if (operand__is_at(from, CODE_REG_PC)) {
			threads->variable = (uint64_t)from->value;
			threads->derefs = in->op == CODE_ADDRESS ? 0 : 1;
			reg = to->reg;
			indexed = false;
			continue;
		}
		if (reg == CODE_REG_NONE || from->reg != reg || in->op != CODE_COPY)
			continue;
		reg = to->reg;
		if (indexed) {
			*field = from->value;
			return threads->derefs == 1 || threads->derefs == 2;
		}
		if (from->value)
			return false;
		indexed = from->index != CODE_REG_NONE;
		threads->derefs += !indexed;
	}
	return false;
}

static bool decode_threads(const struct planner *planner, struct thread_layout *out)
{
	struct thread_layout other;

	return decode_field(planner, "omp_get_level", out, &out->team) && out->team > 0 &&
	       out->team % 8 == 0 && out->team / 8 <= COOKIE_SMALL_MAX &&
	       decode_field(planner, "__kmpc_bound_thread_num", &other, &out->number) &&
	       other.variable == out->variable && out->number > 0 && out->number % 4 == 0 &&
	       out->number / 4 <= 255;
}

static uint64_t member_cookie(const struct planner *planner, size_t insn, uint32_t variant, uint32_t reg,
			      uint32_t reg2, const struct thread_layout *threads)
{
	return cookie__make(RING_MEMBER_BEGIN, COOKIE_ALWAYS, variant, reg, reg2,
			    (uint32_t)(threads->team / 8), threads->derefs,
			    (int)(int64_t)(threads->variable - code__at(planner->code, insn)->address));
}

/* The body of a member is over, and the member waits for the others. */
static uint64_t member_returned(void)
{
	return cookie__make(RING_WAIT_BEGIN, COOKIE_ALWAYS, LIBOMP_WAIT_MEMBER, COOKIE_REG_NONE,
			    COOKIE_REG_NONE, RING_WAIT_REGION_END, 0, 0);
}

static int find_members(struct planner *planner, const struct thread_layout *threads)
{
	struct code_range f;
	size_t at;

	if (!planner__function(planner, "__kmp_invoke_microtask", &f))
		return planner__refuse(planner, "__kmp_invoke_microtask");
	at = planner__entry_point(planner, f.first, ENTRY_ARGUMENTS);
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie =
						  member_cookie(planner, at, LIBOMP_MEMBER_MICROTASK,
								COOKIE_REG_NONE, COOKIE_REG_NONE, threads),
					  .return_cookie = member_returned(),
					  .event = "member-begin/region-end-wait",
					  .function = "__kmp_invoke_microtask",
					  .reads = "rdi = body, threads[esi] = team, edx = number"});
	return 0;
}

/* True for GOMP_parallel and its combined forms, but not for the two halves of the old interface. */
static bool is_gomp_parallel(const char *name)
{
	size_t n = strlen(name);

	if (strncmp(name, "GOMP_parallel", 13) != 0 || (name[13] && name[13] != '_'))
		return false;
	return strcmp(name, "GOMP_parallel_end") != 0 && strcmp(name + n - 6, "_start") != 0;
}

/* The last call of `callee` in the function. CODE_NONE: there is none. */
static size_t last_call(const struct planner *planner, const struct code_range *f, const char *callee)
{
	struct code_range to;

	if (!planner__function(planner, callee, &to))
		return CODE_NONE;
	for (size_t i = f->end; i-- > f->first;)
		if (code__at(planner->code, i)->flow == FLOW_CALL && libomp__callee(planner, i) == to.first)
			return i;
	return CODE_NONE;
}

/*
 * Where GOMP_parallel calls the body on member 0: through a register or a place on its stack that keeps the
 * body. GOMP_parallel_reductions lets another function do this, which it calls before GOMP_parallel_end.
 */
static size_t body_call(const struct planner *planner, const struct code_range *f)
{
	size_t end = last_call(planner, f, "GOMP_parallel_end");

	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		const struct code_operand *to = &in->operand[0];

		if (in->flow != FLOW_CALL || in->target)
			continue;
		if (to->type == OPERAND_REG
			    ? !insn__writes(in, to->reg)
			    : operand__is_at(to, CODE_REG_SP) ||
				      operand__is_at(to, code__arch(planner->code)->frame_pointer))
			return i;
	}
	for (size_t i = end; end != CODE_NONE && i-- > f->first && end - i < 8;)
		if (code__at(planner->code, i)->flow == FLOW_CALL)
			return i;
	return CODE_NONE;
}

/* GCC's interface. Returns NULL, or the function whose call of the body was not found. */
static const char *find_gomp(struct planner *planner, const struct thread_layout *threads)
{
	const char *missing = NULL;
	bool found = false;

	for (size_t n = 0; n < elf_image__function_count(planner->image); n++) {
		const char *name = elf_image__function(planner->image, n)->name;
		struct code_range f;
		size_t call, after;
		uint32_t reg;

		if (!is_gomp_parallel(name) || !planner__function(planner, name, &f))
			continue;
		if (last_call(planner, &f, "GOMP_parallel") != CODE_NONE) {
			libomp__add_span(planner, &(struct libomp_span){.function = name,
									.event = "call-site",
									.reads = "[rsp] = call site",
									.a = LIBOMP_KEEP_SITE});
			continue;
		}
		call = body_call(planner, &f);
		after = call == CODE_NONE ? CODE_NONE : planner__next_emulated(planner, call + 1, 16);
		if (after == CODE_NONE) {
			missing = name;
			continue;
		}
		reg = code__at(planner->code, call)->operand[0].type == OPERAND_REG
			      ? planner__cookie_reg(code__at(planner->code, call)->operand[0].reg)
			      : COOKIE_REG_NONE;
		libomp__add_span(planner,
				 &(struct libomp_span){.function = name,
						       .event = "region-begin",
						       .end_event = "region-end",
						       .reads =
							       "rdi = body, edx = threads, [rsp] = call site",
						       .kind = RING_REGION_BEGIN,
						       .variant = LIBOMP_REGION_GOMP,
						       .end_kind = RING_REGION_END});
		planner__add(planner,
			     &(struct point_spec){.insn = call,
						  .entry_cookie =
							  member_cookie(planner, call, LIBOMP_MEMBER_GOMP,
									reg, COOKIE_REG_NONE, threads),
						  .event = "member-begin",
						  .function = name,
						  .reads = "body, the thread's team"});
		planner__add(planner, &(struct point_spec){.insn = after,
							   .entry_cookie = member_returned(),
							   .event = "region-end-wait",
							   .function = name,
							   .reads = "-"});
		found = true;
	}
	if (found)
		libomp__add_span(planner, &(struct libomp_span){.function = "__kmp_fork_call",
								.event = "fork",
								.reads = "esi = thread, edx = for GCC's code",
								.a = LIBOMP_KEEP_FORK});
	return missing;
}

/* The function whose address an instruction loads, directly or from the GOT. */
static size_t address_of(const struct planner *planner, const struct code_insn *in)
{
	uint64_t at = (uint64_t)in->operand[1].value;
	struct code_range f;
	const char *name;

	if (in->op == CODE_ADDRESS)
		return code__find(planner->code, at);
	if (in->op != CODE_COPY)
		return CODE_NONE;
	if (elf_image__relative(planner->image, at, &at))
		return code__find(planner->code, at);
	name = elf_image__got_name(planner->image, at);
	return name && planner__function(planner, name, &f) ? f.first : CODE_NONE;
}

/*
 * The initial thread of each team of a teams construct runs a function of the runtime. __kmpc_fork_teams
 * passes the address of that function to __kmp_fork_call as sixth argument. The function then calls the
 * body as the body of a region of one thread.
 */
static void find_league(struct planner *planner, const struct thread_layout *threads)
{
	struct code_range f, fork;
	size_t master = CODE_NONE, at;

	if (!planner__function(planner, "__kmpc_fork_teams", &f) ||
	    !planner__function(planner, "__kmp_fork_call", &fork))
		return;
	for (size_t i = f.first; i < f.end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (operand__is(&in->operand[0], planner__argument(planner, 5)) &&
		    operand__is_at(&in->operand[1], CODE_REG_PC))
			master = address_of(planner, in);
		if (in->flow == FLOW_CALL && libomp__callee(planner, i) == fork.first)
			break;
	}
	if (master == CODE_NONE) {
		planner__missing(planner, "the teams of a teams construct");
		return;
	}
	at = planner__entry_point(planner, master, ENTRY_ARGUMENTS);
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie = member_cookie(planner, at, LIBOMP_MEMBER_LEAGUE,
									(uint32_t)(threads->number / 4) & 15,
									(uint32_t)(threads->number / 4) >> 4,
									threads),
					  .event = "league-member",
					  .function = "__kmp_invoke_teams_master",
					  .reads = "threads[edi] = team and number"});
}

int libomp_teams__find(struct planner *planner)
{
	static const struct libomp_span spans[] = {
		{"__kmpc_fork_call", "region-begin", "region-end",
		 "rdi = source, rdx = body, [rsp] = call site", RING_REGION_BEGIN, LIBOMP_REGION_FORK, 0, 0,
		 RING_REGION_END, 0},
		{"__kmpc_fork_teams", "region-begin", "region-end",
		 "rdi = source, rdx = body, [rsp] = call site", RING_REGION_BEGIN, LIBOMP_REGION_TEAMS, 0, 0,
		 RING_REGION_END, 0},
		{"__kmpc_fork_call_if", "call-site", NULL, "[rsp] = call site", RING_NONE, 0,
		 LIBOMP_KEEP_SITE, 0, RING_NONE, 0},
		{"__kmpc_push_num_threads", "threads-asked", NULL, "edx = threads", RING_NONE, 0,
		 LIBOMP_KEEP_THREADS, 0, RING_NONE, 0},
		{"__kmpc_push_num_threads_strict", "threads-asked", NULL, "edx = threads", RING_NONE, 0,
		 LIBOMP_KEEP_THREADS, 0, RING_NONE, 0},
		{"__kmpc_push_num_threads_list", "threads-asked", NULL, "rcx = threads of each level",
		 RING_NONE, 0, LIBOMP_KEEP_THREADS, 1, RING_NONE, 0},
		{"__kmpc_push_num_threads_list_strict", "threads-asked", NULL, "rcx = threads of each level",
		 RING_NONE, 0, LIBOMP_KEEP_THREADS, 1, RING_NONE, 0},
		{"__kmpc_push_num_teams", "teams-asked", NULL, "edx = teams", RING_NONE, 0, LIBOMP_KEEP_TEAMS,
		 0, RING_NONE, 0},
		{"__kmpc_serialized_parallel", "region-begin", NULL, "rdi = source, [rsp] = call site",
		 RING_REGION_BEGIN, LIBOMP_REGION_SERIAL, 0, 0, RING_NONE, 0},
		{"__kmpc_end_serialized_parallel", "region-end", NULL, "[rsp] = call site", RING_REGION_END,
		 0, LIBOMP_REGION_SERIAL, 0, RING_NONE, 0},
	};
	struct thread_layout threads = {0};
	const char *missing;
	int r;

	if (!decode_threads(planner, &threads))
		return planner__refuse(planner, "the team of a thread (omp_get_level)");
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		if (!libomp__add_span(planner, &spans[i]) && spans[i].kind == RING_REGION_BEGIN &&
		    spans[i].variant != LIBOMP_REGION_TEAMS)
			return planner__refuse(planner, spans[i].function);
	if ((r = find_members(planner, &threads)))
		return r;
	find_league(planner, &threads);
	/* The runtime makes tasks again that it has made before, and no call shows this. */
	if (elf_image__find(planner->image, "__kmpc_start_record_task"))
		planner__missing(planner, "tasks that a taskgraph repeats (__kmpc_start_record_task)");
	missing = find_gomp(planner, &threads);
	if (missing)
		planner__missing(planner, missing);
	return 0;
}
