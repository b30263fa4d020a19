// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/spool/spool.h"
#include "daemon/graind/spool/feed.h"
#include "daemon/graind/spool/kept_regions.h"
#include "daemon/graind/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SPOOL_FILE "events.new"
/* With more events than this, the graph needs more memory than a worker has. */
#define GRAPH_EVENTS UINT64_C(24000000)
#define LARGEST_FILE (UINT64_C(16) << 20)
/* The worker is told about new bytes in steps of this size. */
#define STEP_BYTES (UINT64_C(256) << 10)
/* The size of a chunk of words that do not compress. */
#define CHUNK_BYTES (UINT64_C(640) << 10)
#define NAP_NS 1000000

struct spool {
	struct trace_writer *trace, *own; /* own: NULL while the trace takes events */
	struct feed *feed;
	int dirfd;
	const char *name;
	uid_t uid;
	gid_t gid;
	uint64_t max_bytes, told, trace_end;
	uint64_t round_ns;	      /* round of the last written words */
	uint64_t given_ns, before_ns; /* arguments of the last call of spool__given() and the call before */
	bool amid;		      /* a part of the present round is already written */
	int kept;		      /* the file of regions that the worker keeps; -1: none */
	int later;		      /* the file of `own`, for reading; -1: none */
	bool parted;
	bool skips; /* events were dropped, because there was no room */
	bool (*waits)(void *ctx);
	void *ctx;
	int error;
};

static uint64_t end_of(const struct trace_writer *writer)
{
	struct trace_writer_stats stats;

	trace_writer__stats(writer, &stats);
	return stats.bytes;
}

int spool__new(const struct spool_opts *opts, struct spool **out)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return -ENOMEM;
	*spool = (struct spool){.trace = opts->trace,
				.dirfd = opts->dirfd,
				.name = opts->name,
				.uid = opts->uid,
				.gid = opts->gid,
				.max_bytes = opts->max_bytes,
				.kept = -1,
				.later = -1};
	*out = spool;
	return 0;
}

static void close_later(struct spool *spool)
{
	if (spool->later >= 0)
		close(spool->later);
	spool->later = -1;
}

/* Gives the current file to the worker as the next one. The spool's own file has no name after that. */
static int show_file(struct spool *spool, const char *name)
{
	int fd = openat(spool->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), error = fd < 0 ? -errno : 0;

	close_later(spool);
	if (name != spool->name) {
		unlinkat(spool->dirfd, name, 0);
		spool->later = error ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	if (!error)
		error = feed__file(spool->feed, fd, name == spool->name ? 0 : spool->before_ns);
	spool->told = 0;
	return error;
}

static void tell(struct spool *spool, uint64_t step)
{
	uint64_t end = end_of(spool->own ? spool->own : spool->trace);

	if (end < spool->told + step)
		return;
	feed__until(spool->feed, end);
	spool->told = end;
}

static uint64_t file_bytes(const struct spool *spool)
{
	return spool->max_bytes / 32 < LARGEST_FILE ? spool->max_bytes / 32 : LARGEST_FILE;
}

static uint64_t keep_bytes(const struct spool *spool)
{
	return spool->max_bytes / 4 < FEED_KEEP_BYTES ? spool->max_bytes / 4 : FEED_KEEP_BYTES;
}

/* Stops writing events to the trace. */
static int leave_trace(struct spool *spool)
{
	int error = trace_writer__flush(spool->trace);

	if (error)
		return error;
	tell(spool, 0);
	spool->trace_end = end_of(spool->trace);
	/* Removes a file that is left if a graind was killed between creating and removing it. */
	unlinkat(spool->dirfd, SPOOL_FILE, 0);
	error = trace_writer__create(spool->dirfd, SPOOL_FILE, NULL, &spool->own);
	return error ? error : show_file(spool, SPOOL_FILE);
}

/* The rest of the trace's half of the limit is for its lines. */
static bool is_full(const struct spool *spool)
{
	struct trace_writer_stats stats;

	trace_writer__stats(spool->trace, &stats);
	if (spool->amid)
		return stats.bytes >= spool->max_bytes / 2 + spool->max_bytes / 32;
	return stats.bytes >= spool->max_bytes / 2 || stats.events >= GRAPH_EVENTS;
}

static int start_feed(struct spool *spool)
{
	int error;

	/* If this fails, statistics are still made. */
	spool->kept = kept_regions__open(spool->dirfd);
	error = feed__new(spool->uid, spool->gid, spool->kept, spool->kept < 0 ? 0 : keep_bytes(spool),
			  &spool->feed);
	return error ? error : show_file(spool, spool->name);
}

static int look(struct spool *spool)
{
	int error = 0;

	if (!spool->feed) {
		struct trace_writer_stats stats;

		/*
		 * The worker starts early, so that it has little to catch up on when the trace is full. It
		 * is not started for a short program, as it needs a CPU for about as long as it took to
		 * write the events.
		 */
		trace_writer__stats(spool->trace, &stats);
		if (stats.bytes < spool->max_bytes / 16 && stats.events < GRAPH_EVENTS / 2)
			return 0;
		error = start_feed(spool);
	}
	if (!error && !spool->own && is_full(spool))
		error = leave_trace(spool);
	if (!error)
		tell(spool, STEP_BYTES);
	if (!error && spool->own && end_of(spool->own) >= file_bytes(spool)) {
		error = trace_writer__flush(spool->own);
		tell(spool, 0);
		if (!error)
			error = trace_writer__rotate(spool->own, spool->dirfd, SPOOL_FILE);
		if (!error)
			error = show_file(spool, SPOOL_FILE);
	}
	return error;
}

/* Returns how many bytes may be written before the worker has read more. */
static uint64_t room_for(const struct spool *spool)
{
	uint64_t reserved = 2 * file_bytes(spool) + keep_bytes(spool) + CHUNK_BYTES + spool->max_bytes / 16,
		 half = spool->max_bytes / 2;

	return half > reserved ? half - reserved : CHUNK_BYTES;
}

bool spool__has_room(const struct spool *spool)
{
	/* After a loss there must be more room than for the next event, as the gap also needs a mark. */
	return !spool->own || spool->error || feed__failed(spool->feed) ||
	       feed__backlog(spool->feed) <= (spool->skips ? room_for(spool) / 2 : room_for(spool));
}

void spool__waits(struct spool *spool, bool (*waits)(void *ctx), void *ctx)
{
	spool->waits = waits;
	spool->ctx = ctx;
}

/* While this waits, a process whose rings are full counts losses, or waits if the user asked for that. */
static void await_room(struct spool *spool, bool must)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	while (!must && !spool__has_room(spool) && spool->waits && spool->waits(spool->ctx))
		nanosleep(&nap, NULL);
	spool->skips = !must && !spool__has_room(spool);
	trace_writer__skip(spool->own, spool->skips);
}

