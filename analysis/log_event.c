// SPDX-License-Identifier: BSD-2-Clause
/* The line of one event: its keys, what each kind needs of them, the numbers of the file as indices. */
#include "analysis/fields.h"
#include "analysis/log_reader.h"

#include <stdlib.h>
#include <string.h>

/* The values of the keys of one event line. */
enum key {
	KEY_TASK,
	KEY_REGION,
	KEY_LOOP,
	KEY_SRC,
	KEY_THREADS,
	KEY_NUM,
	KEY_FLAGS,
	KEY_ADDR,
	KEY_KIND,
	KEY_SCHED,
	KEY_LOWER,
	KEY_UPPER,
	KEY_STEP,
	KEY_CHUNK,
	KEY_WON,
	KEY_REASON,
	KEY_IP,
	KEY_COUNT,
	KEY_CAUSE,
	KEY_TROUBLE,
	KEY_TASKLOOP,
	KEY_POINT,
	KEY_UNSIGNED,
	KEY_BOUNDS,
	KEY_ORDERED,
	KEY_DOACROSS,
	KEY_NONMONOTONIC,
	KEY_DISTRIBUTE,
	KEY_STRIDE,
	KEY_MAX
};

static const char *const key_names[KEY_MAX] = {"task",	   "region",	   "loop",	 "src",	   "threads",
					       "num",	   "flags",	   "addr",	 "kind",   "sched",
					       "lower",	   "upper",	   "step",	 "chunk",  "won",
					       "reason",   "ip",	   "count",	 "cause",  "trouble",
					       "taskloop", "point",	   "unsigned",	 "bounds", "ordered",
					       "doacross", "nonmonotonic", "distribute", "stride"};

#define K(name) (1u << KEY_##name)
static const uint32_t required_keys[EVENT_KIND_MAX] = {
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

struct keys {
	struct field field[KEY_MAX];
	uint32_t have;
};

static int bad_value(struct log_reader *r, enum key key, const struct field *f)
{
	return log_reader__broken(r, "%s=\"%.*s\" is not a value that %s can have", key_names[key],
				  (int)(f->value_bytes < 60 ? f->value_bytes : 60), f->value, key_names[key]);
}

static enum key key_of(const struct field *f)
{
	for (int i = 0; i < KEY_MAX; i++) {
		if (key_names[i][0] == f->key[0] && field__is(f, key_names[i]))
			return (enum key)i;
	}
	return KEY_MAX;
}

static int get_u64(struct log_reader *r, const struct keys *keys, enum key key, uint64_t *out)
{
	if (!(keys->have & 1u << key) || field__u64(&keys->field[key], out))
		return 0;
	return bad_value(r, key, &keys->field[key]);
}

static int get_i64(struct log_reader *r, const struct keys *keys, enum key key, int64_t *out, bool *has)
{
	if (!(keys->have & 1u << key))
		return 0;
	if (!field__i64(&keys->field[key], out))
		return bad_value(r, key, &keys->field[key]);
	if (has)
		*has = true;
	return 0;
}

static int get_name(struct log_reader *r, const struct keys *keys, enum key key, const char *const *names,
		    uint8_t *out)
{
	if (!(keys->have & 1u << key))
		return 0;
	for (uint8_t i = 0; names[i]; i++) {
		if (field__value_is(&keys->field[key], names[i])) {
			*out = i;
			return 0;
		}
	}
	return bad_value(r, key, &keys->field[key]);
}

static int get_bits(struct log_reader *r, const struct keys *keys, enum key key, const char *const *names,
		    uint64_t *out)
{
	const struct field *f = &keys->field[key];
	const char *p = f->value, *end = p + f->value_bytes;

	if (!(keys->have & 1u << key) || field__value_is(f, "none"))
		return 0;
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		struct field item = {.value = p, .value_bytes = (size_t)((comma ? comma : end) - p)};
		unsigned i = 0;

		while (names[i] && !field__value_is(&item, names[i]))
			i++;
		if (!names[i])
			return bad_value(r, key, f);
		*out |= 1u << i;
		p = comma ? comma + 1 : end;
	}
	return 0;
}

/* The index of a number of the file, in the order of the file. */
static int index_of(struct log_reader *r, struct number_map *map, uint64_t number, uint32_t *out)
{
	uint32_t index = number_map__get(map, number);
	int error;

	if (index == GRAIN_NONE) {
		index = (uint32_t)map->used;
		error = budget__take(&r->budget, 4 * sizeof(struct number_map_slot));
		if (!error)
			error = number_map__put(map, number, index);
		if (error)
			return error;
	}
	*out = index;
	return 0;
}

