// SPDX-License-Identifier: BSD-2-Clause
/* Parallel regions, their members, single constructs. */
#include "analysis/resolve/resolver.h"

#include <errno.h>

#define MAX_MEMBERS (1u << 20)

/* Each member number of a region may begin only once. */
static bool claim_member(struct resolver *r, uint32_t region, uint32_t number, int *error)
{
	uint64_t key = (uint64_t)region << 32 | number, *threads;

	if (number >= MAX_MEMBERS || number_map__get(&r->members, key) != GRAIN_NONE)
		return false;
	*error = resolver__map(r, &r->members, key, 0);
	if (number + 1 > r->stream->info.threads)
		r->stream->info.threads = number + 1;
	threads = &r->stream->events[r->regions[region].event].value;
	if (!r->regions[region].declared && number + 1 > *threads)
		*threads = number + 1;
	r->regions[region].members++;
	return true;
}

static void remove_worker(struct resolver *r, struct thread *t)
{
	if (t->worker_of == GRAIN_NONE)
		return;
	if (t->next_worker != GRAIN_NONE)
		r->threads[t->next_worker].previous_worker = t->previous_worker;
	if (t->previous_worker != GRAIN_NONE)
		r->threads[t->previous_worker].next_worker = t->next_worker;
	else
		r->regions[t->worker_of].first_worker = t->next_worker;
	t->worker_of = GRAIN_NONE;
}

static void add_worker(struct resolver *r, struct thread *t, uint32_t region)
{
	uint32_t self = (uint32_t)(t - r->threads), next = r->regions[region].first_worker;

	remove_worker(r, t);
	t->worker_of = region;
	t->next_worker = next;
	t->previous_worker = GRAIN_NONE;
	if (next != GRAIN_NONE)
		r->threads[next].previous_worker = self;
	r->regions[region].first_worker = self;
}

int teams__begin_member(struct resolver *r, struct thread *t, uint64_t sp, uint32_t region, uint32_t number)
{
	struct event *e;
	int error = 0;

	if (region == GRAIN_NONE || !claim_member(r, region, number, &error)) {
		region = GRAIN_NONE;
		number = 0;
	}
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_MEMBER_BEGIN, region);
	if (!e)
		return -E2BIG;
	e->value = number;
	if (region != GRAIN_NONE && sp == UINT64_MAX)
		add_worker(r, t, region);
	return resolver__push(r, t,
			      (struct frame){.kind = FRAME_MEMBER,
					     .sp = sp,
					     .id = region,
					     .number = number,
					     .group = GRAIN_NONE});
}

int teams__end_orphan(struct resolver *r, struct thread *t)
{
	size_t at = t->depth;
	int error;

	while (at > 0 && t->frames[at - 1].kind != FRAME_MEMBER)
		at--;
	if (at == 0 || t->frames[at - 1].id != GRAIN_NONE)
		return 0;
	error = frames__close_to(r, t, at);
	return error || t->depth != at ? error : frames__end_member(r, t, true);
}

static int new_region(struct resolver *r, uint32_t *out)
{
	struct event_stream *s = r->stream;
	int error = array__make_room(&s->region_trouble, s->region_count, &r->region_trouble_capacity, 1,
				     r->budget);

	if (!error)
		error = array__make_room(&r->regions, s->region_count, &r->region_capacity,
					 sizeof(*r->regions), r->budget);
	if (error)
		return error;
	*out = s->region_count++;
	s->region_trouble[*out] = 0;
	r->regions[*out] = (struct region){.event = s->count,
					   .first_worker = GRAIN_NONE,
					   .first_waiting = GRAIN_NONE,
					   .last_waiting = GRAIN_NONE};
	return 0;
}

/*
 * Makes a key for a team and its turn. It works for addresses in the lower half that are multiples of 64, and
 * for up to eight million turns.
 */
static uint64_t turn_key(uint64_t team, uint32_t turn)
{
	return team >> 6 << 23 | (turn & ((1u << 23) - 1));
}

/*
 * Registers the team that member 0 will record. The survey has found it. Workers may begin before member 0
 * does.
 */
