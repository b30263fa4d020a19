// SPDX-License-Identifier: BSD-2-Clause
/* Reads the line of one event. Each kind needs its own keys. */
#include "analysis/log/log_keys.h"

#include <stdlib.h>
#include <string.h>

#define K(name) (UINT64_C(1) << KEY_##name)
static const uint64_t required_keys[EVENT_KIND_MAX] = {
	[EVENT_REGION_BEGIN] = K(REGION),
	[EVENT_REGION_END] = K(REGION),
	[EVENT_MEMBER_BEGIN] = K(REGION) | K(NUM),
	[EVENT_MEMBER_END] = K(REGION) | K(NUM),
	[EVENT_CREATE_BEGIN] = K(TASK),
	[EVENT_CREATE_END] = K(TASK),
	[EVENT_DEPEND] = K(ADDR) | K(KIND),
	[EVENT_TASK_BEGIN] = K(TASK),
	[EVENT_TASK_SWITCH] = K(TASK),
	[EVENT_TASK_END] = K(TASK),
	[EVENT_WAIT_BEGIN] = K(KIND),
	[EVENT_WAIT_END] = K(KIND),
	[EVENT_LOOP_BEGIN] = K(LOOP),
	[EVENT_CHUNK_BEGIN] = K(LOOP),
	[EVENT_CHUNK_END] = K(LOOP),
	[EVENT_LOOP_END] = K(LOOP),
	[EVENT_SECTIONS_BEGIN] = K(LOOP),
	[EVENT_SECTION_BEGIN] = K(LOOP) | K(LOWER),
	[EVENT_SECTION_END] = K(LOOP),
	[EVENT_SECTIONS_END] = K(LOOP),
	[EVENT_SINGLE_BEGIN] = K(WON),
	[EVENT_LOCK_BEGIN] = K(KIND),
	[EVENT_LOCK_GOT] = K(KIND),
	[EVENT_LOCK_END] = K(KIND),
	[EVENT_SAMPLE] = K(IP),
	[EVENT_TASK_SUSPEND] = K(TASK),
	[EVENT_TASK_BOUNDS] = K(TASK) | K(LOWER) | K(UPPER),
	[EVENT_TASK_FULFILL] = K(TASK),
	[EVENT_TASK_DISCARD] = K(TASK),
	[EVENT_CANCEL] = K(KIND),
	[EVENT_LOST] = K(COUNT),
};

int log_reader__know_loops(struct log_reader *r, size_t count)
{
	struct event_stream *s = r->stream;

	while (s->loop_count < count) {
		int error = array__grow(&s->loops, s->loop_count, sizeof(*s->loops), &r->budget);

		if (error)
			return error;
		s->loops[s->loop_count++] = (struct event_loop){0};
	}
	return 0;
}

static int get_hidden(struct log_reader *r, const struct keys *keys, bool *hidden)
{
	if (!(keys->have & K(BOUNDS)))
		return 0;
	if (!field__value_is(&keys->field[KEY_BOUNDS], "hidden"))
		return keys__bad_value(r, KEY_BOUNDS, &keys->field[KEY_BOUNDS]);
	*hidden = true;
	return 0;
}

static int loop_keys(struct log_reader *r, const struct keys *keys, uint32_t id)
{
	struct event_stream *s = r->stream;
	struct event_loop *loop;
	int error;

	if (id < s->loop_count && s->loops[id].known)
		return 0;
	error = log_reader__know_loops(r, (size_t)id + 1);
	if (error)
		return error;
	loop = &s->loops[id];
	loop->known = true;
	error = keys__name(r, keys, KEY_SCHED, event_sched_names, &loop->sched);
	if (!error)
		error = keys__flag(r, keys, KEY_UNSIGNED, &loop->is_unsigned);
	if (!error)
		error = get_hidden(r, keys, &loop->bounds_hidden);
	if (!error)
		error = keys__flag(r, keys, KEY_ORDERED, &loop->ordered);
	if (!error)
		error = keys__flag(r, keys, KEY_DOACROSS, &loop->doacross);
	if (!error)
		error = keys__flag(r, keys, KEY_NONMONOTONIC, &loop->nonmonotonic);
	if (!error)
		error = keys__flag(r, keys, KEY_DISTRIBUTE, &loop->distribute);
	if (!error)
		error = keys__bound(r, keys, KEY_LOWER, loop->is_unsigned, &loop->lower, &loop->has_lower);
	if (!error)
		error = keys__bound(r, keys, KEY_UPPER, loop->is_unsigned, &loop->upper, &loop->has_upper);
	if (!error)
		error = keys__i64(r, keys, KEY_STEP, &loop->step, &loop->has_step);
	if (!error)
		error = keys__i64(r, keys, KEY_CHUNK, &loop->chunk, &loop->has_chunk);
	if (!error)
		error = keys__i64(r, keys, KEY_STRIDE, &loop->stride, &loop->has_stride);
	return error;
}