static int get_index(struct log_reader *r, const struct keys *keys, enum key key, struct number_map *map,
		     uint32_t *out)
{
	uint64_t number;

	if (!(keys->have & 1u << key))
		return 0;
	if (!field__u64(&keys->field[key], &number))
		return bad_value(r, key, &keys->field[key]);
	return index_of(r, map, number, out);
}

static int get_source(struct log_reader *r, const struct keys *keys, uint32_t *out)
{
	struct event_source later = {0};
	uint32_t number;
	int error;

	if (!(keys->have & 1u << KEY_SRC))
		return 0;
	if (!field__u32(&keys->field[KEY_SRC], &number) || number == GRAIN_NONE)
		return bad_value(r, KEY_SRC, &keys->field[KEY_SRC]);
	*out = number_map__get(&r->sources, number);
	if (*out != GRAIN_NONE)
		return 0;
	later.number = number;
	*out = (uint32_t)r->stream->source_count;
	error = log_reader__add_source(r, &later, r->line);
	return error;
}

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

/* unsigned=1 and the like. */
static int get_flag(struct log_reader *r, const struct keys *keys, enum key key, bool *out)
{
	uint64_t value = 0;
	int error = get_u64(r, keys, key, &value);

	if (!error && value > 1)
		return bad_value(r, key, &keys->field[key]);
	*out = value;
	return error;
}

/* A bound of iterations: of an unsigned loop the bits of a uint64_t. */
static int get_bound(struct log_reader *r, const struct keys *keys, enum key key, bool is_unsigned, void *out,
		     bool *has)
{
	if (!is_unsigned)
		return get_i64(r, keys, key, out, has);
	if (!(keys->have & 1u << key))
		return 0;
	if (has)
		*has = true;
	return get_u64(r, keys, key, out);
}

static int get_hidden(struct log_reader *r, const struct keys *keys, bool *hidden)
{
	if (!(keys->have & K(BOUNDS)))
		return 0;
	if (!field__value_is(&keys->field[KEY_BOUNDS], "hidden"))
		return bad_value(r, KEY_BOUNDS, &keys->field[KEY_BOUNDS]);
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
	error = get_name(r, keys, KEY_SCHED, event_sched_names, &loop->sched);
	if (!error)
		error = get_flag(r, keys, KEY_UNSIGNED, &loop->is_unsigned);
	if (!error)
		error = get_hidden(r, keys, &loop->bounds_hidden);
	if (!error)
		error = get_flag(r, keys, KEY_ORDERED, &loop->ordered);
	if (!error)
		error = get_flag(r, keys, KEY_DOACROSS, &loop->doacross);
	if (!error)
		error = get_flag(r, keys, KEY_NONMONOTONIC, &loop->nonmonotonic);
	if (!error)
		error = get_flag(r, keys, KEY_DISTRIBUTE, &loop->distribute);
	if (!error)
		error = get_bound(r, keys, KEY_LOWER, loop->is_unsigned, &loop->lower, &loop->has_lower);
	if (!error)
		error = get_bound(r, keys, KEY_UPPER, loop->is_unsigned, &loop->upper, &loop->has_upper);
	if (!error)
		error = get_i64(r, keys, KEY_STEP, &loop->step, &loop->has_step);
	if (!error)
		error = get_i64(r, keys, KEY_CHUNK, &loop->chunk, &loop->has_chunk);
	if (!error)
		error = get_i64(r, keys, KEY_STRIDE, &loop->stride, &loop->has_stride);
	return error;
}

static int chunk_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	bool hidden = false, is_unsigned;
	int error = get_index(r, keys, KEY_LOOP, &r->loops, &e->id);

	if (error)
		return error;
	is_unsigned = e->id < r->stream->loop_count && r->stream->loops[e->id].is_unsigned;
	error = get_bound(r, keys, KEY_LOWER, is_unsigned, &e->value, NULL);
	if (e->kind == EVENT_SECTION_BEGIN)
		e->extra = e->value;
	if (!error)
		error = get_bound(r, keys, KEY_UPPER, is_unsigned, &e->extra, NULL);
	if (error || e->kind == EVENT_SECTION_BEGIN)
		return error;
	error = get_hidden(r, keys, &hidden);
	e->sub = hidden;
	if (!error && hidden) {
		e->value = 0;
		error = get_u64(r, keys, KEY_NUM, &e->value);
		e->extra = e->value;
	}
	if (!error && keys->have & K(COUNT) &&
	    (!field__u32(&keys->field[KEY_COUNT], &e->src) || e->src == GRAIN_NONE))
		return bad_value(r, KEY_COUNT, &keys->field[KEY_COUNT]);
	return error;
}

