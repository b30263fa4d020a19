/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the lines of a MIR profile: RFC 4180, a header that names the columns, and one task a line. */
#include "analysis/log/log.h"
#include "analysis/base/line_reader.h"
#include "analysis/mir/mir.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A larger number means that the file is damaged. A sum of four billion such numbers still fits. */
#define MAX_CYCLES (UINT64_C(1) << 53)

enum column {
	TASK,
	PARENT,
	JOINS_AT,
	CPU,
	NUMBER,
	CHILDREN,
	EXEC,
	CREATION,
	OVERHEAD,
	CREATED,
	END,
	TAG,
	METADATA,
	FUNCTION,
	WAITS,
	SOURCE_LINE,
	COLUMNS
};

static const char *const names[COLUMNS] = {
	"task",		  "parent",	      "joins_at",
	"cpu_id",	  "child_number",     "num_children",
	"exec_cycles",	  "creation_cycles",  "overhead_cycles",
	"create_instant", "exec_end_instant", "tag",
	"metadata",	  "outline_function", "wait_instants",
	"source_line",
};

struct lines {
	struct mir *m;
	struct mir_field fields[MIR_MAX_FIELDS];
	uint32_t place[COLUMNS]; /* per column: 1 + index into fields; 0: the file does not have the column */
	size_t columns;
	bool has_header;
};

int mir__broken(struct mir *m, uint32_t line, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (m->keep_going) {
		m->stream->info.damaged = true;
		m->stream->truth.dropped++;
		return 0;
	}
	return load_error(m->err, -EBADMSG, "%s: line %u: %s; --keep-going analyses the rest", m->path, line,
			  what);
}

int mir__array(struct mir *m, size_t count, size_t size, void **out)
{
	int error = count > UINT32_MAX ? -E2BIG : budget__take(&m->budget, (count + 1) * size);

	if (error)
		return error;
	*out = calloc(count + 1, size);
	return *out ? 0 : -ENOMEM;
}

static int header(struct lines *l, char *line)
{
	struct mir *m = l->m;
	const char *wrong = mir_fields__split(line, l->fields, &l->columns);

	l->has_header = true;
	if (wrong)
		return load_error(m->err, -EBADMSG, "%s: line 1: %s", m->path, wrong);
	for (int c = 0; c < COLUMNS; c++) {
		for (size_t i = 0; i < l->columns; i++) {
			if (!mir_field__is(&l->fields[i], names[c]))
				continue;
			if (l->place[c])
				return load_error(m->err, -EBADMSG, "%s: line 1: column %s is there twice",
						  m->path, names[c]);
			l->place[c] = (uint32_t)i + 1;
		}
		if (!l->place[c] && c != SOURCE_LINE)
			return load_error(m->err, -EBADMSG,
					  "%s: line 1: a MIR profile has a column %s; this one does not",
					  m->path, names[c]);
	}
	return 0;
}

