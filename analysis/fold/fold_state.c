// SPDX-License-Identifier: BSD-2-Clause
/* Tasks that have not ended, open frames of threads, and how tasks and frames end. */
#include "analysis/fold/fold_state.h"

#include <stdlib.h>
#include <string.h>

int fold__new(struct budget *budget, struct fold **out)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->budget = budget;
	f->free_task = GRAIN_NONE;
	*out = f;
	return 0;
}

void fold__free(struct fold *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->thread_count; i++)
		free(f->threads[i].frames);
	free(f->threads);
	free(f->tasks);
	number_map__free(&f->open);
	number_map__free(&f->combined);
	fold_rows__free(&f->rows);
	free(f);
}

void fold__tell(struct fold *f, struct fold_regions *regions)
{
	f->regions = regions;
	f->regions_error = 0;
}

void fold__told(struct fold *f, int error)
{
	if (!error)
		return;
	f->regions = NULL;
	f->regions_error = error;
}

int fold__regions_error(const struct fold *f)
{
	return f->regions_error;
}

int fold__threads(struct fold *f, uint32_t count)
{
	struct fold_thread *grown;

	if (count <= f->thread_count)
		return 0;
	if (budget__take(f->budget, (count - f->thread_count) * sizeof(*grown)))
		return -E2BIG;
	grown = realloc(f->threads, count * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + f->thread_count, 0, (count - f->thread_count) * sizeof(*grown));
	f->threads = grown;
	f->thread_count = count;
	return 0;
}

int fold__map(struct fold *f, struct number_map *map, uint64_t key, uint32_t value)
{
	size_t before = map->size;
	int error = number_map__put(map, key, value);

	if (!error && map->size > before)
		error = budget__take(f->budget, (map->size - before) * sizeof(*map->slots));
	return error;
}

