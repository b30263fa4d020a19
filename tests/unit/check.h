/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks for the unit tests: one "ok - NAME" or "not ok - NAME" line each. */
#ifndef GRAIND_TESTS_CHECK_H
#define GRAIND_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

static int check_failures;

/* CHECK(condition, name format, ...) */
#define CHECK(condition, ...)                                                                                \
	do {                                                                                                 \
		int check_ok = !!(condition);                                                                \
		printf(check_ok ? "ok - " : "not ok - ");                                                    \
		printf(__VA_ARGS__);                                                                         \
		printf("\n");                                                                                \
		if (!check_ok) {                                                                             \
			check_failures++;                                                                    \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                             \
		}                                                                                            \
	} while (0)

/* CHECK_STR(actual, expected, name format, ...) */
#define CHECK_STR(actual, expected, ...)                                                                     \
	do {                                                                                                 \
		const char *check_a = (actual), *check_e = (expected);                                       \
		int check_same = check_a && check_e && strcmp(check_a, check_e) == 0;                        \
		CHECK(check_same, __VA_ARGS__);                                                              \
		if (!check_same)                                                                             \
			printf("# got:      %s\n# expected: %s\n", check_a ? check_a : "(null)",             \
			       check_e ? check_e : "(null)");                                                \
	} while (0)

#define CHECK_DONE() return check_failures != 0

#endif
