// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/trace_part.h"

#include "analysis/trace_format.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Lines so near the beginning say what machine, process and capture it is. */
#define HEAD_BYTES (UINT64_C(256) << 10)

struct piece {
	uint64_t offset;
	struct trace_chunk head;
};

/* Whole chunks from `first` on; those before were left behind. */
struct pieces {
	struct piece *list;
	size_t first, count, room;
	uint64_t bytes; /* of those from `first` on */
	bool events, words;
};

struct walk {
	int fd;
	uint64_t at, size;
};

static uint64_t whole_bytes(const struct trace_chunk *head)
{
	return sizeof(*head) + head->stored_bytes;
}

/* False at the end of what is whole. */
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
	pieces->events |= piece->head.type == TRACE_CHUNK_EVENTS;
	pieces->words |= piece->head.type == TRACE_CHUNK_WORDS;
	return 0;
}

static int latest(struct walk *walk, struct pieces *pieces)
{
	struct piece piece;
	int error = 0;

	while (!error && next(walk, &piece)) {
		error = push(pieces, &piece);
		while (pieces->bytes > TRACE_PART_BYTES && pieces->first + 1 < pieces->count)
			pieces->bytes -= whole_bytes(&pieces->list[pieces->first++].head);
	}
	return error;
}

static int earliest(struct walk *walk, struct pieces *pieces)
{
	struct piece piece;
	int error = 0;

	while (!error && pieces->bytes < TRACE_PART_BYTES && next(walk, &piece))
		error = push(pieces, &piece);
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

static int write_part(int from, struct trace_header header, const struct pieces *pieces, int to)
{
	struct walk walk = {.fd = from,
			    .at = header.header_bytes,
			    .size = pieces->list[pieces->first].offset};
	uint64_t sequence = 0;
	struct piece piece;
	int error;

	walk.size = walk.size < HEAD_BYTES ? walk.size : HEAD_BYTES;
	header.header_bytes = sizeof(header);
	header.flags |= TRACE_INCOMPLETE;
	error = write(to, &header, sizeof(header)) == sizeof(header) ? 0 : -EIO;
	while (!error && next(&walk, &piece))
		if (piece.head.type == TRACE_CHUNK_TEXT)
			error = copy(from, to, &piece, sequence++);
	for (size_t i = pieces->first; i < pieces->count && !error; i++)
		error = copy(from, to, &pieces->list[i], sequence++);
	if (!error && lseek(to, 0, SEEK_SET) != 0)
		error = -errno;
	return error;
}

/* Of words the beginning, as long as that has grown. */
static int choose(struct walk *walk, const struct trace_header *header, uint64_t from, struct pieces *pieces)
{
	int error = latest(walk, pieces);

	if (error || !pieces->words)
		return error;
	if (from >= header->header_bytes + TRACE_PART_BYTES)
		return -EAGAIN;
	pieces->first = pieces->count = pieces->bytes = 0;
	walk->at = header->header_bytes;
	return earliest(walk, pieces);
}

int trace_part__make(int trace, uint64_t *from, int *out)
{
	struct pieces pieces = {.list = NULL};
	struct trace_header header;
	struct walk walk = {.fd = trace};
	struct stat st;
	int fd = -1, error;

	if (fstat(trace, &st) || pread(trace, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.magic, TRACE_MAGIC, sizeof(header.magic)) || header.header_bytes < sizeof(header))
		return -EBADMSG;
	walk.size = (uint64_t)st.st_size;
	walk.at = *from > header.header_bytes ? *from : header.header_bytes;
	error = choose(&walk, &header, *from, &pieces);
	*from = walk.at;
	if (!error && !pieces.events && !pieces.words)
		error = -EAGAIN;
	if (!error && (fd = memfd_create("graind-part", MFD_CLOEXEC)) < 0)
		error = -errno;
	if (!error)
		error = write_part(trace, header, &pieces, fd);
	free(pieces.list);
	if (error && fd >= 0)
		close(fd);
	else if (!error)
		*out = fd;
	return error;
}
