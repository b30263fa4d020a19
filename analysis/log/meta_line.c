// SPDX-License-Identifier: BSD-2-Clause
/* The lines that start with "@": facts about the machine, the process and the capture. */
#include "analysis/log/meta_parse.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NODES 1024

static int machine(struct parse *p)
{
	struct grain_info *info = &p->stream->info;
	const struct parse_into into[] = {
		PARSE_INTO("host", &info->host),
		PARSE_INTO("kernel", &info->kernel),
		PARSE_INTO("cores", &info->cores),
		PARSE_INTO("sockets", &info->sockets),
	};

	return parse__fields(p, into, sizeof(into) / sizeof(into[0]));
}

static int process(struct parse *p)
{
	struct grain_info *info = &p->stream->info;
	const struct parse_into into[] = {
		PARSE_INTO("pid", &info->pid),	       PARSE_INTO("uid", &info->uid),
		PARSE_INTO("exe", &info->exe),	       PARSE_INTO("cmd", &info->command),
		PARSE_INTO("runtime", &info->runtime), PARSE_INTO("threads", &info->threads),
	};

	return parse__fields(p, into, sizeof(into) / sizeof(into[0]));
}

static int capture(struct parse *p)
{
	struct grain_info *info = &p->stream->info;
	struct field f;
	uint64_t late;
	int rc, error = 0;

	while (!error && (rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "source")) {
			error = parse__text(&info->source, &f);
		} else if (field__is(&f, "ns_per_event")) {
			if (!field__double(&f, &info->ns_per_event))
				error = parse__bad(p, "not a number:", &f);
		} else if (field__is(&f, "resolution_ns")) {
			error = parse__u64(p, &info->resolution_ns, &f);
		} else if (field__is(&f, "late")) {
			error = parse__u64(p, &late, &f);
			if (!error)
				info->late = late != 0;
		} else if (field__is(&f, "scheduler")) {
			info->scheduler = field__value_is(&f, "1");
		} else if (field__is(&f, "scheduler_why")) {
			error = parse__text(&info->scheduler_absent, &f);
		} else if (field__is(&f, "unit")) {
			info->cycles = field__value_is(&f, "cycles");
		} else if (field__is(&f, "times")) {
			info->times_derived = field__value_is(&f, "derived");
		}
	}
	return error;
}

static void forget_text(const char *text)
{
	if (text && text[0])
		free((char *)text);
}

/* Stores what the line says about the process. Stores nothing if something in the line is wrong. */
static int into_info(struct parse *p, int (*parse)(struct parse *))
{
	struct event_stream *to = p->stream, said = {.info = to->info};
	const char **texts[][2] = {{&to->info.host, &said.info.host},
				   {&to->info.kernel, &said.info.kernel},
				   {&to->info.exe, &said.info.exe},
				   {&to->info.command, &said.info.command},
				   {&to->info.runtime, &said.info.runtime},
				   {&to->info.source, &said.info.source},
				   {&to->info.scheduler_absent, &said.info.scheduler_absent}};
	size_t count = sizeof(texts) / sizeof(texts[0]);
	int error;

	for (size_t i = 0; i < count; i++)
		*texts[i][1] = NULL;
	p->stream = &said;
	error = parse(p);
	p->stream = to;
	for (size_t i = 0; i < count; i++) {
		if (error)
			forget_text(*texts[i][1]);
		else if (*texts[i][1])
			forget_text(*texts[i][0]);
		else
			*texts[i][1] = *texts[i][0];
	}
	if (!error)
		to->info = said.info;
	return error;
}

static int cpu(struct parse *p)
{
	struct event_stream *s = p->stream;
	struct event_cpu c = {0};
	struct field f;
	int rc, error;

	rc = parse__next(p, &f);
	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &c.cpu)) {
		snprintf(p->why, 128, "@cpu needs the number of a CPU");
		return -EBADMSG;
	}
	for (error = 0; !error && (rc = parse__next(p, &f)) != 0;) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "core"))
			error = parse__u32(p, &c.core, &f);
		else if (field__is(&f, "socket"))
			error = parse__u32(p, &c.socket, &f);
		else if (field__is(&f, "node"))
			error = parse__u32(p, &c.node, &f);
	}
	if (!error)
		error = array__grow(&s->cpus, s->cpu_count, sizeof(*s->cpus), p->budget);
	if (!error)
		s->cpus[s->cpu_count++] = c;
	return error;
}

static int one_distance(struct parse *p, uint32_t from, uint32_t to, uint32_t distance)
{
	struct event_stream *s = p->stream;
	int error = array__grow(&s->distances, s->distance_count, sizeof(*s->distances), p->budget);

	if (!error)
		s->distances[s->distance_count++] =
			(struct event_distance){.from = from, .to = to, .distance = distance};
	return error;
}

