// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/spool/kept_regions.h"

#include "analysis/fold/fold_regions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH 4096u

int kept_regions__open(int dirfd)
{
	int fd;

	/* Removes a file that is left if a graind was killed between creating and removing it. */
	unlinkat(dirfd, KEPT_REGIONS_FILE, 0);
	fd = openat(dirfd, KEPT_REGIONS_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	unlinkat(dirfd, KEPT_REGIONS_FILE, 0);
	return fd;
}

bool kept_regions__line(struct kept_regions *regions, const char *line, int *error)
{
	struct kept_region r;
	uint64_t after = regions->count ? regions->list[regions->count - 1].end_ns : regions->end_ns;
	int used = 0;

	*error = 0;
	if (strncmp(line, "@folded-part ", 13) == 0) {
		if (sscanf(line, "@folded-part begin_ns=%" SCNu64 " end_ns=%" SCNu64 " every=%" SCNu64 "%n",
			   &regions->begin_ns, &regions->end_ns, &regions->every, &used) != 3 ||
		    line[used] || regions->begin_ns > regions->end_ns || regions->count)
			*error = -EBADMSG;
		return true;
	}
	if (strncmp(line, "@folded-region ", 15) != 0)
		return false;
	if (sscanf(line,
		   "@folded-region begin_ns=%" SCNu64 " end_ns=%" SCNu64 " first=%" SCNu64 " count=%" SCNu64
		   " why=%" SCNu64 "%n",
		   &r.begin_ns, &r.end_ns, &r.first, &r.count, &r.why, &used) != 5 ||
	    line[used] || r.begin_ns <= after || r.end_ns < r.begin_ns || r.end_ns > INT64_MAX ||
	    r.first > INT32_MAX || r.count > INT32_MAX || regions->count == KEPT_REGIONS_MAX ||
	    !regions->end_ns)
		*error = -EBADMSG;
	else
		regions->list[regions->count++] = r;
	return true;
}

static int tell_window(struct trace_writer *trace, const struct kept_region *r, uint64_t every)
{
	char why[64] = "", step[40] = "";
	const struct {
		unsigned bit;
		const char *name;
	} names[] = {{FOLD_WHY_SLOWEST, "slowest"}, {FOLD_WHY_LAST, "last"}, {FOLD_WHY_EVERY, "every"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (r->why & names[i].bit)
			snprintf(why + strlen(why), sizeof(why) - strlen(why), "%s%s", why[0] ? "," : "",
				 names[i].name);
	if (r->why & FOLD_WHY_EVERY)
		snprintf(step, sizeof(step), " every=%" PRIu64, every);
	return trace_writer__textf(trace,
				   "@window begin_ns=%" PRIu64 " end_ns=%" PRIu64 " cost_ns=0 kept=%s%s",
				   r->begin_ns, r->end_ns, why[0] ? why : "last", step);
}

static bool are_of(const struct trace_event *events, size_t count, const struct kept_region *r)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].time_ns < r->begin_ns || events[i].time_ns > r->end_ns || !events[i].kind ||
		    events[i].kind >= TRACE_KIND_MAX)
			return false;
	return true;
}

static int read_all(int fd, uint64_t offset, void *to, size_t bytes)
{
	for (size_t have = 0; have < bytes;) {
		ssize_t n = pread(fd, (char *)to + have, bytes - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		have += (size_t)n;
	}
	return 0;
}

/* Whether the region fits even if its events must stay in the file while they are copied. */
static bool fits(const struct kept_region *r, int fd, uint64_t max_bytes, const struct trace_writer *trace)
{
	struct trace_writer_stats stats;
	struct stat st;

	trace_writer__stats(trace, &stats);
	return fstat(fd, &st) == 0 &&
	       stats.bytes + (uint64_t)st.st_size + r->count * TRACE_EVENT_COLUMN_BYTES <= max_bytes;
}

static int append(const struct kept_region *r, int fd, struct trace_event *events, bool *whole,
		  struct trace_writer *trace)
{
	int error = 0;

	for (uint64_t from = 0; from < r->count && !error; from += BATCH) {
		size_t n = r->count - from < BATCH ? r->count - from : BATCH;
		uint64_t offset = (r->first + from) * sizeof(*events);

		error = read_all(fd, offset, events, n * sizeof(*events));
		if (!error && !are_of(events, n, r))
			error = -EBADMSG;
		if (!error)
			error = trace_writer__events(trace, events, n);
		if (!error && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
					(off_t)(n * sizeof(*events))))
			*whole = true;
	}
	return error;
}

int kept_regions__append(const struct kept_regions *regions, int fd, uint64_t max_bytes,
			 struct trace_writer *trace)
{
	const struct kept_region *list = regions->list;
	struct trace_event *events = NULL;
	bool whole = false;
	int error = 0;

	if (!regions->end_ns)
		return 0;
	events = calloc(BATCH, sizeof(*events));
	if (!events)
		return -ENOMEM;
	error = trace_writer__textf(trace,
				    "@window begin_ns=%" PRIu64 " end_ns=%" PRIu64 " cost_ns=0 kept=first",
				    regions->begin_ns, regions->end_ns);
	for (size_t i = 0; i < regions->count && !error; i++) {
		if (whole && !fits(&list[i], fd, max_bytes, trace))
			error = -ENOSPC;
		/*
		 * The window is told first. If a region cannot be read to its end, the events that are
		 * already written are then in its own window.
		 */
		if (!error)
			error = tell_window(trace, &list[i], regions->every);
		if (!error)
			error = append(&list[i], fd, events, &whole, trace);
	}
	free(events);
	return error;
}