static struct mir_field get(const struct lines *l, enum column c)
{
	return l->place[c] ? l->fields[l->place[c] - 1] : (struct mir_field){"", 0};
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Parses "[a;b;...]": instants in any order. 0 stands for a wait that has not ended. */
static int take_waits(struct mir *m, const struct mir_field *f, struct mir_row *row, bool *good)
{
	size_t at = 1;

	row->first_wait = (uint32_t)m->wait_count;
	*good = f->bytes >= 2 && f->text[0] == '[' && f->text[f->bytes - 1] == ']';
	while (*good && at < f->bytes - 1) {
		struct mir_field one = {f->text + at, 0};
		uint64_t value;
		int error;

		while (at + one.bytes < f->bytes - 1 && one.text[one.bytes] != ';')
			one.bytes++;
		at += one.bytes + 1;
		*good = mir_field__number(&one, MAX_CYCLES, &value) && value <= row->exec;
		if (!*good || value == 0)
			continue;
		error = array__grow(&m->waits, m->wait_count, sizeof(*m->waits), &m->budget);
		if (error)
			return error;
		m->waits[m->wait_count++] = value;
	}
	row->waits = (uint32_t)(m->wait_count - row->first_wait);
	if (row->waits > 1)
		qsort(m->waits + row->first_wait, row->waits, sizeof(*m->waits), ascending);
	return 0;
}

/* Parses "chunk_<start>_<end>". The end is behind the last iteration. The file does not have the step. */
static bool take_chunk(struct mir_field f, struct mir_row *row)
{
	struct mir_field first = {f.text + 6, 0};
	int64_t past;

	if (f.bytes < 6 || memcmp(f.text, "chunk_", 6))
		return false;
	while (6 + first.bytes < f.bytes && first.text[first.bytes] != '_')
		first.bytes++;
	if (6 + first.bytes >= f.bytes || !mir_field__signed(first, &row->lower) ||
	    !mir_field__signed((struct mir_field){first.text + first.bytes + 1, f.bytes - first.bytes - 7},
			       &past))
		return false;
	row->upper = past > row->lower ? past - 1 : past < row->lower ? past + 1 : past;
	return true;
}

static uint8_t schedule(const struct mir_field *tag)
{
	static const struct {
		const char *text;
		uint8_t sched;
	} known[] = {{"GOMP_for_static", EVENT_SCHED_STATIC},
		     {"GOMP_for_dynamic", EVENT_SCHED_DYNAMIC},
		     {"GOMP_for_guided", EVENT_SCHED_GUIDED},
		     {"GOMP_for_runtime", EVENT_SCHED_RUNTIME}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].text);

		if (tag->bytes >= n && memcmp(tag->text, known[i].text, n) == 0)
			return known[i].sched;
	}
	return EVENT_SCHED_UNKNOWN;
}

static void classify(const struct lines *l, struct mir_row *row)
{
	struct mir_field tag = get(l, TAG), metadata = get(l, METADATA);

	row->sched = schedule(&tag);
	if (mir_field__is(&metadata, "chunk_start") || mir_field__is(&metadata, "chunk_continuation"))
		row->kind = MIR_BOOK;
	else if (take_chunk(metadata, row))
		row->kind = MIR_CHUNK;
	else if (mir_field__is(&tag, "idle_task"))
		row->kind = MIR_INITIAL;
	else if (mir_field__starts(&tag, "GOMP_parallel"))
		row->kind = MIR_MEMBER;
}

/* Parses "file.c:12", which the profile's scripts add. line is 0 if it is not known. */
static void take_line(const struct mir_field *f, struct event_source *source)
{
	size_t i = f->bytes;
	uint64_t line;

	while (i && f->text[i - 1] != ':')
		i--;
	if (i < 2 || !mir_field__number(&(struct mir_field){f->text + i, f->bytes - i}, UINT32_MAX, &line) ||
	    !line)
		return;
	source->file = strndup(f->text, i - 1);
	source->line = (uint32_t)line;
}

static int new_source(struct lines *l, const char *kind, uint32_t *out)
{
	struct mir *m = l->m;
	struct mir_field function = get(l, FUNCTION), tag = get(l, TAG), line = get(l, SOURCE_LINE);
	struct event_source source = {.number = (uint32_t)m->stream->source_count};

	*out = source.number;
	take_line(&line, &source);
	if (!source.file)
		source.module = strndup(function.text, function.bytes);
	/* The tag of a task without a name is an address. The tag of a task of the runtime is the call. */
	if (!mir_field__starts(&tag, "0x") && !mir_field__starts(&tag, "GOMP_") && !mir_field__is(&tag, "NA"))
		source.func = strndup(tag.text, tag.bytes);
	source.kind = strdup(kind);
	return event_stream__add_source(m->stream, &source, &m->budget);
}

static uint64_t mix(uint64_t hash, const char *text, size_t bytes)
{
	for (size_t i = 0; i <= bytes; i++)
		hash = (hash ^ (i < bytes ? (unsigned char)text[i] : 0x100u)) * UINT64_C(0x100000001b3);
	return hash;
}

