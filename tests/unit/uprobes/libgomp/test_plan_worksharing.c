// SPDX-License-Identifier: BSD-2-Clause
/* The points of loops, sections, single copyprivate and locks in the installed libgomp. */
#include "bpf/abi/cookie.h"
#include "tests/unit/check.h"
#include "uprobes/code/code.h"
#include "uprobes/planner/gomp_names.h"
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/runtime/runtime_find.h"

#include <stdlib.h>
#include <unistd.h>

static const struct probe_point *find(const struct probe_plan *plan, const char *event, const char *function,
				      size_t nth)
{
	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		if (strcmp(p->event, event) == 0 && strcmp(p->function, function) == 0 && nth-- == 0)
			return p;
	}
	return NULL;
}

struct want {
	const char *event, *function;
	bool emulated, entry, at_return;
};

static void check_points(const struct probe_plan *plan)
{
	static const struct want wanted[] = {
		{"loop-begin/chunk-begin", "GOMP_loop_static_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_dynamic_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_guided_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_ordered_dynamic_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_ordered_runtime_start", false, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_doacross_dynamic_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_doacross_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_ull_dynamic_start", true, true, true},
		{"loop-begin/chunk-begin", "GOMP_loop_ull_start", true, true, true},
		{"chunk-next/-begin", "GOMP_loop_ordered_dynamic_next", true, true, true},
		{"chunk-next/-begin", "GOMP_loop_ull_ordered_guided_next", true, true, true},
		{"chunk-next", "GOMP_loop_static_next", true, true, false},
		{"chunk-next", "GOMP_loop_ull_static_next", true, true, false},
		{"loop-end", "GOMP_loop_end", true, true, true},
		{"loop-end", "GOMP_loop_end_cancel", true, true, true},
		{"loop-end", "GOMP_loop_end_nowait", true, true, false},
		{"sections-begin/section-begin", "GOMP_sections_start", true, true, true},
		{"section-next", "GOMP_sections_next", true, true, false},
		{"sections-end", "GOMP_sections_end", true, true, true},
		{"sections-end", "GOMP_sections_end_cancel", true, true, true},
		{"sections-end", "GOMP_sections_end_nowait", true, true, false},
		{"single", "GOMP_single_copy_start", true, true, true},
		{"single-copy-wait", "GOMP_single_copy_start", true, true, false},
		{"single-end", "GOMP_single_copy_end", true, true, true},
		{"ordered-wait", "GOMP_ordered_start", true, true, true},
		{"ordered-wait", "GOMP_doacross_wait", false, true, true},
		{"lock-wait", "GOMP_critical_start", true, true, true},
		{"lock-wait", "GOMP_critical_name_start", true, true, true},
		{"lock-wait", "GOMP_atomic_start", true, true, true},
		{"lock-wait", "omp_set_lock", true, true, true},
		{"lock-wait", "omp_set_nest_lock", true, true, false},
		{"lock-got", "omp_set_nest_lock", true, true, false},
		{"static-share", "omp_get_num_threads", true, true, false},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct want *w = &wanted[i];
		const struct probe_point *p = find(plan, w->event, w->function, 0);

		CHECK(p && (!w->emulated || p->cost == PROBE_EMULATED) && w->entry == !!p->entry_cookie &&
			      w->at_return == !!p->return_cookie,
		      "%s at %s: %s", w->event, w->function, p ? p->instruction : "missing");
	}
}

/* The functions that take chunks: cheap, and each knows where the bounds will be stored. */
static void check_takers(const struct probe_plan *plan)
{
	const struct probe_point *p;
	size_t n = 0, cheap = 0, negated = 0, pointers = 0;

	for (; (p = find(plan, "chunk-next/-begin", "gomp_iter_*_next", n)); n++) {
		cheap += p->cost == PROBE_EMULATED;
		negated += COOKIE_B(p->return_cookie);
		pointers += COOKIE_REG(p->entry_cookie) != COOKIE_REG_NONE &&
			    COOKIE_REG2(p->entry_cookie) != COOKIE_REG_NONE &&
			    COOKIE_REG(p->entry_cookie) != COOKIE_REG2(p->entry_cookie);
	}
	CHECK(n == 6 && pointers == 6, "static, dynamic and guided chunks, signed and unsigned: %zu", n);
	CHECK(negated == 2, "those of static loops say 0 when they got one");
	CHECK(cheap >= 5, "%zu of them on instructions that the kernel emulates", cheap);
	CHECK(!find(plan, "chunk-next/-begin", "GOMP_loop_dynamic_next", 0),
	      "a call that only jumps to one of them is not probed as well");
}

/* Uncontended locks cost nothing: the probe is not before the compare-and-exchange. */
static void check_locks(const char *path, const struct probe_plan *plan)
{
	static const char *const names[] = {"GOMP_critical_start", "GOMP_critical_name_start",
					    "GOMP_atomic_start", "omp_set_lock", "omp_set_nest_lock"};
	struct uprobes_error err = {""};
	struct elf_image *image = NULL;
	struct code *code = NULL;

	if (elf_image__open(path, &image, &err) || code__load(image, &code, &err)) {
		CHECK(0, "%s", err.text);
		elf_image__close(image);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct probe_point *p = find(plan, "lock-wait", names[i], 0);
		const struct elf_function *f = elf_image__find(image, names[i]);
		size_t at = p ? code__find(code, p->address) : CODE_NONE,
		       first = f ? code__find(code, f->address) : 0;
		bool locked = false, returned = false;

		for (size_t k = first; at != CODE_NONE && k < at; k++) {
			locked |= code__at(code, k)->lock;
			returned |= code__at(code, k)->flow == FLOW_RETURN;
		}
		CHECK(locked && returned, "the probe in %s is beyond the way of a free lock", names[i]);
	}
	code__free(code);
	elf_image__close(image);
}

static void check_names(void)
{
	static const struct {
		const char *name;
		bool start;
		uint32_t layout, bits;
	} names[] = {
		{"GOMP_loop_static_start", true, COOKIE_LOOP_CHUNK, RING_LOOP_STATIC},
		{"GOMP_loop_nonmonotonic_dynamic_start", true, COOKIE_LOOP_CHUNK,
		 RING_LOOP_DYNAMIC | RING_LOOP_NONMONOTONIC},
		{"GOMP_loop_maybe_nonmonotonic_runtime_start", true, 0, RING_LOOP_RUNTIME},
		{"GOMP_loop_ull_ordered_guided_start", true, COOKIE_LOOP_CHUNK | COOKIE_LOOP_UP,
		 RING_LOOP_GUIDED | RING_LOOP_UNSIGNED | RING_LOOP_ORDERED},
		{"GOMP_loop_start", true, COOKIE_LOOP_CHUNK | COOKIE_LOOP_SCHED, 0},
		{"GOMP_loop_ull_start", true, COOKIE_LOOP_CHUNK | COOKIE_LOOP_SCHED | COOKIE_LOOP_UP,
		 RING_LOOP_UNSIGNED},
		{"GOMP_loop_ull_doacross_static_start", true, COOKIE_LOOP_CHUNK | COOKIE_LOOP_DOACROSS,
		 RING_LOOP_STATIC | RING_LOOP_UNSIGNED | RING_LOOP_ORDERED | RING_LOOP_DOACROSS},
		{"GOMP_loop_doacross_start", true,
		 COOKIE_LOOP_CHUNK | COOKIE_LOOP_SCHED | COOKIE_LOOP_DOACROSS,
		 RING_LOOP_ORDERED | RING_LOOP_DOACROSS},
		{"GOMP_loop_dynamic_next", false, 0, 0},
		{"GOMP_loop_end", false, 0, 0},
		{"GOMP_parallel_loop_static_start", false, 0, 0},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t cookie = 0;
		bool start = gomp_names__loop_start(names[i].name, &cookie);

		CHECK(start == names[i].start &&
			      (!start ||
			       (COOKIE_A(cookie) == names[i].layout &&
				(uint32_t)COOKIE_OFF(cookie) == (names[i].bits | RING_LOOP_UPPER_EXCLUSIVE))),
		      "%s", names[i].name);
	}
	CHECK(gomp_names__region_layout("GOMP_parallel") == 0 &&
		      gomp_names__region_layout("GOMP_parallel_sections") == COOKIE_REGION_SECTIONS &&
		      gomp_names__region_layout("GOMP_parallel_loop_guided") == RING_LOOP_GUIDED &&
		      gomp_names__region_layout("GOMP_parallel_loop_nonmonotonic_dynamic") ==
			      (RING_LOOP_DYNAMIC | COOKIE_REGION_NONMONOTONIC) &&
		      gomp_names__region_layout("GOMP_parallel_loop_maybe_nonmonotonic_runtime") ==
			      RING_LOOP_RUNTIME &&
		      gomp_names__region_layout("GOMP_parallel_loop_static_start") == 0,
	      "what regions are combined with");
}

/* Without what a pattern needs: the point is named as missing, the plan is still made. */
static void check_missing(const char *path, const struct probe_plan *plan, const char *event,
			  const char *function)
{
	const struct probe_point *p = find(plan, event, function, 0);
	char name[] = "/tmp/graind-plan-XXXXXX";
	struct uprobes_error err = {""};
	struct probe_plan *damaged = NULL;
	int fd = mkstemp(name), r = -1;
	FILE *from = fopen(path, "rb");
	char *bytes = malloc(8 << 20);
	size_t size = from && bytes ? fread(bytes, 1, 8 << 20, from) : 0;
	bool named = false;

	if (p && size && fd >= 0) {
		memset(bytes + p->offset, 0xcc, 2);
		if (write(fd, bytes, size) == (ssize_t)size)
			r = probe_plan__create(name, &damaged, &err);
	}
	for (size_t i = 0; r == 0 && probe_plan__missing(damaged, i); i++)
		named |= strcmp(probe_plan__missing(damaged, i), function) == 0;
	CHECK(named, "without %s of %s: %s", event, function, r ? err.text : "planned, and named as missing");
	probe_plan__free(damaged);
	if (from)
		fclose(from);
	if (fd >= 0)
		close(fd);
	unlink(name);
	free(bytes);
}

int main(void)
{
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;
	char libgomp[4096];

	check_names();
	if (runtime_find__system(libgomp, sizeof(libgomp)) || probe_plan__create(libgomp, &plan, &err)) {
		printf("not ok - the installed libgomp is planned %s\n", err.text);
		return 1;
	}
	check_points(plan);
	check_takers(plan);
	check_locks(libgomp, plan);
	CHECK(probe_plan__missing(plan, 0) == NULL, "nothing is missing");
	check_missing(libgomp, plan, "lock-wait", "omp_set_lock");
	check_missing(libgomp, plan, "single-copy-wait", "GOMP_single_copy_start");
	probe_plan__free(plan);
	CHECK_DONE();
}