static int chunk_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	bool hidden = false, is_unsigned;
	int error = keys__index(r, keys, KEY_LOOP, &r->loops, &e->id);

	if (error)
		return error;
	is_unsigned = e->id < r->stream->loop_count && r->stream->loops[e->id].is_unsigned;
	error = keys__bound(r, keys, KEY_LOWER, is_unsigned, &e->value, NULL);
	if (e->kind == EVENT_SECTION_BEGIN)
		e->extra = e->value;
	if (!error)
		error = keys__bound(r, keys, KEY_UPPER, is_unsigned, &e->extra, NULL);
	if (error || e->kind == EVENT_SECTION_BEGIN)
		return error;
	error = get_hidden(r, keys, &hidden);
	e->sub = hidden;
	if (!error && hidden) {
		e->value = 0;
		error = keys__u64(r, keys, KEY_NUM, &e->value);
		e->extra = e->value;
	}
	if (!error && keys->have & K(COUNT) &&
	    (!field__u32(&keys->field[KEY_COUNT], &e->src) || e->src == GRAIN_NONE))
		return keys__bad_value(r, KEY_COUNT, &keys->field[KEY_COUNT]);
	return error;
}

static int bounds_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = keys__i64(r, keys, KEY_LOWER, (int64_t *)&e->value, NULL);

	if (!error)
		error = keys__i64(r, keys, KEY_UPPER, (int64_t *)&e->extra, NULL);
	if (!error)
		error = keys__index(r, keys, KEY_TASKLOOP, &r->taskloops, &e->src);
	return error ? error : keys__index(r, keys, KEY_TASK, &r->tasks, &e->id);
}

/* The stack begins with the instruction pointer. If the line has no stack, nothing else is known. */
static int sample_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	const struct field *f = &keys->field[keys->have & K(STACK) ? KEY_STACK : KEY_IP];
	const char *p = f->value, *end = f->value + f->value_bytes;
	uint32_t room = 1;
	int error;

	for (const char *c = p; c < end; c++)
		room += *c == ',';
	if (room > EVENT_STACK_MAX)
		return keys__bad_value(r, KEY_STACK, f);
	error = event_stream__new_stack(r->stream, room, &r->budget, &e->id);
	while (!error && room--) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		struct field item = {.value = p, .value_bytes = (size_t)((comma ? comma : end) - p)};
		uint64_t address;

		if (!field__u64(&item, &address))
			return keys__bad_value(r, keys->have & K(STACK) ? KEY_STACK : KEY_IP, f);
		error = event_stream__push_address(r->stream, e->id, address, &r->budget);
		p = comma ? comma + 1 : end;
	}
	return error;
}

/* Also reads the reason for a page whose node is not known. */
static int access_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = keys__u64(r, keys, KEY_ADDR, &e->value);

	if (error || !keys__have(keys, KEY_NODE))
		return error ? error : keys__name(r, keys, KEY_WHY, event_access_names, &e->sub);
	if (!field__u32(&keys->field[KEY_NODE], &e->id) || e->id >= EVENT_NODES_MAX)
		return keys__bad_value(r, KEY_NODE, &keys->field[KEY_NODE]);
	return 0;
}

