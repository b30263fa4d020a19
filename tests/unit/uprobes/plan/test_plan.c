// SPDX-License-Identifier: BSD-2-Clause
/* Plans as text: whole ones come back as they were, damaged and hostile ones are refused. */
#include "tests/unit/check.h"
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/runtime/runtime_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char *text_of(const struct probe_plan *plan)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out && (probe_plan__write(plan, out) | fclose(out)) == 0)
		return text;
	free(text);
	return NULL;
}

static void check_round_trip(const struct probe_plan *plan, const char *text)
{
	struct probe_plan *again = NULL;
	size_t different = 0;
	char *second;

	CHECK(probe_plan__read("name", text, &again) == 0, "a plan is read back");
	if (!again)
		return;
	for (size_t i = 0; i < probe_plan__count(plan) && i < probe_plan__count(again); i++) {
		const struct probe_point *a = probe_plan__point(plan, i), *b = probe_plan__point(again, i);

		different += a->offset != b->offset || a->address != b->address ||
			     a->entry_cookie != b->entry_cookie || a->return_cookie != b->return_cookie ||
			     a->cost != b->cost || a->call != b->call || a->byte_count != b->byte_count ||
			     memcmp(a->bytes, b->bytes, a->byte_count) || strcmp(a->event, b->event) ||
			     strcmp(a->instruction, b->instruction) || strcmp(a->reads, b->reads);
	}
	CHECK(probe_plan__count(plan) == probe_plan__count(again) && !different &&
		      probe_plan__runtime(plan) == probe_plan__runtime(again) &&
		      probe_plan__may_have_shadow_stack(plan) == probe_plan__may_have_shadow_stack(again) &&
		      !strcmp(probe_plan__build_id(plan), probe_plan__build_id(again)),
	      "all %zu points are the same", probe_plan__count(plan));
	second = text_of(again);
	CHECK(second && !strcmp(second, text), "and so is the text of what was read");
	free(second);
	probe_plan__free(again);
}

static void check_offsets(const char *library, const struct probe_plan *plan, const char *text)
{
	struct probe_plan *bad = NULL;
	char *copy = strdup(text), *at = copy ? strstr(copy, "\npoint\t") : NULL;
	int fd = open(library, O_RDONLY | O_CLOEXEC), other = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	CHECK(probe_plan__check(plan, fd) == 0, "every point is in the file's code");
	CHECK(probe_plan__check(plan, other) == -EBADMSG, "but not in that of a file that is none");
	if (at) {
		/* The file's header is in no executable segment. */
		memmove(at + 8, strchr(at + 7, '\t'), strlen(strchr(at + 7, '\t')) + 1);
		at[7] = '0';
		CHECK(probe_plan__read("name", copy, &bad) == 0 && probe_plan__check(bad, fd) == -EBADMSG,
		      "a point outside of the code is refused");
	}
	probe_plan__free(bad);
	free(copy);
	close(fd);
	close(other);
}

/* A copy of the library with one byte changed in a point: the plan is not for it. */
static void check_bytes(const char *library, const struct probe_plan *plan)
{
	char command[4200], path[] = "/tmp/graind-plan-XXXXXX";
	int copy = mkstemp(path);
	size_t told = 0, count = probe_plan__count(plan);

	snprintf(command, sizeof(command), "cp %s %s", library, path);
	if (copy < 0 || system(command) != 0) {
		CHECK(false, "the library is copied");
		return;
	}
	CHECK(probe_plan__check(plan, copy) == 0, "the plan is for a copy as well");
	for (size_t i = 0; i < count; i++) {
		const struct probe_point *point = probe_plan__point(plan, i);
		uint8_t other = (uint8_t)~point->bytes[0];

		if (pwrite(copy, &other, 1, (off_t)point->offset) == 1)
			told += probe_plan__check(plan, copy) == -ESTALE;
		if (pwrite(copy, &point->bytes[0], 1, (off_t)point->offset) != 1)
			break;
	}
	CHECK(told == count && probe_plan__check(plan, copy) == 0,
	      "but not for one that has another byte in one of the points: %zu of %zu are told", told, count);
	close(copy);
	unlink(path);
}

