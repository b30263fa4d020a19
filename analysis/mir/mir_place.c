/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places the scripts of a MIR profile in time, as events.
 *
 * The file has the ends. Begins follow from what came later: a context began early enough that its own time
 * fits before its end, and that everything that it made could begin. These are upper bounds. From them on,
 * each stretch between waits runs as soon as its waits are over and its worker is free, whatever time the
 * file gives. A task leaves its worker while it waits.
 */
#include "analysis/mir/mir.h"

#include <stdlib.h>
#include <string.h>

struct ready {
	int64_t time;
	uint32_t order; /* number of the push; items with equal times keep their order */
	uint32_t row;
};

struct placing {
	struct mir *m;
	struct ready *heap;
	size_t heap_count, heap_capacity;
	int64_t *free_at; /* per worker */
	uint32_t *at;	  /* per row: its next step, counted from its first */
	uint32_t pushes;
	uint32_t line;
	/* The context whose events are being emitted. */
	const struct mir_row *row;
	int64_t now;
};

/* ---- bounds ------------------------------------------------------------ */

static void bound(int64_t *time, int64_t by)
{
	if (by < *time)
		*time = by;
}

/* Lowers `begin`, an upper bound, to the latest time that all parts of the context allow. */
static void find_begin(struct mir *m, struct mir_row *row)
{
	int64_t time = row->made ? MIR_TIME_LIMIT : (int64_t)row->end - (int64_t)row->tail;

	for (uint32_t i = row->steps; i-- > 0;) {
		struct mir_step *step = &m->steps[row->first_step + i];

		if (step->kind == MIR_WAIT && step->id != GRAIN_NONE)
			bound(&time, m->passed[step->id]);
		step->after = time < MIR_TIME_LIMIT ? time : 0;
		switch (step->kind) {
		case MIR_REGION:
			for (uint32_t k = 0; k < step->left; k++)
				bound(&time, m->rows[m->child[step->row + k]].begin);
			break;
		case MIR_CREATE:
			bound(&time, m->rows[step->row].begin);
			break;
		case MIR_CHUNK_END:
			bound(&time, (int64_t)m->rows[step->row].end);
			break;
		default:
			break;
		}
		time -= (int64_t)(step->length + step->before);
		if (time < -MIR_TIME_LIMIT)
			time = -MIR_TIME_LIMIT - 1;
	}
	bound(&row->begin, time);
}

static int find_bounds(struct mir *m)
{
	for (size_t i = m->order_count; i-- > 0;) {
		struct mir_row *row = &m->rows[m->order[i]];

		if (mir_row__of_loop(row))
			continue;
		find_begin(m, row);
		if (row->begin < -MIR_TIME_LIMIT)
			return load_error(m->err, -EBADMSG, "%s: line %u: its times do not fit 64 bits",
					  m->path, row->line);
	}
	return 0;
}

/*
 * Finds the bounds: first from the contexts' own parts, then from the bodies on their workers, then from
 * both.
 */
static int find_begins(struct mir *m)
{
	int64_t first = 0;
	int error = mir__array(m, m->wait_count, sizeof(*m->passed), (void **)&m->passed);

	if (error)
		return error;
	for (size_t i = 0; i < m->wait_count; i++)
		m->passed[i] = MIR_TIME_LIMIT;
	for (size_t i = 0; i < m->row_count; i++)
		m->rows[i].begin = MIR_TIME_LIMIT;
	error = find_bounds(m);
	if (!error)
		error = mir__walk(m);
	if (!error)
		error = find_bounds(m);
	/*
	 * The runtime starts at 0. If the ends leave too little room for what came before them, it starts
	 * later.
	 */
	for (size_t i = 0; i < m->order_count; i++)
		bound(&first, m->rows[m->order[i]].begin);
	for (size_t i = 0; i < m->order_count; i++)
		m->rows[m->order[i]].begin -= first;
	for (size_t i = 0; i < m->step_count; i++)
		m->steps[i].after -= first;
	return error;
}

/* ---- the heap ---------------------------------------------------------- */

