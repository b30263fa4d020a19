// SPDX-License-Identifier: BSD-2-Clause
/* libgomp's sections and single copyprivate, and the end function that loops and sections share. */
#include "uprobes/libgomp/libgomp_patterns.h"
#include "uprobes/code/code_track.h"

static uint64_t plain(uint32_t kind, uint32_t a, uint32_t b)
{
	return cookie__make(kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, a, b, 0);
}

void libgomp_sections__end(struct planner *planner, const char *name, const char *event, uint32_t kind,
			   uint32_t wait)
{
	struct track_point p;
	struct code_range f;

	if (!planner__function(planner, name, &f))
		return;
	code_track__entry(planner->code, f.first, TRACK_RETURN, &p);
	planner__add(planner, &(struct point_spec){.insn = p.insn,
						   .entry_cookie = plain(kind, wait, 0),
						   .return_cookie = wait ? plain(RING_WAIT_END, wait, 0) : 0,
						   .event = event,
						   .function = name,
						   .reads = wait ? "[rsp] = call site" : "-"});
}

static void find_starts(struct planner *planner)
{
	static const char *const names[] = {"GOMP_sections_start", "GOMP_sections2_start"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct track_point p;
		struct code_range f;

		if (!planner__function(planner, names[i], &f))
			continue;
		code_track__entry(planner->code, f.first,
				  TRACK_ARGUMENT_0 | TRACK_ARGUMENT_0 << 1 | TRACK_IN_PLACE | TRACK_RETURN,
				  &p);
		planner__add(planner,
			     &(struct point_spec){
				     .insn = p.insn,
				     .entry_cookie = cookie__make(RING_SECTIONS_BEGIN, COOKIE_ALWAYS, 0,
								  COOKIE_REG_NONE, COOKIE_REG_NONE,
								  COOKIE_CALL_OWN, 0, (int)i),
				     .return_cookie = plain(RING_SECTION_BEGIN, COOKIE_CALL_OWN, 0),
				     .event = "sections-begin/section-begin",
				     .function = names[i],
				     .reads = "edi = sections, [rsp] = call site; eax = section, at return"});
	}
}

/* The only direct call in the function. CODE_NONE: there is not exactly one. */
static size_t only_call(const struct planner *planner, const struct code_range *f)
{
	size_t found = CODE_NONE;

	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow != FLOW_CALL)
			continue;
		if (found != CODE_NONE || !in->target)
			return CODE_NONE;
		found = i;
	}
	return found;
}

/*
 * GOMP_sections_next calls the function that takes a dynamic loop's chunk, which has its own points. The
 * call is the cheap place to tell that the chunk is a section. If there is no such call, entry and return
 * are probed.
 */
static void find_next(struct planner *planner)
{
	struct code_range f, dynamic;
	struct track_point p;
	uint32_t words = 0;
	size_t call;

	if (!planner__function(planner, "GOMP_sections_next", &f))
		return;
	call = only_call(planner, &f);
	if (call != CODE_NONE && planner__function(planner, "GOMP_loop_dynamic_next", &dynamic) &&
	    code_track__words(planner->code, &f, call, &words) && words <= COOKIE_SMALL_MAX) {
		for (size_t i = dynamic.first; i < dynamic.end; i++) {
			const struct code_insn *in = code__at(planner->code, i);

			if (in->flow != FLOW_JUMP || in->target != code__at(planner->code, call)->target)
				continue;
			planner__add(planner,
				     &(struct point_spec){.insn = call,
							  .entry_cookie = plain(RING_SECTION_NEXT,
										COOKIE_CALL_SITE, words),
							  .event = "section-next",
							  .function = "GOMP_sections_next",
							  .reads = "-"});
			return;
		}
	}
	code_track__entry(planner->code, f.first, TRACK_RETURN, &p);
	planner__add(planner,
		     &(struct point_spec){.insn = p.insn,
					  .entry_cookie = plain(RING_SECTION_NEXT, COOKIE_CALL_OWN, 0),
					  .return_cookie = plain(RING_SECTION_BEGIN, COOKIE_CALL_OWN, 0),
					  .event = "section-next/-begin",
					  .function = "GOMP_sections_next",
					  .reads = "eax = section, at return"});
}

