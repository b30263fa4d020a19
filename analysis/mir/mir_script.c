/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the script of each context: its fragments, creations, waits and loops in order. Instants are on the
 * context's own clock. Its time in the runtime is known as one sum. That sum minus the creations is the time
 * that it waited.
 */
#include "analysis/mir/mir.h"

#include <stdlib.h>
#include <string.h>

/* The steps of one context. The steps of its chunks are added afterwards. */
struct script {
	struct mir *m;
	struct mir_row *row;
	struct mir_step *steps;
	size_t count, capacity;
	uint64_t clock;	  /* the context's time is accounted for up to here */
	uint64_t tail;	  /* length of the fragment after the last step */
	uint64_t created; /* time spent on creations */
	uint32_t wait;	  /* number of the next wait */
	struct number_map *loop_of;
};

static int add(struct script *s, struct mir_step step)
{
	if (s->count == s->capacity) {
		size_t more = s->capacity ? s->capacity * 2 : 64;
		struct mir_step *larger = realloc(s->steps, more * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		s->steps = larger;
		s->capacity = more;
	}
	s->steps[s->count++] = step;
	return 0;
}

/*
 * Returns the time from the clock up to `until`, and moves the clock there. Returns 0 for contexts that are
 * not in the file.
 */
static uint64_t up_to(struct script *s, uint64_t until)
{
	uint64_t gap = until > s->clock && !s->row->made ? until - s->clock : 0;

	s->clock += gap;
	return gap;
}

static uint64_t instant(const struct script *s, uint32_t wait)
{
	return s->row->made ? 0 : s->m->waits[s->row->first_wait + wait];
}

/* Limit for sums of damaged numbers. It is more than any task has, and twice as much still fits. */
#define MOST (UINT64_C(1) << 60)

static void add_time(uint64_t *sum, uint64_t cycles)
{
	*sum = cycles > MOST - *sum ? MOST : *sum + cycles;
}

static uint64_t creation_begin(const struct mir_row *child)
{
	return child->created > child->creation ? child->created - child->creation : 0;
}

static int add_wait(struct script *s)
{
	struct mir_step step = {.kind = MIR_WAIT,
				.before = up_to(s, instant(s, s->wait)),
				.id = s->row->made ? GRAIN_NONE : s->row->first_wait + s->wait};

	s->wait++;
	return add(s, step);
}

static int add_creation(struct script *s, uint32_t child)
{
	const struct mir_row *row = &s->m->rows[child];
	struct mir_step step = {.kind = MIR_CREATE, .row = child, .length = row->creation};

	step.before = up_to(s, creation_begin(row));
	add_time(&s->clock, row->creation);
	add_time(&s->created, row->creation);
	return add(s, step);
}

/*
 * Passes the wait that ends a loop or a region. It is not a taskwait of the program, and the time up to it
 * belongs to the runtime.
 */
static void pass_wait(struct script *s, uint32_t wait)
{
	if (wait != s->wait || wait >= s->row->waits)
		return;
	up_to(s, instant(s, wait));
	s->wait++;
}

static int by_worker(const void *a, const void *b, void *ctx)
{
	const struct mir *m = ctx;
	const struct mir_row *x = &m->rows[*(const uint32_t *)a], *y = &m->rows[*(const uint32_t *)b];

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int add_region(struct script *s, uint32_t first, uint32_t count)
{
	struct mir *m = s->m;
	uint32_t *team = &m->child[s->row->first_child + first];
	uint32_t wait = m->rows[team[0]].joins_at;
	struct mir_step step = {.kind = MIR_REGION,
				.id = m->region_count++,
				.row = s->row->first_child + first,
				.left = count,
				.before = up_to(s, creation_begin(&m->rows[team[0]]))};

	for (uint32_t i = 0; i < count; i++) {
		add_time(&s->clock, m->rows[team[i]].creation);
		add_time(&s->created, m->rows[team[i]].creation);
	}
	/* Each worker has one member. Its number is the same in all regions. */
	qsort_r(team, count, sizeof(*team), by_worker, m);
	for (uint32_t i = 0; i < count; i++) {
		m->rows[team[i]].region = step.id;
		m->rows[team[i]].member = i;
		if (i && m->rows[team[i]].cpu == m->rows[team[i - 1]].cpu)
			m->rows[team[i]].worker = m->worker_count++;
	}
	pass_wait(s, wait);
	return add(s, step);
}

static int loop_id(struct script *s, uint32_t rank, uint8_t sched, uint32_t *out)
{
	struct event_stream *stream = s->m->stream;
	uint64_t key = (uint64_t)s->row->region << 32 | rank;
	int error;

	*out = s->row->region == GRAIN_NONE ? GRAIN_NONE : number_map__get(s->loop_of, key);
	if (*out != GRAIN_NONE)
		return 0;
	error = array__grow(&stream->loops, stream->loop_count, sizeof(*stream->loops), &s->m->budget);
	if (error)
		return error;
	*out = stream->loop_count;
	stream->loops[stream->loop_count++] = (struct event_loop){.known = true, .sched = sched};
	return s->row->region == GRAIN_NONE ? 0 : number_map__put(s->loop_of, key, *out);
}

/* Adds a loop. Book-keeping is the time from the loop's begin, or from a chunk's end, to the next chunk. */
static int add_loop(struct script *s, uint32_t first, uint32_t count, uint32_t rank)
{
	struct mir *m = s->m;
	const uint32_t *child = &m->child[s->row->first_child + first];
	struct mir_step step = {.kind = MIR_LOOP_BEGIN, .row = child[0]};
	uint64_t book = 0;
	int error = loop_id(s, rank, m->rows[child[0]].sched, &step.id);

	step.before = up_to(s, creation_begin(&m->rows[child[0]]));
	add_time(&s->clock, m->rows[child[0]].creation);
	if (!error)
		error = add(s, step);
	for (uint32_t i = 0; i < count && !error; i++) {
		const struct mir_row *row = &m->rows[child[i]];

		add_time(&s->created, row->creation);
		add_time(&book, row->creation + (row->kind == MIR_BOOK ? row->exec : 0));
		if (row->kind == MIR_BOOK)
			continue;
		error = add(s, (struct mir_step){.kind = MIR_BOOKKEEP, .length = book});
		if (!error)
			error = add(s, (struct mir_step){.kind = MIR_CHUNK_BEGIN,
							 .row = child[i],
							 .id = step.id});
		if (!error)
			error = add(s,
				    (struct mir_step){.kind = MIR_CHUNK_END, .row = child[i], .id = step.id});
		book = 0;
	}
	if (!error)
		error = add(s, (struct mir_step){.kind = MIR_BOOKKEEP, .length = book});
	if (!error)
		error = add(s, (struct mir_step){.kind = MIR_LOOP_END, .id = step.id});
	pass_wait(s, m->rows[child[0]].joins_at);
	if (!error && s->row->kind == MIR_MEMBER)
		error = add(s, (struct mir_step){.kind = MIR_BARRIER});
	return error;
}

/* Returns how many children from `first` on have the same kind and are joined by the same wait. */
static uint32_t run_length(const struct script *s, uint32_t first)
{
	const struct mir_row *head = &s->m->rows[s->m->child[s->row->first_child + first]];
	uint32_t n = 1;

	for (; first + n < s->row->children; n++) {
		const struct mir_row *row = &s->m->rows[s->m->child[s->row->first_child + first + n]];

		if (row->joins_at != head->joins_at || mir_row__of_loop(row) != mir_row__of_loop(head) ||
		    (row->kind == MIR_MEMBER) != (head->kind == MIR_MEMBER))
			break;
	}
	return n;
}

static int find_steps(struct script *s)
{
	struct mir *m = s->m;
	uint32_t i = 0, n, loops = 0;
	bool unjoined = false;
	int error = 0;

	while (i < s->row->children && !error) {
		uint32_t child = m->child[s->row->first_child + i];
		const struct mir_row *row = &m->rows[child];

		while (s->wait < row->joins_at && s->wait < s->row->waits && !error)
			error = add_wait(s);
		n = run_length(s, i);
		if (error)
			break;
		if (mir_row__of_loop(row)) {
			error = add_loop(s, i, n, loops++);
		} else if (row->kind == MIR_MEMBER) {
			error = add_region(s, i, n);
		} else {
			unjoined |= row->joins_at >= s->row->waits;
			error = add_creation(s, child);
			n = 1;
		}
		i += n;
	}
	while (s->wait < s->row->waits && !error)
		error = add_wait(s);
	/* A team of one member waits at its end only for tasks that are left. */
	if (!error && s->row->kind == MIR_MEMBER &&
	    (s->count == 0 || s->steps[s->count - 1].kind != MIR_BARRIER) &&
	    (unjoined || m->steps[s->row->join_step].left > 1))
		error = add(s, (struct mir_step){.kind = MIR_BARRIER});
	s->tail = s->row->exec > s->clock ? s->row->exec - s->clock : 0;
	return error;
}

static bool waits(const struct mir_step *step)
{
	return step->kind == MIR_WAIT || step->kind == MIR_BARRIER;
}

/*
 * Returns the fragment in which step `i` waits: the one before a taskwait's end, or the one after a barrier's
 * begin.
 */
static uint64_t *room(struct script *s, size_t i)
{
	if (s->steps[i].kind == MIR_WAIT)
		return &s->steps[i].before;
	return i + 1 < s->count ? &s->steps[i + 1].before : &s->tail;
}

static uint64_t part(uint64_t sum, uint64_t share, uint64_t all)
{
	return all ? (uint64_t)((unsigned __int128)sum * share / all) : 0;
}

/*
 * Divides the waiting among the waits. A single wait gets all of it. For several waits, only the sum is
 * known.
 */
static void divide_waiting(struct script *s, uint64_t waiting)
{
	uint64_t all = 0, left = waiting;
	size_t i, places = 0, last = 0;

	for (i = 0; i < s->count; i++) {
		if (!waits(&s->steps[i]))
			continue;
		all += *room(s, i);
		last = i;
		places++;
	}
	for (i = 0; i < s->count; i++) {
		struct mir_step *step = &s->steps[i];

		if (!waits(step))
			continue;
		step->length = i == last ? left : part(waiting, *room(s, i), all);
		left -= step->length;
		step->unsure = s->row->made || (places > 1 && waiting > 0);
	}
}

static void shrink(uint64_t *gap, uint64_t most, uint64_t *excess)
{
	uint64_t by = most < *gap ? most : *gap;

	by = by < *excess ? by : *excess;
	*gap -= by;
	*excess -= by;
}

/* Takes the waiting and all other time of the runtime off the fragments, so that their sum is `exec`. */
static void shrink_fragments(struct script *s, uint64_t exec)
{
	uint64_t sum = s->tail, excess;
	size_t i;

	for (i = 0; i < s->count; i++)
		sum += s->steps[i].before;
	if (sum <= exec) {
		s->tail += exec - sum;
		return;
	}
	excess = sum - exec;
	for (i = 0; i < s->count; i++)
		if (waits(&s->steps[i]))
			shrink(room(s, i), s->steps[i].length, &excess);
	for (sum = s->tail, i = 0; i < s->count; i++)
		sum += s->steps[i].before;
	for (uint64_t rest = excess; i-- > 0 && sum;)
		shrink(&s->steps[i].before, part(rest, s->steps[i].before, sum), &excess);
	shrink(&s->tail, excess, &excess);
	for (i = s->count; i-- > 0 && excess;)
		shrink(&s->steps[i].before, excess, &excess);
}

static void measure(struct script *s)
{
	uint64_t runtime = s->row->overhead > s->created ? s->row->overhead : s->created;

	divide_waiting(s, s->row->made ? 0 : runtime - s->created);
	if (!s->row->made)
		shrink_fragments(s, s->row->exec > runtime ? s->row->exec - runtime : 0);
}

static int own_steps(struct script *s, struct mir_row *row)
{
	int error;

	s->row = row;
	s->count = 0;
	s->clock = s->tail = s->created = 0;
	s->wait = 0;
	error = find_steps(s);
	if (error)
		return error;
	if (!row->made && s->created > row->exec) {
		error = mir__broken(s->m, row->line,
				    "creating its children took longer than all of the task");
		row->spoiled = true;
	}
	measure(s);
	return error;
}

static int keep(struct mir *m, const struct mir_step *step)
{
	int error = m->step_count >= UINT32_MAX / 2
			    ? -E2BIG
			    : array__grow(&m->steps, m->step_count, sizeof(*m->steps), &m->budget);

	if (!error)
		m->steps[m->step_count++] = *step;
	return error;
}

/*
 * Ties children to the wait or region that joins them. Children get its step, and the step gets the number of
 * children.
 */
static void tie_joins(struct mir *m, size_t first)
{
	for (size_t i = first, open = first; i < m->step_count; i++) {
		struct mir_step *step = &m->steps[i];

		if (step->kind == MIR_REGION) {
			for (uint32_t k = 0; k < step->left; k++)
				m->rows[m->child[step->row + k]].join_step = (uint32_t)i;
		} else if (step->kind == MIR_WAIT) {
			for (; open < i; open++) {
				if (m->steps[open].kind != MIR_CREATE)
					continue;
				m->rows[m->steps[open].row].join_step = (uint32_t)i;
				step->left++;
			}
		}
	}
}

/* Makes the steps of a context that is no chunk. Puts the steps of its chunks into their places. */
static int script_of(struct mir *m, struct script *own, struct script *chunk, uint32_t index)
{
	struct mir_row *row = &m->rows[index];
	size_t first = m->step_count;
	int error = own_steps(own, row);

	row->first_step = (uint32_t)first;
	for (size_t i = 0; i < own->count && !error; i++) {
		error = keep(m, &own->steps[i]);
		if (error || own->steps[i].kind != MIR_CHUNK_BEGIN)
			continue;
		error = own_steps(chunk, &m->rows[own->steps[i].row]);
		for (size_t k = 0; k < chunk->count && !error; k++) {
			chunk->steps[k].in_chunk = true;
			error = keep(m, &chunk->steps[k]);
		}
		own->steps[i + 1].before = chunk->tail;
	}
	row->tail = own->tail;
	row->steps = (uint32_t)(m->step_count - first);
	tie_joins(m, first);
	return error;
}

int mir__scripts(struct mir *m)
{
	struct number_map loop_of = {0};
	struct script own = {.m = m, .loop_of = &loop_of}, chunk = own;
	int error = 0;

	m->worker_count = UINT16_MAX + 2;
	for (size_t i = 0; i < m->row_count; i++)
		m->rows[i].worker = m->rows[i].cpu;
	/* Parents come first, because a member needs the step of its region. */
	for (size_t i = 0; i < m->order_count && !error; i++)
		if (!mir_row__of_loop(&m->rows[m->order[i]]))
			error = script_of(m, &own, &chunk, m->order[i]);
	number_map__free(&loop_of);
	free(own.steps);
	free(chunk.steps);
	return error;
}
