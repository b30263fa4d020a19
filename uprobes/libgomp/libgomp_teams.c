// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parallel regions and their implicit tasks: the GOMP_parallel family, the internal function that starts a
 * team, the place where a worker calls the region's body, and the barrier that ends the region for every
 * member.
 */
#include "uprobes/code/code_paths.h"
#include "uprobes/planner/gomp_names.h"
#include "uprobes/libgomp/libgomp_patterns.h"
#include "uprobes/plan/plan_data.h"

#include <errno.h>
#include <stdio.h>

static void find_regions(struct planner *planner)
{
	for (size_t i = 0; i < elf_image__function_count(planner->image); i++) {
		const struct elf_function *f = elf_image__function(planner->image, i);
		struct code_range range;

		if (!gomp_names__is_parallel(f->name) || !planner__function(planner, f->name, &range))
			continue;
		planner__add(planner,
			     &(struct point_spec){.insn = planner__entry_point(planner, range.first,
									       ENTRY_ARGUMENTS),
						  .entry_cookie =
							  libgomp__cookie(RING_REGION_BEGIN,
									  gomp_names__region_layout(f->name)),
						  .return_cookie = libgomp__cookie(RING_REGION_END, 0),
						  .event = "region-begin/-end",
						  .function = f->name,
						  .reads = "rdi = body, edx = threads, [rsp] = call site"});
	}
}

/*
 * A loop's end compares `a` and `b`. Returns the one that the code between the body's call and the
 * comparison adds 1 to.
 */
static uint8_t counter_of(const struct planner *planner, size_t call, size_t compare)
{
	const struct code_insn *cmp = code__at(planner->code, compare);

	for (size_t i = compare; i-- > call + 1;) {
		const struct code_insn *in = code__at(planner->code, i);
		bool one = in->op == CODE_ADD && in->operand_count >= 2 &&
			   in->operand[1].type == OPERAND_VALUE && in->operand[1].value == 1;

		for (int k = 0; k < 2; k++) {
			uint8_t reg = cmp->operand[k].reg;

			if (cmp->operand[k].type != OPERAND_REG || !insn__writes(in, reg))
				continue;
			return one && in->operand[0].reg == reg ? reg : CODE_REG_NONE;
		}
	}
	return CODE_REG_NONE;
}

/*
 * GOMP_teams_reg calls its body in a loop: call fn; mov reg, number; add reg, 1; mov number, reg; cmp reg,
 * teams; jb. At that jump, reg is the number of the next team if there is one.
 */
static bool find_next_team(const struct planner *planner, const struct code_range *f, struct point_spec *next)
{
	size_t call = f->first, jump;
	const struct code_insn *in;
	uint8_t number;
	int depth;

	while (call < f->end && libgomp__callee(planner, f, call) != CALLEE_BODY)
		call++;
	if (call == f->end)
		return false;
	jump = code_paths__loop_end(planner->code, f, call);
	depth = jump == CODE_NONE ? -1 : code_paths__depth(planner->code, f, jump);
	if (depth < 0 || jump <= call + 1 || code__at(planner->code, jump - 1)->op != CODE_COMPARE)
		return false;
	number = counter_of(planner, call, jump - 1);
	if (number == CODE_REG_NONE)
		return false;
	in = code__at(planner->code, jump);
	*next = (struct point_spec){.insn = jump,
				    .entry_cookie =
					    cookie__make(RING_TEAM_STARTED, COOKIE_ALWAYS, in->test,
							 planner__cookie_reg(number),
							 in->target <= code__at(planner->code, call)->address
								 ? COOKIE_IF_TAKEN
								 : COOKIE_IF_NOT_TAKEN,
							 0, 0, depth),
				    .event = "next-team",
				    .function = "GOMP_teams_reg",
				    .reads = planner__reg_name(planner, planner__cookie_reg(number))};
	return true;
}

/* Teams on the host: GOMP_teams_reg(fn, data, num_teams, thread_limit, flags). */
static void find_host_teams(struct planner *planner)
{
	struct point_spec next;
	struct code_range f;

	if (!planner__function(planner, "GOMP_teams_reg", &f) || !find_next_team(planner, &f, &next)) {
		planner__missing(planner, "GOMP_teams_reg");
		return;
	}
	planner__add(planner, &next);
	planner__add(planner,
		     &(struct point_spec){.insn = planner__entry_point(planner, f.first, ENTRY_ARGUMENTS),
					  .entry_cookie = cookie__make(RING_REGION_BEGIN, COOKIE_ALWAYS, 0,
								       planner__argument(planner, 0),
								       COOKIE_REG_NONE, 0, 0, 0),
					  .return_cookie = cookie__make(RING_REGION_END, COOKIE_ALWAYS, 0,
									planner__argument(planner, 0),
									COOKIE_REG_NONE, 0, 0, 0),
					  .event = "teams-begin/-end",
					  .function = "GOMP_teams_reg",
					  .reads = "rdi = body, edx = teams, [rsp] = call site"});
}