static int cancel_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	bool point = false;
	int error = keys__name(r, keys, KEY_KIND, event_cancel_names, &e->sub);

	if (!error)
		error = keys__flag(r, keys, KEY_POINT, &point);
	e->value = !point;
	return error ? error : keys__source(r, keys, &e->src);
}

/* kind=teams */
static int region_kind(struct log_reader *r, const struct keys *keys, struct event *e)
{
	if (!(keys->have & K(KIND)))
		return 0;
	if (!field__value_is(&keys->field[KEY_KIND], "teams"))
		return keys__bad_value(r, KEY_KIND, &keys->field[KEY_KIND]);
	e->sub = 1;
	return 0;
}

static int wait_kind(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = keys__name(r, keys, KEY_KIND, event_wait_names, &e->sub);

	if (!error && e->kind == EVENT_WAIT_END && keys->have & K(OWN)) {
		bool part = false;

		error = keys__u64(r, keys, KEY_OWN, &e->extra);
		if (!error && e->extra == UINT64_MAX)
			return keys__bad_value(r, KEY_OWN, &keys->field[KEY_OWN]);
		e->extra++;
		if (!error)
			error = keys__flag(r, keys, KEY_PART, &part);
		e->value = part;
	}
	return error ? error : keys__source(r, keys, &e->src);
}

static int lost_cause(struct log_reader *r, const struct field *f, uint8_t *sub)
{
	char *cause = field__string(f);
	int error =
		cause ? event_stream__add_cause(r->stream, cause, strlen(cause), sub, &r->budget) : -ENOMEM;

	free(cause);
	return error;
}

static int lost_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = keys__u64(r, keys, KEY_COUNT, &e->value);

	if (!error && keys->have & K(OF) && field__value_is(&keys->field[KEY_OF], "switches"))
		e->id = EVENT_LOST_SWITCHES;
	return error || !(keys->have & K(CAUSE)) ? error : lost_cause(r, &keys->field[KEY_CAUSE], &e->sub);
}

static int scheduler_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = keys__name(r, keys, KEY_REASON, event_reason_names, &e->sub);

	if (!error && e->kind == EVENT_ON_CPU)
		return keys__u64(r, keys, KEY_READY, &e->value);
	if (!error && keys->have & K(BY) && !field__u32(&keys->field[KEY_BY], &e->id))
		return keys__bad_value(r, KEY_BY, &keys->field[KEY_BY]);
	return error;
}

