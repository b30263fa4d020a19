// SPDX-License-Identifier: BSD-2-Clause
/* Arbitrary events of all kinds: nothing may crash, and what comes out must be a sound event log. */
#include "tests/unit/resolve_case.h"

#define EVENTS 400
/* What the sanitizers add takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 100
#else
#define ROUNDS 300
#endif

static const char *const lines[] = {"@capture source=uprobes late=0", "@source 7 file=a.c line=3 func=f",
				    "@site 0x1 source=7 loop=static", "@ident 0x2 text=\";dir/b.c;g;12;3;;\"",
				    "@ident 0x3 text=\";;;\"",	      NULL};

static uint64_t seed = 88172645463325252u;

static uint64_t noise(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed / 8 % below;
}

static uint32_t any_arg(uint8_t kind)
{
	static const uint32_t loops[] = {TRACE_LOOP_ORDERED,	     TRACE_LOOP_DOACROSS,
					 TRACE_LOOP_UNSIGNED,	     TRACE_LOOP_OF_REGION,
					 TRACE_LOOP_UPPER_EXCLUSIVE, TRACE_LOOP_IS_SECTIONS,
					 TRACE_LOOP_BOUNDS_HIDDEN,   TRACE_LOOP_DISTRIBUTE};

	switch (kind) {
	case TRACE_WAIT_BEGIN:
	case TRACE_WAIT_END:
		return (uint32_t)noise(9);
	case TRACE_LOOP_BEGIN:
		return (uint32_t)noise(7) | loops[noise(8)] | loops[noise(8)];
	case TRACE_CHUNK_BEGIN:
		return noise(2) ? TRACE_LOOP_UPPER_EXCLUSIVE : 0;
	case TRACE_SECTIONS_BEGIN:
		return (uint32_t)noise(5) | (noise(3) ? 0 : TRACE_SECTIONS_OF_REGION);
	case TRACE_REGION_BEGIN:
		return (uint32_t)noise(3) | (noise(4) ? 0 : TRACE_REGION_TEAMS) |
		       (noise(4) ? 0 : TRACE_REGION_OUTERMOST);
	case TRACE_TEAM_STARTED:
		return noise(6) ? (uint32_t)noise(4) : TRACE_TEAMS_OVER;
	case TRACE_DEPEND:
		return noise(9) ? (uint32_t)noise(8) : TRACE_DEPEND_UNREAD;
	case TRACE_CANCEL:
		return (uint32_t)noise(32);
	case TRACE_TASK_CREATE:
	case TRACE_UNDEFERRED_BEGIN:
		return (uint32_t)noise(1024);
	case TRACE_LOST:
		return 1 + (uint32_t)noise(3);
	default:
		return (uint32_t)noise(noise(20) ? 4 : UINT32_MAX);
	}
}

static uint64_t any_number(void)
{
	static const uint64_t edges[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX - 1};

	return noise(8) ? noise(5) : edges[noise(6)];
}

/* `likely`: kinds that go together come more often than others. */
static struct trace_event any_event(size_t i, const uint8_t *likely, size_t likely_count)
{
	uint8_t kind = likely_count && noise(6) ? likely[noise(likely_count)]
						: (uint8_t)(1 + noise(TRACE_KIND_MAX - 1));

	return (struct trace_event){.time_ns = 100 + i + noise(4),
				    .tid = (uint32_t)(noise(200) ? 1 + noise(3) : 0),
				    .kind = kind,
				    .frame = 1000 + 8 * noise(noise(4) ? 12 : 40),
				    .key = kind == TRACE_CHUNK_STRIDE || kind == TRACE_LOOP_PARAMS
						   ? any_number()
						   : noise(5),
				    .extra = noise(3) ? noise(6) : any_number(),
				    .site = noise(4),
				    .arg = any_arg(kind),
				    .flags = noise(16) == 0 ? (uint8_t)noise(256) : 0};
}

static void run(const char *name, const uint8_t *likely, size_t likely_count, int rounds)
{
	static struct trace_event events[EVENTS];
	int failures = check_failures;

	for (int round = 0; round < rounds && check_failures == failures; round++) {
		char title[64];

		for (size_t i = 0; i < EVENTS; i++)
			events[i] = any_event(i, likely, likely_count);
		snprintf(title, sizeof(title), "%s %d", name, round);
		event_stream__free(resolve(title, round & 1 ? lines : NULL, events, 20 + noise(EVENTS - 20)));
	}
}

int main(void)
{
	static const uint8_t tasks[] = {TRACE_TASK_CREATE,    TRACE_TASK_CREATE_END, TRACE_TASK_BEGIN,
					TRACE_TASK_END,	      TRACE_DEPEND,	     TRACE_TASK_BOUNDS,
					TRACE_TASKLOOP_BEGIN, TRACE_TASKLOOP_END,    TRACE_UNDEFERRED_BEGIN,
					TRACE_UNDEFERRED_END};
	static const uint8_t loops[] = {TRACE_LOOP_BEGIN,   TRACE_LOOP_PARAMS,	  TRACE_CHUNK_NEXT,
					TRACE_CHUNK_BEGIN,  TRACE_CHUNK_STRIDE,	  TRACE_LOOP_END,
					TRACE_STATIC_SHARE, TRACE_SECTIONS_BEGIN, TRACE_SECTION_BEGIN,
					TRACE_MEMBER_BEGIN, TRACE_REGION_BEGIN};
	static const uint8_t cancels[] = {TRACE_CANCEL,	      TRACE_GROUP_BEGIN, TRACE_TASK_CREATE,
					  TRACE_TASK_BEGIN,   TRACE_WAIT_BEGIN,	 TRACE_WAIT_END,
					  TRACE_REGION_BEGIN, TRACE_MEMBER_BEGIN};

	if (resolve_begin())
		return 1;
	run("all kinds", NULL, 0, ROUNDS);
	run("mostly tasks", tasks, sizeof(tasks), ROUNDS);
	run("mostly loops", loops, sizeof(loops), ROUNDS);
	run("mostly cancelled", cancels, sizeof(cancels), ROUNDS);
	resolve_end();
	CHECK_DONE();
}