/* Gives the row its source. Rows with the same outlined function, name and kind share one source. */
static int take_source(struct lines *l, struct mir_row *row)
{
	static const char *const kinds[] = {
		[MIR_TASK] = "task", [MIR_MEMBER] = "parallel", [MIR_INITIAL] = "initial",
		[MIR_BOOK] = "loop", [MIR_CHUNK] = "loop",
	};
	struct mir_field function = get(l, FUNCTION), tag = get(l, TAG), line = get(l, SOURCE_LINE);
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), kinds[row->kind], strlen(kinds[row->kind]));
	int error = 0;

	hash = mix(hash, function.text, function.bytes);
	hash = mix(hash, line.text, line.bytes);
	if (!mir_field__starts(&tag, "0x") && !mir_field__starts(&tag, "GOMP_"))
		hash = mix(hash, tag.text, tag.bytes);
	row->source = number_map__get(&l->m->sources, hash);
	if (row->source == GRAIN_NONE) {
		error = new_source(l, kinds[row->kind], &row->source);
		if (!error)
			error = number_map__put(&l->m->sources, hash, row->source);
	}
	return error;
}

static const char *take_numbers(struct lines *l, struct mir_row *row, enum column *bad)
{
	const struct {
		enum column column;
		uint64_t *wide;
		uint32_t *narrow;
		uint64_t limit;
	} all[] = {
		{TASK, &row->task, NULL, UINT64_MAX / 16},
		{PARENT, &row->parent, NULL, UINT64_MAX / 16},
		{JOINS_AT, NULL, &row->joins_at, UINT32_MAX - 1},
		{CPU, NULL, &row->cpu, UINT16_MAX},
		{NUMBER, NULL, &row->number, UINT32_MAX - 1},
		{CHILDREN, NULL, &row->children_said, UINT32_MAX - 1},
		{EXEC, &row->exec, NULL, MAX_CYCLES},
		{CREATION, &row->creation, NULL, MAX_CYCLES},
		{OVERHEAD, &row->overhead, NULL, MAX_CYCLES},
		{CREATED, &row->created, NULL, MAX_CYCLES},
		{END, &row->end, NULL, MAX_CYCLES},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct mir_field f = get(l, all[i].column);
		uint64_t value;

		*bad = all[i].column;
		if (!mir_field__number(&f, all[i].limit, &value))
			return "is not a number that a profile can have";
		if (all[i].wide)
			*all[i].wide = value;
		else
			*all[i].narrow = (uint32_t)value;
	}
	return NULL;
}

static int add_row(struct lines *l, const struct mir_row *row)
{
	struct mir *m = l->m;
	int error;

	if (number_map__get(&m->row_of, row->task) != GRAIN_NONE)
		return mir__broken(m, m->line, "task %" PRIu64 " is there twice", row->task);
	error = m->row_count >= UINT32_MAX / 8 ? -E2BIG
					       : budget__take(&m->budget, 2 * sizeof(struct number_map_slot));
	if (!error)
		error = array__grow(&m->rows, m->row_count, sizeof(*m->rows), &m->budget);
	if (!error)
		error = number_map__put(&m->row_of, row->task, (uint32_t)m->row_count);
	if (error)
		return error;
	m->rows[m->row_count++] = *row;
	return 0;
}

static int row_of(struct lines *l, size_t count)
{
	struct mir *m = l->m;
	struct mir_row row = {.line = m->line,
			      .up = GRAIN_NONE,
			      .join_step = GRAIN_NONE,
			      .region = GRAIN_NONE};
	struct mir_field parent = get(l, PARENT), waits = get(l, WAITS), tag = get(l, TAG);
	enum column column = TASK;
	const char *wrong;
	bool good;
	int error;

	if (count != l->columns)
		return mir__broken(m, m->line, "%zu fields where the header has %zu", count, l->columns);
	/* This is the runtime's background task. */
	if (mir_field__is(&parent, "NA"))
		return 0;
	wrong = take_numbers(l, &row, &column);
	if (wrong)
		return mir__broken(m, m->line, "%s %s", names[column], wrong);
	if (row.overhead > row.exec)
		return mir__broken(m, m->line, "task %" PRIu64 " has more overhead than execution", row.task);
	classify(l, &row);
	error = take_waits(m, &waits, &row, &good);
	if (error)
		return error;
	if (!good)
		return mir__broken(
			m, m->line,
			"wait_instants is not a list like [0;20;10] of instants within exec_cycles");
	if (tag.bytes > 4096)
		return mir__broken(m, m->line, "a tag of %zu bytes", tag.bytes);
	error = take_source(l, &row);
	return error ? error : add_row(l, &row);
}