void spool__round(struct spool *spool, uint64_t ns)
{
	spool->amid = ns == spool->round_ns;
	spool->round_ns = ns;
}

/* The time before the last one is used, because an interrupted probe may have written an event late. */
void spool__given(struct spool *spool, uint64_t ns)
{
	spool->before_ns = spool->given_ns;
	spool->given_ns = ns;
}

struct trace_writer *spool__writer(struct spool *spool, bool must)
{
	if (spool->error)
		return spool->own ? spool->own : spool->trace;
	spool->error = look(spool);
	if (!spool->error && spool->own) {
		await_room(spool, must);
		if (feed__failed(spool->feed))
			spool->error = -ECHILD;
	}
	if (spool->error) {
		log__line(LOG_WARNING, "a job's statistics end early: %s", strerror(-spool->error));
		trace_writer__refuse(spool->own ? spool->own : spool->trace, spool->error);
	}
	return spool->own ? spool->own : spool->trace;
}

void spool__flush(struct spool *spool)
{
	if (spool->own)
		trace_writer__flush(spool->own);
	if (spool->feed && !spool->error)
		tell(spool, 1);
}

uint64_t spool__dropped(const struct spool *spool)
{
	struct trace_writer_stats stats = {0};

	if (spool->own)
		trace_writer__stats(spool->own, &stats);
	return stats.dropped_events;
}

bool spool__folds(const struct spool *spool)
{
	return spool->own != NULL;
}

int spool__later(const struct spool *spool)
{
	return spool->later;
}

void spool__parted(struct spool *spool)
{
	spool->parted = true;
}

bool spool__is_parted(const struct spool *spool)
{
	return spool->parted;
}

/* The worker's text is trusted as little as the data that it read. */
static int take_lines(struct spool *spool, char *text, struct kept_regions *regions)
{
	char *rest;
	int error = 0;

	for (char *line = strtok_r(text, "\n", &rest); line && !error; line = strtok_r(NULL, "\n", &rest))
		if (!kept_regions__line(regions, line, &error))
			error = strncmp(line, "@folded", 7) == 0 ? trace_writer__text(spool->trace, line)
								 : -EBADMSG;
	return error;
}

/* If the regions cannot be taken, the statistics and the first part remain. */
static int take_regions(struct spool *spool, const struct kept_regions *regions)
{
	const char *why = NULL;
	int error = 0;

	if (spool->parted)
		why = "it was recorded in windows, for its ceiling";
	else if (spool->kept < 0)
		why = "there was no file for them";
	else
		error = kept_regions__append(regions, spool->kept, spool->max_bytes, spool->trace);
	if (error)
		why = error == -ENOSPC ? "they do not fit below the ceiling of bytes"
				       : "they could not be read";
	return why ? trace_writer__textf(spool->trace, "@folded unkept_why=\"%s\"", why) : 0;
}

/*
 * Waits at most `seconds` for the worker and takes its results. The worker may have read only a part of the
 * rest.
 */
static int conclude(struct spool *spool, unsigned int seconds)
{
	struct kept_regions *regions = calloc(1, sizeof(*regions));
	char *text = NULL;
	bool cut = false;
	int error = feed__finish(spool->feed, seconds, &text, &cut);

	spool->feed = NULL;
	/* The worker has read the contents of the last file. */
	trace_writer__abandon(spool->own);
	spool->own = NULL;
	close_later(spool);
	if (!error && !regions)
		error = -ENOMEM;
	if (!error)
		error = take_lines(spool, text, regions);
	if (!error && (cut || spool->error))
		error = trace_writer__text(spool->trace,
					   cut ? "@folded why=\"there was no time to read the rest\""
					       : "@folded why=\"not everything could be written or read\"");
	if (!error)
		error = take_regions(spool, regions);
	free(regions);
	free(text);
	return error;
}

int spool__finish(struct spool *spool, unsigned int seconds)
{
	int error = 0;

	spool__flush(spool);
	if (spool->feed && spool->own)
		error = conclude(spool, seconds);
	spool__free(spool);
	return error;
}

void spool__free(struct spool *spool)
{
	if (!spool)
		return;
	feed__free(spool->feed);
	trace_writer__abandon(spool->own);
	close_later(spool);
	if (spool->kept >= 0)
		close(spool->kept);
	free(spool);
}
