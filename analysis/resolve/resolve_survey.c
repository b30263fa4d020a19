// SPDX-License-Identifier: BSD-2-Clause
/*
 * The survey: a pass over the records before they are resolved. It finds properties of a record that only
 * later records show: whether a thread was inside a region at its first event, which team a region will have,
 * which creation runs the body itself, and which records belong to a body that has already begun.
 */
#include "analysis/resolve/resolver.h"
#include "analysis/resolve/task_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { START_NONE, START_CREATED, START_IN_BODY, START_CREATE_ENDS };

static void begins_inside(struct thread *t, bool inside)
{
	t->start_known = true;
	t->orphan_start = inside;
}

/*
 * Finds out whether the thread was inside a region at its first event. It was if it does something that
 * happens only in regions while no region is open that was seen to begin. find_team() counts the regions that
 * were seen; it has not counted this record yet. Creations that run the body themselves can happen anywhere,
 * and so can tasks that any thread may run.
 */
static void find_start(struct thread *t, const struct trace_record *rec, bool is_free)
{
	struct survey *s = &t->survey;
	uint8_t start = s->start;

	if (rec->kind == TRACE_LOST || rec->kind == TRACE_DEPEND || rec->kind == TRACE_TASK_BOUNDS)
		return;
	if (rec->flags & TRACE_F_OUTSIDE) {
		begins_inside(t, false);
		return;
	}
	if (start == START_IN_BODY) {
		if (rec->kind == TRACE_TASK_END && rec->frame >= s->start_sp)
			s->start = START_CREATE_ENDS;
		return;
	}
	s->start = START_NONE;
	if (rec->kind == TRACE_TASK_BEGIN && is_free && start != START_CREATED) {
		s->start = START_IN_BODY;
		s->start_sp = rec->frame;
		return;
	}
	if (start == START_CREATE_ENDS && rec->kind == TRACE_TASK_CREATE_END)
		return;
	if (start == START_CREATED) {
		if (rec->kind == TRACE_TASK_BEGIN && rec->key == s->start_key) {
			s->start = START_IN_BODY;
			s->start_sp = rec->frame;
			return;
		}
		begins_inside(t, true);
		return;
	}
	switch (rec->kind) {
	case TRACE_MEMBER_BEGIN:
		if (rec->arg || !s->depth)
			begins_inside(t, false);
		break;
	case TRACE_WAIT_BEGIN:
	case TRACE_WAIT_END:
		if (rec->arg != TRACE_WAIT_BARRIER && rec->arg != TRACE_WAIT_REGION_END &&
		    rec->arg != TRACE_WAIT_BARRIER_IMPLICIT)
			break;
		/* fall through */
	case TRACE_TASK_CREATE_END:
	case TRACE_TASK_BEGIN:
	case TRACE_TASK_END:
	case TRACE_TEAM_START:
	case TRACE_TEAM_STARTED:
		if (!s->depth)
			begins_inside(t, true);
		break;
	case TRACE_TASK_CREATE:
		if (!s->depth) {
			s->start = START_CREATED;
			s->start_key = rec->key;
		}
		break;
	default:
		break;
	}
}

/*
 * Finds out whether the thread was in a league before its first event. It was if a next team begins but no
 * league did.
 */
static void find_league(struct thread *t, const struct trace_record *rec)
{
	if (rec->kind == TRACE_REGION_BEGIN && rec->arg & TRACE_REGION_TEAMS)
		t->survey.league_begun = true;
	else if (rec->kind == TRACE_TEAM_STARTED && rec->arg && !t->survey.league_begun && !t->league_sp)
		t->league_sp = rec->frame;
}

/* Marks a creation if the body begins inside it. */
static void find_included(struct resolver *r, struct thread *t, uint32_t index)
{
	const struct trace_record *rec = &r->content->records[index];
	struct survey *s = &t->survey;
	struct trace_record *create;

	if (rec->kind == TRACE_LOST || rec->kind == TRACE_DEPEND || rec->kind == TRACE_TASK_BOUNDS ||
	    rec->kind == TRACE_LOCK_WAIT)
		return;
	if (s->create != GRAIN_NONE && rec->kind == TRACE_TASK_BEGIN) {
		create = &r->content->records[s->create];
		if (create->key == rec->key)
			create->flags |= RECORD_INCLUDED;
	}
	s->create = rec->kind == TRACE_TASK_CREATE ? index : GRAIN_NONE;
}

