// SPDX-License-Identifier: BSD-2-Clause
/*
 * The planner on the installed libomp: every point that is needed, on instructions that the kernel
 * emulates, and a refusal that names what is missing. PLAN_LIBOMP names another file, to try other versions.
 */
#include "bpf/abi/libomp_task_cookie.h"
#include "tests/unit/check.h"
#include "uprobes/make_plan/make_plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *event, *function; /* function NULL: any */
	uint32_t kind;		      /* of the cookie at the entry */
	size_t at_least;
} wanted[] = {
	{"task-begin", NULL, RING_TASK_BEGIN, 1},
	{"task-end", NULL, RING_TASK_END, 1},
	{"task-create", "__kmpc_omp_task", RING_TASK_CREATE, 1},
	{"task-create-end", "__kmpc_omp_task", RING_TASK_CREATE_END, 1},
	{"task-create", "__kmpc_omp_task_with_deps", RING_TASK_CREATE, 1},
	{"task-create-end", "__kmpc_omp_task_with_deps", RING_TASK_CREATE_END, 1},
	{"task-create", "__kmp_omp_taskloop_task", RING_TASK_CREATE, 1},
	{"task-create-end", "__kmp_omp_taskloop_task", RING_TASK_CREATE_END, 1},
	{"taskloop-tasks", NULL, RING_NONE, 1},
	{"taskloop-begin", "__kmpc_taskloop", RING_TASKLOOP_BEGIN, 1},
	{"taskloop-end", "__kmpc_taskloop", RING_TASKLOOP_END, 1},
	{"undeferred-begin", NULL, RING_UNDEFERRED_BEGIN, 1},
	{"undeferred-end", NULL, RING_UNDEFERRED_END, 1},
	{"task-fulfill", NULL, RING_TASK_FULFILL, 1},
	{"region-begin", "__kmpc_fork_call", RING_REGION_BEGIN, 1},
	{"region-end", "__kmpc_fork_call", RING_REGION_END, 1},
	{"region-begin", "__kmpc_fork_teams", RING_REGION_BEGIN, 1},
	{"region-begin", "__kmpc_serialized_parallel", RING_REGION_BEGIN, 1},
	{"region-end", "__kmpc_end_serialized_parallel", RING_REGION_END, 1},
	{"region-begin", "GOMP_parallel", RING_REGION_BEGIN, 1},
	{"member-begin", "GOMP_parallel", RING_MEMBER_BEGIN, 1},
	{"region-end-wait", "GOMP_parallel", RING_WAIT_BEGIN, 1},
	{"member-begin/region-end-wait", NULL, RING_MEMBER_BEGIN, 1},
	{"league-member", NULL, RING_MEMBER_BEGIN, 1},
	{"taskwait", "__kmpc_omp_taskwait", RING_WAIT_BEGIN, 1},
	{"taskwait-end", "__kmpc_omp_taskwait", RING_WAIT_END, 1},
	{"taskgroup-begin", "__kmpc_taskgroup", RING_GROUP_BEGIN, 1},
	{"taskgroup-end", "__kmpc_end_taskgroup", RING_WAIT_BEGIN, 1},
	{"taskgroup-ended", "__kmpc_end_taskgroup", RING_WAIT_END, 1},
	{"taskyield", "__kmpc_omp_taskyield", RING_WAIT_BEGIN, 1},
	{"barrier", "__kmpc_barrier", RING_WAIT_BEGIN, 1},
	{"barrier", "__kmpc_copyprivate", RING_WAIT_BEGIN, 2},
	{"barrier", "__kmpc_end_reduce", RING_WAIT_BEGIN, 1},
	{"cancel", "__kmpc_cancel", RING_NONE, 1},
	{"cancel", "__kmpc_cancellationpoint", RING_NONE, 1},
	{"taskwait-depend", NULL, RING_WAIT_BEGIN, 1},
	{"call-site", "GOMP_task", RING_NONE, 1},
};

static void check_points(const struct probe_plan *plan)
{
	size_t dear = 0, flags_known = 0, returns = 0;

	for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++) {
		size_t found = 0;

		for (size_t i = 0; i < probe_plan__count(plan); i++) {
			const struct probe_point *p = probe_plan__point(plan, i);

			found += strcmp(p->event, wanted[w].event) == 0 &&
				 (!wanted[w].function || strcmp(p->function, wanted[w].function) == 0) &&
				 COOKIE_KIND(p->entry_cookie) == wanted[w].kind;
		}
		CHECK(found >= wanted[w].at_least, "%s of %s has %zu points", wanted[w].event,
		      wanted[w].function ? wanted[w].function : "libomp", found);
	}
	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		/* GCC's interface: member 0 is only seen at the call of the body itself, once a region. */
		dear += p->cost == PROBE_SINGLE_STEPPED && strcmp(p->event, "member-begin") != 0;
		if (strcmp(p->event, "task-create") == 0)
			flags_known += (COOKIE_A(p->entry_cookie) | COOKIE_B(p->entry_cookie) << 6) != 0;
		/* Return probes nest 64 deep only: nothing that recursion goes through may need one. */
		returns += p->return_cookie && (strncmp(p->event, "task", 4) == 0);
		for (size_t j = 0; j < i; j++)
			if (probe_plan__point(plan, j)->address == p->address)
				CHECK(0, "two points at %lx", (unsigned long)p->address);
	}
	CHECK(dear == 0, "all points but member 0's of GCC's interface are emulated, %zu are not", dear);
	CHECK(flags_known == 3, "the flags of tasks are found at %zu of 3 places", flags_known);
	CHECK(returns == 0, "tasks, taskwaits and taskgroups need no return probe, %zu do", returns);
	CHECK(!probe_plan__missing(plan, 0), "nothing is missing: %s",
	      probe_plan__missing(plan, 0) ? probe_plan__missing(plan, 0) : "-");
}