/*
 * gomp_team_start(fn, data, nthreads, flags, team, taskgroup). It is the last function that GOMP_parallel
 * calls before it calls fn itself. The team is the result of the call just before.
 */
static int find_team_start(struct planner *planner)
{
	size_t callee = CODE_NONE, at;
	struct code_range f;
	bool team_passed = false;

	if (!planner__function(planner, "GOMP_parallel", &f))
		return planner__refuse(planner, "the code of GOMP_parallel");
	for (size_t i = f.first; i < f.end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && in->target) {
			callee = team_passed ? code__find(planner->code, in->target) : CODE_NONE;
			team_passed = false;
		} else if (in->flow == FLOW_CALL) {
			break;
		} else if (in->op == CODE_COPY &&
			   operand__is(&in->operand[0], planner__argument(planner, 4)) &&
			   operand__is(&in->operand[1], code__arch(planner->code)->result)) {
			team_passed = true;
		}
	}
	if (callee == CODE_NONE)
		return planner__refuse(planner, "the start of a team in GOMP_parallel");
	at = planner__entry_point(planner, callee, ENTRY_ARGUMENTS);
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie =
						  cookie__make(RING_TEAM_START, COOKIE_ALWAYS, 0,
							       COOKIE_REG_NONE, COOKIE_REG_NONE, 0, 0, 0),
					  .return_cookie =
						  cookie__make(RING_TEAM_STARTED, COOKIE_ALWAYS, 0,
							       COOKIE_REG_NONE, COOKIE_REG_NONE, 0, 0, 0),
					  .event = "team-start/-ed",
					  .function = "gomp_team_start",
					  .reads = "r8 = team, edx = threads"});
	return 0;
}

#define WORKER_WINDOW 6 /* the most instructions from a worker's call of the body to related code */

static void add_member_begin(struct planner *planner, size_t insn, uint32_t when, uint8_t fn,
			     const struct tls_layout *tls)
{
	const struct code_insn *in = code__at(planner->code, insn);
	uint32_t reg = planner__cookie_reg(fn);
	char reads[64];

	snprintf(reads, sizeof(reads), "%s = body, thread[+0x%x] = team, thread[+0x%x] = number",
		 planner__reg_name(planner, reg), (unsigned)tls->team, (unsigned)tls->number);
	planner__add(planner,
		     &(struct point_spec){
			     .insn = insn,
			     .entry_cookie = cookie__make(
				     RING_MEMBER_BEGIN, when, in->test, tls->fixed ? 0 : COOKIE_REG_NONE, reg,
				     (uint32_t)tls->team / 4, (uint32_t)tls->number / 4,
				     tls->fixed ? (int)tls->block : (int)(int64_t)(tls->got - in->address)),
			     .event = "member-begin",
			     .function = "gomp_thread_start",
			     .reads = reads});
}

/*
 * Jumps lead into the straight-line code that ends in the worker's call of the body. They are cheap to
 * probe. But if that code follows a call, only the call of the body itself is the right place.
 */
static void add_worker(struct planner *planner, size_t call, const struct tls_layout *tls)
{
	uint8_t fn = code__at(planner->code, call)->operand[0].reg;
	size_t first = call;

	while (first > 0 && code__at(planner->code, first - 1)->flow == FLOW_NEXT &&
	       !insn__writes(code__at(planner->code, first - 1), fn))
		first--;
	if (first > 0 && !code__at(planner->code, call)->emulated) {
		const struct code_insn *before = code__at(planner->code, first - 1);
		uint64_t low = code__at(planner->code, first)->address;
		uint64_t high = code__at(planner->code, call)->address;
		bool cheap = before->flow == FLOW_JUMP || (before->flow == FLOW_BRANCH && before->emulated);
		size_t edges = 0;

		for (size_t i = 0; cheap && i < code__count(planner->code); i++) {
			const struct code_insn *in = code__at(planner->code, i);

			if ((in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH) && in->target >= low &&
			    in->target <= high) {
				cheap = in->emulated;
				edges++;
			}
		}
		if (cheap && (edges || before->flow == FLOW_BRANCH)) {
			if (before->flow == FLOW_BRANCH)
				add_member_begin(planner, first - 1, COOKIE_IF_NOT_TAKEN, fn, tls);
			for (size_t i = 0; i < code__count(planner->code); i++) {
				const struct code_insn *in = code__at(planner->code, i);

				if ((in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH) && in->target >= low &&
				    in->target <= high)
					add_member_begin(planner, i,
							 in->flow == FLOW_JUMP ? COOKIE_ALWAYS
									       : COOKIE_IF_TAKEN,
							 fn, tls);
			}
			return;
		}
	}
	add_member_begin(planner, call, COOKIE_ALWAYS, fn, tls);
}