int fold_tasks__new(struct fold *f, uint64_t key, uint32_t *out)
{
	int error = 0;

	if (f->free_task == GRAIN_NONE) {
		uint32_t capacity = f->task_capacity ? f->task_capacity : 64;
		struct fold_task *grown;

		if (f->task_count == f->task_capacity) {
			if (f->task_capacity > UINT32_MAX / 4 ||
			    budget__take(f->budget, (uint64_t)capacity * sizeof(*grown)))
				return -E2BIG;
			grown = realloc(f->tasks, ((size_t)f->task_capacity + capacity) * sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			f->tasks = grown;
			f->task_capacity += capacity;
		}
		*out = f->task_count++;
	} else {
		*out = f->free_task;
		f->free_task = f->tasks[*out].next_free;
	}
	if (key)
		error = fold__map(f, &f->open, key, *out);
	f->tasks[*out] =
		(struct fold_task){.key = key, .serial = f->serial++, .live = true, .in_map = key != 0};
	f->live++;
	if (f->live > f->totals.most_open)
		f->totals.most_open = f->live;
	return error;
}

static void let_go(struct fold *f, uint32_t id)
{
	struct fold_task *task = &f->tasks[id];

	if (task->in_map && number_map__get(&f->open, task->key) == id)
		number_map__remove(&f->open, task->key);
	task->live = task->in_map = false;
	task->next_free = f->free_task;
	f->free_task = id;
	f->live--;
}

/* Everything about the task is known. Adds it to the sums. */
static void settle(struct fold *f, uint32_t id)
{
	struct fold_task *task = &f->tasks[id];
	struct fold_row *row = &f->rows.rows[task->row];

	if (task->flags & FOLD_TASK_SPLIT) {
		f->totals.runtime_tasks++;
		let_go(f, id);
		return;
	}
	f->totals.tasks++;
	row->instances++;
	row->leaves += !(task->flags & FOLD_TASK_PARENT);
	row->undeferred += (task->flags & FOLD_TASK_UNDEFERRED) != 0;
	if (task->flags & FOLD_TASK_SPOILED) {
		row->incomplete++;
		f->totals.incomplete++;
	} else {
		fold_row__add(row, task->exec_ns, task->create_ns, task->wait_ns);
	}
	let_go(f, id);
}

static void settle_if_over(struct fold *f, uint32_t id)
{
	const uint16_t over = FOLD_TASK_CREATED | FOLD_TASK_RETURNED | FOLD_TASK_ENDED;

	if ((f->tasks[id].flags & over) == over)
		settle(f, id);
}

/* Whether an open frame still has the task's number. If so, the number must not be reused yet. */
static bool is_on_thread(const struct fold *f, uint32_t id)
{
	for (uint32_t i = 0; i < f->thread_count; i++)
		for (size_t k = 0; k < f->threads[i].depth; k++) {
			const struct fold_frame *frame = &f->threads[i].frames[k];

			if (frame->id == id && frame->kind <= FOLD_FRAME_CREATE)
				return true;
		}
	return false;
}

void fold_tasks__give_up(struct fold *f, uint32_t id)
{
	struct fold_task *task = &f->tasks[id];

	f->totals.no_create += !(task->flags & FOLD_TASK_CREATED);
	f->totals.never_begun += !(task->flags & FOLD_TASK_BEGUN);
	f->totals.never_ended += (task->flags & (FOLD_TASK_BEGUN | FOLD_TASK_ENDED)) == FOLD_TASK_BEGUN;
	task->flags |= FOLD_TASK_SPOILED;
	if (!is_on_thread(f, id)) {
		settle(f, id);
		return;
	}
	/* The task ends when its thread leaves it. */
	number_map__remove(&f->open, task->key);
	task->in_map = false;
	task->flags |= FOLD_TASK_CREATED | FOLD_TASK_RETURNED;
}

int fold_frames__push(struct fold *f, struct fold_thread *t, struct fold_frame frame)
{
	if (t->depth == t->capacity) {
		size_t more = t->capacity ? t->capacity : 16;
		struct fold_frame *grown;

		if (budget__take(f->budget, more * sizeof(*grown)))
			return -E2BIG;
		grown = realloc(t->frames, (t->capacity + more) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		t->frames = grown;
		t->capacity += more;
	}
	t->frames[t->depth++] = frame;
	return 0;
}

static void end_chunk(struct fold *f, const struct fold_frame *chunk)
{
	struct fold_row *row = &f->rows.rows[chunk->id];

	f->totals.chunks++;
	row->instances++;
	row->leaves += !chunk->parent;
	if (chunk->spoiled) {
		row->incomplete++;
		f->totals.incomplete++;
		return;
	}
	fold_row__add(row, chunk->exec_ns, chunk->create_ns, chunk->wait_ns);
}

void fold_frames__pop(struct fold *f, struct fold_thread *t)
{
	struct fold_frame frame = t->frames[--t->depth];

	switch (frame.kind) {
	case FOLD_FRAME_TASK:
		/* The task's end is not known before its next part begins. */
		if (f->tasks[frame.id].flags & FOLD_TASK_REQUEUED)
			break;
		f->tasks[frame.id].flags |= FOLD_TASK_ENDED;
		settle_if_over(f, frame.id);
		break;
	case FOLD_FRAME_CREATE:
		if (frame.id == GRAIN_NONE)
			break;
		f->tasks[frame.id].flags |= FOLD_TASK_RETURNED;
		settle_if_over(f, frame.id);
		break;
	case FOLD_FRAME_CHUNK:
		end_chunk(f, &frame);
		break;
	default:
		break;
	}
}

/* Marks the innermost context as spoiled. */
static void spoil_context(struct fold *f, struct fold_thread *t)
{
	size_t at = fold_frames__context(t);

	if (at == FOLD_NO_OWNER)
		return;
	if (t->frames[at].kind == FOLD_FRAME_TASK)
		f->tasks[t->frames[at].id].flags |= FOLD_TASK_SPOILED;
	else
		t->frames[at].spoiled = true;
}

void fold_frames__close_to(struct fold *f, struct fold_thread *t, size_t depth)
{
	while (t->depth > depth) {
		struct fold_frame *top = &t->frames[t->depth - 1];
		uint8_t kind = top->kind;

		if (kind == FOLD_FRAME_TASK) {
			f->tasks[top->id].flags |= FOLD_TASK_SPOILED;
			f->totals.never_ended++;
		}
		fold_frames__pop(f, t);
		if (kind == FOLD_FRAME_WAIT || kind == FOLD_FRAME_CREATE) {
			f->totals.unclosed++;
			spoil_context(f, t);
		}
	}
}

void fold_frames__leave(struct fold *f, struct fold_thread *t)
{
	size_t top = t->depth;

	if (top >= 2 && t->frames[top - 1].kind == FOLD_FRAME_WAIT &&
	    t->frames[top - 1].wait == TRACE_WAIT_REGION_END &&
	    t->frames[top - 2].kind == FOLD_FRAME_MEMBER) {
		fold_frames__pop(f, t);
		fold_frames__pop(f, t);
	}
}

void fold_frames__spoil(struct fold *f, struct fold_thread *t)
{
	for (size_t i = 0; i < t->depth; i++) {
		struct fold_frame *frame = &t->frames[i];

		if (frame->kind == FOLD_FRAME_TASK ||
		    (frame->kind == FOLD_FRAME_CREATE && frame->id != GRAIN_NONE))
			f->tasks[frame->id].flags |= FOLD_TASK_SPOILED;
		frame->spoiled = true;
	}
}

size_t fold_frames__context(const struct fold_thread *t)
{
	for (size_t i = t->depth; i-- > 0;)
		if (t->frames[i].kind == FOLD_FRAME_TASK || t->frames[i].kind == FOLD_FRAME_CHUNK ||
		    t->frames[i].kind == FOLD_FRAME_MEMBER)
			return i;
	return FOLD_NO_OWNER;
}

size_t fold_frames__base(const struct fold_thread *t)
{
	for (size_t i = t->depth; i-- > 0;)
		if (t->frames[i].kind == FOLD_FRAME_MEMBER || t->frames[i].kind == FOLD_FRAME_REGION)
			return i;
	return FOLD_NO_OWNER;
}

void fold__finish(struct fold *f)
{
	for (uint32_t i = 0; i < f->thread_count; i++) {
		fold_frames__leave(f, &f->threads[i]);
		fold_frames__close_to(f, &f->threads[i], 0);
	}
	for (uint32_t i = 0; i < f->task_count; i++)
		if (f->tasks[i].live)
			fold_tasks__give_up(f, i);
}

const struct fold_totals *fold__totals(const struct fold *f)
{
	return &f->totals;
}

size_t fold__row_count(const struct fold *f)
{
	return f->rows.count;
}

const struct fold_row *fold__row(const struct fold *f, size_t index)
{
	return &f->rows.rows[index];
}