/* Fills *e from the keys of its kind: log_writer.c writes them. */
static int event_values(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = 0;

	switch ((enum event_kind)e->kind) {
	case EVENT_REGION_BEGIN:
		error = keys__u64(r, keys, KEY_THREADS, &e->value);
		if (!error)
			error = region_kind(r, keys, e);
		if (!error)
			error = keys__bits(r, keys, KEY_TROUBLE, event_trouble_names, &e->extra);
		if (!error)
			error = keys__source(r, keys, &e->src);
		/* fall through */
	case EVENT_REGION_END:
		return error ? error : keys__index(r, keys, KEY_REGION, &r->regions, &e->id);
	case EVENT_MEMBER_BEGIN:
	case EVENT_MEMBER_END:
		error = keys__u64(r, keys, KEY_NUM, &e->value);
		if (error || field__value_is(&keys->field[KEY_REGION], "none"))
			return error;
		return keys__index(r, keys, KEY_REGION, &r->regions, &e->id);
	case EVENT_CREATE_BEGIN:
		error = keys__bits(r, keys, KEY_FLAGS, event_flag_names, &e->value);
		/* fall through */
	case EVENT_TASK_BEGIN:
		if (!error)
			error = keys__bits(r, keys, KEY_TROUBLE, event_trouble_names, &e->extra);
		if (!error)
			error = keys__source(r, keys, &e->src);
		/* fall through */
	case EVENT_CREATE_END:
	case EVENT_TASK_SWITCH:
	case EVENT_TASK_END:
	case EVENT_TASK_SUSPEND:
	case EVENT_TASK_FULFILL:
	case EVENT_TASK_DISCARD:
		return error ? error : keys__index(r, keys, KEY_TASK, &r->tasks, &e->id);
	case EVENT_DEPEND:
		error = keys__u64(r, keys, KEY_ADDR, &e->value);
		if (!error)
			error = keys__name(r, keys, KEY_KIND, event_depend_names, &e->sub);
		return error ? error : keys__index(r, keys, KEY_TASK, &r->tasks, &e->id);
	case EVENT_WAIT_BEGIN:
	case EVENT_WAIT_END:
		return wait_kind(r, keys, e);
	case EVENT_GROUP_BEGIN:
		return keys__source(r, keys, &e->src);
	case EVENT_CHUNK_BEGIN:
	case EVENT_SECTION_BEGIN:
		return chunk_keys(r, keys, e);
	case EVENT_LOOP_BEGIN:
	case EVENT_SECTIONS_BEGIN:
		error = keys__source(r, keys, &e->src);
		if (!error)
			error = keys__index(r, keys, KEY_LOOP, &r->loops, &e->id);
		return error ? error : loop_keys(r, keys, e->id);
	case EVENT_CHUNK_END:
	case EVENT_LOOP_END:
	case EVENT_SECTION_END:
	case EVENT_SECTIONS_END:
		return keys__index(r, keys, KEY_LOOP, &r->loops, &e->id);
	case EVENT_SINGLE_BEGIN:
	case EVENT_SINGLE_END:
		error = keys__source(r, keys, &e->src);
		return error ? error : keys__u64(r, keys, KEY_WON, &e->value);
	case EVENT_LOCK_BEGIN:
		error = keys__source(r, keys, &e->src);
		if (error)
			return error;
		/* fall through */
	case EVENT_LOCK_GOT:
	case EVENT_LOCK_END:
		error = keys__name(r, keys, KEY_KIND, event_lock_names, &e->sub);
		return error ? error : keys__u64(r, keys, KEY_ADDR, &e->value);
	case EVENT_OFF_CPU:
	case EVENT_ON_CPU:
		return scheduler_keys(r, keys, e);
	case EVENT_SAMPLE:
		return sample_keys(r, keys, e);
	case EVENT_ACCESS:
		return access_keys(r, keys, e);
	case EVENT_LOST:
		return lost_keys(r, keys, e);
	case EVENT_TASK_BOUNDS:
		return bounds_keys(r, keys, e);
	case EVENT_CANCEL:
		return cancel_keys(r, keys, e);
	case EVENT_THREAD_BEGIN:
	case EVENT_THREAD_END:
	case EVENT_KIND_MAX:
		break;
	}
	return 0;
}

/* The value of a counter at the event of this line. */
static int add_reading(struct log_reader *r, const struct field *f, uint32_t number)
{
	uint32_t counter;
	uint64_t value;
	int error;

	if (!field__u64(f, &value))
		return log_reader__broken(r, "%.*s=\"%.*s\" is not the value of a counter", (int)f->key_bytes,
					  f->key, (int)(f->value_bytes < 60 ? f->value_bytes : 60), f->value);
	error = event_stream__counter(r->stream, number, &r->budget, &counter);
	if (error == -EDOM)
		return log_reader__broken(r, "more than %d counters", EVENT_COUNTERS_MAX);
	if (!error && !r->counter_lines[counter])
		r->counter_lines[counter] = r->line;
	return error ? error : event_stream__add_reading(r->stream, r->line, counter, value, &r->budget);
}

/* In the order of the file, the times of a thread must not go back. */
static int check_time(struct log_reader *r, uint32_t tid, uint64_t time)
{
	if (!r->thread_count || tid != r->last_tid) {
		int error = log_reader__index(r, &r->threads, tid, &r->last_thread);

		if (!error && r->last_thread == r->thread_count) {
			error = array__grow(&r->thread_times, r->thread_count, sizeof(*r->thread_times),
					    &r->budget);
			if (!error)
				r->thread_times[r->thread_count++] = time;
		}
		if (error)
			return error;
		r->last_tid = tid;
	}
	if (time < r->thread_times[r->last_thread])
		return log_reader__broken(r, "the time of thread %u goes back from %llu to %llu", tid,
					  (unsigned long long)r->thread_times[r->last_thread],
					  (unsigned long long)time);
	r->thread_times[r->last_thread] = time;
	return 0;
}

