// SPDX-License-Identifier: BSD-2-Clause
/* The lines that start with "@": what is known of the machine, the process and the capture. */
#include "analysis/event_build.h"
#include "analysis/fields.h"

#include <stdlib.h>
#include <string.h>

struct parse {
	const char *cursor, *end;
	struct event_stream *stream;
	struct budget *budget;
	char *why; /* 128 bytes */
};

static int bad(struct parse *p, const char *what, const struct field *f)
{
	snprintf(p->why, 128, "%s \"%.*s\"", what, (int)(f->value_bytes < 60 ? f->value_bytes : 60),
		 f->value);
	return -EBADMSG;
}

static int next(struct parse *p, struct field *f)
{
	int rc = field__next(&p->cursor, p->end, f);

	if (rc < 0)
		snprintf(p->why, 128, "a quoted value does not end properly");
	return rc;
}

static int take_text(const char **to, const struct field *f)
{
	char *text = field__string(f);

	if (!text)
		return -ENOMEM;
	if (*to && (*to)[0])
		free((char *)*to);
	*to = text;
	if (!text[0]) {
		free(text);
		*to = "";
	}
	return 0;
}

static int take_own(char **to, const struct field *f)
{
	free(*to);
	*to = field__string(f);
	return *to ? 0 : -ENOMEM;
}

static int take_id(struct parse *p, int64_t *to, const struct field *f)
{
	uint64_t v;

	if (!field__u64(f, &v) || v > INT64_MAX)
		return bad(p, "not a number:", f);
	*to = (int64_t)v;
	return 0;
}

static int take_u32(struct parse *p, uint32_t *to, const struct field *f)
{
	return field__u32(f, to) ? 0 : bad(p, "not a number:", f);
}

static int take_u64(struct parse *p, uint64_t *to, const struct field *f)
{
	return field__u64(f, to) ? 0 : bad(p, "not a number:", f);
}

static int machine(struct parse *p)
{
	struct grain_info *info = &p->stream->info;
	struct field f;
	int rc, error = 0;

	while (!error && (rc = next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "host"))
			error = take_text(&info->host, &f);
		else if (field__is(&f, "kernel"))
			error = take_text(&info->kernel, &f);
		else if (field__is(&f, "cores"))
			error = take_u32(p, &info->cores, &f);
		else if (field__is(&f, "sockets"))
			error = take_u32(p, &info->sockets, &f);
	}
	return error;
}

static int process(struct parse *p)
{
	struct grain_info *info = &p->stream->info;
	struct field f;
	int rc, error = 0;

	while (!error && (rc = next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "pid"))
			error = take_id(p, &info->pid, &f);
		else if (field__is(&f, "uid"))
			error = take_id(p, &info->uid, &f);
		else if (field__is(&f, "exe"))
			error = take_text(&info->exe, &f);
		else if (field__is(&f, "cmd"))
			error = take_text(&info->command, &f);
		else if (field__is(&f, "runtime"))
			error = take_text(&info->runtime, &f);
		else if (field__is(&f, "threads"))
			error = take_u32(p, &info->threads, &f);
	}
	return error;
}

static int capture(struct parse *p)
{
	struct grain_info *info = &p->stream->info;
	struct field f;
	uint64_t late;
	int rc, error = 0;

	while (!error && (rc = next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "source")) {
			error = take_text(&info->source, &f);
		} else if (field__is(&f, "ns_per_event")) {
			if (!field__double(&f, &info->ns_per_event))
				error = bad(p, "not a number:", &f);
		} else if (field__is(&f, "resolution_ns")) {
			error = take_u64(p, &info->resolution_ns, &f);
		} else if (field__is(&f, "late")) {
			error = take_u64(p, &late, &f);
			if (!error)
				info->late = late != 0;
		}
	}
	return error;
}

static int cpu(struct parse *p)
{
	struct event_stream *s = p->stream;
	struct event_cpu c = {0};
	struct field f;
	int rc, error;

	rc = next(p, &f);
	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &c.cpu)) {
		snprintf(p->why, 128, "@cpu needs the number of a CPU");
		return -EBADMSG;
	}
	for (error = 0; !error && (rc = next(p, &f)) != 0;) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "core"))
			error = take_u32(p, &c.core, &f);
		else if (field__is(&f, "socket"))
			error = take_u32(p, &c.socket, &f);
		else if (field__is(&f, "node"))
			error = take_u32(p, &c.node, &f);
	}
	if (!error)
		error = array__grow(&s->cpus, s->cpu_count, sizeof(*s->cpus), p->budget);
	if (!error)
		s->cpus[s->cpu_count++] = c;
	return error;
}

