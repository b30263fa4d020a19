// SPDX-License-Identifier: BSD-2-Clause
/* The probe planner on the installed libgomp, on files that are none, and on damaged ones. */
#include "bpf/abi/cookie.h"
#include "tests/unit/check.h"
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/runtime/runtime_find.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static char libgomp[4096];

static unsigned char *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes = malloc(64 << 20);

	*size = f && bytes ? fread(bytes, 1, 64 << 20, f) : 0;
	if (f)
		fclose(f);
	return bytes;
}

static int plan_of_bytes(const unsigned char *bytes, size_t size, struct probe_plan **plan,
			 struct uprobes_error *err)
{
	char name[] = "/tmp/graind-plan-XXXXXX";
	int fd = mkstemp(name), r;

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		return -EIO;
	close(fd);
	err->text[0] = '\0';
	r = probe_plan__create(name, plan, err);
	unlink(name);
	return r;
}

/* What happens once in a nested member, a loop or an undeferred task of a taskloop. */
static bool may_be_stepped(const struct probe_point *p)
{
	static const char *const events[] = {"member-begin", "taskloop-undeferred", "loop-begin",
					     "chunk",	     "sections-begin",	    "ordered-wait"};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strncmp(p->event, events[i], strlen(events[i])) == 0)
			return true;
	return false;
}

static void check_installed(void)
{
	static const struct {
		const char *event;
		size_t at_least;
	} wanted[] = {
		{"task-create", 1},
		{"task-create-end", 1},
		{"task-begin", 3},
		{"task-end", 3},
		{"undeferred-begin", 1},
		{"undeferred-end", 1},
		{"region-begin/-end", 1},
		{"team-start/-ed", 1},
		{"member-begin", 1},
		{"region-end-wait", 2},
		{"region-end-waited", 1},
		{"taskwait", 1},
		{"taskgroup-begin", 1},
		{"taskgroup-end", 1},
		{"barrier", 1},
		{"single", 1},
		{"wait-end", 4},
		{"taskloop-begin/-end", 2},
		{"taskloop-create", 2},
		{"taskloop-created", 2},
		{"taskloop-undeferred", 4},
		{"taskwait-depend", 1},
		{"depend-wait", 1},
		{"cancel", 2},
		{"fulfill", 1},
		{"teams-begin/-end", 1},
		{"next-team", 1},
		{"target-begin", 1},
		{"target-end", 1},
		{"target-nowait", 1},
	};
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;
	size_t stepped_hot = 0;

	CHECK(probe_plan__create(libgomp, &plan, &err) == 0, "the installed libgomp is planned %s", err.text);
	if (!plan)
		return;
	for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++) {
		size_t found = 0;

		for (size_t i = 0; i < probe_plan__count(plan); i++)
			found += strcmp(probe_plan__point(plan, i)->event, wanted[w].event) == 0;
		CHECK(found >= wanted[w].at_least, "%s has %zu points", wanted[w].event, found);
	}
	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		stepped_hot += p->cost == PROBE_SINGLE_STEPPED && !may_be_stepped(p);
		for (size_t j = 0; j < i; j++)
			if (probe_plan__point(plan, j)->address == p->address)
				CHECK(0, "two points at %lx", (unsigned long)p->address);
	}
	CHECK(stepped_hot == 0, "every point but rare ones is an instruction that the kernel emulates");
	for (size_t i = 0; probe_plan__missing(plan, i); i++)
		CHECK(0, "%s is planned", probe_plan__missing(plan, i));
	CHECK(strlen(probe_plan__build_id(plan)) >= 16, "build-id %s", probe_plan__build_id(plan));
	probe_plan__free(plan);
}

static void check_refusals(void)
{
	static const struct {
		const char *path;
		int code;
	} files[] = {
		{"/bin/true", -ENOENT},	    {"/etc/passwd", -ENOEXEC}, {"/", -ENOEXEC},
		{"/no/such/file", -ENOENT}, {"/dev/null", -ENOEXEC},
	};
	struct uprobes_error err;
	struct probe_plan *plan = NULL;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int r = probe_plan__create(files[i].path, &plan, &err);

		CHECK(r == files[i].code && !plan && strstr(err.text, files[i].path) &&
			      !strchr(err.text, '\n'),
		      "%s is refused: %s", files[i].path, err.text);
	}
	probe_plan__free(NULL);
}

/* Overwrites one kind of instruction that a pattern needs; the planner must name what is gone. */
static void check_missing_pattern(const unsigned char *bytes, size_t size, const char *event,
				  const char *word)
{
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL, *damaged = NULL;
	unsigned char *copy = malloc(size);
	int r;

	if (!copy || probe_plan__create(libgomp, &plan, &err)) {
		CHECK(0, "libgomp is planned before %s is removed", event);
		free(copy);
		return;
	}
	memcpy(copy, bytes, size);
	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		if (strcmp(p->event, event) == 0)
			memset(copy + p->offset, 0xcc, 2);
	}
	r = plan_of_bytes(copy, size, &damaged, &err);
	CHECK(r == -ENOTSUP && strstr(err.text, word), "without %s: %s", event, r ? err.text : "planned");
	probe_plan__free(damaged);
	probe_plan__free(plan);
	free(copy);
}