static int plain_number(struct log_reader *r, const char **cursor, const char *end, const char *what,
			uint64_t limit, uint64_t *out)
{
	struct field f;

	if (field__next(cursor, end, &f) != 1 || f.key_bytes || !field__u64(&f, out) || *out > limit)
		return log_reader__broken(
			r,
			"an event starts with time, thread, CPU and name; the %s is not a number up to %llu",
			what, (unsigned long long)limit);
	return 0;
}

/* Reads what every event starts with: time, thread, CPU and name. */
static int event_head(struct log_reader *r, const char **cursor, const char *end, struct event *e)
{
	uint64_t tid, cpu;
	struct field f;
	int error = plain_number(r, cursor, end, "time", INT64_MAX, &e->time_ns);

	if (!error)
		error = plain_number(r, cursor, end, "thread", UINT32_MAX, &tid);
	if (!error)
		error = plain_number(r, cursor, end, "CPU", UINT16_MAX, &cpu);
	if (error)
		return error;
	if (field__next(cursor, end, &f) != 1 || f.key_bytes)
		return log_reader__broken(r, "the event has no name");
	e->tid = (uint32_t)tid;
	e->cpu = (uint16_t)cpu;
	e->kind = (uint8_t)event_kind__find(f.value, f.value_bytes);
	if (e->kind == EVENT_KIND_MAX)
		return log_reader__broken(r, "unknown event \"%.*s\"",
					  (int)(f.value_bytes < 60 ? f.value_bytes : 60), f.value);
	return 0;
}

/* Reads the rest of the line. Readings of counters go into the stream. Unknown keys are ignored. */
static int event_keys(struct log_reader *r, const char *cursor, const char *end, struct keys *keys)
{
	struct field f;
	int rc;

	keys->have = 0;
	while ((rc = field__next(&cursor, end, &f)) != 0) {
		uint32_t counter;
		enum key key;

		if (rc < 0 || !f.key_bytes)
			return log_reader__broken(r,
						  "after the event's name only key=value pairs may follow");
		key = key__of(&f);
		if (key == KEY_MAX && field__is_counter(&f, &counter)) {
			rc = add_reading(r, &f, counter);
			if (rc)
				return rc;
		}
		if (key == KEY_MAX)
			continue;
		keys->field[key] = f;
		keys->have |= UINT64_C(1) << key;
	}
	return 0;
}

/* Adds the event to the stream, with its line number. */
static int keep_event(struct log_reader *r, const struct event *e)
{
	struct event *to;

	if (r->stream->count >= GRAIN_NONE - 1)
		return -E2BIG;
	if (r->stream->count == r->stream->capacity) {
		uint32_t *lines;
		int error = event_stream__grow(r->stream, &r->budget);

		if (!error)
			error = budget__take(&r->budget, sizeof(*lines) * r->stream->capacity / 3);
		if (error)
			return error;
		lines = realloc(r->lines, r->stream->capacity * sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		r->lines = lines;
	}
	r->lines[r->stream->count] = r->line;
	to = event_stream__push(r->stream, &r->budget);
	*to = *e;
	return 0;
}

int log_reader__event(struct log_reader *r, const char *line, size_t bytes)
{
	const char *p = line, *end = line + bytes;
	struct event e = {.id = GRAIN_NONE, .src = GRAIN_NONE};
	struct keys keys;
	uint64_t missing;
	int error;

	if (memchr(line, '\0', bytes))
		return log_reader__broken(r, "a zero byte");
	error = event_head(r, &p, end, &e);
	if (!error)
		error = event_keys(r, p, end, &keys);
	if (error)
		return error;
	missing = required_keys[e.kind] & ~keys.have;
	if (missing)
		return log_reader__broken(r, "%s needs %s=", event_kind__name(e.kind),
					  key_names[__builtin_ctzll(missing)]);
	error = check_time(r, e.tid, e.time_ns);
	if (!error)
		error = event_values(r, &keys, &e);
	return error ? error : keep_event(r, &e);
}