static int bounds_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = get_i64(r, keys, KEY_LOWER, (int64_t *)&e->value, NULL);

	if (!error)
		error = get_i64(r, keys, KEY_UPPER, (int64_t *)&e->extra, NULL);
	if (!error)
		error = get_index(r, keys, KEY_TASKLOOP, &r->taskloops, &e->src);
	return error ? error : get_index(r, keys, KEY_TASK, &r->tasks, &e->id);
}

static int cancel_keys(struct log_reader *r, const struct keys *keys, struct event *e)
{
	bool point = false;
	int error = get_name(r, keys, KEY_KIND, event_cancel_names, &e->sub);

	if (!error)
		error = get_flag(r, keys, KEY_POINT, &point);
	e->value = !point;
	return error ? error : get_source(r, keys, &e->src);
}

/* kind=teams */
static int region_kind(struct log_reader *r, const struct keys *keys, struct event *e)
{
	if (!(keys->have & K(KIND)))
		return 0;
	if (!field__value_is(&keys->field[KEY_KIND], "teams"))
		return bad_value(r, KEY_KIND, &keys->field[KEY_KIND]);
	e->sub = 1;
	return 0;
}

static int wait_kind(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = get_name(r, keys, KEY_KIND, event_wait_names, &e->sub);

	return error ? error : get_source(r, keys, &e->src);
}