static int source(struct parse *p, struct meta *out)
{
	struct event_source *s = &out->source;
	struct field f;
	int rc, error = 0;

	rc = next(p, &f);
	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &s->number) || s->number == GRAIN_NONE) {
		snprintf(p->why, 128, "@source needs its number");
		return -EBADMSG;
	}
	while (!error && (rc = next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "file"))
			error = take_own(&s->file, &f);
		else if (field__is(&f, "func"))
			error = take_own(&s->func, &f);
		else if (field__is(&f, "kind"))
			error = take_own(&s->kind, &f);
		else if (field__is(&f, "path"))
			error = take_own(&s->path, &f);
		else if (field__is(&f, "module"))
			error = take_own(&s->module, &f);
		else if (field__is(&f, "line"))
			error = take_u32(p, &s->line, &f);
	}
	return error;
}

static int site(struct parse *p, struct meta *out)
{
	struct field f;
	bool found = false;
	int rc = next(p, &f);

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u64(&f, &out->address)) {
		snprintf(p->why, 128, "@site needs an address");
		return -EBADMSG;
	}
	while ((rc = next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "source")) {
			if (!field__u32(&f, &out->number))
				return bad(p, "not a number:", &f);
			found = true;
		}
	}
	if (found)
		return 0;
	snprintf(p->why, 128, "@site needs source=");
	return -EBADMSG;
}

static int lost(struct parse *p)
{
	struct field f, cause = {0};
	uint64_t count = 0;
	int rc;

	while ((rc = next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "cause"))
			cause = f;
		else if (field__is(&f, "count") && !field__u64(&f, &count))
			return bad(p, "not a number:", &f);
	}
	if (cause.value_bytes == 0) {
		snprintf(p->why, 128, "@lost needs cause=");
		return -EBADMSG;
	}
	return event_stream__add_loss(p->stream, cause.value, cause.value_bytes, count, p->budget);
}

static int truth(struct parse *p, struct meta_truth *out)
{
	static const struct {
		const char *key;
		size_t offset;
	} counters[] = {
#define COUNTER(name) {#name, offsetof(struct grain_truth, name)}
		COUNTER(events),	 COUNTER(lost),	       COUNTER(unmatched_begins),
		COUNTER(unmatched_ends), COUNTER(never_begun), COUNTER(never_ended),
		COUNTER(unclosed_waits), COUNTER(read_faults),
#undef COUNTER
	};
	struct field f;
	uint64_t v;
	int rc;

	out->given = true;
	while ((rc = next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (!field__u64(&f, &v))
			return bad(p, "not a number:", &f);
		if (field__is(&f, "damaged"))
			out->damaged = v != 0;
		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
			if (field__is(&f, counters[i].key))
				memcpy((char *)&out->truth + counters[i].offset, &v, sizeof(v));
		}
	}
	return 0;
}

int meta__line(struct event_stream *stream, const char *line, size_t bytes, struct meta_truth *truth_line,
	       struct budget *budget, struct meta *out, char why[128])
{
	struct parse p = {line, line + bytes, stream, budget, why};
	struct field name;
	int error = 0;

	*out = (struct meta){.kind = META_KEPT};
	snprintf(why, 128, "malformed");
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
			snprintf(why, 128, "a control character");
			return -EBADMSG;
		}
	}
	if (next(&p, &name) != 1 || name.key_bytes)
		return -EBADMSG;
	if (field__value_is(&name, "@source")) {
		out->kind = META_SOURCE;
		error = source(&p, out);
		if (error)
			event_source__clear(&out->source);
		return error;
	}
	if (field__value_is(&name, "@site")) {
		out->kind = META_SITE;
		return site(&p, out);
	}
	if (field__value_is(&name, "@module")) {
		out->kind = META_MODULE;
		return 0;
	}
	if (field__value_is(&name, "@lost"))
		return lost(&p);
	if (field__value_is(&name, "@truth"))
		return truth(&p, truth_line);
	if (field__value_is(&name, "@machine"))
		error = machine(&p);
	else if (field__value_is(&name, "@process"))
		error = process(&p);
	else if (field__value_is(&name, "@capture"))
		error = capture(&p);
	else if (field__value_is(&name, "@cpu"))
		error = cpu(&p);
	return error ? error : event_stream__add_verbatim(stream, line, bytes, budget);
}

void meta_truth__apply(const struct meta_truth *given, struct event_stream *stream)
{
	struct grain_truth *t = &stream->truth;
	const struct grain_truth *g = &given->truth;

	if (!given->given)
		return;
	stream->info.damaged |= given->damaged;
	t->events = g->events;
	t->lost = g->lost;
	t->unmatched_ends = g->unmatched_ends;
	t->read_faults = g->read_faults;
	t->unclosed_waits = g->unclosed_waits > t->unclosed_waits ? g->unclosed_waits : t->unclosed_waits;
}
