// SPDX-License-Identifier: BSD-2-Clause
/* Writes the event log of a stream. */
#include "analysis/event/event_build.h"
#include "analysis/base/fields.h"

#include <stdlib.h>
#include <string.h>

struct log_writer {
	const struct event_stream *stream;
	FILE *out;
	char *text; /* capacity: OUT_BYTES + LINE_ROOM */
	size_t used;
	int error;
	uint8_t *told;	/* tasks whose trouble has been written */
	size_t reading; /* the next reading to write */
};

#define OUT_BYTES (256u << 10)
#define LINE_ROOM 4096

static void flush(struct log_writer *w)
{
	if (!w->error && fwrite(w->text, 1, w->used, w->out) != w->used)
		w->error = errno ? -errno : -EIO;
	w->used = 0;
}

static void put(struct log_writer *w, const char *text)
{
	size_t n = strlen(text);

	memcpy(w->text + w->used, text, n);
	w->used += n;
}

static void put_u64(struct log_writer *w, uint64_t v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	memcpy(w->text + w->used, digits + n, sizeof(digits) - n);
	w->used += sizeof(digits) - n;
}

static void put_i64(struct log_writer *w, int64_t v)
{
	if (v < 0)
		put(w, "-");
	put_u64(w, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_key(struct log_writer *w, const char *key, uint64_t v)
{
	put(w, key);
	put_u64(w, v);
}

static void put_name(struct log_writer *w, const char *key, const char *name)
{
	put(w, key);
	put(w, name);
}

static void put_hex(struct log_writer *w, const char *key, uint64_t v)
{
	w->used += (size_t)snprintf(w->text + w->used, LINE_ROOM / 2, "%s0x%llx", key, (unsigned long long)v);
}

static void put_bits(struct log_writer *w, const char *key, const char *const *names, uint64_t bits)
{
	bool first = true;

	put(w, key);
	for (unsigned i = 0; names[i]; i++) {
		if (!(bits & 1u << i))
			continue;
		if (!first)
			put(w, ",");
		put(w, names[i]);
		first = false;
	}
	if (first)
		put(w, "none");
}

static void put_source(struct log_writer *w, const struct event *e)
{
	if (e->src != GRAIN_NONE)
		put_key(w, " src=", w->stream->sources[e->src].number);
}

static void put_trouble(struct log_writer *w, unsigned bits)
{
	if (bits)
		put_bits(w, " trouble=", event_trouble_names, bits);
}

static void put_task_trouble(struct log_writer *w, const struct event *e)
{
	if (w->told[e->id])
		return;
	w->told[e->id] = 1;
	put_trouble(w, w->stream->task_trouble[e->id]);
}

static void put_bound(struct log_writer *w, const char *key, bool is_unsigned, uint64_t v)
{
	put(w, key);
	if (is_unsigned)
		put_u64(w, v);
	else
		put_i64(w, (int64_t)v);
}

static void put_loop(struct log_writer *w, const struct event *e)
{
	const struct event_loop *loop = &w->stream->loops[e->id];

	put_key(w, " loop=", e->id);
	put_source(w, e);
	if (loop->sched)
		put_name(w, " sched=", event_sched_names[loop->sched]);
	if (loop->is_unsigned)
		put(w, " unsigned=1");
	if (loop->bounds_hidden)
		put(w, " bounds=hidden");
	if (loop->has_lower)
		put_bound(w, " lower=", loop->is_unsigned, (uint64_t)loop->lower);
	if (loop->has_upper)
		put_bound(w, " upper=", loop->is_unsigned, (uint64_t)loop->upper);
	if (loop->has_step) {
		put(w, " step=");
		put_i64(w, loop->step);
	}
	if (loop->has_chunk) {
		put(w, " chunk=");
		put_i64(w, loop->chunk);
	}
	if (loop->has_stride) {
		put(w, " stride=");
		put_i64(w, loop->stride);
	}
	if (loop->ordered)
		put(w, " ordered=1");
	if (loop->doacross)
		put(w, " doacross=1");
	if (loop->nonmonotonic)
		put(w, " nonmonotonic=1");
	if (loop->distribute)
		put(w, " distribute=1");
}

static void put_chunk(struct log_writer *w, const struct event *e)
{
	bool is_unsigned = w->stream->loops[e->id].is_unsigned;

	put_key(w, " loop=", e->id);
	if (e->kind == EVENT_CHUNK_BEGIN && e->sub) {
		put(w, " bounds=hidden");
		put_key(w, " num=", e->value);
		return;
	}
	put_bound(w, " lower=", is_unsigned, e->value);
	if (e->kind == EVENT_CHUNK_BEGIN || e->extra != e->value)
		put_bound(w, " upper=", is_unsigned, e->extra);
	if (e->kind == EVENT_CHUNK_BEGIN && e->src > 1 && e->src != GRAIN_NONE)
		put_key(w, " count=", e->src);
}

static void put_stack(struct log_writer *w, const struct event *e)
{
	const struct event_stream *s = w->stream;
	const struct event_stack *stack = &s->stacks[e->id];
	const uint32_t *frames = &s->frames[stack->first];

	put_hex(w, " ip=", stack->count ? s->addresses[frames[0]].address : 0);
	for (uint32_t i = 0; i < stack->count && stack->count > 1; i++)
		put_hex(w, i ? "," : " stack=", s->addresses[frames[i]].address);
}

static void put_wait(struct log_writer *w, const struct event *e)
{
	put_name(w, " kind=", event_wait_names[e->sub]);
	if (e->kind == EVENT_WAIT_END && e->extra) {
		put_key(w, " own=", e->extra - 1);
		put(w, e->value ? " part=1" : "");
	}
	put_source(w, e);
}

static void put_scheduler(struct log_writer *w, const struct event *e)
{
	put_name(w, " reason=", event_reason_names[e->sub]);
	if (e->kind == EVENT_OFF_CPU && e->id != GRAIN_NONE)
		put_key(w, " by=", e->id);
	if (e->kind == EVENT_ON_CPU && e->value)
		put_key(w, " ready=", e->value);
}

static void put_access(struct log_writer *w, const struct event *e)
{
	if (e->value)
		put_hex(w, " addr=", e->value);
	if (e->id != GRAIN_NONE)
		put_key(w, " node=", e->id);
	else
		put_name(w, " why=", event_access_names[e->sub]);
}

static void put_lost(struct log_writer *w, const struct event *e)
{
	put_key(w, " count=", e->value);
	if (e->id == EVENT_LOST_SWITCHES)
		put(w, " of=switches");
	if (!e->sub)
		return;
	put(w, " cause=");
	w->used += field__spell(w->stream->causes[e->sub - 1], w->text + w->used, LINE_ROOM / 2);
}

/* Writes the keys of an event, by its kind. log_event.c reads them. */
static void put_values(struct log_writer *w, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_REGION_BEGIN:
		put_key(w, " region=", e->id);
		put_source(w, e);
		put_key(w, " threads=", e->value);
		if (e->sub)
			put(w, " kind=teams");
		put_trouble(w, w->stream->region_trouble[e->id]);
		break;
	case EVENT_REGION_END:
		put_key(w, " region=", e->id);
		break;
	case EVENT_MEMBER_BEGIN:
	case EVENT_MEMBER_END:
		if (e->id == GRAIN_NONE)
			put(w, " region=none");
		else
			put_key(w, " region=", e->id);
		put_key(w, " num=", e->value);
		break;
	case EVENT_CREATE_BEGIN:
		put_key(w, " task=", e->id);
		put_source(w, e);
		put_bits(w, " flags=", event_flag_names, e->value);
		put_task_trouble(w, e);
		break;
	case EVENT_TASK_BEGIN:
		put_key(w, " task=", e->id);
		put_source(w, e);
		put_task_trouble(w, e);
		break;
	case EVENT_CREATE_END:
	case EVENT_TASK_SWITCH:
	case EVENT_TASK_END:
	case EVENT_TASK_SUSPEND:
	case EVENT_TASK_FULFILL:
	case EVENT_TASK_DISCARD:
		put_key(w, " task=", e->id);
		break;
	case EVENT_DEPEND:
		if (e->id != GRAIN_NONE)
			put_key(w, " task=", e->id);
		put_hex(w, " addr=", e->value);
		put_name(w, " kind=", event_depend_names[e->sub]);
		break;
	case EVENT_WAIT_BEGIN:
	case EVENT_WAIT_END:
		put_wait(w, e);
		break;
	case EVENT_GROUP_BEGIN:
		put_source(w, e);
		break;
	case EVENT_LOOP_BEGIN:
	case EVENT_SECTIONS_BEGIN:
		put_loop(w, e);
		break;
	case EVENT_CHUNK_BEGIN:
	case EVENT_SECTION_BEGIN:
		put_chunk(w, e);
		break;
	case EVENT_CHUNK_END:
	case EVENT_LOOP_END:
	case EVENT_SECTION_END:
	case EVENT_SECTIONS_END:
		put_key(w, " loop=", e->id);
		break;
	case EVENT_SINGLE_BEGIN:
	case EVENT_SINGLE_END:
		put_source(w, e);
		put_key(w, " won=", e->value);
		break;
	case EVENT_LOCK_BEGIN:
	case EVENT_LOCK_GOT:
	case EVENT_LOCK_END:
		put_name(w, " kind=", event_lock_names[e->sub]);
		put_hex(w, " addr=", e->value);
		if (e->kind == EVENT_LOCK_BEGIN)
			put_source(w, e);
		break;
	case EVENT_OFF_CPU:
	case EVENT_ON_CPU:
		put_scheduler(w, e);
		break;
	case EVENT_SAMPLE:
		put_stack(w, e);
		break;
	case EVENT_ACCESS:
		put_access(w, e);
		break;
	case EVENT_LOST:
		put_lost(w, e);
		break;
	case EVENT_TASK_BOUNDS:
		put_key(w, " task=", e->id);
		if (e->src != GRAIN_NONE)
			put_key(w, " taskloop=", e->src);
		put_bound(w, " lower=", false, e->value);
		put_bound(w, " upper=", false, e->extra);
		break;
	case EVENT_CANCEL:
		put_name(w, " kind=", event_cancel_names[e->sub]);
		put_key(w, " point=", !e->value);
		put_source(w, e);
		break;
	case EVENT_THREAD_BEGIN:
	case EVENT_THREAD_END:
	case EVENT_KIND_MAX:
		break;
	}
}

static void put_readings(struct log_writer *w, size_t event)
{
	const struct event_stream *s = w->stream;

	for (; w->reading < s->reading_count && s->readings[w->reading].event == event; w->reading++) {
		put_key(w, " c", s->counters[s->readings[w->reading].counter].number);
		put_key(w, "=", s->readings[w->reading].value);
	}
}

/* Metadata may be longer than a line of events, so it does not go through the buffer. */
static void print(struct log_writer *w, const char *before, const char *text)
{
	flush(w);
	if (!w->error && fprintf(w->out, "%s%s", before, text) < 0)
		w->error = errno ? -errno : -EIO;
}

static void print_text(struct log_writer *w, const char *key, const char *value)
{
	size_t bytes;
	char *spelled;

	if (!value[0] || w->error)
		return;
	bytes = strlen(value) * 2 + 3;
	spelled = malloc(bytes);
	if (!spelled) {
		w->error = -ENOMEM;
		return;
	}
	field__spell(value, spelled, bytes);
	print(w, key, spelled);
	free(spelled);
}

static void print_number(struct log_writer *w, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	print(w, key, text);
}

static void print_metadata(struct log_writer *w)
{
	const struct event_stream *s = w->stream;
	const struct grain_truth *t = &s->truth;

	print(w, "grain-log 1", "\n");
	for (size_t i = 0; i < s->verbatim_count; i++) {
		print(w, s->verbatim[i], "\n");
	}
	for (size_t i = 0; i < s->source_count; i++) {
		const struct event_source *src = &s->sources[i];

		print_number(w, "@source ", src->number);
		print_text(w, " file=", src->file);
		if (src->line)
			print_number(w, " line=", src->line);
		print_text(w, " func=", src->func);
		print_text(w, " kind=", src->kind);
		print_text(w, " path=", src->path);
		print_text(w, " module=", src->module);
		print(w, "\n", "");
	}
	for (size_t i = 0; i < s->loss_count; i++) {
		print_text(w, "@lost cause=", s->losses[i].cause);
		print_number(w, " count=", s->losses[i].count);
		print(w, "\n", "");
	}
	print_number(w, "@truth events=", t->events);
	print_number(w, " lost=", t->lost);
	print_number(w, " unmatched_begins=", t->unmatched_begins);
	print_number(w, " unmatched_ends=", t->unmatched_ends);
	print_number(w, " never_begun=", t->never_begun);
	print_number(w, " never_ended=", t->never_ended);
	print_number(w, " unclosed_waits=", t->unclosed_waits);
	print_number(w, " read_faults=", t->read_faults);
	if (t->dropped)
		print_number(w, " dropped=", t->dropped);
	print_number(w, " damaged=", s->info.damaged);
	print(w, "\n", "");
}

int event_stream__write_log(const struct event_stream *stream, FILE *out)
{
	struct log_writer w = {.stream = stream, .out = out};

	w.text = malloc(OUT_BYTES + LINE_ROOM);
	w.told = calloc((size_t)stream->task_count + 1, 1);
	if (!w.text || !w.told) {
		w.error = -ENOMEM;
		goto out;
	}
	errno = 0;
	print_metadata(&w);
	for (size_t i = 0; i < stream->count && !w.error; i++) {
		const struct event *e = &stream->events[i];

		if (w.used >= OUT_BYTES)
			flush(&w);
		put_u64(&w, e->time_ns);
		put_key(&w, " ", e->tid);
		put_key(&w, " ", e->cpu);
		put(&w, " ");
		put(&w, event_kind__name(e->kind));
		put_values(&w, e);
		put_readings(&w, i);
		put(&w, "\n");
	}
	flush(&w);
	if (!w.error && fflush(out))
		w.error = -errno;
out:
	free(w.text);
	free(w.told);
	return w.error;
}