static int expect_team(struct resolver *r, uint64_t team, uint32_t region)
{
	uint32_t turn = number_map__get(&r->turn_at, r->at);
	int error;

	r->regions[region].turn = turn = turn == GRAIN_NONE ? 0 : turn;
	error = resolver__map(r, &r->in_turn, turn_key(team, turn), region);
	if (!error && number_map__get(&r->teams, team) == GRAIN_NONE)
		error = resolver__map(r, &r->teams, team, region);
	return error;
}

/*
 * Returns the region that the worker begins to serve. If it was already in the present one, this is the
 * team's next region.
 */
static uint32_t region_of_worker(const struct resolver *r, uint64_t team, uint32_t number)
{
	uint32_t now = team ? number_map__get(&r->turn_now, team) : GRAIN_NONE, region;

	for (uint32_t turn = now == GRAIN_NONE ? 0 : now; team && turn < now + 2; turn++) {
		region = number_map__get(&r->in_turn, turn_key(team, turn));
		if (region == GRAIN_NONE)
			break;
		if (number_map__get(&r->members, (uint64_t)region << 32 | number) == GRAIN_NONE)
			return region;
		if (now == GRAIN_NONE)
			break;
	}
	return team ? number_map__get(&r->teams, team) : GRAIN_NONE;
}

/*
 * A league begins. An earlier league on this thread was entered before the recording began, so its end was
 * not seen. Ends the thread's member of the earlier one.
 */
static int leave_league(struct resolver *r, struct thread *t, uint64_t sp)
{
	size_t base = frames__base(t);
	const struct frame *f = base == GRAIN_NONE ? NULL : &t->frames[base];

	return f && f->kind == FRAME_MEMBER && f->id == GRAIN_NONE && f->sp <= sp ? teams__end_orphan(r, t)
										  : 0;
}

/*
 * A region begins. Ends what was open when the recording began, if this shows that it has ended. Inside a
 * league, a thread has no team, as if it were outside of all regions. A league that was entered before the
 * recording is known only by its next team, which the survey has seen.
 */
static int leave_unseen(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	if (rec->arg & TRACE_REGION_TEAMS || t->league_sp <= rec->frame)
		t->league_sp = 0;
	if (t->league_sp)
		return t->depth ? 0 : teams__begin_member(r, t, t->league_sp, GRAIN_NONE, 0);
	if (rec->arg & TRACE_REGION_TEAMS && !(rec->arg & TRACE_REGION_OUTERMOST))
		return leave_league(r, t, rec->frame);
	t->outside |= (rec->arg & TRACE_REGION_OUTERMOST) != 0;
	return rec->arg & TRACE_REGION_OUTERMOST ? teams__end_orphan(r, t) : 0;
}

int teams__region_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	bool teams = rec->arg & TRACE_REGION_TEAMS;
	int error = leave_unseen(r, t, rec);
	struct event *e;
	uint32_t region;

	if (!error)
		error = resolver__enter_code(r, t, rec->frame, false);

	if (!error)
		error = new_region(r, &region);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_REGION_BEGIN, region);
	if (!e)
		return -E2BIG;
	e->sub = teams;
	error = site_table__source(&r->sites, rec->site, rec->extra, teams ? SITE_TEAMS : SITE_PARALLEL,
				   &e->src);
	if (!error && rec->key)
		error = expect_team(r, rec->key, region);
	return error ? error
		     : resolver__push(r, t,
				      (struct frame){.kind = FRAME_REGION,
						     .sp = rec->frame,
						     .id = region,
						     .number = rec->site});
}

/* When a region ends, ends the last wait of those workers that do not record when they leave it. */
static int release_workers(struct resolver *r, uint32_t region)
{
	uint32_t next = r->regions[region].first_worker;
	int error = 0;

	for (uint32_t i = 0; i < r->content->thread_count && next != GRAIN_NONE && !error; i++) {
		struct thread *t = &r->threads[next];

		next = t->next_worker;
		if (!frames__in_last_wait(t, region))
			continue;
		error = frames__leave_last_wait(r, t);
		if (!error && !t->depth && r->at >= t->last_record)
			error = resolver__thread_ends(r, t);
	}
	return error;
}

