// SPDX-License-Identifier: BSD-2-Clause
/* Reads the chunks of a trace file (lengths, checksums, sequence), then its events and lines. */
#include "analysis/load/trace_reader.h"
#include "analysis/resolve/resolve.h"
#include "analysis/base/fields.h"
#include "analysis/event/folded.h"
#include "analysis/trace/trace_windows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* The longest trace: a year and seven weeks. */
#define LONGEST_NS (UINT64_C(1) << 55)

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

ssize_t trace_reader__bytes(struct trace_reader *r, void *to, size_t bytes, uint64_t offset)
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

static int put_number(struct trace_reader *r, struct number_map *map, uint64_t key, uint32_t value)
{
	return trace_content__put(map, key, value, &r->budget);
}

static int events_chunk(struct trace_reader *r, const char *raw, size_t bytes)
{
	char why[128];
	int error = trace_events__chunk(&r->events, raw, bytes, why);

	return error == -EBADMSG ? damaged(r, "%s", why) : error;
}

static int words_chunk(struct trace_reader *r, const char *raw, size_t bytes, bool dictionary)
{
	char why[128];
	int error = trace_words__chunk(&r->words, raw, bytes, dictionary, why);

	return error == -EBADMSG ? damaged(r, "%s", why) : error;
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
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			rc = -EBADMSG;
	if (rc || !address) {
		free(text);
		return damaged(
			r, "a line of text: @ident needs an address and text= without control characters");
	}
	/* An invalid string is ignored. */
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
	struct meta meta;
	int error;

	if (bytes == 0 || line[0] == '#')
		return 0;
	if (line[0] != '@')
		return damaged(r, "a line of text that does not start with @");
	if (bytes > 7 && memcmp(line, "@ident ", 7) == 0)
		return ident_line(r, line, bytes);
	if (folded__is_line(line, bytes)) {
		char why[128];

		error = folded__line(r->stream, line, bytes, &r->budget, why);
		return error == -EBADMSG ? damaged(r, "a line of text: %s", why) : error;
	}
	error = meta__line(r->stream, line, bytes, &r->truth, &r->budget, &meta);
	if (error == -EBADMSG)
		return damaged(r, "a line of text: %s", meta.why);
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
		n = trace_reader__bytes(r, r->stored.bytes, head->stored_bytes, r->offset + sizeof(*head));
	raw = r->stored.bytes;
	if (n < 0)
		return (int)n;
	if ((size_t)n < head->stored_bytes)
		return damaged(r, "the file ends inside a chunk");
	if ((uint32_t)crc32(0, (const Bytef *)raw, raw ? head->stored_bytes : 0) != head->payload_crc)
		return damaged(r, "the checksum of a chunk is wrong");
	if (head->codec & TRACE_CODEC_ZSTD) {
		size_t got =
			ZSTD_decompressDCtx(r->zstd, r->raw.bytes, head->raw_bytes, raw, head->stored_bytes);

		if (ZSTD_isError(got) || got != head->raw_bytes)
			return damaged(r, "a chunk cannot be decompressed");
		raw = r->raw.bytes;
	}
	if (head->type == TRACE_CHUNK_EVENTS)
		return events_chunk(r, raw, head->raw_bytes);
	if (head->type == TRACE_CHUNK_WORDS)
		return words_chunk(r, raw, head->raw_bytes, head->codec & TRACE_CODEC_DICTIONARY);
	if (head->type == TRACE_CHUNK_TEXT && !r->no_text)
		return text_chunk(r, raw, head->raw_bytes);
	return 0;
}

