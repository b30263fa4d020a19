// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/summary/trace_part.h"

#include "analysis/trace/trace_format.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Lines within this distance from the beginning describe the machine, the process and the capture. */
#define HEAD_BYTES (UINT64_C(256) << 10)

struct piece {
	uint64_t offset;
	struct trace_chunk head;
};

/* Whole chunks from `first` on. Earlier chunks are left out. */
struct pieces {
	struct piece *list;
	size_t first, count, room;
	uint64_t bytes, words; /* of the chunks from `first` on */
	bool events;
};

struct walk {
	int fd;
	uint64_t at, size;
};

static uint64_t whole_bytes(const struct trace_chunk *head)
{
	return sizeof(*head) + head->stored_bytes;
}

/* Returns false at the end of the whole chunks. */
static bool next(struct walk *walk, struct piece *out)
{
	struct trace_chunk *head = &out->head;

	if (walk->at + sizeof(*head) > walk->size ||
	    pread(walk->fd, head, sizeof(*head), (off_t)walk->at) != sizeof(*head) ||
	    head->magic != TRACE_CHUNK_MAGIC || head->stored_bytes > TRACE_CHUNK_MAX_RAW ||
	    walk->at + whole_bytes(head) > walk->size)
		return false;
	out->offset = walk->at;
	walk->at += whole_bytes(head);
	return true;
}

/* An upper bound: the chunk also has sites and the numbers of a dictionary. */
static uint64_t words_of(const struct trace_chunk *head)
{
	unsigned each = head->codec & TRACE_CODEC_DICTIONARY ? 5 : 8;

	return head->type == TRACE_CHUNK_WORDS ? head->raw_bytes / each : 0;
}

static int push(struct pieces *pieces, const struct piece *piece)
{
	if (pieces->count == pieces->room) {
		size_t room = pieces->room ? 2 * pieces->room : 64;
		struct piece *list = reallocarray(pieces->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		pieces->list = list;
		pieces->room = room;
	}
	pieces->list[pieces->count++] = *piece;
	pieces->bytes += whole_bytes(&piece->head);
	pieces->words += words_of(&piece->head);
	pieces->events |= piece->head.type == TRACE_CHUNK_EVENTS || piece->head.type == TRACE_CHUNK_WORDS;
	return 0;
}

static int latest(struct walk *walk, uint64_t cpus, struct pieces *pieces)
{
	struct piece piece;
	int error = 0;

	while (!error && next(walk, &piece)) {
		error = push(pieces, &piece);
		while ((pieces->bytes > TRACE_PART_BYTES(cpus) || pieces->words > TRACE_PART_WORDS(cpus)) &&
		       pieces->first + 1 < pieces->count) {
			const struct trace_chunk *left = &pieces->list[pieces->first++].head;

			pieces->bytes -= whole_bytes(left);
			pieces->words -= words_of(left);
		}
	}
	return error;
}

static int copy(int from, int to, const struct piece *piece, uint64_t sequence)
{
	struct trace_chunk head = piece->head;
	char *payload = malloc(head.stored_bytes + 1u);
	int error = payload ? 0 : -ENOMEM;

	head.sequence = sequence;
	head.header_crc = (uint32_t)crc32(0, (const void *)&head, offsetof(struct trace_chunk, header_crc));
	if (!error && (pread(from, payload, head.stored_bytes, (off_t)(piece->offset + sizeof(head))) !=
			       (ssize_t)head.stored_bytes ||
		       write(to, &head, sizeof(head)) != sizeof(head) ||
		       write(to, payload, head.stored_bytes) != (ssize_t)head.stored_bytes))
		error = -EIO;
	free(payload);
	return error;
}

/* Writes the part: the lines of `lines` from before the pieces, then the pieces of `from`. */
static int write_part(int lines, int from, struct trace_header header, const struct pieces *pieces, int to)
{
	struct walk walk = {.fd = lines, .at = header.header_bytes, .size = HEAD_BYTES};
	uint64_t sequence = 0;
	struct piece piece;
	int error;

	if (lines == from && pieces->list[pieces->first].offset < walk.size)
		walk.size = pieces->list[pieces->first].offset;
	header.header_bytes = sizeof(header);
	header.flags |= TRACE_INCOMPLETE;
	if (lines != from || pieces->list[pieces->first].offset > walk.at)
		header.flags |= TRACE_PART;
	error = write(to, &header, sizeof(header)) == sizeof(header) ? 0 : -EIO;
	while (!error && next(&walk, &piece))
		if (piece.head.type == TRACE_CHUNK_TEXT)
			error = copy(lines, to, &piece, sequence++);
	for (size_t i = pieces->first; i < pieces->count && !error; i++)
		error = copy(from, to, &pieces->list[i], sequence++);
	if (!error && lseek(to, 0, SEEK_SET) != 0)
		error = -errno;
	return error;
}

static int read_header(int fd, struct trace_header *out)
{
	return pread(fd, out, sizeof(*out), 0) == sizeof(*out) &&
			       memcmp(out->magic, TRACE_MAGIC, sizeof(out->magic)) == 0 &&
			       out->header_bytes >= sizeof(*out)
		       ? 0
		       : -EBADMSG;
}

int trace_part__make(int trace, int later, uint64_t cpus, uint64_t *from, int *out)
{
	int source = later < 0 ? trace : later, fd = -1, error;
	struct pieces pieces = {.list = NULL};
	struct trace_header header, own;
	struct walk walk = {.fd = source};
	struct stat st;

	if (fstat(source, &st) || read_header(trace, &header) || read_header(source, &own))
		return -EBADMSG;
	walk.size = (uint64_t)st.st_size;
	walk.at = later < 0 && *from > own.header_bytes ? *from : own.header_bytes;
	error = latest(&walk, cpus, &pieces);
	if (later < 0)
		*from = walk.at;
	if (!error && !pieces.events)
		error = -EAGAIN;
	if (!error && (fd = memfd_create("graind-part", MFD_CLOEXEC)) < 0)
		error = -errno;
	if (!error)
		error = write_part(trace, source, header, &pieces, fd);
	free(pieces.list);
	if (error && fd >= 0)
		close(fd);
	else if (!error)
		*out = fd;
	return error;
}
