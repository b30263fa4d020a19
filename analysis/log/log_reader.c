// SPDX-License-Identifier: BSD-2-Clause
/* Reads the text of an event log into events. log_check.c then checks whether they make sense together. */
#include "analysis/base/line_reader.h"
#include "analysis/log/log_reader.h"

#include <stdlib.h>
#include <string.h>

int log_reader__broken(struct log_reader *r, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return load_error(r->err, -EBADMSG, "%s: line %u: %s%s", r->path, r->line, what,
			  r->keep_going ? "" : "; --keep-going analyses the rest");
}

int log_reader__add_source(struct log_reader *r, struct event_source *source, uint32_t line)
{
	size_t count = r->stream->source_count;
	uint32_t number = source->number;
	int error = array__grow(&r->source_lines, count, sizeof(*r->source_lines), &r->budget);

	if (error) {
		event_source__clear(source);
		return error;
	}
	error = event_stream__add_source(r->stream, source, &r->budget);
	if (error)
		return error;
	r->source_lines[count] = line;
	return number_map__put(&r->sources, number, (uint32_t)count);
}

static int declare_source(struct log_reader *r, struct event_source *source)
{
	uint32_t known = number_map__get(&r->sources, source->number);
	struct event_source *to, old;
	char **text[] = {&source->file, &source->func, &source->kind, &source->path, &source->module};

	if (known == GRAIN_NONE)
		return log_reader__add_source(r, source, 0);
	if (!r->source_lines[known]) {
		int error = log_reader__broken(r, "source %u is declared twice", source->number);

		event_source__clear(source);
		return error;
	}
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		if (!*text[i])
			*text[i] = strdup("");
		if (!*text[i]) {
			event_source__clear(source);
			return -ENOMEM;
		}
	}
	to = &r->stream->sources[known];
	old = *to;
	*to = *source;
	*source = old;
	event_source__clear(source);
	r->source_lines[known] = 0;
	return 0;
}

static int meta_line(struct log_reader *r, const char *line, size_t bytes)
{
	struct meta meta;
	int error = meta__line(r->stream, line, bytes, &r->truth, &r->budget, &meta);

	if (error == -EBADMSG)
		return log_reader__broken(r, "%s", meta.why);
	if (!error && meta.kind == META_SOURCE)
		error = declare_source(r, &meta.source);
	return error;
}

/* Leaves out a line. Returns 0 if the rest can be analysed. */
static int drop_line(struct log_reader *r, int error)
{
	if (error != -EBADMSG || !r->keep_going)
		return error;
	r->stream->info.damaged = true;
	r->stream->truth.dropped++;
	return 0;
}

static int first_line(struct log_reader *r, const char *line, size_t bytes)
{
	if (bytes == 11 && memcmp(line, "grain-log 1", 11) == 0)
		return 0;
	if (bytes == 12 && memcmp(line, "grain-log 1\r", 12) == 0)
		load_error(r->err, -EBADMSG, "%s: line 1: lines end with CR LF; convert the file to LF alone",
			   r->path);
	else
		load_error(r->err, -EBADMSG,
			   "%s: line 1: an event log of version 1 starts with \"grain-log 1\"", r->path);
	return -EPROTO;
}

static int one_line(void *ctx, char *line, size_t bytes, enum line_state state)
{
	struct log_reader *r = ctx;
	int error;

	r->line++;
	if (state == LINE_CUT)
		return drop_line(r, log_reader__broken(r, "the file ends inside this line"));
	if (r->line == 1)
		return first_line(r, line, bytes);
	if (bytes == 0 || line[0] == '#')
		return 0;
	if (state == LINE_LONG)
		return drop_line(r, log_reader__broken(r, "longer than %u bytes", LINE_MAX_BYTES));
	error = line[0] == '@' ? meta_line(r, line, bytes) : log_reader__event(r, line, bytes);
	return drop_line(r, error);
}

static int all_lines(struct log_reader *r, int fd)
{
	const struct line_file file = {.fd = fd, .path = r->path, .opts = r->opts, .share = 1, .err = r->err};
	int error = lines__each(&file, one_line, r);

	if (error || r->line)
		return error;
	load_error(r->err, -EBADMSG, "%s: is empty", r->path);
	return -EPROTO;
}

static int check_sources(struct log_reader *r)
{
	for (size_t i = 0; i < r->stream->source_count; i++) {
		if (!r->source_lines[i])
			continue;
		r->line = r->source_lines[i];
		if (!r->keep_going)
			return log_reader__broken(r, "no @source line declares source %u",
						  r->stream->sources[i].number);
		r->stream->info.damaged = true;
	}
	return 0;
}

/* Every counter that is read must have a name. */
static int check_counters(struct log_reader *r)
{
	struct event_stream *s = r->stream;

	for (size_t i = 0; i < s->counter_count; i++) {
		struct event_counter *counter = &s->counters[i];
		char name[16], line[48];
		int error;

		if (counter->name)
			continue;
		r->line = r->counter_lines[i];
		if (!r->keep_going)
			return log_reader__broken(r, "no @counter line declares counter %u", counter->number);
		s->info.damaged = true;
		snprintf(name, sizeof(name), "c%u", counter->number);
		counter->name = strdup(name);
		if (!counter->name)
			return -ENOMEM;
		/* As if it were declared here, after all other counters. */
		counter->order = (uint32_t)(UINT32_MAX - s->counter_count + i);
		snprintf(line, sizeof(line), "@counter %u name=%s", counter->number, name);
		error = event_stream__add_verbatim(s, line, strlen(line), &r->budget);
		if (error)
			return error;
	}
	return 0;
}

int log_reader__read(int fd, const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		     struct grain_error *err)
{
	struct log_reader r = {.path = path,
			       .opts = opts,
			       .err = err,
			       .keep_going = opts && opts->keep_going};
	int error = event_stream__new(&r.stream);

	budget__init(&r.budget, opts);
	if (!error)
		error = all_lines(&r, fd);
	number_map__free(&r.tasks);
	number_map__free(&r.taskloops);
	number_map__free(&r.threads);
	free(r.thread_times);
	if (!error)
		error = check_sources(&r);
	if (!error)
		error = check_counters(&r);
	if (!error) {
		r.stream->truth.events = r.stream->count;
		error = log_reader__know_loops(&r, r.loops.used);
	}
	if (!error && r.stream->info.source[0] == '\0')
		error = (r.stream->info.source = strdup("log")) ? 0 : -ENOMEM;
	if (!error)
		error = sorted_items__sort(r.stream->events, sizeof(*r.stream->events), r.lines,
					   r.stream->count, &r.budget);
	if (!error)
		error = log_check__run(r.stream, r.lines, path, r.keep_going, &r.budget, err);
	if (!error)
		error = event_stream__place_readings(r.stream, r.lines, r.stream->truth.events, &r.budget);
	free(r.lines);
	free(r.source_lines);
	number_map__free(&r.regions);
	number_map__free(&r.loops);
	number_map__free(&r.sources);
	if (!error) {
		meta_truth__apply(&r.truth, r.stream);
		event_stream__summarize(r.stream);
		*out = r.stream;
		return 0;
	}
	event_stream__free(r.stream);
	if (error == -E2BIG || error == -ENOMEM)
		return load_error__memory(err, error, path, opts);
	return error == -EPROTO ? -EBADMSG : error;
}