/* Overwrites the instructions of an event's points: the planner must refuse and name what is gone. */
static void check_damaged(const char *libomp, const struct probe_plan *plan, const char *event,
			  const char *word)
{
	char name[] = "/tmp/graind-plan-XXXXXX";
	int fd = mkstemp(name), r = -EIO;
	struct uprobes_error err = {""};
	struct probe_plan *damaged = NULL;
	FILE *from = fopen(libomp, "rb");
	char bytes[65536];
	size_t n;

	while (from && fd >= 0 && (n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		if (write(fd, bytes, n) != (ssize_t)n)
			break;
	for (size_t i = 0; fd >= 0 && i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		if (strcmp(p->event, event) == 0 && pwrite(fd, "\xcc\xcc", 2, (off_t)p->offset) != 2)
			break;
	}
	if (fd >= 0) {
		r = probe_plan__create(name, &damaged, &err);
		close(fd);
		unlink(name);
	}
	if (from)
		fclose(from);
	CHECK(r == -ENOTSUP && strstr(err.text, word), "without %s: %s", event, r ? err.text : "planned");
	probe_plan__free(damaged);
}

/* A copy in which some functions that graind need not know have the names of those of newer versions. */
static void check_newer(const char *libomp)
{
	static const struct {
		const char *old, *new;
		uint32_t b;
	} names[] = {
		{"GOMP_loop_ordered_dynamic_next", "__kmpc_push_num_threads_strict", 0},
		{"__kmpc_atomic_bool_1_cas_cpt", "__kmpc_push_num_threads_list", 1},
		{"GOMP_taskgroup_reduction_unregister", "__kmpc_push_num_threads_list_strict", 1},
		{"__kmpc_atomic_bool_2_cas_cpt", "__kmpc_start_record_task", 0},
	};
	char name[] = "/tmp/graind-plan-XXXXXX";
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;
	FILE *from = fopen(libomp, "rb");
	char *bytes = malloc(64u << 20);
	int fd = mkstemp(name);
	size_t size = from && bytes ? fread(bytes, 1, 64u << 20, from) : 0;

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		for (size_t i = 1, n = strlen(names[k].old); i + n < size; i++)
			if (!bytes[i - 1] && !memcmp(bytes + i, names[k].old, n + 1))
				memcpy(bytes + i, names[k].new, strlen(names[k].new) + 1);
	CHECK(fd >= 0 && size && write(fd, bytes, size) == (ssize_t)size &&
		      probe_plan__create(name, &plan, &err) == 0,
	      "a libomp with names of newer ones is planned %s", err.text);
	for (size_t k = 0; plan && k < sizeof(names) / sizeof(names[0]) - 1; k++) {
		size_t found = 0;

		for (size_t i = 0; i < probe_plan__count(plan); i++) {
			const struct probe_point *p = probe_plan__point(plan, i);

			found += !strcmp(p->function, names[k].new) &&
				 COOKIE_KIND(p->entry_cookie) == RING_NONE &&
				 COOKIE_A(p->entry_cookie) == LIBOMP_KEEP_THREADS &&
				 COOKIE_B(p->entry_cookie) == names[k].b;
		}
		CHECK(found == 1, "%s tells the threads that were asked for", names[k].new);
	}
	CHECK(plan && probe_plan__missing(plan, 0) && strstr(probe_plan__missing(plan, 0), "taskgraph"),
	      "what a taskgraph repeats is said to be missing");
	probe_plan__free(plan);
	if (from)
		fclose(from);
	if (fd >= 0)
		close(fd);
	unlink(name);
	free(bytes);
}

int main(void)
{
	const char *libomp = getenv("PLAN_LIBOMP");
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;
	struct link_map *map = NULL;
	void *handle = NULL;

	if (!libomp) {
		/* as a program that is linked with it finds it */
		handle = dlopen("libomp.so.5", RTLD_NOW);
		if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
			libomp = map->l_name;
	}
	if (!libomp) {
		printf("not ok - no libomp is installed (package libomp-dev)\n");
		return 1;
	}
	CHECK(probe_plan__create(libomp, &plan, &err) == 0, "the installed libomp is planned %s", err.text);
	if (plan) {
		CHECK(probe_plan__runtime(plan) == RUNTIME_LIBOMP, "it is recognised by its functions");
		check_points(plan);
		check_damaged(libomp, plan, "task-begin", "bodies of tasks");
		if (!getenv("PLAN_LIBOMP"))
			check_newer(libomp);
		probe_plan__free(plan);
	}
	CHECK_DONE();
}
