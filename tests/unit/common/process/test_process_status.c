/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/common/process/process_status.h"
#include "tests/unit/check.h"

#include <limits.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN "Name:\tx86_Thread_features\nTgid:\t7\nSeccomp:\t0\nSeccomp_filters:\t0\n"

static bool is(const char *status, const char *name, const char *wanted)
{
	const char *value;
	size_t length;

	return process_status__field(status, name, &value, &length) && length == strlen(wanted) &&
	       !memcmp(value, wanted, length);
}

static void fields(void)
{
	const char *value;
	size_t length;

	CHECK(is(PLAIN, "Tgid", "7") && is(PLAIN, "Seccomp_filters", "0"), "a field is found by its name");
	CHECK(is("Groups:\t \nUid:\t1\t2\t3\t4\n", "Groups", "") &&
		      is("Groups:\t \nUid:\t1\t2\t3\t4\n", "Uid", "1\t2\t3\t4"),
	      "an empty one and one of many");
	CHECK(is("Uid:\t5", "Uid", "5"), "a last line needs no end");
	CHECK(!process_status__field(PLAIN, "Tgi", &value, &length), "not by the begin of its name");
	CHECK(!process_status__field(PLAIN, "gid", &value, &length), "nor by its end");
	CHECK(!process_status__field("", "Uid", &value, &length), "nothing has none");
	CHECK(!process_status__field("Uid", "Uid", &value, &length), "nor has a line without a value");
	/* A name that a process gives itself is no line: the kernel writes its line ends as \n. */
	CHECK(!process_status__field("Name:\ta\\nSeccomp:\t0\n", "Seccomp", &value, &length),
	      "a name that has lines in it makes none");
	CHECK(process_status__same("Uid:\t1\t2\n", "Gid:\t1\nUid:\t1\t2\n", "Uid"),
	      "lines elsewhere are the same");
	CHECK(!process_status__same("Uid:\t1\t2\n", "Uid:\t1\t20\n", "Uid"), "a longer value is another");
	CHECK(!process_status__same("Uid:\t1\n", "Gid:\t1\n", "Uid"), "a missing line is another");
	CHECK(process_status__same("Uid:\t1\n", "Uid:\t1\n", "Groups"), "two missing lines are the same");
}

static void shadow_stacks(void)
{
	CHECK(process_status__has_shadow_stack(
		      "Name:\ta\nx86_Thread_features:\tshstk wrss \nx86_Thread_features_locked:\t\n"),
	      "shstk is a shadow stack");
	CHECK(process_status__has_shadow_stack("x86_Thread_features:\twrss shstk\n"),
	      "also behind another feature");
	CHECK(process_status__has_shadow_stack("x86_Thread_features:\tshstk"), "also as the last word");
	CHECK(!process_status__has_shadow_stack(
		      "x86_Thread_features:\t\nx86_Thread_features_locked:\tshstk wrss\n"),
	      "locked features are not in force");
	CHECK(!process_status__has_shadow_stack("x86_Thread_features:\tshstk2 xshstk\n"),
	      "words that look like it are not");
	CHECK(!process_status__has_shadow_stack(PLAIN), "none without features");
	CHECK(!process_status__has_shadow_stack(""), "none of nothing");
}

static void filters(void)
{
	CHECK(process_status__filters(PLAIN) == 0, "0 is no filter");
	CHECK(process_status__filters("NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n") == 3,
	      "2 has as many as it says");
	CHECK(process_status__filters("NoNewPrivs:\t1\nSeccomp:\t2\n") == 1,
	      "or one, where the kernel does not say it");
	CHECK(process_status__filters("Seccomp:\t1\n") == UINT_MAX, "1 is the strict mode");
	/* A kernel without it. */
	CHECK(process_status__filters("NoNewPrivs:\t1\n") == 0, "no line is none");
}

int main(void)
{
	char *status = process_status__read(getpid(), getpid());
	const char *value;
	size_t length;

	fields();
	shadow_stacks();
	filters();
	CHECK(status && process_status__field(status, "Tgid", &value, &length) && atoi(value) == getpid(),
	      "this process is read");
	CHECK(!process_status__read(getpid(), 1), "another's thread is not");
	free(status);
	CHECK_DONE();
}