/* @distance FROM to-node-0 to-node-1 ... */
static int distances(struct parse *p)
{
	struct field f;
	uint32_t from, value, to = 0;
	int rc = parse__next(p, &f), error = 0;

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &from) || from >= MAX_NODES) {
		snprintf(p->why, 128, "@distance needs the number of a node");
		return -EBADMSG;
	}
	while (!error && (rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (f.key_bytes)
			continue;
		if (to == MAX_NODES || !field__u32(&f, &value))
			return parse__bad(p, "not a distance:", &f);
		error = one_distance(p, from, to++, value);
	}
	return error;
}

/* @counter NUMBER name=NAME */
static int counter(struct parse *p)
{
	struct field f;
	uint32_t number;
	char *name = NULL;
	int rc = parse__next(p, &f), error = 0;

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &number)) {
		snprintf(p->why, 128, "@counter needs its number");
		return -EBADMSG;
	}
	while (!error && (rc = parse__next(p, &f)) > 0)
		if (field__is(&f, "name"))
			error = parse__own(&name, &f);
	if (rc < 0 || error) {
		free(name);
		return rc < 0 ? rc : error;
	}
	if (!name || !name[0]) {
		free(name);
		snprintf(p->why, 128, "@counter needs name=");
		return -EBADMSG;
	}
	error = event_stream__declare_counter(p->stream, number, name, p->budget);
	if (error == -EEXIST)
		snprintf(p->why, 128, "counter %u or its name is declared twice", number);
	else if (error == -EDOM)
		snprintf(p->why, 128, "more than %d counters", EVENT_COUNTERS_MAX);
	return error == -EEXIST || error == -EDOM ? -EBADMSG : error;
}

/* @counter-share NUMBER share=PART */
static int counter_share(struct parse *p)
{
	struct field f;
	uint32_t number;
	double share = 0;
	int rc = parse__next(p, &f);

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &number)) {
		snprintf(p->why, 128, "@counter-share needs the counter's number");
		return -EBADMSG;
	}
	while ((rc = parse__next(p, &f)) > 0)
		if (field__is(&f, "share") && (!field__double(&f, &share) || share < 0 || share > 1))
			return parse__bad(p, "not a part of 1:", &f);
	if (rc < 0)
		return rc;
	if (event_stream__share_counter(p->stream, number, share) == 0)
		return 0;
	snprintf(p->why, 128, "@counter-share of counter %u, which is not declared", number);
	return -EBADMSG;
}

/* @counter-absent name=NAME why=REASON */
static int counter_absent(struct parse *p)
{
	char *name = NULL, *why = NULL;
	struct field f;
	int rc, error = 0;

	while ((rc = parse__next(p, &f)) > 0 && !error) {
		if (field__is(&f, "name"))
			error = parse__own(&name, &f);
		else if (field__is(&f, "why"))
			error = parse__own(&why, &f);
	}
	if (rc < 0)
		error = rc;
	if (!error && (!name || !why)) {
		snprintf(p->why, 128, "@counter-absent needs name= and why=");
		error = -EBADMSG;
	}
	if (error) {
		free(name);
		free(why);
		return error;
	}
	error = event_stream__absent_counter(p->stream, name, why, p->budget);
	if (error == -EDOM)
		snprintf(p->why, 128, "more than %d counters", EVENT_COUNTERS_MAX);
	return error == -EDOM ? -EBADMSG : error;
}

/* @neighbour NUMBER pid=N command=NAME measuring=0|1 cgroup=PATH */
static int neighbour(struct parse *p)
{
	struct event_neighbour n = {.pid = -1};
	struct field f;
	uint32_t number;
	int rc = parse__next(p, &f), error = 0;

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &number)) {
		snprintf(p->why, 128, "@neighbour needs its number");
		return -EBADMSG;
	}
	while (!error && (rc = parse__next(p, &f)) > 0) {
		if (field__is(&f, "pid"))
			error = parse__id(p, &n.pid, &f);
		else if (field__is(&f, "command"))
			error = parse__own(&n.command, &f);
		else if (field__is(&f, "cgroup"))
			error = parse__own(&n.cgroup, &f);
		else if (field__is(&f, "measuring"))
			n.measuring = field__value_is(&f, "1");
	}
	if (rc < 0 || error) {
		free(n.command);
		free(n.cgroup);
		return rc < 0 ? rc : error;
	}
	error = event_stream__add_neighbour(p->stream, number, &n, p->budget);
	if (error == -EEXIST)
		snprintf(p->why, 128, "neighbour %u is declared twice", number);
	else if (error == -EDOM)
		snprintf(p->why, 128, "neighbour %u is not a number from 1 to %d", number,
			 EVENT_NEIGHBOURS_MAX);
	return error == -EEXIST || error == -EDOM ? -EBADMSG : error;
}

