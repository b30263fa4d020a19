// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/trace/trace_writer.h"
#include "daemon/common/trace/column_packer.h"
#include "daemon/common/trace/words_packer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define TEXT_BYTES (256u << 10)
#define LINE_BYTES (64u << 10)
#define RAW_BYTES                                                                                            \
	(sizeof(struct trace_events_head) + TRACE_COLUMNS * sizeof(struct trace_column_head) +               \
	 TRACE_CHUNK_MAX_EVENTS * TRACE_EVENT_COLUMN_BYTES)

#define LEVEL 1
/*
 * zstd's level for the low bytes of ticks. These bytes hardly compress, but take most of zstd's time. The
 * program loses that CPU time if it uses all CPUs. This level finds runs and leaves the rest as it is.
 */
#define LEVEL_OF_NOISE (-100)

struct columns {
	uint64_t time[TRACE_CHUNK_MAX_EVENTS], key[TRACE_CHUNK_MAX_EVENTS];
	uint64_t site[TRACE_CHUNK_MAX_EVENTS], frame[TRACE_CHUNK_MAX_EVENTS];
	uint32_t tid[TRACE_CHUNK_MAX_EVENTS], arg[TRACE_CHUNK_MAX_EVENTS];
	uint16_t cpu[TRACE_CHUNK_MAX_EVENTS];
	uint8_t kind[TRACE_CHUNK_MAX_EVENTS], flags[TRACE_CHUNK_MAX_EVENTS];
	uint64_t extra[TRACE_CHUNK_MAX_EVENTS];
};
_Static_assert(sizeof(struct columns) == TRACE_CHUNK_MAX_EVENTS * TRACE_EVENT_COLUMN_BYTES, "columns");

struct trace_writer {
	int fd;
	uint64_t end; /* end of the last whole chunk */
	uint64_t max_bytes;
	uint32_t mode;
	uint64_t sequence;
	uint64_t base_ns, last_ns;
	uint32_t buffered; /* events */
	uint32_t text_used, text_lines;
	struct trace_writer_stats stats;
	bool skips, skipped; /* skipped: events were skipped, the last one at skipped_ns */
	uint64_t skipped_ns;
	ZSTD_CCtx *zstd;
	char *packed; /* packed_bytes: the stored payload */
	size_t packed_bytes;
	char *text;
	char *raw; /* RAW_BYTES large: the payload before compression */
	struct columns *columns;
	struct column_packer *packer;
	struct words_packer *words_packer;
};