/* Closes what is open at the end of a libomp region: its member 0, alone or in the last wait. */
static int end_leader(struct resolver *r, struct thread *t, size_t at)
{
	uint32_t region = t->frames[at].id;
	int error;

	if (t->depth == at + 3 && frames__in_last_wait(t, region))
		return frames__leave_last_wait(r, t);
	if (t->depth < at + 2 || t->frames[at + 1].kind != FRAME_MEMBER || r->regions[region].members != 1)
		return 0;
	error = frames__close_to(r, t, at + 2);
	return error || t->depth != at + 2 ? error : frames__end_member(r, t, true);
}

/*
 * Returns the innermost region if the thread is its member 0 under libomp. Its end may be recorded in the
 * middle of the runtime's function, at a lower stack pointer than its begin.
 */
static size_t led_by(const struct resolver *r, const struct thread *t)
{
	size_t base = frames__base(t);
	if (base != GRAIN_NONE && base > 0 && t->frames[base].kind == FRAME_MEMBER)
		base--;
	if (base == GRAIN_NONE || t->frames[base].kind != FRAME_REGION || !r->regions[t->frames[base].id].led)
		return GRAIN_NONE;
	return base;
}

int teams__region_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	size_t at = frames__returned_from(t, rec->frame, FRAME_REGION, 0);
	uint32_t region;
	uint64_t team, called_at;
	int error;

	if (rec->frame > t->league_sp)
		t->league_sp = 0;
	if (at == GRAIN_NONE)
		at = led_by(r, t);
	if (at == GRAIN_NONE)
		return resolver__unmatched_end(r);
	region = t->frames[at].id;
	team = t->frames[at].key;
	called_at = t->frames[at].sp;
	error = frames__close_to(r, t, at + 1 + 2);
	if (!error && r->regions[region].led)
		error = end_leader(r, t, at);
	if (!error)
		error = frames__close_to(r, t, at + 1);
	if (!error && r->regions[region].led)
		error = release_workers(r, region);
	if (!error) {
		r->regions[region].ended = true;
		if (r->regions[region].led && team)
			error = resolver__map(r, &r->turn_now, team, r->regions[region].turn + 1);
	}
	if (!error)
		error = frames__end_region(r, t);
	return error ? error : frames__close_returned(r, t, rec->frame, called_at);
}

/* Binds the team to the region that the thread has just begun. */
int teams__start(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct frame *top;
	int error = frames__close_calls(r, t);

	if (error)
		return error;
	top = frames__top(t);
	if (!top || top->kind != FRAME_REGION || top->key || r->regions[top->id].declared) {
		/* New members must not be taken for members of the region that used this block before. */
		number_map__remove(&r->teams, rec->key);
		r->unmatched_teams++;
		return 0;
	}
	top->key = rec->key;
	if (rec->arg < MAX_MEMBERS) {
		r->regions[top->id].declared = rec->arg != 0;
		r->stream->events[r->regions[top->id].event].value = rec->arg;
		if (rec->arg > r->stream->info.threads)
			r->stream->info.threads = rec->arg;
	}
	return rec->key ? resolver__map(r, &r->teams, rec->key, top->id) : 0;
}

int teams__started(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct frame *top = frames__top(t);

	if (rec->arg & TRACE_TEAMS_OVER) {
		t->league_sp = 0;
		return teams__end_orphan(r, t);
	}
	if (top && top->kind == FRAME_REGION)
		return teams__begin_member(r, t, rec->frame, top->id, (uint32_t)rec->arg);
	r->unmatched_teams++;
	if (!top)
		return teams__begin_member(r, t, rec->frame, GRAIN_NONE, 0);
	if (top->kind == FRAME_MEMBER && top->id == GRAIN_NONE)
		top->sp = rec->frame;
	return 0;
}