/* The call of the team's barrier in a function. This is the barrier that GOMP_barrier jumps to. */
static size_t barrier_call(const struct planner *planner, const struct code_range *f)
{
	struct code_range barrier;

	if (!planner__function(planner, "GOMP_barrier", &barrier))
		return CODE_NONE;
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *call = code__at(planner->code, i);

		for (size_t k = barrier.first; call->flow == FLOW_CALL && call->target && k < barrier.end;
		     k++) {
			const struct code_insn *in = code__at(planner->code, k);

			if ((in->flow == FLOW_JUMP || in->flow == FLOW_CALL) && in->target == call->target)
				return i;
		}
	}
	return CODE_NONE;
}

/*
 * A thread that lost waits in GOMP_single_copy_start, where the call of the barrier is probed. The thread
 * that won waits in GOMP_single_copy_end.
 */
static void find_copy(struct planner *planner)
{
	struct code_range start, end;
	struct track_point at_start, at_end;
	uint32_t words = 0;
	size_t lost;

	if (!planner__function(planner, "GOMP_single_copy_start", &start) ||
	    !planner__function(planner, "GOMP_single_copy_end", &end))
		return;
	lost = barrier_call(planner, &start);
	if (lost == CODE_NONE || !code_track__words(planner->code, &start, lost, &words) ||
	    words > COOKIE_SMALL_MAX) {
		planner__missing(planner, "GOMP_single_copy_start");
		return;
	}
	code_track__entry(planner->code, start.first, TRACK_RETURN, &at_start);
	code_track__entry(planner->code, end.first, TRACK_RETURN, &at_end);
	planner__add(planner,
		     &(struct point_spec){.insn = at_start.insn,
					  .entry_cookie = plain(RING_SINGLE_END, COOKIE_COPY_START, 0),
					  .return_cookie = plain(RING_SINGLE_END, COOKIE_COPY_STARTED, 0),
					  .event = "single",
					  .function = "GOMP_single_copy_start",
					  .reads = "[rsp] = call site; rax = 0 if won, at return"});
	planner__add(planner,
		     &(struct point_spec){.insn = lost,
					  .entry_cookie = plain(RING_SINGLE_END, COOKIE_COPY_LOST, words),
					  .event = "single-copy-wait",
					  .function = "GOMP_single_copy_start",
					  .reads = "-"});
	planner__add(planner, &(struct point_spec){.insn = at_end.insn,
						   .entry_cookie = plain(RING_SINGLE_END, COOKIE_COPY_END, 0),
						   .return_cookie = plain(RING_WAIT_END,
									  RING_WAIT_BARRIER_IMPLICIT, 0),
						   .event = "single-end",
						   .function = "GOMP_single_copy_end",
						   .reads = "[rsp] = call site"});
}

/* The scope construct is a taskgroup if it has reductions over tasks. */
static void find_scope(struct planner *planner)
{
	struct track_point p;
	struct code_range f;

	if (!planner__function(planner, "GOMP_scope_start", &f))
		return;
	code_track__entry(planner->code, f.first, TRACK_RETURN, &p);
	planner__add(planner, &(struct point_spec){.insn = p.insn,
						   .entry_cookie = plain(RING_GROUP_BEGIN, 0, 0),
						   .event = "taskgroup-begin",
						   .function = "GOMP_scope_start",
						   .reads = "[rsp] = call site"});
}

void libgomp_sections__find(struct planner *planner)
{
	find_starts(planner);
	find_next(planner);
	libgomp_sections__end(planner, "GOMP_sections_end", "sections-end", RING_SECTIONS_END,
			      RING_WAIT_BARRIER_IMPLICIT);
	libgomp_sections__end(planner, "GOMP_sections_end_cancel", "sections-end", RING_SECTIONS_END,
			      RING_WAIT_BARRIER_IMPLICIT);
	libgomp_sections__end(planner, "GOMP_sections_end_nowait", "sections-end", RING_SECTIONS_END, 0);
	find_copy(planner);
	find_scope(planner);
}