static void remove_instructions(unsigned char *bytes, const struct probe_plan *plan, const char *event)
{
	for (size_t i = 0; i < probe_plan__count(plan); i++)
		if (strcmp(probe_plan__point(plan, i)->event, event) == 0)
			memset(bytes + probe_plan__point(plan, i)->offset, 0xcc, 2);
}

/* Without an optional pattern the rest is planned and what is missing is said; `bodies`: it is seen in
 * programs. */
static void check_optional_pattern(const unsigned char *bytes, size_t size, const char *event,
				   const char *missing, bool bodies)
{
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL, *damaged = NULL;
	unsigned char *copy = malloc(size);
	size_t left = 0;
	bool said = false;

	if (!copy || probe_plan__create(libgomp, &plan, &err)) {
		CHECK(0, "libgomp is planned before %s is removed", event);
		free(copy);
		return;
	}
	memcpy(copy, bytes, size);
	remove_instructions(copy, plan, event);
	if (plan_of_bytes(copy, size, &damaged, &err) == 0) {
		for (size_t i = 0; i < probe_plan__count(damaged); i++)
			left += strcmp(probe_plan__point(damaged, i)->event, event) == 0;
		for (size_t i = 0; probe_plan__missing(damaged, i); i++)
			said |= strcmp(probe_plan__missing(damaged, i), missing) == 0;
	}
	CHECK(damaged && left == 0 && said && probe_plan__needs_bodies(damaged) == bodies,
	      "without %s: planned, and %s is said to be missing %s", event, missing, err.text);
	probe_plan__free(damaged);
	probe_plan__free(plan);
	free(copy);
}

static void check_damage(const unsigned char *bytes, size_t size)
{
	unsigned char *copy = malloc(size);
	struct uprobes_error err;
	unsigned refused = 0, planned = 0, silent = 0, random = 12345;

	if (!copy)
		return;
	for (int i = 0; i < 120; i++) {
		struct probe_plan *plan = NULL;
		size_t length = size;
		int r;

		memcpy(copy, bytes, size);
		if (i < 40)
			length = size * (size_t)i / 40;
		for (int k = 0; i >= 40 && k < 64; k++) {
			random = random * 1103515245 + 12345;
			/* half of the damage goes to the headers and tables at both ends */
			size_t window = i % 2 ? size : 4096, at = (random >> 4) % window;

			copy[i % 4 == 2 ? size - 1 - at : at] ^= (unsigned char)(1u << (random >> 28 & 7));
		}
		r = plan_of_bytes(copy, length, &plan, &err);
		refused += r != 0;
		planned += r == 0;
		silent += r != 0 && (!err.text[0] || strchr(err.text, '\n'));
		probe_plan__free(plan);
	}
	CHECK(silent == 0,
	      "120 damaged files: %u refused with one line each, %u still whole where it matters", refused,
	      planned);
	CHECK(refused >= 40, "every truncated file is refused");
	free(copy);
}

static void check_cookies(void)
{
	uint64_t c = cookie__make(RING_MEMBER_BEGIN, COOKIE_IF_NOT_TAKEN, 15, COOKIE_R13, COOKIE_RDI, 63, 10,
				  -123456);

	CHECK(COOKIE_KIND(c) == RING_MEMBER_BEGIN && COOKIE_WHEN(c) == COOKIE_IF_NOT_TAKEN &&
		      COOKIE_CC(c) == 15 && COOKIE_REG(c) == COOKIE_R13 && COOKIE_REG2(c) == COOKIE_RDI &&
		      COOKIE_A(c) == 63 && COOKIE_B(c) == 10 && COOKIE_OFF(c) == -123456,
	      "a cookie gives back what it was made of");
}

int main(void)
{
	unsigned char *bytes;
	size_t size;

	check_cookies();
	if (runtime_find__system(libgomp, sizeof(libgomp))) {
		printf("not ok - no libgomp is installed; the compiler brings one\n");
		return 1;
	}
	check_installed();
	check_refusals();
	bytes = slurp(libgomp, &size);
	check_missing_pattern(bytes, size, "task-create", "GOMP_task");
	check_optional_pattern(bytes, size, "member-begin",
			       "the two places where workers call a region's body", true);
	check_optional_pattern(bytes, size, "region-end-wait",
			       "the two places where workers call a region's body", true);
	check_optional_pattern(bytes, size, "task-begin",
			       "the calls of task bodies (barrier, taskwait, taskgroup)", true);
	check_optional_pattern(bytes, size, "undeferred-begin",
			       "an instruction to probe after an undeferred body", true);
	check_optional_pattern(bytes, size, "target-end", "where GOMP_target_ext runs a region on the host",
			       false);
	check_optional_pattern(bytes, size, "next-team", "GOMP_teams_reg", false);
	check_optional_pattern(bytes, size, "taskloop-create", "GOMP_taskloop", false);
	check_optional_pattern(bytes, size, "taskloop-created", "GOMP_taskloop_ull", false);
	check_damage(bytes, size);
	free(bytes);
	CHECK_DONE();
}