static bool before(const struct ready *a, const struct ready *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static int push(struct placing *p, uint32_t row, int64_t hint, int64_t ready)
{
	struct ready item = {hint > ready ? hint : ready, p->pushes++, row};
	size_t i = p->heap_count;

	if (i == p->heap_capacity)
		return -E2BIG;
	for (p->heap_count++; i && before(&item, &p->heap[(i - 1) / 2]); i = (i - 1) / 2)
		p->heap[i] = p->heap[(i - 1) / 2];
	p->heap[i] = item;
	return 0;
}

static struct ready pop(struct placing *p)
{
	struct ready top = p->heap[0], item = p->heap[--p->heap_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < p->heap_count) {
		child += child + 1 < p->heap_count && before(&p->heap[child + 1], &p->heap[child]);
		if (!before(&p->heap[child], &item))
			break;
		p->heap[i] = p->heap[child];
		i = child;
	}
	p->heap[i] = item;
	return top;
}

/* ---- events ------------------------------------------------------------ */

static int emit(struct placing *p, struct event e)
{
	struct mir *m = p->m;
	struct event *event = event_stream__push(m->stream, &m->budget);
	int error;

	if (!event)
		return -E2BIG;
	error = array__grow(&m->lines, m->line_count, sizeof(*m->lines), &m->budget);
	if (error)
		return error;
	m->lines[m->line_count++] = p->line;
	e.time_ns = (uint64_t)p->now;
	e.tid = p->row->worker;
	e.cpu = (uint16_t)p->row->cpu;
	*event = e;
	return 0;
}

static uint32_t number(const struct placing *p)
{
	return (uint32_t)(p->row - p->m->rows);
}

static int emit_begin(struct placing *p)
{
	const struct mir_row *row = p->row;

	switch (row->kind) {
	case MIR_INITIAL:
		return emit(p,
			    (struct event){.kind = EVENT_THREAD_BEGIN, .id = GRAIN_NONE, .src = GRAIN_NONE});
	case MIR_MEMBER:
		return emit(p, (struct event){.kind = EVENT_MEMBER_BEGIN,
					      .id = row->region,
					      .value = row->member,
					      .src = GRAIN_NONE});
	default:
		return emit(p, (struct event){.kind = EVENT_TASK_BEGIN,
					      .id = number(p),
					      .src = row->up == GRAIN_NONE ? row->source : GRAIN_NONE});
	}
}

static int emit_end(struct placing *p)
{
	const struct mir_row *row = p->row;

	switch (row->kind) {
	case MIR_INITIAL:
		return emit(p, (struct event){.kind = EVENT_THREAD_END, .id = GRAIN_NONE, .src = GRAIN_NONE});
	case MIR_MEMBER:
		return emit(p, (struct event){.kind = EVENT_MEMBER_END,
					      .id = row->region,
					      .value = row->member,
					      .src = GRAIN_NONE});
	default:
		return emit(p, (struct event){.kind = EVENT_TASK_END, .id = number(p), .src = GRAIN_NONE});
	}
}

static int emit_wait(struct placing *p, const struct mir_step *step, bool begin)
{
	uint8_t sub = step->kind == MIR_WAIT ? EVENT_WAIT_TASKWAIT : EVENT_WAIT_BARRIER_IMPLICIT;

	return emit(p, (struct event){.kind = begin ? EVENT_WAIT_BEGIN : EVENT_WAIT_END,
				      .id = GRAIN_NONE,
				      .src = GRAIN_NONE,
				      .sub = sub,
				      .value = !begin && step->unsure,
				      .extra = begin ? 0 : step->length + 1});
}

/*
 * Whether a task leaves its worker during the wait. It does not if the wait is of a chunk that it executes.
 */
static bool leaves(const struct mir_row *row, const struct mir_step *step)
{
	return row->kind == MIR_TASK && step->kind == MIR_WAIT && !step->in_chunk;
}

static int emit_move(struct placing *p, enum event_kind kind)
{
	return emit(p, (struct event){.kind = (uint8_t)kind, .id = number(p), .src = GRAIN_NONE});
}

static int emit_region(struct placing *p, const struct mir_step *step, bool begin)
{
	const struct mir_row *first = &p->m->rows[p->m->child[step->row]];

	return emit(p, (struct event){.kind = begin ? EVENT_REGION_BEGIN : EVENT_REGION_END,
				      .id = step->id,
				      .src = begin ? first->source : GRAIN_NONE,
				      .value = begin ? step->left : 0});
}

/* ---- placing ----------------------------------------------------------- */

static int make_child(struct placing *p, const struct mir_step *step)
{
	const struct mir_row *child = &p->m->rows[step->row];
	uint32_t line = p->line;
	int error;

	p->line = child->line;
	error = emit(p, (struct event){.kind = EVENT_CREATE_BEGIN,
				       .id = step->row,
				       .src = child->source,
				       .value = EVENT_TASK_DEFERRED,
				       .extra = child->spoiled ? EVENT_TROUBLE_FAULT : 0});
	p->now += (int64_t)step->length;
	if (!error)
		error = emit(p, (struct event){.kind = EVENT_CREATE_END, .id = step->row, .src = GRAIN_NONE});
	p->line = line;
	return error ? error : push(p, step->row, child->begin, p->now);
}

static int emit_loop(struct placing *p, const struct mir_step *step)
{
	const struct mir_row *row = &p->m->rows[step->row];

	switch (step->kind) {
	case MIR_LOOP_BEGIN:
		return emit(p, (struct event){.kind = EVENT_LOOP_BEGIN, .id = step->id, .src = row->source});
	case MIR_CHUNK_BEGIN:
		return emit(p, (struct event){.kind = EVENT_CHUNK_BEGIN,
					      .id = step->id,
					      .src = GRAIN_NONE,
					      .value = (uint64_t)row->lower,
					      .extra = (uint64_t)row->upper});
	case MIR_CHUNK_END:
		return emit(p, (struct event){.kind = EVENT_CHUNK_END, .id = step->id, .src = GRAIN_NONE});
	default:
		return emit(p, (struct event){.kind = EVENT_LOOP_END, .id = step->id, .src = GRAIN_NONE});
	}
}

/* One of the contexts that a step joins is over. Returns 0 or a negative errno. */
static int join(struct placing *p, uint32_t parent, uint32_t index)
{
	struct mir *m = p->m;
	struct mir_step *step = &m->steps[index];
	const struct mir_row *row;

	if (p->now > step->done)
		step->done = p->now;
	step->left--;
	row = &m->rows[parent];
	/* The steps of a chunk belong to its member. */
	while (mir_row__of_loop(row)) {
		parent = row->up;
		row = &m->rows[parent];
	}
	if (step->left || row->first_step + p->at[parent] != index + 1)
		return 0;
	return push(p, parent, step->after, step->done);
}

/* Runs a context from its current step to the begin of its next wait, or to its end. */
static int run(struct placing *p, uint32_t index)
{
	struct mir *m = p->m;
	const struct mir_row *row = p->row;
	int error = 0;

	while (p->at[index] < row->steps && !error) {
		struct mir_step *step = &m->steps[row->first_step + p->at[index]++];

		p->now += (int64_t)step->before;
		if (p->now > MIR_TIME_LIMIT)
			return load_error(m->err, -EBADMSG, "%s: line %u: its times do not fit 64 bits",
					  m->path, row->line);
		switch (step->kind) {
		case MIR_CREATE:
			error = make_child(p, step);
			break;
		case MIR_BOOKKEEP:
			p->now += (int64_t)step->length;
			break;
		case MIR_REGION:
			error = emit_region(p, step, true);
			for (uint32_t k = 0; k < step->left && !error; k++)
				error = push(p, m->child[step->row + k],
					     m->rows[m->child[step->row + k]].begin, p->now);
			return error;
		case MIR_WAIT:
		case MIR_BARRIER:
			error = emit_wait(p, step, true);
			if (!error && leaves(row, step))
				error = emit_move(p, EVENT_TASK_SUSPEND);
			if (p->now > step->done)
				step->done = p->now;
			if (!error && step->left == 0)
				error = push(p, index, step->after, step->done);
			return error;
		default:
			error = emit_loop(p, step);
			break;
		}
	}
	p->now += (int64_t)row->tail;
	if (!error)
		error = emit_end(p);
	if (!error && row->join_step != GRAIN_NONE)
		error = join(p, row->up, row->join_step);
	return error;
}

static int resume(struct placing *p, uint32_t index)
{
	const struct mir_row *row = p->row;
	const struct mir_step *step;
	int error = 0;

	if (p->at[index] == 0)
		return emit_begin(p);
	step = &p->m->steps[row->first_step + p->at[index] - 1];
	if (step->kind == MIR_REGION)
		return emit_region(p, step, false);
	if (leaves(row, step))
		error = emit_move(p, EVENT_TASK_SWITCH);
	return error ? error : emit_wait(p, step, false);
}

static int place_all(struct placing *p)
{
	struct mir *m = p->m;
	int error = 0;

	for (size_t i = 0; i < m->order_count && !error; i++) {
		const struct mir_row *row = &m->rows[m->order[i]];

		if (row->up == GRAIN_NONE)
			error = push(p, m->order[i], row->begin, 0);
	}
	while (p->heap_count && !error) {
		struct ready next = pop(p);

		p->row = &m->rows[next.row];
		p->line = p->row->line;
		p->now = p->free_at[p->row->worker];
		if (next.time > p->now)
			p->now = next.time;
		error = resume(p, next.row);
		if (!error)
			error = run(p, next.row);
		p->free_at[p->row->worker] = p->now;
	}
	return error;
}

int mir__place(struct mir *m)
{
	struct placing p = {.m = m, .heap_capacity = m->row_count};
	int error = find_begins(m);

	if (!error)
		error = mir__array(m, m->row_count, sizeof(*p.heap), (void **)&p.heap);
	if (!error)
		error = mir__array(m, m->row_count, sizeof(*p.at), (void **)&p.at);
	if (!error)
		error = mir__array(m, m->worker_count, sizeof(*p.free_at), (void **)&p.free_at);
	if (!error)
		error = place_all(&p);
	free(p.heap);
	free(p.at);
	free(p.free_at);
	return error;
}