int trace_reader__chunk(struct trace_reader *r, bool *ended)
{
	struct trace_chunk head;
	ssize_t n = trace_reader__bytes(r, &head, sizeof(head), r->offset);
	unsigned codecs = TRACE_CODEC_ZSTD;
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
	if (head.type == TRACE_CHUNK_WORDS)
		codecs |= TRACE_CODEC_DICTIONARY;
	if (head.raw_bytes > TRACE_CHUNK_MAX_RAW || head.stored_bytes > TRACE_CHUNK_MAX_RAW ||
	    (!(head.codec & TRACE_CODEC_ZSTD) && head.raw_bytes != head.stored_bytes) ||
	    (head.type == TRACE_CHUNK_END && head.raw_bytes))
		return damaged(r, "a chunk with impossible lengths");
	if (head.codec & ~codecs)
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

/* Estimates the number of events from the sizes of chunks, to reserve memory. */
static uint64_t count_events(struct trace_reader *r, uint64_t offset)
{
	/* The usual size of an event in packed columns. */
	const uint64_t usual = 16;
	struct trace_chunk head;
	uint64_t count = 0;

	while (pread(r->fd, &head, sizeof(head), (off_t)offset) == sizeof(head) &&
	       head.magic == TRACE_CHUNK_MAGIC && head.raw_bytes <= TRACE_CHUNK_MAX_RAW) {
		if (head.type == TRACE_CHUNK_EVENTS)
			count += head.raw_bytes / usual;
		offset += sizeof(head) + head.stored_bytes;
	}
	return count;
}

int trace_reader__header(struct trace_reader *r, struct trace_header *out)
{
	struct trace_header header;
	ssize_t n = trace_reader__bytes(r, &header, sizeof(header), 0);

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
	r->sequence = 0;
	r->words.part = header.flags & TRACE_PART;
	*out = header;
	return 0;
}

static int all_chunks(struct trace_reader *r)
{
	struct trace_header header;
	bool ended = false;
	int rc = trace_reader__header(r, &header);

	if (rc)
		return rc;
	trace_events__expect(&r->events, count_events(r, r->offset));
	while ((rc = trace_reader__chunk(r, &ended)) > 0) {
		if (r->opts && r->opts->progress && r->size)
			r->opts->progress(r->opts->progress_ctx, (double)r->offset / (double)r->size);
	}
	if (rc == 0 && !ended && !(header.flags & TRACE_INCOMPLETE))
		rc = damaged(r, "the file ends without its end mark");
	if (rc == -EBADMSG && r->keep_going) {
		r->stream->truth.dropped++;
		rc = 0;
	}
	r->stream->info.damaged |= !ended || (header.flags & TRACE_INCOMPLETE);
	return rc;
}

/* Drops events that are so far from the first one that sums over all threads could overflow. */
static int drop_late(struct trace_reader *r)
{
	struct trace_content *c = &r->content;
	size_t count = c->count;

	while (c->count && c->records[c->count - 1].time_ns - c->records[0].time_ns > LONGEST_NS)
		c->count--;
	if (c->count == count)
		return 0;
	r->stream->truth.dropped += count - c->count;
	r->stream->info.damaged = true;
	if (r->keep_going)
		return 0;
	return load_error(
		r->err, -EBADMSG,
		"%s: damaged: its events are more than a year apart; --keep-going analyses those of "
		"the first year",
		r->path);
}

/* Gives numbers to the call sites of rows, as if events named them. */
static int find_sites_of_rows(struct event_stream *stream, struct trace_events *events)
{
	struct folded *folded = stream->folded;
	int error = 0;

	for (size_t i = 0; folded && i < folded->count && !error; i++)
		error = trace_events__site(events, folded->rows[i].sums.site, &folded->rows[i].site);
	return error;
}

int trace_reader__read(int fd, const char *path, const struct grain_load_opts *opts,
		       struct event_stream **out, struct grain_error *err)
{
	struct trace_reader r = {
		.fd = fd, .path = path, .opts = opts, .err = err, .keep_going = opts && opts->keep_going};
	off_t size = lseek(fd, 0, SEEK_END);
	int error;

	budget__init(&r.budget, opts);
	r.size = size > 0 ? (uint64_t)size : 0;
	r.zstd = ZSTD_createDCtx();
	trace_words__begin(&r.words, &r.events);
	error = r.zstd ? event_stream__new(&r.stream) : -ENOMEM;
	if (!error)
		error = trace_events__begin(&r.events, &r.content, r.stream, &r.budget);
	if (!error)
		error = all_chunks(&r);
	if (!error)
		error = find_sites_of_rows(r.stream, &r.events);
	if (!error)
		error = trace_events__finish(&r.events);
	free(r.stored.bytes);
	free(r.raw.bytes);
	ZSTD_freeDCtx(r.zstd);
	trace_events__free(&r.events);
	trace_words__free(&r.words);
	if (!error)
		error = drop_late(&r);
	r.content.capture_known = !error && r.stream->info.source[0];
	if (!error && r.stream->info.source[0] == '\0')
		error = (r.stream->info.source = strdup("uprobes")) ? 0 : -ENOMEM;
	/* An event log made from the trace has that, too. */
	if (!error && !r.content.capture_known)
		error = event_stream__add_verbatim(r.stream, "@capture source=uprobes", 23, &r.budget);
	if (!error)
		error = trace_windows__split(&r.content, r.stream, &r.budget);
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
		return load_error__memory(err, error, path, opts);
	return error;
}