static int source(struct parse *p, struct meta *out)
{
	struct event_source *s = &out->source;
	struct field f;
	int rc, error = 0;

	rc = parse__next(p, &f);
	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, &s->number) || s->number == GRAIN_NONE) {
		snprintf(p->why, 128, "@source needs its number");
		return -EBADMSG;
	}
	while (!error && (rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "file"))
			error = parse__own(&s->file, &f);
		else if (field__is(&f, "func"))
			error = parse__own(&s->func, &f);
		else if (field__is(&f, "kind"))
			error = parse__own(&s->kind, &f);
		else if (field__is(&f, "path"))
			error = parse__own(&s->path, &f);
		else if (field__is(&f, "module"))
			error = parse__own(&s->module, &f);
		else if (field__is(&f, "line"))
			error = parse__u32(p, &s->line, &f);
	}
	return error;
}

static int site(struct parse *p, struct meta *out)
{
	struct field f;
	bool found = false;
	int rc = parse__next(p, &f);

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u64(&f, &out->address)) {
		snprintf(p->why, 128, "@site needs an address");
		return -EBADMSG;
	}
	while ((rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "source")) {
			if (!field__u32(&f, &out->number))
				return parse__bad(p, "not a number:", &f);
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
	char *text;
	int rc;

	while ((rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "cause"))
			cause = f;
		else if (field__is(&f, "count") && !field__u64(&f, &count))
			return parse__bad(p, "not a number:", &f);
	}
	if (cause.value_bytes == 0) {
		snprintf(p->why, 128, "@lost needs cause=");
		return -EBADMSG;
	}
	text = field__string(&cause);
	rc = text ? event_stream__add_loss(p->stream, text, strlen(text), count, p->budget) : -ENOMEM;
	free(text);
	return rc;
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
		COUNTER(unclosed_waits), COUNTER(read_faults), COUNTER(dropped),
#undef COUNTER
	};
	struct field f;
	uint64_t v;
	int rc;

	out->given = true;
	while ((rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (!field__u64(&f, &v))
			return parse__bad(p, "not a number:", &f);
		if (field__is(&f, "damaged"))
			out->damaged = v != 0;
		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
			if (field__is(&f, counters[i].key))
				memcpy((char *)&out->truth + counters[i].offset, &v, sizeof(v));
		}
	}
	return 0;
}

/* The lines that are parsed and also kept as they are. Lines with other names are kept, too. */
static const struct {
	const char *name;
	int (*parse)(struct parse *p);
	bool of_info; /* the values go into the stream's info */
} kept[] = {
	{"@machine", machine, true},
	{"@process", process, true},
	{"@capture", capture, true},
	{"@cpu", cpu, false},
	{"@distance", distances, false},
	{"@counter", counter, false},
	{"@counter-share", counter_share, false},
	{"@counter-absent", counter_absent, false},
	{"@sampling", parse__sampling, false},
	{"@accesses", parse__accesses, false},
	{"@address", parse__address, false},
	{"@neighbour", neighbour, false},
	{"@node", parse__node, false},
	{"@allowed", parse__allowed, false},
	{"@settings", parse__settings, false},
	{"@placement", parse__placement, false},
	{"@area", parse__area, false},
	{"@window", parse__window, false},
	{"@pages", parse__pages, false},
};

static int kept_line(struct parse *p, const struct field *name)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (field__value_is(name, kept[i].name))
			return kept[i].of_info ? into_info(p, kept[i].parse) : kept[i].parse(p);
	return 0;
}

int meta__line(struct event_stream *stream, const char *line, size_t bytes, struct meta_truth *truth_line,
	       struct budget *budget, struct meta *out)
{
	struct parse p = {line, line + bytes, stream, budget, out->why};
	size_t known = stream->distance_count;
	struct field name;
	int error;

	*out = (struct meta){.kind = META_KEPT, .why = "malformed"};
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
			snprintf(out->why, sizeof(out->why), "a control character");
			return -EBADMSG;
		}
	}
	if (parse__next(&p, &name) != 1 || name.key_bytes)
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
	error = kept_line(&p, &name);
	if (error)
		stream->distance_count = known;
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
	if (__builtin_add_overflow(t->dropped, g->dropped, &t->dropped))
		t->dropped = UINT64_MAX;
	t->unclosed_waits = g->unclosed_waits > t->unclosed_waits ? g->unclosed_waits : t->unclosed_waits;
}
