// SPDX-License-Identifier: BSD-2-Clause
/* Regions, their members and waits, as OMPT reports them. */
#include "runtime-shim/libomp/kmpc.h"

/* Multiples of 64, as addresses of teams would be. The numbers of libgomp's regions are smaller. */
uint64_t kmpc__next_team(void)
{
	static uint64_t last = UINT64_C(1) << 40;

	return __atomic_add_fetch(&last, 64, __ATOMIC_RELAXED);
}

/*
 * The regions that the thread has begun, innermost last. libomp releases a nested region's team, with
 * OMPT's data word, before it reports that the region has ended.
 */
#define LEVELS 16
struct level {
	const union ompt_data *task; /* the task that has begun it */
	uint64_t word;
};
static __thread struct {
	unsigned int depth;
	struct level levels[LEVELS];
} begun __attribute__((tls_model("initial-exec")));

static void enter(const union ompt_data *task, union ompt_data *region, uint64_t word)
{
	ompt__keep(region, word);
	if (begun.depth < LEVELS)
		begun.levels[begun.depth] = (struct level){.task = task, .word = word};
	begun.depth++;
}

/* Removes a region that is over. Returns its word. */
static uint64_t leave(const union ompt_data *task, const union ompt_data *region)
{
	if (begun.depth > LEVELS) {
		begun.depth--;
		return ompt__word(region);
	}
	for (unsigned int i = begun.depth; i-- > 0;) {
		if (begun.levels[i].task != task)
			continue;
		begun.depth = i;
		return begun.levels[i].word;
	}
	return ompt__word(region);
}

/* The innermost region that the thread has begun; NULL: none, or too deep. */
static struct level *innermost(void)
{
	return begun.depth - 1 < LEVELS ? &begun.levels[begun.depth - 1] : NULL;
}

/* Member 0 of the region waits at its end. */
static void keep_waits(union ompt_data *region)
{
	uint64_t word = ompt__word(region);
	struct level *level = innermost();

	if (level && !((level->word ^ word) & ~UINT64_C(63)))
		level->word |= REGION_WAITS;
	else
		ompt__keep(region, word | REGION_WAITS);
}

struct task_info {
	int flags, number; /* flags of the task; the thread's number in the region */
	union ompt_data *task, *region;
	struct ompt_frame *frame;
};

/* Gets information about the task that the thread is in. */
static bool get_info(struct task_info *info)
{
	*info = (struct task_info){0};
	return ompt_tool.task_info(0, &info->flags, &info->task, &info->frame, &info->region,
				   &info->number) == 2 &&
	       info->frame;
}

/*
 * The threads of a team are a region of the runtime's own. For the program, that region is inside the
 * team's body. A thread that has begun a league begins this region next.
 */
static bool is_of_team(uint32_t flags)
{
	const struct level *level = innermost();
	struct task_info info;

	return flags & OMPT_PARALLEL_TEAM &&
	       ((level && level->word & REGION_IS_LEAGUE) ||
		(get_info(&info) && info.region && ompt__word(info.region) & REGION_IS_LEAGUE));
}

/*
 * Finds the word of a league of one team. It is not in the data of the league's initial task, because
 * libomp runs such a league without a team.
 */
static void find_league(union ompt_data *region)
{
	const struct level *level = innermost();

	if (level && level->word & REGION_IS_LEAGUE && (level->word ^ ompt__word(region)) & ~UINT64_C(63))
		ompt__keep(region, level->word);
}

static void on_parallel_begin(union ompt_data *task, const struct ompt_frame *frame, union ompt_data *region,
			      unsigned threads, int flags, const void *code)
{
	struct shim_local *local = shim__here();
	bool league = (uint32_t)flags & OMPT_PARALLEL_LEAGUE;
	const void *caller = kmpc_thread.region;

	(void)frame;
	kmpc_thread.region = NULL;
	if (!local) {
		enter(task, region, 0);
		return;
	}
	kmpc__settle(local);
	if (is_of_team((uint32_t)flags)) {
		enter(task, region, REGION_IS_OF_TEAM);
		return;
	}
	if (!caller && (uintptr_t)code - ompt_tool.runtime.code < ompt_tool.runtime.bytes) {
		enter(task, region, REGION_IS_HELPERS);
		return;
	}
	enter(task, region, kmpc__next_team() | (league ? REGION_IS_LEAGUE : 0));
	SHIM_EVENT2(local, SHIM_REGION_BEGIN,
		    shim__site(caller ? caller : ompt__site(code),
			       league ? SHIM_SITE_TEAMS : SHIM_SITE_PARALLEL),
		    0, (threads & RING_REGION_THREADS) | (league ? RING_REGION_TEAMS : 0), 0);
}

static void on_parallel_end(union ompt_data *region, union ompt_data *task, int flags, const void *code)
{
	struct shim_local *local = shim__here();
	uint64_t word = leave(task, region);

	(void)flags, (void)code;
	if (!local || !word || word & (REGION_IS_OF_TEAM | REGION_IS_HELPERS))
		return;
	kmpc__settle(local);
	/* A thread alone does not wait. */
	if (!(word & REGION_WAITS))
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
	SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_REGION_END);
	SHIM_EVENT(local, SHIM_REGION_END, 0, 0);
}