/* Takes the records that follow a begin and describe it out of the stream. Keeps them for the begin. */
static int find_attached(struct resolver *r, struct thread *t, uint32_t index)
{
	struct trace_record *rec = &r->content->records[index];
	struct survey *s = &t->survey;
	struct trace_record *begin;
	int error;

	if (rec->kind != TRACE_DEPEND && rec->kind != TRACE_TASK_BOUNDS) {
		s->begin = rec->kind == TRACE_TASK_BEGIN || rec->kind == TRACE_UNDEFERRED_BEGIN ? index
												: GRAIN_NONE;
		return 0;
	}
	if (s->begin == GRAIN_NONE)
		return 0;
	error = array__make_room(&t->attached, t->attached_count, &t->attached_capacity, sizeof(*t->attached),
				 r->budget);
	if (error)
		return error;
	begin = &r->content->records[s->begin];
	t->attached[t->attached_count++] = (struct attached){.key = rec->key,
							     .extra = rec->extra,
							     .arg = rec->arg,
							     .kind = rec->kind,
							     .first = !(begin->flags & RECORD_ATTACHED)};
	begin->flags |= RECORD_ATTACHED;
	rec->kind = RECORD_NONE;
	return 0;
}

/*
 * Regions use the same team one after the other. Counts them: with this record, the team's next turn begins.
 */
static int take_turn(struct resolver *r, uint64_t team, uint32_t record)
{
	uint32_t turn = number_map__get(&r->team_turns, team);
	int error;

	if (turn == GRAIN_NONE)
		turn = 0;
	error = resolver__map(r, &r->team_turns, team, turn + 1);
	return error || !turn ? error : resolver__map(r, &r->turn_at, record, turn);
}

/* Whether some region was begun with the member's body. Returns true if the body is not recorded. */
static bool is_of_region(const struct resolver *r, const struct trace_record *rec)
{
	uint64_t body = r->content->sites[rec->site];

	return !body || number_map__get(&r->bodies, body) != GRAIN_NONE;
}

/*
 * After each target region on the host, libgomp ends the threads of a pool. It gives them a function of its
 * own in place of a region's body, and this is the last thing that they do. Such a member is dropped.
 */
static void leave_pool(struct resolver *r, const struct thread *t)
{
	const struct survey *s = &t->survey;
	struct trace_record *rec = s->foreign == GRAIN_NONE ? NULL : &r->content->records[s->foreign];

	if (rec && s->foreign == s->latest && (r->whole || s->worked) && !is_of_region(r, rec))
		rec->kind = RECORD_NONE;
}

/*
 * Stores the team in the key of a region's begin: the team that its member 0 has recorded. 0: it has recorded
 * none.
 */
static int find_team(struct resolver *r, struct thread *t, uint32_t index)
{
	struct trace_record *rec = &r->content->records[index];
	struct survey *s = &t->survey;
	struct open_region *top;
	int error;

	switch (rec->kind) {
	case TRACE_REGION_BEGIN:
		error = site_table__body(&r->sites, rec->site, rec->key);
		if (!error && rec->key && number_map__get(&r->bodies, rec->key) == GRAIN_NONE)
			error = resolver__map(r, &r->bodies, rec->key, 0);
		if (error)
			return error;
		rec->key = 0;
		while (s->depth && s->regions[s->depth - 1].sp <= rec->frame)
			s->depth--;
		error = array__make_room(&s->regions, s->depth, &s->capacity, sizeof(*s->regions), r->budget);
		if (error)
			return error;
		s->regions[s->depth++] = (struct open_region){.sp = rec->frame, .record = index};
		break;
	case TRACE_REGION_END:
		top = s->depth ? &s->regions[s->depth - 1] : NULL;
		if (top && top->bound && top->sp >= rec->frame)
			s->depth--;
		while (s->depth && s->regions[s->depth - 1].sp < rec->frame)
			s->depth--;
		break;
	case TRACE_MEMBER_BEGIN:
		if (rec->arg) {
			s->foreign = is_of_region(r, rec) ? GRAIN_NONE : index;
			s->worked = t->worker;
			t->worker = true;
			break;
		}
		top = s->depth ? &s->regions[s->depth - 1] : NULL;
		if (top && !top->bound) {
			top->bound = true;
			r->content->records[top->record].key = rec->key;
			return rec->key ? take_turn(r, rec->key, top->record) : 0;
		}
		break;
	default:
		break;
	}
	return 0;
}

