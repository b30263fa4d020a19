/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loops and sections that a random program's team runs before its single:
 * chunks go to whoever asks next, some create an undeferred task, some loops
 * have no barrier at their end.
 */
#ifndef GRAIND_TESTS_RANDOM_LOOPS_H
#define GRAIND_TESTS_RANDOM_LOOPS_H

#include "tests/unit/random_program.h"

#define LOOP_TASK 100000 /* numbers of their tasks in the log */

struct loop_member {
	int loop, chunk;
	enum { BEFORE_LOOP, BOOKKEEPING, IN_CHUNK, AFTER_LOOP, AT_BARRIER } state;
};

/* The time since the member's last event. */
static inline uint64_t loops_tick(struct program *p, int m)
{
	uint64_t spent;

	p->now_ns += 1 + program_random(p, 20);
	spent = p->now_ns - p->last_ns[m];
	p->last_ns[m] = p->now_ns;
	return spent;
}

/* The same for time that is execution. */
static inline uint64_t loops_run(struct program *p, int m)
{
	uint64_t start = p->last_ns[m], spent = loops_tick(p, m);

	p->fragments[p->fragment_count++] = (struct fragment){start, p->now_ns, -1};
	p->member_path[m] += spent;
	p->loops_run_ns += spent;
	return spent;
}

static inline void loops_event(struct program *p, int m, const char *text)
{
	fprintf(p->log, "%llu %d %d %s\n", (unsigned long long)p->now_ns, 100 + m, m, text);
}

static inline void loops_child(struct program *p, int m, struct simulated_chunk *chunk, int number)
{
	uint64_t path;

	chunk->run_ns += loops_run(p, m);
	path = p->member_path[m];
	fprintf(p->log, "%llu %d %d create-begin task=%d src=2 flags=undeferred\n",
		(unsigned long long)p->now_ns, 100 + m, m, number);
	chunk->child_create_ns = loops_tick(p, m);
	fprintf(p->log, "%llu %d %d task-begin task=%d\n", (unsigned long long)p->now_ns, 100 + m, m, number);
	chunk->child_run_ns = loops_run(p, m);
	fprintf(p->log, "%llu %d %d task-end task=%d\n", (unsigned long long)p->now_ns, 100 + m, m, number);
	chunk->child_create_ns += loops_tick(p, m);
	fprintf(p->log, "%llu %d %d create-end task=%d\n", (unsigned long long)p->now_ns, 100 + m, m, number);
	if (p->member_path[m] > p->open_path)
		p->open_path = p->member_path[m];
	p->member_path[m] = path;
}
/* Takes the next chunk, or leaves the loop when there is none. */
static inline void loops_next(struct program *p, int m, struct loop_member *member)
{
	struct simulated_loop *l = &p->loops[member->loop];
	uint64_t spent = loops_tick(p, m);
	char text[96];

	if (l->next == l->chunk_count) {
		snprintf(text, sizeof text, "%s-end loop=%d", l->sections ? "sections" : "loop",
			 member->loop);
		loops_event(p, m, text);
		l->end_bookkeeping_ns += spent;
		member->state = AFTER_LOOP;
		return;
	}
	member->chunk = l->next++;
	l->chunks[member->chunk].bookkeeping_ns = spent;
	if (l->sections)
		snprintf(text, sizeof text, "section-begin loop=%d lower=%d", member->loop, member->chunk);
	else
		snprintf(text, sizeof text, "chunk-begin loop=%d lower=%d upper=%d", member->loop,
			 member->chunk * 10, member->chunk * 10 + 9);
	loops_event(p, m, text);
	member->state = IN_CHUNK;
}

static inline void loops_chunk(struct program *p, int m, struct loop_member *member)
{
	struct simulated_loop *l = &p->loops[member->loop];
	struct simulated_chunk *chunk = &l->chunks[member->chunk];
	char text[64];

	if (chunk->has_child && !chunk->child_run_ns) {
		loops_child(p, m, chunk, LOOP_TASK + member->loop * MAX_CHUNKS + member->chunk);
		return;
	}
	chunk->run_ns += loops_run(p, m);
	snprintf(text, sizeof text, "%s-end loop=%d", l->sections ? "section" : "chunk", member->loop);
	loops_event(p, m, text);
	member->state = BOOKKEEPING;
}

/* The heaviest path to a barrier that all have reached. */
static inline uint64_t loops_barrier_path(struct program *p)
{
	uint64_t path = p->open_path;

	for (int i = 0; i < p->threads; i++)
		if (p->member_path[i] > path)
			path = p->member_path[i];
	p->open_path = 0;
	return path;
}

static inline void loops_step(struct program *p, int m, struct loop_member *member)
{
	struct simulated_loop *l = &p->loops[member->loop];
	char text[64];

	switch (member->state) {
	case BEFORE_LOOP:
		loops_run(p, m);
		snprintf(text, sizeof text, "%s-begin loop=%d src=1", l->sections ? "sections" : "loop",
			 member->loop);
		loops_event(p, m, text);
		member->state = BOOKKEEPING;
		break;
	case BOOKKEEPING:
		loops_next(p, m, member);
		break;
	case IN_CHUNK:
		loops_chunk(p, m, member);
		break;
	case AFTER_LOOP:
		member->state = l->nowait ? BEFORE_LOOP : AT_BARRIER;
		member->loop += l->nowait;
		if (l->nowait)
			break;
		loops_run(p, m);
		loops_event(p, m, "wait-begin kind=barrier-implicit");
		if (++l->arrived == p->threads)
			l->path = loops_barrier_path(p);
		break;
	case AT_BARRIER:
		if (l->arrived < p->threads)
			break;
		loops_tick(p, m);
		loops_event(p, m, "wait-end kind=barrier-implicit");
		p->member_path[m] = l->path;
		member->loop++;
		member->state = BEFORE_LOOP;
		break;
	}
}

static inline void program_run_loops(struct program *p)
{
	struct loop_member members[MAX_THREADS] = {{0}};
	int done;

	for (int i = 0; i < p->loop_count; i++)
		p->loops[i].barrier = p->loops[i].nowait ? -1 : p->barriers++;
	do {
		int m = (int)program_random(p, (uint32_t)p->threads);

		done = 0;
		if (members[m].loop < p->loop_count)
			loops_step(p, m, &members[m]);
		for (int i = 0; i < p->threads; i++)
			done += members[i].loop == p->loop_count;
	} while (done < p->threads);
}

#endif