static void check_damage(const char *text)
{
	static const char *const hostile[] = {
		"",
		"graind-plan 3",
		"graind-plan 3\n",
		"graind-plan 2\nend\n",
		"graind-plan 3\nend",
		"graind-plan 3\nend\nend\n",
		"graind-plan 3\nruntime\t4\nend\n",
		"graind-plan 3\nruntime\t3\npoint\t1\t1\t8\t0\t0\t0\t90\ta\tb\tc\td\nend\n",
		"graind-plan 3\nruntime\t3\npoint\t1\t1\t1\t1\t0\t0\t90\ta\tb\tc\td\nend\n",
		"graind-plan 3\nbodies\t4\nend\n",
		"graind-plan 3\nbodies\tx\nend\n",
		"graind-plan 3\nshadow-stack\t0\nend\n",
		"graind-plan 3\nshadow-stack\t\nend\n",
		"graind-plan 3\nruntime\t-1\nend\n",
		"graind-plan 3\nbuild-id\t../../etc\t0\nend\n",
		"graind-plan 3\nbuild-id\tabcd\nend\n",
		"graind-plan 3\nbuild-id\tabc\t1\nend\n",
		"graind-plan 3\npoint\t1\t1\t0\t0\t0\t0\t90\ta\tb\tc\td\nend\n",
		"graind-plan 3\npoint\t1\t1\t3f\t0\t0\t0\t90\ta\tb\tc\td\nend\n",
		"graind-plan 3\npoint\t1\t1\t1\t0\t9\t0\t90\ta\tb\tc\td\nend\n",
		"graind-plan 3\npoint\t1\t1\t1\t0\t0\t2\t90\ta\tb\tc\td\nend\n",
		"graind-plan 3\npoint\t1\t1\t1\t0\t0\t0\t\ta\tb\tc\td\nend\n",
		"graind-plan 3\npoint\t1\t1\t1\t0\t0\t0\t9\ta\tb\tc\td\nend\n",
		"graind-plan 3\npoint\t1\t1\t1\t0\t0\t0\tzz\ta\tb\tc\td\nend\n",
		"graind-plan 3\npoint\t1\t1\t1\t0\t0\t0\t90909090909090909090909090909090\ta\tb\tc\tde\nend",
		"graind-plan 3\npoint\t1\t1\t1\t0\t0\t0\t90\ta\tb\tc\nend\n",
		"graind-plan 3\npoint\t1\t1\t1\t0\t0\t0\t90\ta\tb\tc\td\te\nend\n",
		"graind-plan 3\npoint\t11111111111111111\t1\t1\t0\t0\t0\t90\ta\tb\tc\td\nend\n",
		"graind-plan 3\nother\tx\nend\n",
	};
	struct probe_plan *plan = NULL;
	size_t length = strlen(text), taken = 0, count = 700;
	char *many = malloc(count * 64 + 64), *at = many, *copy = strdup(text);

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		CHECK(probe_plan__read("name", hostile[i], &plan) == -EBADMSG && !plan,
		      "hostile text %zu is refused", i);
	for (size_t i = 0; copy && i < length; i += 97) {
		memcpy(copy, text, length);
		copy[i] = 0;
		taken += probe_plan__read("name", copy, &plan) == 0;
	}
	CHECK(copy && taken == 0, "no truncated plan is taken");
	at += sprintf(at, "graind-plan 3\n");
	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "point\t%zx\t1\t1\t0\t0\t0\t90\ta\tb\tc\td\n", i);
	strcpy(at, "end\n");
	CHECK(probe_plan__read("name", many, &plan) == -EBADMSG, "nor one with too many points");
	free(many);
	free(copy);
}

int main(void)
{
	char library[4096];
	struct uprobes_error err;
	struct probe_plan *plan = NULL;
	char *text;

	if (runtime_find__system(library, sizeof(library)) || probe_plan__create(library, &plan, &err)) {
		printf("not ok - there is a libgomp that can be planned\n");
		return 1;
	}
	text = text_of(plan);
	CHECK(text != NULL, "a plan is written");
	if (text) {
		check_round_trip(plan, text);
		check_offsets(library, plan, text);
		check_bytes(library, plan);
		check_damage(text);
	}
	free(text);
	probe_plan__free(plan);
	CHECK_DONE();
}
