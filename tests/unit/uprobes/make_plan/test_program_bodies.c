// SPDX-License-Identifier: BSD-2-Clause
/* The bodies of a program's constructs, found by name and, when it is stripped, by what it hands to the
 * runtime. */
#include "bpf/abi/cookie.h"
#include "tests/unit/check.h"
#include "uprobes/make_plan/bodies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SOURCE "tests/data/many_bodies.c"
#define BODIES 12 /* in it */

static char directory[] = "/tmp/graind-bodies-XXXXXX";

static int plan(const char *path, uint64_t offset, struct probe_plan **out, struct uprobes_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	*out = NULL;
	if (fd < 0)
		return -errno;
	r = bodies__plan_fd(fd, path, offset, out, err);
	close(fd);
	return r;
}

static uint64_t start_of(const struct probe_point *p)
{
	return p->offset + (uint64_t)(int64_t)COOKIE_OFF(p->entry_cookie);
}

static bool has(const struct probe_plan *plan, uint64_t start)
{
	for (size_t i = 0; i < probe_plan__count(plan); i++)
		if (start_of(probe_plan__point(plan, i)) == start)
			return true;
	return false;
}

static void check_points(const struct probe_plan *named, const struct probe_plan *stripped,
			 const char *options)
{
	size_t both = 0, sound = 0, again = 0;

	for (size_t i = 0; i < probe_plan__count(named); i++) {
		const struct probe_point *p = probe_plan__point(named, i);

		both += has(stripped, start_of(p));
		sound += COOKIE_KIND(p->entry_cookie) == RING_TASK_BEGIN &&
			 COOKIE_KIND(p->return_cookie) == RING_TASK_END && COOKIE_OFF(p->entry_cookie) <= 0 &&
			 COOKIE_OFF(p->entry_cookie) > -64;
	}
	CHECK(probe_plan__count(named) == BODIES && sound == BODIES, "%s: %zu bodies by their names", options,
	      probe_plan__count(named));
	CHECK(both == BODIES && probe_plan__count(stripped) == BODIES,
	      "%s: stripped, the same by their addresses: %zu of %zu", options, both,
	      probe_plan__count(stripped));
	for (size_t i = 0; i < probe_plan__count(stripped); i++) {
		const struct probe_point *p = probe_plan__point(stripped, i);
		struct uprobes_error err = {.text = ""};
		struct probe_plan *one;

		if (plan(probe_plan__path(stripped), start_of(p), &one, &err) == 0)
			again += probe_plan__count(one) == 1 &&
				 probe_plan__point(one, 0)->offset == p->offset &&
				 probe_plan__point(one, 0)->entry_cookie == p->entry_cookie;
		probe_plan__free(one);
	}
	CHECK(again == BODIES, "%s: and each alone by its offset: %zu", options, again);
}

static void check_build(const char *options)
{
	struct probe_plan *named = NULL, *stripped = NULL;
	struct uprobes_error err = {.text = ""};
	char command[700], path[80], path2[80];
	int r;

	snprintf(path, sizeof(path), "%s/program", directory);
	snprintf(path2, sizeof(path2), "%s/stripped", directory);
	snprintf(command, sizeof(command), "gcc %s -fopenmp -o %s %s && strip -s -o %s %s", options, path,
		 SOURCE, path2, path);
	if (system(command) != 0) {
		CHECK(false, "%s: the program is built", options);
		return;
	}
	r = plan(path, 0, &named, &err);
	CHECK(r == 0, "%s: planned %s", options, err.text);
	r = plan(path2, 0, &stripped, &err);
	CHECK(r == 0, "%s: planned without names %s", options, err.text);
	if (named && stripped)
		check_points(named, stripped, options);
	probe_plan__free(named);
	probe_plan__free(stripped);
}

static void check_others(void)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *none = NULL;
	char path[80];
	FILE *f;

	CHECK(plan("/bin/true", 0, &none, &err) == -ENOENT && err.text[0] && !none,
	      "a program without OpenMP: %s", err.text);
	CHECK(plan("/bin/true", UINT64_MAX - 1, &none, &err) < 0 && !none, "an offset outside of it: %s",
	      err.text);
	snprintf(path, sizeof(path), "%s/text", directory);
	f = fopen(path, "w");
	if (f) {
		fputs("not an ELF file", f);
		fclose(f);
	}
	CHECK(plan(path, 0, &none, &err) == -ENOEXEC && !none, "no ELF file: %s", err.text);
}

int main(void)
{
	static const char *const builds[] = {"-O0",
					     "-O1",
					     "-O2",
					     "-O3 -g",
					     "-O2 -no-pie",
					     "-O2 -fno-plt",
					     "-O2 -fcf-protection=none",
					     "-O2 -static",
					     "-Os"};
	char command[80];

	if (!mkdtemp(directory))
		return 1;
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++)
		check_build(builds[i]);
	check_others();
	snprintf(command, sizeof(command), "rm -r %s", directory);
	if (system(command) != 0)
		return 1;
	CHECK_DONE();
}
