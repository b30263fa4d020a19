// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folds traces while they are written: chunks become records, and those become statistics and kept regions.
 */
#include "analysis/fold/fold.h"
#include "analysis/fold/fold_regions.h"
#include "analysis/include/grain_fold.h"
#include "analysis/trace/trace_content.h"
#include "analysis/trace/trace_format.h"
#include "analysis/load/trace_reader.h"

#include <errno.h>
#include <stdlib.h>

struct trace_folder {
	struct trace_reader reader;
	struct fold *fold;
	struct grain_error err;
	struct fold_regions *regions; /* NULL: none are kept */
	size_t files;
	uint64_t whole_ns; /* the first file has all events up to this time, except words; 0: not known */
	uint64_t damaged;  /* number of damaged chunks */
	bool keyed;
};

int trace_folder__new(uint64_t max_bytes, struct trace_folder **out)
{
	const struct grain_load_opts opts = {.max_bytes = max_bytes};
	struct trace_folder *folder = calloc(1, sizeof(*folder));
	struct trace_reader *r;
	int error;

	if (!folder)
		return -ENOMEM;
	r = &folder->reader;
	*r = (struct trace_reader){.path = "the trace", .err = &folder->err, .no_text = true};
	budget__init(&r->budget, &opts);
	r->zstd = ZSTD_createDCtx();
	trace_words__begin(&r->words, &r->events);
	error = r->zstd ? event_stream__new(&r->stream) : -ENOMEM;
	if (!error)
		error = trace_events__begin(&r->events, &r->content, r->stream, &r->budget);
	if (!error)
		error = fold__new(&r->budget, &folder->fold);
	if (error)
		trace_folder__free(folder);
	else
		*out = folder;
	return error;
}

void trace_folder__free(struct trace_folder *folder)
{
	struct trace_reader *r = &folder->reader;

	fold_regions__free(folder->regions);
	fold__free(folder->fold);
	free(r->stored.bytes);
	free(r->raw.bytes);
	ZSTD_freeDCtx(r->zstd);
	trace_events__free(&r->events);
	trace_words__free(&r->words);
	trace_content__free(&r->content);
	event_stream__free(r->stream);
	free(folder);
}

/* Folds the records that have left the window, and frees their places. */
static int fold_settled(struct trace_folder *folder)
{
	int error = fold__records(folder->fold, &folder->reader.content, folder->keyed);

	folder->reader.content.count = 0;
	return error;
}

int trace_folder__keep(struct trace_folder *folder, int fd, uint64_t max_bytes)
{
	const struct fold_regions_opts opts = {.fd = fd,
					       .max_bytes = max_bytes,
					       .budget = &folder->reader.budget};
	int error = folder->regions || folder->files ? -EINVAL : fold_regions__new(&opts, &folder->regions);

	if (!error)
		fold__tell(folder->fold, folder->regions);
	return error;
}

int trace_folder__range(struct trace_folder *folder, int fd, uint64_t from, uint64_t to)
{
	struct trace_reader *r = &folder->reader;
	struct trace_header header;
	bool ended = false;
	int rc = 1;

	r->fd = fd;
	r->offset = from;
	if (from == 0 && trace_reader__header(r, &header))
		return -EBADMSG;
	folder->files += from == 0;
	/* The trace has the events of the first file. */
	if (from == 0 && folder->files == 2 && folder->regions) {
		trace_events__mark(&r->events, RECORD_FIRST_PART);
		fold_regions__start(folder->regions, trace_events__latest(&r->events), folder->whole_ns);
	}
	while (r->offset < to && rc > 0) {
		uint64_t at = r->offset;
		struct trace_chunk head;

		if (trace_reader__bytes(r, &head, sizeof(head), at) != sizeof(head))
			return -EBADMSG;
		folder->keyed |= head.type == TRACE_CHUNK_WORDS;
		rc = trace_reader__chunk(r, &ended);
		/* A process may have written invalid words; later chunks may be valid. */
		if (rc == -EBADMSG && head.stored_bytes <= TRACE_CHUNK_MAX_RAW && r->offset == at) {
			folder->damaged++;
			r->sequence++;
			r->offset += sizeof(head) + head.stored_bytes;
			rc = 1;
		}
		trace_words__forget(&r->words);
		if (folder->regions && r->words.round_ns)
			fold_regions__round(folder->regions, r->words.round_ns);
		if (rc > 0 && fold_settled(folder))
			return -E2BIG;
	}
	return rc < 0 ? rc : 0;
}

void trace_folder__whole(struct trace_folder *folder, uint64_t ns)
{
	if (folder->files == 1)
		folder->whole_ns = ns;
}

uint64_t trace_folder__reached(const struct trace_folder *folder)
{
	return folder->reader.offset;
}

/* An error with regions is no error of the statistics. */
static void write_regions(const struct trace_folder *folder, int error, FILE *out)
{
	error = error ? error : fold__regions_error(folder->fold);
	if (!error)
		error = fold_regions__finish(folder->regions, out);
	if (error)
		fprintf(out, "@folded unkept_why=\"%s\"\n",
			error == -E2BIG || error == -ENOMEM ? "there was not enough memory"
							    : "they could not be written");
}

int trace_folder__finish(struct trace_folder *folder, FILE *out)
{
	int error = trace_events__finish(&folder->reader.events), failed;

	if (!error)
		error = fold_settled(folder);
	fold__finish(folder->fold);
	failed = fold__write(folder->fold, folder->damaged, out);
	if (folder->regions && folder->files > 1)
		write_regions(folder, error, out);
	return error ? error : failed;
}
