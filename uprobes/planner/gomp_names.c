// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/planner/gomp_names.h"

#include "bpf/abi/cookie.h"

#include <string.h>

/* If `*at` begins with `word`, moves `*at` behind it. */
static bool skip(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

static uint32_t skip_schedule(const char **at)
{
	return skip(at, "static")    ? RING_LOOP_STATIC
	       : skip(at, "dynamic") ? RING_LOOP_DYNAMIC
	       : skip(at, "guided")  ? RING_LOOP_GUIDED
	       : skip(at, "runtime") ? RING_LOOP_RUNTIME
				     : 0;
}

bool gomp_names__loop_start(const char *function, uint64_t *cookie)
{
	uint32_t bits = RING_LOOP_UPPER_EXCLUSIVE, layout = 0, schedule;
	const char *at = function;

	if (!skip(&at, "GOMP_loop_"))
		return false;
	if (skip(&at, "ull_")) {
		bits |= RING_LOOP_UNSIGNED;
		layout |= COOKIE_LOOP_UP;
	}
	if (skip(&at, "ordered_")) {
		bits |= RING_LOOP_ORDERED;
	} else if (skip(&at, "doacross_")) {
		bits |= RING_LOOP_ORDERED | RING_LOOP_DOACROSS;
		layout = COOKIE_LOOP_DOACROSS;
	}
	/* maybe_nonmonotonic: the schedule of the run decides */
	if (!skip(&at, "maybe_nonmonotonic_") && skip(&at, "nonmonotonic_"))
		bits |= RING_LOOP_NONMONOTONIC;
	schedule = skip_schedule(&at);
	if (!schedule)
		layout |= COOKIE_LOOP_SCHED | COOKIE_LOOP_CHUNK;
	else if (schedule != RING_LOOP_RUNTIME)
		layout |= COOKIE_LOOP_CHUNK;
	if (strcmp(at, schedule ? "_start" : "start") != 0)
		return false;
	*cookie = cookie__make(RING_LOOP_BEGIN, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, layout, 0,
			       (int)(bits | schedule));
	return true;
}

uint32_t gomp_names__region_layout(const char *function)
{
	const char *at = function;
	uint32_t layout = 0, schedule;

	if (strcmp(function, "GOMP_parallel_sections") == 0)
		return COOKIE_REGION_SECTIONS;
	if (!skip(&at, "GOMP_parallel_loop_"))
		return 0;
	if (!skip(&at, "maybe_nonmonotonic_") && skip(&at, "nonmonotonic_"))
		layout = COOKIE_REGION_NONMONOTONIC;
	schedule = skip_schedule(&at);
	return schedule && !*at ? layout | schedule : 0;
}

/* The two halves of the old ABI (GOMP_parallel_start, ..._loop_static_start) do not count. */
bool gomp_names__is_parallel(const char *name)
{
	size_t n = strlen(name);

	if (strncmp(name, "GOMP_parallel", 13) != 0 || (name[13] && name[13] != '_'))
		return false;
	if (strcmp(name, "GOMP_parallel_end") == 0)
		return false;
	return n < 6 || strcmp(name + n - 6, "_start") != 0;
}