/*
 * The key of a begin may be the address of the task's data. Replaces it by the key of the creation. If there
 * is no creation, replaces it by an odd key, which no object has.
 */
static int find_block(struct resolver *r, struct task_blocks *blocks, struct trace_record *rec)
{
	uint64_t block;
	int error = 0;

	if (rec->kind == TRACE_TASK_CREATE && rec->arg & TRACE_TASK_BODY_KNOWN) {
		error = task_blocks__add(blocks, rec->key, rec->extra, r->budget);
		rec->extra = 0;
	} else if (rec->kind == TRACE_TASK_BEGIN && rec->arg & TRACE_BEGIN_DATA) {
		block = task_blocks__take(blocks, rec->key, r->content->sites[rec->site]);
		rec->key = block ? block : rec->key | 1;
	}
	return error;
}

/* Whether the record is the begin of a task that any thread may run. */
static int find_free(struct resolver *r, const struct trace_record *rec, bool *is_free)
{
	*is_free = false;
	if (rec->kind == TRACE_TASK_CREATE && rec->arg & TRACE_TASK_ANY_THREAD)
		return resolver__map(r, &r->free_keys, rec->key, 0);
	if (rec->kind != TRACE_TASK_BEGIN || !r->free_keys.used)
		return 0;
	*is_free = number_map__get(&r->free_keys, rec->key) != GRAIN_NONE;
	number_map__remove(&r->free_keys, rec->key);
	return 0;
}

/* Whether the recording can have missed no event of the process, before its start or since. */
static bool is_whole(const struct resolver *r)
{
	const struct event_stream *s = r->stream;

	if (!r->content->capture_known || s->info.late || s->info.damaged || s->window_count)
		return false;
	for (size_t i = 0; i < s->loss_count; i++) {
		if (strncmp(s->losses[i].cause, "read", 4) != 0 && s->losses[i].count)
			return false;
	}
	return true;
}

/*
 * Whether the record neither changes earlier records nor is changed by later ones. What its thread was inside
 * of at its start must be known.
 */
static bool is_plain(uint8_t kind)
{
	static const bool plain[TRACE_KIND_MAX] = {
		[TRACE_TASK_CREATE_END] = true, [TRACE_TASK_END] = true,     [TRACE_UNDEFERRED_END] = true,
		[TRACE_WAIT_BEGIN] = true,	[TRACE_WAIT_END] = true,     [TRACE_GROUP_BEGIN] = true,
		[TRACE_LOOP_BEGIN] = true,	[TRACE_LOOP_PARAMS] = true,  [TRACE_CHUNK_NEXT] = true,
		[TRACE_CHUNK_BEGIN] = true,	[TRACE_CHUNK_STRIDE] = true, [TRACE_LOOP_END] = true,
		[TRACE_SECTIONS_BEGIN] = true,	[TRACE_SECTION_NEXT] = true, [TRACE_SECTION_BEGIN] = true,
		[TRACE_SECTIONS_END] = true,
	};

	return plain[kind];
}

/*
 * Whether this is a static loop of a process that graind was attached to, and maybe of a region that began
 * before. Its end may not be recorded as a word, and then nothing ends the loop. It is no such loop if the
 * thread was already outside of regions, or in a region whose begin is a word.
 */
static bool is_before_words(const struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	if (!(rec->flags & TRACE_F_AMONG_WORDS)) {
		t->survey.has_words |= rec->flags & TRACE_F_OUTSIDE || rec->kind == TRACE_MEMBER_BEGIN ||
				       (rec->kind == TRACE_REGION_BEGIN && rec->arg & TRACE_REGION_OUTERMOST);
		return false;
	}
	return r->stream->info.late && !t->survey.has_words;
}

