// SPDX-License-Identifier: BSD-2-Clause
/* The points of loops, sections, singles and locks in the installed libomp, and in damaged copies of it. */
#include "bpf/abi/libomp_cookie.h"
#include "tests/unit/check.h"
#include "uprobes/make_plan/make_plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

static char libomp[4096];

static bool find_libomp(void)
{
	void *handle = dlopen("libomp.so.5", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
		return false;
	return realpath(map->l_name, libomp) != NULL;
}

static const struct probe_point *point_of(const struct probe_plan *plan, const char *function, uint32_t kind)
{
	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		if (!strcmp(p->function, function) &&
		    (COOKIE_KIND(p->entry_cookie) == kind || COOKIE_KIND(p->return_cookie) == kind))
			return p;
	}
	return NULL;
}

static void check_points(const struct probe_plan *plan)
{
	static const struct {
		const char *function;
		uint32_t at_entry, at_return, a, b;
	} wanted[] = {
		{"__kmpc_for_static_init_4", RING_LOOP_BEGIN, RING_CHUNK_BEGIN, LIBOMP_STATIC_INIT, 0},
		{"__kmpc_for_static_init_8u", RING_LOOP_BEGIN, RING_CHUNK_BEGIN, LIBOMP_STATIC_INIT,
		 LIBOMP_NUMBER_8_BYTES | LIBOMP_NUMBER_UNSIGNED},
		{"__kmpc_for_static_fini", RING_LOOP_END, 0, 0, 0},
		{"__kmpc_dispatch_init_4u", RING_LOOP_BEGIN, 0, LIBOMP_DISPATCH_INIT, LIBOMP_NUMBER_UNSIGNED},
		{"__kmpc_dispatch_next_8", RING_CHUNK_NEXT, RING_CHUNK_BEGIN, LIBOMP_DISPATCH_NEXT,
		 LIBOMP_NUMBER_8_BYTES},
		{"__kmpc_dist_for_static_init_8", RING_LOOP_BEGIN, RING_CHUNK_BEGIN,
		 LIBOMP_DIST_FOR_STATIC_INIT, LIBOMP_NUMBER_8_BYTES},
		{"__kmpc_end_single", RING_SINGLE_END, 0, 0, 0},
		{"GOMP_sections_next", RING_SECTION_NEXT, RING_SECTION_BEGIN, LIBOMP_GOMP_SECTIONS, 0},
		{"GOMP_parallel_loop_nonmonotonic_guided", RING_LOOP_BEGIN, 0, LIBOMP_GOMP_PARALLEL_LOOP,
		 RING_LOOP_GUIDED | COOKIE_REGION_NONMONOTONIC},
		{"GOMP_parallel_sections", RING_SECTIONS_BEGIN, 0, LIBOMP_GOMP_PARALLEL_SECTIONS, 0},
		{"__kmpc_critical", RING_LOCK_WAIT, 0, LIBOMP_LOCK_OUTER, 0},
		{"__kmpc_critical_with_hint", RING_LOCK_WAIT, RING_LOCK_WAIT, LIBOMP_LOCK_INNER, 0},
		{"__kmpc_ordered", RING_LOCK_WAIT, RING_LOCK_WAIT, LIBOMP_LOCK_INNER, 0},
		{"__kmpc_doacross_wait", RING_LOCK_WAIT, RING_LOCK_WAIT, LIBOMP_LOCK_INNER, 0},
		{"omp_get_num_threads", RING_STATIC_SHARE, 0, 0, 0},
	};
	const struct probe_point *single, *loop;
	size_t stepped = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct probe_point *p = point_of(plan, wanted[i].function, wanted[i].at_entry);
		uint64_t at_entry = p ? p->entry_cookie : 0;

		CHECK(p && COOKIE_KIND(at_entry) == wanted[i].at_entry && COOKIE_A(at_entry) == wanted[i].a &&
			      COOKIE_B(at_entry) == wanted[i].b &&
			      COOKIE_KIND(p->return_cookie) == wanted[i].at_return,
		      "%s: entry %u, return %u", wanted[i].function, wanted[i].at_entry, wanted[i].at_return);
		stepped += p && p->cost != PROBE_EMULATED;
	}
	CHECK(stepped == 0, "all at instructions that the kernel emulates");
	single = point_of(plan, "__kmpc_single", RING_SINGLE);
	CHECK(single && COOKIE_KIND(single->return_cookie) == RING_SINGLE &&
		      COOKIE_A(single->entry_cookie) == LIBOMP_SINGLE_CALLED,
	      "__kmpc_single: who won is known at its return");
	loop = point_of(plan, "GOMP_loop_ull_doacross_runtime_start", RING_LOOP_BEGIN);
	CHECK(loop && !loop->return_cookie && (COOKIE_A(loop->entry_cookie) & COOKIE_LOOP_ALONE) &&
		      (COOKIE_OFF(loop->entry_cookie) & RING_LOOP_SCHEDULE) == RING_LOOP_RUNTIME &&
		      (COOKIE_OFF(loop->entry_cookie) & RING_LOOP_DOACROSS),
	      "GCC's loops begin there and take their chunks from __kmpc_dispatch_next_*");
	CHECK(!point_of(plan, "GOMP_loop_dynamic_next", RING_CHUNK_NEXT), "which are recorded there only");
}

/* The plan without the function, whose name is overwritten where it stands alone. */
static void check_without(const char *function)
{
	char copy[] = "/tmp/graind-libomp-XXXXXX";
	size_t length = strlen(function), size = 0, found = 0;
	FILE *file = fopen(libomp, "rb");
	char *bytes = malloc(64u << 20);
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;
	int fd = mkstemp(copy), r;

	if (file && bytes)
		size = fread(bytes, 1, 64u << 20, file);
	if (file)
		fclose(file);
	for (size_t i = 1; size > length && i < size - length; i++)
		if (!bytes[i - 1] && !memcmp(bytes + i, function, length + 1)) {
			bytes[i] = 'X';
			found++;
		}
	if (fd < 0 || !found || write(fd, bytes, size) != (ssize_t)size) {
		CHECK(0, "a copy without %s", function);
	} else {
		r = probe_plan__create(copy, &plan, &err);
		CHECK(r == -ENOTSUP && strstr(err.text, function) && !strchr(err.text, '\n'),
		      "without %s: %s", function, r ? err.text : "planned");
	}
	probe_plan__free(plan);
	if (fd >= 0)
		close(fd);
	unlink(copy);
	free(bytes);
}

int main(void)
{
	static const char *const required[] = {"__kmpc_dispatch_next_8", "__kmpc_for_static_init_4u",
					       "__kmpc_for_static_fini", "__kmpc_single",
					       "__kmpc_end_single"};
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;

	if (!find_libomp()) {
		printf("not ok - no libomp is installed\n");
		return 1;
	}
	CHECK(probe_plan__create(libomp, &plan, &err) == 0, "the installed libomp is planned %s", err.text);
	if (plan)
		check_points(plan);
	probe_plan__free(plan);
	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++)
		check_without(required[i]);
	CHECK_DONE();
}
