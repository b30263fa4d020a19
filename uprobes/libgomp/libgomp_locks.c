// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits for locks in libgomp. The entry point takes a free lock in a few instructions, which are not
 * probed. For a lock that is not free, it jumps to or calls the internal function that waits; that function
 * is probed. Ordered and doacross have no such separate function, so their entry and return are probed.
 * Also finds the call with which the code of GCC's static loops begins.
 */
#include "uprobes/libgomp/libgomp_patterns.h"
#include "uprobes/code/code_track.h"

#include <string.h>

static const struct {
	const char *name;
	uint32_t lock;
} locks[] = {
	{"GOMP_critical_name_start", RING_LOCK_CRITICAL},
	{"GOMP_critical_start", RING_LOCK_CRITICAL},
	{"omp_set_lock", RING_LOCK_OMP},
	{"omp_set_nest_lock", RING_LOCK_OMP},
	{"GOMP_atomic_start", RING_LOCK_ATOMIC},
};

static uint64_t lock_cookie(uint32_t lock, uint32_t moment, uint32_t reg, uint32_t words)
{
	return cookie__make(RING_LOCK_WAIT, COOKIE_ALWAYS, 0, reg, COOKIE_REG_NONE, lock, words, (int)moment);
}

static bool range_of(const struct planner *planner, const struct elf_function *function, struct code_range *f)
{
	f->first = code__find(planner->code, function->address);
	if (f->first == CODE_NONE)
		return false;
	for (f->end = f->first; f->end < code__count(planner->code); f->end++)
		if (code__at(planner->code, f->end)->address >= function->address + function->size)
			break;
	return f->end > f->first;
}

/*
 * The function that waits: the only one that these functions lead to when their compare-and-exchange fails.
 */
static uint64_t find_waiting(const struct planner *planner)
{
	static const char *const names[] = {"GOMP_critical_name_start", "GOMP_critical_start", "omp_set_lock",
					    "GOMP_atomic_start"};

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		uint64_t found = 0;
		struct code_range f;
		size_t ways = 0;

		if (!planner__function(planner, names[k], &f))
			continue;
		for (size_t i = f.first; i < f.end; i++) {
			const struct code_insn *in = code__at(planner->code, i);

			if ((in->flow != FLOW_JUMP && in->flow != FLOW_CALL) || !in->target || in->lock)
				continue;
			found = in->target;
			ways++;
		}
		if (ways == 1 && code__find(planner->code, found) != CODE_NONE)
			return found;
	}
	return 0;
}

/*
 * If the entry point jumps, the return of the wait is its own return. If it calls, the next jump is the end
 * of the wait.
 */
static bool add_lock(struct planner *planner, const char *name, const struct code_range *f, uint32_t lock,
		     uint64_t waiting)
{
	struct point_spec begin = {.event = "lock-wait", .function = name, .reads = "rdi = lock, call site"};
	uint32_t words = 0;
	size_t got;

	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->target != waiting || !code_track__words(planner->code, f, i, &words) ||
		    words > COOKIE_SMALL_MAX)
			continue;
		begin.insn = i;
		begin.entry_cookie =
			lock_cookie(lock, COOKIE_LOCK_BEGIN, planner__argument(planner, 0), words);
		if (in->flow == FLOW_JUMP && words == 0) {
			begin.return_cookie = lock_cookie(lock, COOKIE_LOCK_RETURN, COOKIE_REG_NONE, 0);
			planner__add(planner, &begin);
			return true;
		}
		got = in->flow == FLOW_CALL ? planner__next_emulated(planner, i + 1, 6) : CODE_NONE;
		if (got == CODE_NONE || got >= f->end || !code_track__words(planner->code, f, got, &words) ||
		    words > COOKIE_SMALL_MAX)
			continue;
		planner__add(planner, &begin);
		planner__add(planner,
			     &(struct point_spec){.insn = got,
						  .entry_cookie = lock_cookie(lock, COOKIE_LOCK_GOT,
									      COOKIE_REG_NONE, words),
						  .event = "lock-got",
						  .function = name,
						  .reads = "-"});
		return true;
	}
	return false;
}

static void find_locks(struct planner *planner)
{
	uint64_t waiting = find_waiting(planner);

	for (size_t k = 0; k < sizeof(locks) / sizeof(locks[0]); k++) {
		bool there = false, found = false;

		for (size_t i = 0; i < elf_image__function_count(planner->image); i++) {
			const struct elf_function *function = elf_image__function(planner->image, i);
			struct code_range f;

			/* Locks of OpenMP 2.5 have the same name with another version. */
			if (strcmp(function->name, locks[k].name) != 0 || !range_of(planner, function, &f))
				continue;
			there = true;
			found |= waiting && add_lock(planner, function->name, &f, locks[k].lock, waiting);
		}
		if (there && !found)
			planner__missing(planner, locks[k].name);
	}
}

static void find_ordered(struct planner *planner)
{
	static const struct {
		const char *name;
		uint32_t lock;
	} waits[] = {
		{"GOMP_ordered_start", RING_LOCK_ORDERED},
		{"GOMP_doacross_wait", RING_LOCK_DOACROSS},
		{"GOMP_doacross_ull_wait", RING_LOCK_DOACROSS},
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct track_point p;
		struct code_range f;

		if (!planner__function(planner, waits[i].name, &f))
			continue;
		code_track__entry(planner->code, f.first, TRACK_RETURN, &p);
		planner__add(planner, &(struct point_spec){.insn = p.insn,
							   .entry_cookie = lock_cookie(waits[i].lock,
										       COOKIE_LOCK_BEGIN,
										       COOKIE_REG_NONE, 0),
							   .return_cookie = lock_cookie(waits[i].lock,
											COOKIE_LOCK_RETURN,
											COOKIE_REG_NONE, 0),
							   .event = "ordered-wait",
							   .function = waits[i].name,
							   .reads = "[rsp] = call site"});
	}
}

static void find_static_share(struct planner *planner)
{
	struct track_point p;
	struct code_range f;

	if (!planner__function(planner, "omp_get_num_threads", &f))
		return;
	code_track__entry(planner->code, f.first, 0, &p);
	planner__add(planner,
		     &(struct point_spec){.insn = p.insn,
					  .entry_cookie = cookie__make(RING_STATIC_SHARE, COOKIE_ALWAYS, 0,
								       COOKIE_REG_NONE, COOKIE_REG_NONE, 0,
								       p.words, 0),
					  .event = "static-share",
					  .function = "omp_get_num_threads",
					  .reads = "[rsp] = call site"});
}

void libgomp_locks__find(struct planner *planner)
{
	find_locks(planner);
	find_ordered(planner);
	find_static_share(planner);
}