static void on_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task, unsigned size,
			     unsigned number, int flags)
{
	struct shim_local *local;

	(void)task;
	/* The end of a region is recorded with its wait. */
	if (endpoint != OMPT_BEGIN || !region)
		return;
	if (flags & OMPT_TASK_INITIAL)
		find_league(region);
	if (!ompt__word(region) || ompt__word(region) & (REGION_IS_OF_TEAM | REGION_IS_HELPERS))
		return;
	local = shim__here();
	if (!local)
		return;
	if (size == 1 && !(ompt__word(region) & REGION_IS_LEAGUE))
		ompt__keep(region, ompt__word(region) | REGION_IS_ALONE);
	SHIM_EVENT2(local, SHIM_MEMBER_BEGIN, 0, 0, ompt__word(region) & ~UINT64_C(63), number);
}

/*
 * Whether this is the wait at the end of the innermost region, whose code is then over. *first: the thread
 * is also member 0 of the region. Teams also meet for reductions.
 */
static bool is_last_wait(const union ompt_data *region, int kind, bool *first)
{
	struct task_info info;

	if ((region && ompt__word(region) & REGION_IS_ALONE) || !get_info(&info))
		return false;
	*first = info.number == 0;
	if (region && ompt__word(region) & REGION_IS_LEAGUE)
		return kind != OMPT_SYNC_BARRIER_IMPLEMENTATION;
	return !info.frame->exit_frame.pointer && !(info.flags & OMPT_TASK_INITIAL);
}

static void barrier(struct shim_local *local, int kind, int endpoint, union ompt_data *region,
		    const void *code)
{
	uint32_t wait = kind == OMPT_SYNC_BARRIER_EXPLICIT ? RING_WAIT_BARRIER : RING_WAIT_BARRIER_IMPLICIT;
	bool first = false;

	/* A worker leaves the wait at the end of a region when it begins another region. */
	if (endpoint == OMPT_END && !region)
		return;
	if (region && ompt__word(region) & REGION_IS_HELPERS)
		return;
	if (is_last_wait(region, kind, &first)) {
		if (endpoint == OMPT_END)
			return;
		if (region && ompt__word(region) && first)
			keep_waits(region);
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
		return;
	}
	if (endpoint == OMPT_BEGIN)
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, shim__site(ompt__site(code), SHIM_SITE_BARRIER), wait);
	else
		SHIM_EVENT(local, SHIM_WAIT_END, 0, wait);
}

/* Any of these waits, also if it is the thread's first event. */
static __attribute__((noinline)) void sync(int kind, int endpoint, union ompt_data *region, const void *code)
{
	struct shim_local *local = shim__here();
	bool begins = endpoint == OMPT_BEGIN;

	if (!local)
		return;
	kmpc__settle(local);
	if (kind != OMPT_SYNC_TASKWAIT && kind != OMPT_SYNC_TASKGROUP)
		barrier(local, kind, endpoint, region, code);
	else if (!begins)
		SHIM_EVENT(local, SHIM_WAIT_END, 0,
			   kind == OMPT_SYNC_TASKWAIT ? RING_WAIT_TASKWAIT : RING_WAIT_TASKGROUP);
	else if (kind == OMPT_SYNC_TASKWAIT)
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, shim__site(ompt__site(code), SHIM_SITE_TASKWAIT),
			   RING_WAIT_TASKWAIT);
	else
		SHIM_EVENT(local, SHIM_GROUP_BEGIN, shim__site(ompt__site(code), SHIM_SITE_TASKGROUP), 0);
}

static void on_sync(int kind, int endpoint, union ompt_data *region, union ompt_data *task, const void *code)
{
	struct shim_local *local = shim__recording();
	uint32_t site;

	(void)task;
	if (UNLIKELY(!local || kind != OMPT_SYNC_TASKWAIT || kmpc_thread.pending)) {
		sync(kind, endpoint, region, code);
	} else if (endpoint != OMPT_BEGIN) {
		SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_TASKWAIT);
	} else {
		site = shim__known_site(ompt__site(code), SHIM_SITE_TASKWAIT);
		if (LIKELY(site))
			SHIM_EVENT(local, SHIM_WAIT_BEGIN, site, RING_WAIT_TASKWAIT);
		else
			sync(kind, endpoint, region, code);
	}
}

/* A taskgroup is one region from its begin on. This is the thread's wait at its end. */
static void on_wait(int kind, int endpoint, union ompt_data *region, union ompt_data *task, const void *code)
{
	struct shim_local *local;

	(void)region, (void)task;
	if (kind != OMPT_SYNC_TASKGROUP || endpoint != OMPT_BEGIN)
		return;
	local = shim__here();
	if (!local)
		return;
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_WAIT_BEGIN, shim__site(ompt__site(code), SHIM_SITE_TASKGROUP),
		   RING_WAIT_TASKGROUP);
}

void ompt_teams__set(ompt_set_callback set)
{
	set(OMPT_PARALLEL_BEGIN, (ompt_function)(uintptr_t)on_parallel_begin);
	set(OMPT_PARALLEL_END, (ompt_function)(uintptr_t)on_parallel_end);
	set(OMPT_IMPLICIT_TASK, (ompt_function)(uintptr_t)on_implicit_task);
	set(OMPT_SYNC_REGION, (ompt_function)(uintptr_t)on_sync);
	set(OMPT_SYNC_REGION_WAIT, (ompt_function)(uintptr_t)on_wait);
}