/* Fills *e from the keys of its kind. */
static int event_values(struct log_reader *r, const struct keys *keys, struct event *e)
{
	int error = 0;

	switch ((enum event_kind)e->kind) {
	case EVENT_REGION_BEGIN:
		error = get_u64(r, keys, KEY_THREADS, &e->value);
		if (!error)
			error = region_kind(r, keys, e);
		if (!error)
			error = get_bits(r, keys, KEY_TROUBLE, event_trouble_names, &e->extra);
		if (!error)
			error = get_source(r, keys, &e->src);
		/* fall through */
	case EVENT_REGION_END:
		return error ? error : get_index(r, keys, KEY_REGION, &r->regions, &e->id);
	case EVENT_MEMBER_BEGIN:
	case EVENT_MEMBER_END:
		error = get_u64(r, keys, KEY_NUM, &e->value);
		if (error || field__value_is(&keys->field[KEY_REGION], "none"))
			return error;
		return get_index(r, keys, KEY_REGION, &r->regions, &e->id);
	case EVENT_CREATE_BEGIN:
		error = get_bits(r, keys, KEY_FLAGS, event_flag_names, &e->value);
		/* fall through */
	case EVENT_TASK_BEGIN:
		if (!error)
			error = get_bits(r, keys, KEY_TROUBLE, event_trouble_names, &e->extra);
		if (!error)
			error = get_source(r, keys, &e->src);
		/* fall through */
	case EVENT_CREATE_END:
	case EVENT_TASK_SWITCH:
	case EVENT_TASK_END:
	case EVENT_TASK_SUSPEND:
	case EVENT_TASK_FULFILL:
	case EVENT_TASK_DISCARD:
		return error ? error : get_index(r, keys, KEY_TASK, &r->tasks, &e->id);
	case EVENT_DEPEND:
		error = get_u64(r, keys, KEY_ADDR, &e->value);
		if (!error)
			error = get_name(r, keys, KEY_KIND, event_depend_names, &e->sub);
		return error ? error : get_index(r, keys, KEY_TASK, &r->tasks, &e->id);
	case EVENT_WAIT_BEGIN:
	case EVENT_WAIT_END:
		return wait_kind(r, keys, e);
	case EVENT_GROUP_BEGIN:
		return get_source(r, keys, &e->src);
	case EVENT_CHUNK_BEGIN:
	case EVENT_SECTION_BEGIN:
		return chunk_keys(r, keys, e);
	case EVENT_LOOP_BEGIN:
	case EVENT_SECTIONS_BEGIN:
		error = get_source(r, keys, &e->src);
		if (!error)
			error = get_index(r, keys, KEY_LOOP, &r->loops, &e->id);
		return error ? error : loop_keys(r, keys, e->id);
	case EVENT_CHUNK_END:
	case EVENT_LOOP_END:
	case EVENT_SECTION_END:
	case EVENT_SECTIONS_END:
		return get_index(r, keys, KEY_LOOP, &r->loops, &e->id);
	case EVENT_SINGLE_BEGIN:
	case EVENT_SINGLE_END:
		error = get_source(r, keys, &e->src);
		return error ? error : get_u64(r, keys, KEY_WON, &e->value);
	case EVENT_LOCK_BEGIN:
		error = get_source(r, keys, &e->src);
		if (error)
			return error;
		/* fall through */
	case EVENT_LOCK_GOT:
	case EVENT_LOCK_END:
		error = get_name(r, keys, KEY_KIND, event_lock_names, &e->sub);
		return error ? error : get_u64(r, keys, KEY_ADDR, &e->value);
	case EVENT_OFF_CPU:
	case EVENT_ON_CPU:
		return get_name(r, keys, KEY_REASON, event_reason_names, &e->sub);
	case EVENT_SAMPLE:
		return get_u64(r, keys, KEY_IP, &e->value);
	case EVENT_LOST:
		error = get_u64(r, keys, KEY_COUNT, &e->value);
		if (!error && keys->have & K(CAUSE))
			error = event_stream__add_cause(r->stream, keys->field[KEY_CAUSE].value,
							keys->field[KEY_CAUSE].value_bytes, &e->sub,
							&r->budget);
		return error;
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

/* The times of a thread may not go back in the order of the file. */
static int check_time(struct log_reader *r, uint32_t tid, uint64_t time)
{
	if (!r->thread_count || tid != r->last_tid) {
		int error = index_of(r, &r->threads, tid, &r->last_thread);

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
			r, "an event starts with time, thread, CPU and name; the %s is not a number", what);
	return 0;
}

int log_reader__event(struct log_reader *r, const char *line, size_t bytes)
{
	const char *p = line, *end = line + bytes;
	struct event e = {.id = GRAIN_NONE, .src = GRAIN_NONE}, *to;
	uint64_t tid, cpu;
	struct keys keys;
	struct field f;
	uint32_t missing;
	int rc;

	rc = plain_number(r, &p, end, "time", UINT64_MAX, &e.time_ns);
	if (!rc)
		rc = plain_number(r, &p, end, "thread", UINT32_MAX, &tid);
	if (!rc)
		rc = plain_number(r, &p, end, "CPU", UINT16_MAX, &cpu);
	if (rc)
		return rc;
	if (field__next(&p, end, &f) != 1 || f.key_bytes)
		return log_reader__broken(r, "the event has no name");
	e.tid = (uint32_t)tid;
	e.cpu = (uint16_t)cpu;
	e.kind = (uint8_t)event_kind__find(f.value, f.value_bytes);
	if (e.kind == EVENT_KIND_MAX)
		return log_reader__broken(r, "unknown event \"%.*s\"",
					  (int)(f.value_bytes < 60 ? f.value_bytes : 60), f.value);
	keys.have = 0;
	while ((rc = field__next(&p, end, &f)) != 0) {
		enum key key;

		if (rc < 0 || !f.key_bytes)
			return log_reader__broken(r,
						  "after the event's name only key=value pairs may follow");
		key = key_of(&f);
		if (key == KEY_MAX)
			continue;
		keys.field[key] = f;
		keys.have |= 1u << key;
	}
	missing = required_keys[e.kind] & ~keys.have;
	if (missing)
		return log_reader__broken(r, "%s needs %s=", event_kind__name(e.kind),
					  key_names[__builtin_ctz(missing)]);
	rc = check_time(r, e.tid, e.time_ns);
	if (!rc)
		rc = event_values(r, &keys, &e);
	if (rc)
		return rc;
	if (r->stream->count >= GRAIN_NONE - 1)
		return -E2BIG;
	if (r->stream->count == r->stream->capacity) {
		uint32_t *lines;

		rc = event_stream__grow(r->stream, &r->budget);
		if (!rc)
			rc = budget__take(&r->budget, sizeof(*lines) * r->stream->capacity / 3);
		if (rc)
			return rc;
		lines = realloc(r->lines, r->stream->capacity * sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		r->lines = lines;
	}
	r->lines[r->stream->count] = r->line;
	to = event_stream__push(r->stream, &r->budget);
	*to = e;
	return 0;
}