/* Member 0 under libomp: sets the team and enters the body at once. */
static int leader_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = frames__close_calls(r, t);
	size_t base = frames__base(t);
	struct frame *f;

	if (error)
		return error;
	f = base == GRAIN_NONE ? NULL : &t->frames[base];
	if (f && f->kind == FRAME_MEMBER && f->number == 0 && base > 0 && f[-1].kind == FRAME_REGION &&
	    r->regions[f[-1].id].led && f[-1].key == rec->key)
		return 0;
	if (!f || f->kind != FRAME_REGION || f->key) {
		r->unmatched_teams++;
		return t->depth == 0 ? teams__begin_member(r, t, UINT64_MAX, GRAIN_NONE, 0) : 0;
	}
	error = frames__close_to(r, t, base + 1);
	f = &t->frames[base];
	f->key = rec->key;
	r->regions[f->id].led = true;
	if (!error && rec->key)
		error = resolver__map(r, &r->teams, rec->key, f->id);
	if (!error && rec->key)
		error = resolver__map(r, &r->turn_now, rec->key, r->regions[f->id].turn);
	return error ? error : teams__begin_member(r, t, rec->frame, f->id, 0);
}

/* A worker may serve another team before the end of its former region is seen. */
static int leave_led(struct resolver *r, struct thread *t)
{
	uint32_t region = t->worker_of;

	return region != GRAIN_NONE && r->regions[region].led && frames__in_last_wait(t, region)
		       ? frames__leave_last_wait(r, t)
		       : 0;
}

/* A worker has nothing open below its member. If something is open there, it has ended. */
int teams__member_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	uint32_t region = region_of_worker(r, rec->key, rec->arg);
	int error;

	if (rec->arg == 0)
		return leader_begin(r, t, rec);
	error = leave_led(r, t);
	if (!error)
		error = frames__close_to(r, t, 0);
	if (region == GRAIN_NONE)
		r->unmatched_teams++;
	return error ? error : teams__begin_member(r, t, UINT64_MAX, region, rec->arg);
}

int teams__single(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = resolver__enter_code(r, t, rec->frame, false);
	size_t base = frames__base(t);
	struct frame *top;
	struct event *e;

	/* The member cannot be inside a loop of the same team. A loop that is still open has ended. */
	if (!error && base != GRAIN_NONE && frames__context(t) == base)
		error = frames__close_to(r, t, base + 1);
	if (error)
		return error;
	top = frames__top(t);
	/* Outside of a known team, the children cannot be numbered. */
	if (!top || top->kind != FRAME_MEMBER || top->id == GRAIN_NONE)
		return 0;
	error = frames__end_single(r, t, top);
	if (error)
		return error;
	top->in_single = true;
	top->won = rec->arg != 0;
	e = resolver__emit(r, t, EVENT_SINGLE_BEGIN, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	e->value = top->won;
	return site_table__source(&r->sites, rec->site, rec->extra, SITE_SINGLE, &e->src);
}

int teams__single_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = resolver__enter_code(r, t, rec->frame, false);
	size_t base = frames__base(t);

	/* Singles of unknown teams are left out. */
	if (error || base == GRAIN_NONE || t->frames[base].id == GRAIN_NONE)
		return error;
	if (frames__context(t) != base || !t->frames[base].in_single)
		return resolver__unmatched_end(r);
	error = frames__close_to(r, t, base + 1);
	return error ? error : frames__end_single(r, t, &t->frames[base]);
}

int resolver__need_member(struct resolver *r, struct thread *t, bool in_region)
{
	struct frame *top = frames__top(t);

	if (!top)
		return t->worker || (in_region && !r->whole && !t->outside)
			       ? teams__begin_member(r, t, UINT64_MAX, GRAIN_NONE, 0)
			       : 0;
	if (top->kind != FRAME_REGION)
		return 0;
	r->stream->region_trouble[top->id] |= EVENT_TROUBLE_LOST;
	return teams__begin_member(r, t, top->sp, top->id, 0);
}

int resolver__enter_code(struct resolver *r, struct thread *t, uint64_t sp, bool in_region)
{
	int error = frames__close_below(r, t, sp);

	if (!error)
		error = frames__close_calls(r, t);
	return error ? error : resolver__need_member(r, t, in_region);
}
