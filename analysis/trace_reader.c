// SPDX-License-Identifier: BSD-2-Clause
/* The chunks of a trace file: lengths, checksums, sequence; then its events and lines. */
#include "analysis/fields.h"
#include "analysis/resolver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

struct trace_reader {
	int fd;
	const char *path;
	const struct grain_load_opts *opts;
	struct grain_error *err;
	struct budget budget;
	struct event_stream *stream;
	struct trace_content content;
	struct meta_truth truth;
	uint64_t offset; /* of the chunk that is being read */
	uint64_t size;
	uint64_t sequence;
	struct {
		char *bytes;
		size_t capacity; /* grows to TRACE_CHUNK_MAX_RAW */
	} stored, raw;
	ZSTD_DCtx *zstd;
	uint32_t last_tid, last_thread;
	bool keep_going;
};

static int damaged(struct trace_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int damaged(struct trace_reader *r, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return load_error(r->err, -EBADMSG,
			  "%s: damaged at byte %llu: %s; --keep-going analyses what is sound", r->path,
			  (unsigned long long)r->offset, what);
}

/* Bytes read, fewer only at the end of the file, or a negative errno. */
static ssize_t read_at(struct trace_reader *r, void *to, size_t bytes, uint64_t offset)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t n = pread(r->fd, (char *)to + have, bytes - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return load_error(r->err, -errno, "%s: cannot be read: %s", r->path, strerror(errno));
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

void trace_content__free(struct trace_content *content)
{
	free(content->records);
	free(content->sites);
	free(content->threads);
	number_map__free(&content->site_index);
	number_map__free(&content->thread_index);
	number_map__free(&content->site_source);
	number_map__free(&content->source_index);
	number_map__free(&content->static_loops);
	number_map__free(&content->ident_index);
	for (uint32_t i = 0; i < content->ident_count; i++) {
		free(content->idents[i].path);
		free(content->idents[i].func);
	}
	free(content->idents);
	memset(content, 0, sizeof(*content));
}

static int put_number(struct trace_reader *r, struct number_map *map, uint64_t key, uint32_t value)
{
	int error = budget__take(&r->budget, 4 * sizeof(struct number_map_slot));

	return error ? error : number_map__put(map, key, value);
}

static int site_index(struct trace_reader *r, uint64_t address, uint32_t *out)
{
	struct trace_content *c = &r->content;
	int error;

	*out = number_map__get(&c->site_index, address);
	if (*out != GRAIN_NONE)
		return 0;
	error = array__grow(&c->sites, c->site_count, sizeof(*c->sites), &r->budget);
	if (!error)
		error = put_number(r, &c->site_index, address, c->site_count);
	if (error)
		return error;
	*out = c->site_count;
	c->sites[c->site_count++] = address;
	return 0;
}

static int thread_index(struct trace_reader *r, uint32_t tid, uint32_t *out)
{
	struct trace_content *c = &r->content;
	int error;

	if (c->thread_count && tid == r->last_tid) {
		*out = r->last_thread;
		return 0;
	}
	*out = number_map__get(&c->thread_index, tid);
	if (*out == GRAIN_NONE) {
		error = array__grow(&c->threads, c->thread_count, sizeof(*c->threads), &r->budget);
		if (!error)
			error = put_number(r, &c->thread_index, tid, c->thread_count);
		if (error)
			return error;
		*out = c->thread_count;
		c->threads[c->thread_count++] = tid;
	}
	r->last_tid = tid;
	r->last_thread = *out;
	return 0;
}

static int grow_records(struct trace_reader *r, size_t more)
{
	struct trace_content *c = &r->content;
	size_t capacity = c->capacity;
	struct trace_record *records;

	if (c->count + more <= capacity)
		return 0;
	if (c->count + more >= GRAIN_NONE)
		return -E2BIG;
	capacity = c->count + more > capacity + capacity / 2 ? c->count + more : capacity + capacity / 2;
	if (budget__take(&r->budget, (capacity - c->capacity) * sizeof(*records)))
		return -E2BIG;
	records = realloc(c->records, capacity * sizeof(*records));
	if (!records)
		return -ENOMEM;
	c->records = records;
	c->capacity = capacity;
	return 0;
}

static uint64_t get64(const char *column, size_t i)
{
	uint64_t v;

	memcpy(&v, column + i * 8, 8);
	return v;
}

static uint32_t get32(const char *column, size_t i)
{
	uint32_t v;

	memcpy(&v, column + i * 4, 4);
	return v;
}

/* The wait for a lock began at another time than that of its record: two records of one. */
static void add_lock_begin(struct trace_reader *r, struct trace_record *got)
{
	struct trace_record *rec = &r->content.records[r->content.count++];

	*rec = *got;
	got->flags |= RECORD_LOCK_BEGIN;
	if (got->extra && got->extra < got->time_ns)
		got->time_ns = got->extra;
}

static int events_chunk(struct trace_reader *r, const char *raw, size_t bytes)
{
	struct trace_events_head head;
	const char *time, *key, *site, *frame, *tid, *arg, *cpu, *kind, *flags, *extra = NULL;
	uint64_t now, last_site = 0;
	uint32_t last_index = 0;
	size_t n, event_bytes, locks = 0;
	int error;

	if (bytes < sizeof(head))
		return damaged(r, "a chunk of events without its head");
	memcpy(&head, raw, sizeof(head));
	n = head.count;
	if (head.columns & ~(uint32_t)TRACE_COLUMN_EXTRA)
		return damaged(r, "columns of events that are not known; was it written by a newer graind?");
	event_bytes = TRACE_EVENT_COLUMN_BYTES - (head.columns & TRACE_COLUMN_EXTRA ? 0 : sizeof(uint64_t));
	if (n > TRACE_CHUNK_MAX_EVENTS || bytes != sizeof(head) + n * event_bytes)
		return damaged(r, "a chunk whose length does not fit its %u events", head.count);
	time = raw + sizeof(head);
	key = time + n * 8;
	site = key + n * 8;
	frame = site + n * 8;
	tid = frame + n * 8;
	arg = tid + n * 4;
	cpu = arg + n * 4;
	kind = cpu + n * 2;
	flags = kind + n;
	if (head.columns & TRACE_COLUMN_EXTRA)
		extra = flags + n;
	for (size_t i = 0; i < n; i++) {
		if (kind[i] < 1 || kind[i] >= TRACE_KIND_MAX)
			return damaged(r, "an event of unknown kind %u; was it written by a newer graind?",
				       (uint8_t)kind[i]);
		locks += kind[i] == TRACE_LOCK_WAIT;
	}
	error = grow_records(r, n + locks);
	now = head.base_ns;
	for (size_t i = 0; i < n && !error; i++) {
		struct trace_record *rec = &r->content.records[r->content.count];
		uint64_t address = get64(site, i);

		now += get64(time, i);
		rec->time_ns = now;
		rec->key = get64(key, i);
		rec->frame = get64(frame, i);
		rec->extra = extra ? get64(extra, i) : 0;
		rec->arg = get32(arg, i);
		memcpy(&rec->cpu, cpu + i * 2, 2);
		rec->kind = (uint8_t)kind[i];
		rec->flags = (uint8_t)flags[i] & TRACE_F_FAULT;
		if (address == 0) {
			rec->site = 0;
		} else if (address == last_site) {
			rec->site = last_index;
		} else {
			error = site_index(r, address, &rec->site);
			last_site = address;
			last_index = rec->site;
		}
		if (!error)
			error = thread_index(r, get32(tid, i), &rec->thread);
		if (error)
			break;
		r->content.count++;
		r->stream->truth.events++;
		if (rec->kind == TRACE_LOCK_WAIT)
			add_lock_begin(r, rec);
	}
	return error;
}

static int declare_source(struct trace_reader *r, struct event_source *source)
{
	uint32_t number = source->number, index = (uint32_t)r->stream->source_count;
	int error;

	if (number_map__get(&r->content.source_index, number) != GRAIN_NONE) {
		event_source__clear(source);
		return damaged(r, "source %u is declared twice", number);
	}
	error = event_stream__add_source(r->stream, source, &r->budget);
	return error ? error : put_number(r, &r->content.source_index, number, index);
}

/* @ident 0xADDRESS text="..." */
static int ident_line(struct trace_reader *r, const char *line, size_t bytes)
{
	struct trace_content *c = &r->content;
	const char *cursor = line, *end = line + bytes;
	struct trace_ident ident = {0};
	uint64_t address = 0;
	struct field f;
	char *text = NULL;
	int rc, error = 0;

	for (int i = 0; (rc = field__next(&cursor, end, &f)) > 0; i++) {
		if (i == 1 && (f.key_bytes || !field__u64(&f, &address)))
			break;
		if (i > 1 && field__is(&f, "text") && !text)
			text = field__string(&f);
	}
	if (rc || !address) {
		free(text);
		return damaged(r, "a line of text: @ident needs an address and text=");
	}
	/* What is no such string tells nothing. */
	if (text && trace_ident__parse(text, &ident) &&
	    number_map__get(&c->ident_index, address) == GRAIN_NONE) {
		error = array__grow(&c->idents, c->ident_count, sizeof(*c->idents), &r->budget);
		if (!error)
			error = budget__take(&r->budget, strlen(ident.path) + strlen(ident.func) + 2);
		if (!error)
			error = put_number(r, &c->ident_index, address, c->ident_count);
		if (!error) {
			c->idents[c->ident_count++] = ident;
			ident = (struct trace_ident){0};
		}
	}
	free(ident.path);
	free(ident.func);
	free(text);
	return error;
}

static bool is_static_loop(const char *line, size_t bytes)
{
	const char *cursor = line, *end = line + bytes;
	struct field f;

	while (field__next(&cursor, end, &f) > 0) {
		if (field__is(&f, "loop") && field__value_is(&f, "static"))
			return true;
	}
	return false;
}

static int text_line(struct trace_reader *r, const char *line, size_t bytes)
{
	char why[128];
	struct meta meta;
	int error;

	if (bytes == 0 || line[0] == '#')
		return 0;
	if (line[0] != '@')
		return damaged(r, "a line of text that does not start with @");
	if (bytes > 7 && memcmp(line, "@ident ", 7) == 0)
		return ident_line(r, line, bytes);
	error = meta__line(r->stream, line, bytes, &r->truth, &r->budget, &meta, why);
	if (error == -EBADMSG)
		return damaged(r, "a line of text: %s", why);
	if (error)
		return error;
	if (meta.kind == META_SOURCE)
		return declare_source(r, &meta.source);
	if (meta.kind == META_SITE && meta.number != GRAIN_NONE)
		error = put_number(r, &r->content.site_source, meta.address, meta.number);
	if (!error && meta.kind == META_SITE && is_static_loop(line, bytes))
		error = put_number(r, &r->content.static_loops, meta.address, 1);
	return error;
}

static int text_chunk(struct trace_reader *r, const char *raw, size_t bytes)
{
	const char *p = raw, *end = raw + bytes;

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		int error =
			lf ? text_line(r, p, (size_t)(lf - p)) : damaged(r, "text that ends inside a line");

		if (error)
			return error;
		p = lf + 1;
	}
	return 0;
}

static int make_room(struct trace_reader *r, const struct trace_chunk *head)
{
	if (head->stored_bytes > r->stored.capacity) {
		free(r->stored.bytes);
		r->stored.capacity = head->stored_bytes;
		r->stored.bytes = malloc(r->stored.capacity);
	}
	if (head->raw_bytes > r->raw.capacity) {
		free(r->raw.bytes);
		r->raw.capacity = head->raw_bytes;
		r->raw.bytes = malloc(r->raw.capacity);
	}
	return (r->stored.bytes || !r->stored.capacity) && (r->raw.bytes || !r->raw.capacity) ? 0 : -ENOMEM;
}

static int chunk_payload(struct trace_reader *r, const struct trace_chunk *head)
{
	const char *raw;
	ssize_t n = make_room(r, head);

	if (n == 0 && head->stored_bytes)
		n = read_at(r, r->stored.bytes, head->stored_bytes, r->offset + sizeof(*head));
	raw = r->stored.bytes;
	if (n < 0)
		return (int)n;
	if ((size_t)n < head->stored_bytes)
		return damaged(r, "the file ends inside a chunk");
	if ((uint32_t)crc32(0, (const Bytef *)raw, raw ? head->stored_bytes : 0) != head->payload_crc)
		return damaged(r, "the checksum of a chunk is wrong");
	if (head->codec == TRACE_CODEC_ZSTD) {
		size_t got =
			ZSTD_decompressDCtx(r->zstd, r->raw.bytes, head->raw_bytes, raw, head->stored_bytes);

		if (ZSTD_isError(got) || got != head->raw_bytes)
			return damaged(r, "a chunk cannot be decompressed");
		raw = r->raw.bytes;
	}
	if (head->type == TRACE_CHUNK_EVENTS)
		return events_chunk(r, raw, head->raw_bytes);
	if (head->type == TRACE_CHUNK_TEXT)
		return text_chunk(r, raw, head->raw_bytes);
	return 0;
}

/* 1: a chunk was read, 0: the end of the file, negative: an error. */
static int next_chunk(struct trace_reader *r, bool *ended)
{
	struct trace_chunk head;
	ssize_t n = read_at(r, &head, sizeof(head), r->offset);
	int error;

	if (n <= 0)
		return (int)n;
	if (*ended)
		return damaged(r, "something follows the end mark");
	if ((size_t)n < sizeof(head))
		return damaged(r, "the file ends inside the head of a chunk");
	if (head.magic != TRACE_CHUNK_MAGIC)
		return damaged(r, "no chunk starts here");
	if ((uint32_t)crc32(0, (const Bytef *)&head, offsetof(struct trace_chunk, header_crc)) !=
	    head.header_crc)
		return damaged(r, "the checksum of a chunk's head is wrong");
	if (head.sequence != r->sequence)
		return damaged(r, "chunk %llu stands where chunk %llu should be",
			       (unsigned long long)head.sequence, (unsigned long long)r->sequence);
	if (head.raw_bytes > TRACE_CHUNK_MAX_RAW || head.stored_bytes > TRACE_CHUNK_MAX_RAW ||
	    (head.codec == TRACE_CODEC_NONE && head.raw_bytes != head.stored_bytes) ||
	    (head.type == TRACE_CHUNK_END && head.raw_bytes))
		return damaged(r, "a chunk with impossible lengths");
	if (head.codec != TRACE_CODEC_NONE && head.codec != TRACE_CODEC_ZSTD)
		return damaged(r, "a chunk with unknown compression %u; was it written by a newer graind?",
			       head.codec);
	error = chunk_payload(r, &head);
	if (error)
		return error;
	*ended = head.type == TRACE_CHUNK_END;
	r->sequence++;
	r->offset += sizeof(head) + head.stored_bytes;
	return 1;
}

static int all_chunks(struct trace_reader *r)
{
	struct trace_header header;
	ssize_t n = read_at(r, &header, sizeof(header), 0);
	bool ended = false;
	int rc;

	if (n < 0)
		return (int)n;
	if ((size_t)n < sizeof(header) || memcmp(header.magic, TRACE_MAGIC, sizeof(header.magic)) != 0)
		return load_error(r->err, -EBADMSG, "%s: the header of the trace is cut off", r->path);
	if (header.version != TRACE_VERSION)
		return load_error(r->err, -EBADMSG,
				  "%s: is a trace of version %u; this program reads version %u", r->path,
				  header.version, TRACE_VERSION);
	if (header.header_bytes < sizeof(header) || header.header_bytes > 4096)
		return load_error(r->err, -EBADMSG, "%s: the header of the trace is damaged", r->path);
	r->offset = header.header_bytes;
	while ((rc = next_chunk(r, &ended)) > 0) {
		if (r->opts && r->opts->progress && r->size)
			r->opts->progress(r->opts->progress_ctx, (double)r->offset / (double)r->size);
	}
	if (rc == 0 && !ended && !(header.flags & TRACE_INCOMPLETE))
		rc = damaged(r, "the file ends without its end mark");
	if (rc == -EBADMSG && r->keep_going)
		rc = 0;
	r->stream->info.damaged |= !ended || (header.flags & TRACE_INCOMPLETE);
	return rc;
}

int trace_reader__read(int fd, const char *path, const struct grain_load_opts *opts,
		       struct event_stream **out, struct grain_error *err)
{
	struct trace_reader r = {
		.fd = fd, .path = path, .opts = opts, .err = err, .keep_going = opts && opts->keep_going};
	uint32_t none;
	struct stat st;
	int error;

	budget__init(&r.budget, opts);
	if (fstat(fd, &st) == 0)
		r.size = (uint64_t)st.st_size;
	r.zstd = ZSTD_createDCtx();
	error = r.zstd ? event_stream__new(&r.stream) : -ENOMEM;
	if (!error)
		error = site_index(&r, 0, &none);
	if (!error)
		error = all_chunks(&r);
	free(r.stored.bytes);
	free(r.raw.bytes);
	ZSTD_freeDCtx(r.zstd);
	if (!error) {
		error = sorted_items__sort(r.content.records, sizeof(*r.content.records), NULL,
					   r.content.count, &r.budget);
	}
	r.content.capture_known = !error && r.stream->info.source[0];
	if (!error && r.stream->info.source[0] == '\0')
		error = (r.stream->info.source = strdup("uprobes")) ? 0 : -ENOMEM;
	if (!error)
		error = resolve__run(r.stream, &r.content, &r.budget);
	trace_content__free(&r.content);
	if (!error) {
		event_stream__summarize(r.stream);
		*out = r.stream;
		return 0;
	}
	event_stream__free(r.stream);
	if (error == -E2BIG || error == -ENOMEM)
		return load_error__memory(err, error, path);
	return error;
}