static int one_line(void *ctx, char *line, size_t bytes, enum line_state state)
{
	struct lines *l = ctx;
	struct mir *m = l->m;
	const char *wrong;
	size_t count;

	m->line++;
	if (state == LINE_CUT)
		return mir__broken(m, m->line, "the file ends inside this line");
	/* A file with such a line is something else, so the reading stops. */
	if (state == LINE_LONG)
		return load_error(m->err, -EBADMSG, "%s: line %u: longer than %u bytes", m->path, m->line,
				  LINE_MAX_BYTES);
	if (bytes && line[bytes - 1] == '\r')
		line[--bytes] = '\0';
	if (memchr(line, '\0', bytes))
		return mir__broken(m, m->line, "a NUL byte");
	if (!l->has_header)
		return header(l, line);
	if (bytes == 0 || line[0] == '#')
		return 0;
	wrong = mir_fields__split(line, l->fields, &count);
	return wrong ? mir__broken(m, m->line, "%s", wrong) : row_of(l, count);
}

static void mir__free(struct mir *m)
{
	free(m->rows);
	free(m->waits);
	free(m->passed);
	free(m->steps);
	free(m->child);
	free(m->order);
	free(m->lines);
	number_map__free(&m->row_of);
	number_map__free(&m->sources);
}

/*
 * Describes the file in the stream. A log that is written from it has this, too. Workers are bound to CPUs;
 * teams may be smaller than the number of workers.
 */
static int describe(struct mir *m)
{
	static const char capture[] = "@capture source=mir unit=cycles times=derived";
	struct grain_info *info = &m->stream->info;
	char *runtime = strdup("MIR"), *source = strdup("mir"), process[64];
	bool worked[UINT16_MAX + 1] = {false};
	int error, bytes;

	if (!runtime || !source) {
		free(runtime);
		free(source);
		return -ENOMEM;
	}
	info->runtime = runtime;
	info->source = source;
	info->cycles = info->times_derived = true;
	for (size_t i = 0; i < m->row_count; i++) {
		info->threads += !worked[m->rows[i].cpu];
		worked[m->rows[i].cpu] = true;
	}
	bytes = snprintf(process, sizeof(process), "@process runtime=MIR threads=%u", info->threads);
	error = event_stream__add_verbatim(m->stream, process, (size_t)bytes, &m->budget);
	return error ? error
		     : event_stream__add_verbatim(m->stream, capture, sizeof(capture) - 1, &m->budget);
}

int mir_reader__read(int fd, const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		     struct grain_error *err)
{
	struct mir m = {.path = path, .opts = opts, .err = err, .keep_going = opts && opts->keep_going};
	const struct line_file file = {.fd = fd, .path = path, .opts = opts, .share = 0.4, .err = err};
	struct lines *l = calloc(1, sizeof(*l));
	int error = l ? event_stream__new(&m.stream) : -ENOMEM;

	budget__init(&m.budget, opts);
	if (!error) {
		l->m = &m;
		error = lines__each(&file, one_line, l);
	}
	if (!error)
		error = describe(&m);
	free(l);
	if (!error)
		error = mir__tree(&m);
	if (!error)
		error = mir__scripts(&m);
	if (!error)
		error = mir__place(&m);
	if (!error) {
		m.stream->truth.events = m.stream->count;
		error = sorted_items__sort(m.stream->events, sizeof(*m.stream->events), m.lines,
					   m.stream->count, &m.budget);
	}
	if (!error)
		error = log_check__run(m.stream, m.lines, path, m.keep_going, &m.budget, err);
	mir__free(&m);
	if (!error) {
		event_stream__summarize(m.stream);
		*out = m.stream;
		return 0;
	}
	event_stream__free(m.stream);
	if (error == -E2BIG || error == -ENOMEM)
		return load_error__memory(err, error, path, opts);
	return error;
}