static int look_at(struct resolver *r, struct task_blocks *blocks, struct thread *t, uint32_t index)
{
	struct trace_record *rec = &r->content->records[index];
	bool is_free;
	int error;

	if (is_before_words(r, t, rec)) {
		rec->kind = RECORD_NONE;
		return 0;
	}
	/*
	 * Such a call means something only at certain call sites. If the loop's bounds are known, nothing is
	 * missing.
	 */
	if (rec->kind == TRACE_STATIC_SHARE &&
	    (number_map__get(&r->content->static_loops, r->content->sites[rec->site]) == GRAIN_NONE ||
	     number_map__get(&r->bounded_calls, rec->site) != GRAIN_NONE)) {
		rec->kind = RECORD_NONE;
		return 0;
	}
	error = find_block(r, blocks, rec);
	if (!error)
		error = find_free(r, rec, &is_free);
	if (error)
		return error;
	if (!t->start_known)
		find_start(t, rec, is_free);
	find_league(t, rec);
	r->whole &= rec->kind != TRACE_LOST;
	r->cancels |= rec->kind == TRACE_CANCEL;
	find_included(r, t, index);
	error = find_team(r, t, index);
	return error ? error : find_attached(r, t, index);
}

/*
 * Finds calls of omp_get_num_threads that are followed by a static loop in the same execution of a function,
 * if probes in the program itself read that loop.
 */
static int find_bounded_calls(struct resolver *r)
{
	const struct trace_content *c = r->content;
	uint32_t *latest = c->thread_count ? malloc(c->thread_count * sizeof(*latest)) : NULL;
	int error = c->thread_count && !latest ? -ENOMEM : 0;

	for (uint32_t i = 0; !error && i < c->thread_count; i++)
		latest[i] = GRAIN_NONE;
	for (size_t i = 0; i < c->count && !error; i++) {
		const struct trace_record *rec = &c->records[i], *call;

		if (rec->kind == TRACE_STATIC_SHARE) {
			latest[rec->thread] = (uint32_t)i;
			continue;
		}
		if (rec->kind != TRACE_LOOP_BEGIN || !(rec->arg & TRACE_LOOP_IN_PROGRAM) ||
		    latest[rec->thread] == GRAIN_NONE)
			continue;
		call = &c->records[latest[rec->thread]];
		/* On some processors, a call puts the return address on the stack. */
		if (rec->flags & TRACE_F_AMONG_WORDS || call->frame == rec->frame ||
		    call->frame + sizeof(uint64_t) == rec->frame)
			error = resolver__map(r, &r->bounded_calls, call->site, 1);
	}
	free(latest);
	return error;
}

int survey__run(struct resolver *r)
{
	struct trace_content *c = r->content;
	struct task_blocks blocks = {0};
	int error;

	r->whole = is_whole(r);
	error = c->static_loops.used ? find_bounded_calls(r) : 0;
	for (uint32_t i = 0; i < c->thread_count; i++)
		r->threads[i].survey.create = r->threads[i].survey.begin = r->threads[i].survey.foreign =
			GRAIN_NONE;
	for (size_t i = 0; i < c->count && !error; i++) {
		struct trace_record *rec = &c->records[i];
		struct thread *t = &r->threads[rec->thread];

		if (rec->kind == TRACE_OFF_CPU || rec->kind == TRACE_ON_CPU || rec->kind == TRACE_COUNTERS ||
		    rec->kind == TRACE_LOST_SWITCHES)
			continue;
		t->last_record = (uint32_t)i;
		if (rec->kind == TRACE_SAMPLE || rec->kind == TRACE_SAMPLE_STACK || rec->kind == TRACE_ACCESS)
			continue;
		t->survey.latest = (uint32_t)i;
		if (t->start_known && is_plain(rec->kind))
			t->survey.create = t->survey.begin = GRAIN_NONE;
		else
			error = look_at(r, &blocks, t, (uint32_t)i);
	}
	task_blocks__free(&blocks, r->budget);
	for (uint32_t i = 0; i < c->thread_count; i++) {
		struct survey *s = &r->threads[i].survey;

		leave_pool(r, &r->threads[i]);
		free(s->regions);
		s->regions = NULL;
		budget__give(r->budget, s->capacity * sizeof(*s->regions));
		r->threads[i].orphan_start &= !r->whole || r->threads[i].worker;
	}
	return error;
}