/* Whether the function is a barrier: its first instructions have an atomic operation on its argument. */
static bool is_barrier(const struct planner *planner, size_t first)
{
	for (size_t i = first; i < code__count(planner->code) && i < first + 12; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->lock &&
		    (in->flow == FLOW_CALL || operand__is_at(&in->operand[0], planner__argument(planner, 0))))
			return true;
		if (in->flow != FLOW_NEXT)
			return false;
	}
	return false;
}

/*
 * Every member, worker or member 0, calls the barrier that ends the region. Its wait begins at the call,
 * before its arrival can release any thread.
 */
static int add_region_end(struct planner *planner, uint64_t barrier)
{
	size_t at = planner__entry_point(planner, code__find(planner->code, barrier), ENTRY_PAST_BRANCH);

	for (size_t i = 0; i < code__count(planner->code); i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->target != barrier)
			continue;
		if (in->flow != FLOW_CALL)
			return planner__refuse(planner, "only calls of the barrier that ends regions");
		planner__add(planner,
			     &(struct point_spec){.insn = i,
						  .entry_cookie = cookie__make(
							  RING_WAIT_BEGIN, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
							  COOKIE_REG_NONE, RING_WAIT_REGION_END,
							  code__arch(planner->code)->link == CODE_REG_NONE,
							  0),
						  .event = "region-end-wait",
						  .function = "caller of the barrier",
						  .reads = "-"});
	}
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .return_cookie = cookie__make(RING_WAIT_END, COOKIE_ALWAYS, 0,
									COOKIE_REG_NONE, COOKIE_REG_NONE,
									RING_WAIT_REGION_END, 0, 0),
					  .event = "region-end-waited",
					  .function = "gomp_team_barrier_wait_final",
					  .reads = "-"});
	return 0;
}

/*
 * Whether `call` calls a register that the callee saves, with an argument that was moved from another
 * register.
 */
static bool calls_saved_register(const struct planner *planner, size_t call)
{
	const struct code_insn *in = code__at(planner->code, call);

	if (in->flow != FLOW_CALL || in->operand[0].type != OPERAND_REG ||
	    insn__writes(in, in->operand[0].reg))
		return false;
	for (size_t i = call; i > 0 && call - i < WORKER_WINDOW; i--) {
		const struct code_insn *before = code__at(planner->code, i - 1);

		if (before->flow != FLOW_NEXT || insn__writes(before, in->operand[0].reg))
			return false;
		if (insn__writes(before, planner__argument(planner, 0)))
			return before->op == CODE_COPY && before->operand[1].type == OPERAND_REG;
	}
	return false;
}

/* The barrier that is called right after `call`, with only an argument set in between; 0: there is none. */
static uint64_t barrier_after(const struct planner *planner, size_t call)
{
	bool argument = false;

	for (size_t i = call + 1; i < code__count(planner->code) && i <= call + WORKER_WINDOW; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL) {
			size_t to =
				in->target && argument ? code__find(planner->code, in->target) : CODE_NONE;

			return to != CODE_NONE && is_barrier(planner, to) ? in->target : 0;
		}
		if (in->flow != FLOW_NEXT)
			return 0;
		argument |= insn__writes(in, planner__argument(planner, 0));
	}
	return 0;
}

/*
 * A worker calls its body in two places, of which the first is for nested regions: mov rdi, data; call fn;
 * lea/mov rdi, barrier; call gomp_team_barrier_wait_final. fn and data are in registers that the callee
 * saves.
 */
static int find_workers(struct planner *planner)
{
	struct tls_layout tls = {0};
	uint64_t final = 0;
	size_t found = 0;

	if (!libgomp__find_tls(planner, &tls))
		return planner__refuse(planner, "the thread-local team (omp_get_num_threads)");
	for (size_t i = 0; i < code__count(planner->code); i++) {
		uint64_t barrier = calls_saved_register(planner, i) ? barrier_after(planner, i) : 0;

		if (!barrier)
			continue;
		if (final && final != barrier)
			return planner__refuse(planner, "a single barrier that ends regions");
		final = barrier;
		add_worker(planner, i, &tls);
		found++;
	}
	if (found < 2)
		return planner__refuse(planner, "the two places where workers call a region's body");
	return add_region_end(planner, final);
}

int libgomp_teams__find(struct planner *planner)
{
	size_t before;
	int r;

	find_regions(planner);
	find_host_teams(planner);
	before = planner->plan->count;
	r = find_team_start(planner);
	if (!r)
		r = find_workers(planner);
	if (!r)
		return 0;
	planner__go_back(planner, before);
	return libgomp_bodies__members(planner);
}
