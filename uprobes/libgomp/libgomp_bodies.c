// SPDX-License-Identifier: BSD-2-Clause
/*
 * For a libgomp in which the calls of bodies were not found. The bodies are probed in the program
 * (bodies.h). The program's calls that pass them to the runtime show which construct they belong to.
 */
#include "uprobes/planner/gomp_names.h"
#include "uprobes/libgomp/libgomp_patterns.h"
#include "uprobes/plan/plan_data.h"

#include <string.h>

static uint64_t body_cookie(enum ring_body kind, uint32_t reg, uint32_t a, uint64_t size)
{
	return cookie__make(RING_BODY, COOKIE_ALWAYS, kind, reg, COOKIE_REG_NONE, a, 0, (int)size);
}

/* The entry of a function that takes a body. Its point may be beside another point at the same address. */
static bool add_call(struct planner *planner, const char *function, uint64_t cookie, uint64_t return_cookie,
		     const char *reads)
{
	struct code_range f;

	if (!planner__function(planner, function, &f))
		return false;
	planner__add_beside(planner, &(struct point_spec){.insn = planner__entry_point(planner, f.first,
										       ENTRY_ARGUMENTS),
							  .entry_cookie = cookie,
							  .return_cookie = return_cookie,
							  .event = "body",
							  .function = function,
							  .reads = reads});
	return true;
}

static uint64_t size_of(const struct planner *planner, const char *function)
{
	const struct elf_function *f = elf_image__find(planner->image, function);

	return f ? f->size : 0;
}

static const char *const taskloops[] = {"GOMP_taskloop", "GOMP_taskloop_ull"};

int libgomp_bodies__tasks(struct planner *planner)
{
	size_t kept, create = CODE_NONE;
	uint64_t returned = 0;
	struct code_range f;
	int r;

	if (code__arch(planner->code)->link != CODE_REG_NONE)
		return planner__refuse(planner, planner->refused);
	planner->plan->bodies |= PLAN_BODIES_TASKS;
	if (!planner__function(planner, "GOMP_task", &f))
		return planner__refuse(planner, "the code of GOMP_task");
	r = libgomp__find_create(planner, &f, 1, &create);
	if (r)
		return r;
	kept = planner->plan->count;
	if (libgomp__find_create_end(planner, &f, create) != 0) {
		planner->plan->count = kept;
		planner->err->text[0] = '\0';
		returned = cookie__make(RING_TASK_CREATE_END, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
					COOKIE_REG_NONE, COOKIE_OF_TASK, 1, 0);
	}
	/* Points that must be alone at their address come first. */
	r = libgomp_taskloop__find(planner, 0);
	add_call(planner, "GOMP_task",
		 body_cookie(RING_BODY_TASK, planner__argument(planner, 0), 0, size_of(planner, "GOMP_task")),
		 returned, "rdi = body");
	for (uint32_t i = 0; i < sizeof(taskloops) / sizeof(taskloops[0]); i++)
		add_call(planner, taskloops[i],
			 body_cookie(RING_BODY_TASKLOOP, planner__argument(planner, 0), i,
				     size_of(planner, taskloops[i])),
			 0, "rdi = body, step");
	return r;
}

/*
 * If a region was entered before the recording began, its end is not seen. So this records whether the next
 * region begins inside another one.
 */
static void add_outermost(struct planner *planner, const struct tls_layout *tls)
{
	struct probe_plan *plan = planner->plan;

	for (size_t i = 0; i < plan->count; i++) {
		struct probe_point *p = &plan->points[i];
		int64_t got = (int64_t)(tls->got - p->address);

		if (COOKIE_KIND(p->entry_cookie) == RING_REGION_BEGIN &&
		    COOKIE_REG(p->entry_cookie) == COOKIE_REG_NONE)
			p->entry_cookie =
				cookie__make(RING_REGION_BEGIN, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
					     tls->fixed ? 0 : COOKIE_REG_NONE, COOKIE_A(p->entry_cookie),
					     (uint32_t)tls->team / 4, (int)(tls->fixed ? tls->block : got));
	}
}

static void add_regions(struct planner *planner, const struct tls_layout *tls)
{
	for (size_t i = 0; i < elf_image__function_count(planner->image); i++) {
		const struct elf_function *f = elf_image__function(planner->image, i);
		struct code_range range;
		uint64_t cookie = body_cookie(RING_BODY_OTHER, planner__argument(planner, 0), 0, 0);

		if (!gomp_names__is_parallel(f->name) || !planner__function(planner, f->name, &range))
			continue;
		if (tls) {
			size_t at = planner__entry_point(planner, range.first, ENTRY_ARGUMENTS);
			int64_t got = (int64_t)(tls->got - code__at(planner->code, at)->address);

			cookie = cookie__make(RING_BODY, COOKIE_ALWAYS, RING_BODY_MEMBER,
					      planner__argument(planner, 0), tls->fixed ? 0 : COOKIE_REG_NONE,
					      (uint32_t)tls->team / 4, (uint32_t)tls->number / 4,
					      (int)(tls->fixed ? tls->block : got));
		}
		add_call(planner, f->name, cookie, 0, "rdi = body");
	}
}

int libgomp_bodies__members(struct planner *planner)
{
	struct tls_layout tls = {0};
	struct code_range f;

	if (code__arch(planner->code)->link != CODE_REG_NONE)
		return planner__refuse(planner, planner->refused);
	planner->plan->bodies |= PLAN_BODIES_MEMBERS;
	if (!planner__function(planner, "GOMP_parallel", &f))
		return planner__refuse(planner, "the code of GOMP_parallel");
	if (!libgomp__find_tls(planner, &tls))
		return planner__refuse(planner, "the thread-local team (omp_get_num_threads)");
	add_outermost(planner, &tls);
	add_regions(planner, &tls);
	return 0;
}

void libgomp_bodies__others(struct planner *planner)
{
	uint64_t first = body_cookie(RING_BODY_OTHER, planner__argument(planner, 0), 0, 0);
	uint64_t second = body_cookie(RING_BODY_OTHER, planner__argument(planner, 1), 0, 0);

	if (!planner->plan->bodies)
		return;
	if (!(planner->plan->bodies & PLAN_BODIES_MEMBERS))
		add_regions(planner, NULL);
	if (!(planner->plan->bodies & PLAN_BODIES_TASKS)) {
		add_call(planner, "GOMP_task", first, 0, "rdi = body");
		for (size_t i = 0; i < sizeof(taskloops) / sizeof(taskloops[0]); i++)
			add_call(planner, taskloops[i], first, 0, "rdi = body");
	}
	add_call(planner, "GOMP_teams_reg", first, 0, "rdi = body");
	add_call(planner, "GOMP_target", second, 0, "rsi = body");
	add_call(planner, "GOMP_target_ext", second, 0, "rsi = body");
}