static int write_all(int fd, struct iovec *parts, int count, uint64_t offset)
{
	while (count) {
		ssize_t n = pwritev(fd, parts, count, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		offset += (uint64_t)n;
		while (count && (size_t)n >= parts->iov_len) {
			n -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* A piece of a payload, and zstd's level for it. */
struct piece {
	size_t bytes;
	int level;
};

/* A chunk's payload: `count` pieces, stored one after another from `raw` on. */
struct payload {
	const char *raw;
	const struct piece *pieces;
	size_t count;
};

/*
 * Compresses each piece to a zstd frame. A decompressor treats several frames like one. 0: compression
 * saves nothing.
 */
static size_t pack(struct trace_writer *w, const struct payload *payload)
{
	size_t raw_bytes = 0, stored = 0;

	for (size_t i = 0; i < payload->count; i++) {
		const struct piece *piece = &payload->pieces[i];
		size_t n = ZSTD_compressCCtx(w->zstd, w->packed + stored, w->packed_bytes - stored,
					     payload->raw + raw_bytes, piece->bytes, piece->level);

		if (ZSTD_isError(n))
			return 0;
		raw_bytes += piece->bytes;
		stored += n;
	}
	return stored < raw_bytes ? stored : 0;
}

/* `limit`: the maximum size of the file in bytes; 0: none. */
static int write_chunk(struct trace_writer *w, uint16_t type, uint16_t codec, const struct payload *payload,
		       uint64_t limit)
{
	size_t raw_bytes = 0, stored;
	struct trace_chunk head = {.magic = TRACE_CHUNK_MAGIC,
				   .type = type,
				   .codec = codec,
				   .sequence = w->sequence};
	struct iovec parts[2] = {{&head, sizeof(head)}, {(void *)(uintptr_t)payload->raw, 0}};
	int error;

	for (size_t i = 0; i < payload->count; i++)
		raw_bytes += payload->pieces[i].bytes;
	stored = pack(w, payload);
	if (stored) {
		head.codec |= TRACE_CODEC_ZSTD;
		parts[1].iov_base = w->packed;
	}
	head.raw_bytes = (uint32_t)raw_bytes;
	head.stored_bytes = (uint32_t)(stored ? stored : raw_bytes);
	parts[1].iov_len = head.stored_bytes;
	if (limit && w->end + sizeof(head) + head.stored_bytes > limit)
		return -EFBIG;
	head.payload_crc = (uint32_t)crc32(0, parts[1].iov_base, head.stored_bytes);
	head.header_crc = (uint32_t)crc32(0, (const void *)&head, offsetof(struct trace_chunk, header_crc));
	error = write_all(w->fd, parts, raw_bytes ? 2 : 1, w->end);
	if (error) {
		/* Even if this fails, a reader still finds the end of the last whole chunk. */
		if (ftruncate(w->fd, (off_t)w->end))
			error = -EIO;
		return error;
	}
	w->end += sizeof(head) + head.stored_bytes;
	w->sequence++;
	w->stats.bytes = w->end;
	return 0;
}

static void remember(struct trace_writer *w, int error)
{
	if (!w->stats.error)
		w->stats.error = error;
}

static int flush_text(struct trace_writer *w)
{
	int error;

	if (!w->text_used)
		return 0;
	error = write_chunk(w, TRACE_CHUNK_TEXT, TRACE_CODEC_NONE,
			    &(struct payload){w->text, &(struct piece){w->text_used, LEVEL}, 1}, 0);
	if (error) {
		w->stats.dropped_lines += w->text_lines;
		remember(w, error);
	}
	w->text_used = 0;
	w->text_lines = 0;
	return error;
}

static int flush_events(struct trace_writer *w)
{
	const struct trace_events_head head = {.count = w->buffered,
					       .columns = TRACE_COLUMNS_PACKED,
					       .base_ns = w->base_ns};
	const struct columns *c = w->columns;
	const struct {
		const void *at;
		unsigned width;
		bool few;
	} columns[TRACE_COLUMNS] = {{c->time, 8, false}, {c->key, 8, false},  {c->site, 8, true},
				    {c->frame, 8, true}, {c->tid, 4, true},   {c->arg, 4, true},
				    {c->cpu, 2, false},	 {c->kind, 1, false}, {c->flags, 1, false},
				    {c->extra, 8, true}};
	char *to = w->raw + sizeof(head);
	int error;

	if (!w->buffered)
		return 0;
	memcpy(w->raw, &head, sizeof(head));
	for (size_t i = 0; i < TRACE_COLUMNS; i++)
		to += column_packer__write(w->packer, to, columns[i].at, columns[i].width, w->buffered,
					   columns[i].few);
	error = write_chunk(w, TRACE_CHUNK_EVENTS, TRACE_CODEC_NONE,
			    &(struct payload){w->raw, &(struct piece){(size_t)(to - w->raw), LEVEL}, 1},
			    w->max_bytes);
	if (error) {
		w->stats.events -= w->buffered;
		w->stats.dropped_events += w->buffered;
		remember(w, error);
	}
	w->buffered = 0;
	return error;
}

/* Makes a file with its header. If that fails, the file is removed again. */
static int open_file(struct trace_writer *w, int dirfd, const char *name)
{
	struct trace_header header = {.magic = TRACE_MAGIC,
				      .version = TRACE_VERSION,
				      .header_bytes = sizeof(header),
				      .flags = TRACE_INCOMPLETE};
	struct iovec part = {&header, sizeof(header)};
	struct timespec now;
	int fd, error;

	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, w->mode);
	if (fd < 0)
		return -errno;
	clock_gettime(CLOCK_REALTIME, &now);
	header.created_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	error = write_all(fd, &part, 1, 0);
	if (error) {
		unlinkat(dirfd, name, 0);
		close(fd);
		return error;
	}
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	w->end = w->stats.bytes = sizeof(header);
	w->sequence = 0;
	return 0;
}

int trace_writer__create(int dirfd, const char *name, const struct trace_writer_opts *opts,
			 struct trace_writer **out)
{
	struct trace_writer *w = calloc(1, sizeof(*w));
	int error = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	w->mode = opts && opts->mode ? opts->mode : 0600;
	w->max_bytes = opts ? opts->max_bytes : 0;
	w->packed_bytes = ZSTD_compressBound(RAW_BYTES) + 2 * ZSTD_compressBound(0);
	w->packed = malloc(w->packed_bytes);
	w->text = malloc(TEXT_BYTES);
	w->raw = malloc(RAW_BYTES);
	w->columns = malloc(sizeof(*w->columns));
	w->zstd = ZSTD_createCCtx();
	if (!w->packed || !w->text || !w->raw || !w->columns || !w->zstd || column_packer__new(&w->packer) ||
	    words_packer__new(&w->words_packer))
		goto out;
	error = open_file(w, dirfd, name);
	if (error)
		goto out;
	*out = w;
	return 0;
out:
	trace_writer__abandon(w);
	return error;
}

int trace_writer__text(struct trace_writer *writer, const char *line)
{
	size_t n = strlen(line);
	bool failed_before = writer->stats.error != 0;
	int error = 0;

	if (n == 0 || n >= LINE_BYTES)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			return -EINVAL;
	}
	if (writer->text_used + n + 1 > TEXT_BYTES)
		error = flush_text(writer);
	memcpy(writer->text + writer->text_used, line, n);
	writer->text[writer->text_used + n] = '\n';
	writer->text_used += (uint32_t)n + 1;
	writer->text_lines++;
	return failed_before ? 0 : error;
}

int trace_writer__textf(struct trace_writer *writer, const char *format, ...)
{
	char *line;
	va_list args;
	int n, error;

	va_start(args, format);
	n = vasprintf(&line, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	error = trace_writer__text(writer, line);
	free(line);
	return error;
}

size_t trace_writer__quote(const char *text, char *buffer, size_t size)
{
	size_t n = 0;

#define PUT(c)                                                                                               \
	do {                                                                                                 \
		if (n + 1 < size)                                                                            \
			buffer[n] = (c);                                                                     \
		n++;                                                                                         \
	} while (0)
	PUT('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			PUT('\\');
		PUT((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
	}
	PUT('"');
#undef PUT
	if (size)
		buffer[n < size ? n : size - 1] = '\0';
	return n;
}

/* Maps small differences of either sign to small unsigned numbers. */
static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

int trace_writer__events(struct trace_writer *writer, const struct trace_event *events, size_t count)
{
	struct columns *c = writer->columns;
	int error = 0;

	if (writer->skips && count) {
		writer->stats.dropped_events += count;
		writer->skipped = true;
		writer->skipped_ns = events[count - 1].time_ns;
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		const struct trace_event *e = &events[i];
		uint32_t n = writer->buffered;

		if (writer->stats.error) {
			writer->stats.dropped_events += count - i;
			return error;
		}
		if (n == 0)
			writer->base_ns = writer->last_ns = e->time_ns;
		c->time[n] = zigzag(e->time_ns - writer->last_ns);
		c->key[n] = e->key;
		c->site[n] = e->site;
		c->frame[n] = e->frame;
		c->tid[n] = e->tid;
		c->arg[n] = e->arg;
		c->cpu[n] = e->cpu;
		c->kind[n] = e->kind;
		c->flags[n] = e->flags;
		c->extra[n] = e->extra;
		writer->last_ns = e->time_ns;
		writer->stats.events++;
		if (++writer->buffered == TRACE_CHUNK_MAX_EVENTS)
			error = flush_events(writer);
	}
	return error;
}

int trace_writer__event(struct trace_writer *writer, const struct trace_event *event)
{
	return trace_writer__events(writer, event, 1);
}

int trace_writer__flush(struct trace_writer *writer)
{
	bool failed_before = writer->stats.error != 0;
	int error;

	if (failed_before)
		return 0;
	error = flush_text(writer);
	if (error) {
		writer->stats.events -= writer->buffered;
		writer->stats.dropped_events += writer->buffered;
		writer->buffered = 0;
		return error;
	}
	return flush_events(writer);
}

int trace_writer__rotate(struct trace_writer *writer, int dirfd, const char *name)
{
	int error = trace_writer__flush(writer);

	if (!error)
		error = writer->stats.error ? writer->stats.error : open_file(writer, dirfd, name);
	if (error)
		remember(writer, error);
	return error;
}

void trace_writer__skip(struct trace_writer *writer, bool skip)
{
	/* The number of dropped events is written at the end. Their threads are not known. */
	const struct trace_event gap = {.time_ns = writer->skipped_ns, .kind = TRACE_LOST};
	bool over = writer->skipped && !skip;

	writer->skips = skip;
	if (!over)
		return;
	writer->skipped = false;
	trace_writer__event(writer, &gap);
}

void trace_writer__refuse(struct trace_writer *writer, int error)
{
	remember(writer, error);
}

void trace_writer__stats(const struct trace_writer *writer, struct trace_writer_stats *out)
{
	*out = writer->stats;
}

int trace_writer__finish(struct trace_writer *writer, struct trace_writer_stats *last)
{
	const uint32_t flags = 0;
	const struct payload nothing = {0};
	struct iovec part = {(void *)(uintptr_t)&flags, sizeof(flags)};
	uint64_t dropped;
	int error, earlier;

	if (!writer)
		return 0;
	earlier = writer->stats.error;
	dropped = writer->stats.dropped_events;
	error = trace_writer__flush(writer);
	/*
	 * Events that were lost after the owner wrote its own lines. The file may have room for one short
	 * line.
	 */
	if (writer->stats.dropped_events > dropped)
		trace_writer__textf(writer, "@lost cause=not-written count=%llu",
				    (unsigned long long)(writer->stats.dropped_events - dropped));
	if (flush_text(writer) == 0 &&
	    write_chunk(writer, TRACE_CHUNK_END, TRACE_CODEC_NONE, &nothing, 0) == 0) {
		int rc = write_all(writer->fd, &part, 1, offsetof(struct trace_header, flags));

		if (!error && !earlier)
			error = rc;
	} else if (!error && !earlier) {
		error = writer->stats.error ? writer->stats.error : -EIO;
	}
	if (last)
		*last = writer->stats;
	trace_writer__abandon(writer);
	return error;
}

void trace_writer__abandon(struct trace_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	ZSTD_freeCCtx(writer->zstd);
	free(writer->packed);
	free(writer->text);
	free(writer->raw);
	free(writer->columns);
	column_packer__free(writer->packer);
	words_packer__free(writer->words_packer);
	free(writer);
}

int trace_writer__words(struct trace_writer *writer, const struct trace_words_head *head,
			const struct trace_word_site *sites, const uint64_t *words)
{
	struct packed_words packed;
	struct piece pieces[3];
	char *to = writer->raw;
	size_t named = sizeof(*head) + head->sites * sizeof(*sites);
	int error;

	if (writer->stats.error || writer->skips) {
		writer->stats.dropped_events += head->words;
		writer->skipped = true;
		writer->skipped_ns = head->ns[1];
		return 0;
	}
	packed = words_packer__write(writer->words_packer, to + named, words, head->words);
	memcpy(to, head, sizeof(*head));
	memcpy(to + sizeof(*head), sites, head->sites * sizeof(*sites));
	pieces[0] = (struct piece){named + packed.lower, LEVEL};
	pieces[1] = (struct piece){packed.upper / 2, LEVEL_OF_NOISE};
	pieces[2] = (struct piece){packed.upper / 2, LEVEL};
	error = write_chunk(writer, TRACE_CHUNK_WORDS,
			    packed.dictionary ? TRACE_CODEC_DICTIONARY : TRACE_CODEC_NONE,
			    &(struct payload){to, pieces, 3}, writer->max_bytes);
	if (error) {
		writer->stats.dropped_events += head->words;
		remember(writer, error);
		return error;
	}
	writer->stats.events += head->words;
	return 0;
}
