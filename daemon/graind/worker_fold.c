// SPDX-License-Identifier: BSD-2-Clause
/*
 * Standard input is a socket over which ranges of trace files come (feed.h), each answered when it is read;
 * at its end the statistics of all of them go to standard output, as lines of a trace. Regions that are kept
 * are in a file that came before.
 */
#include "daemon/graind/feed.h"
#include "daemon/graind/worker.h"

#include "analysis/grain_fold.h"
#include "daemon/common/pass_fd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define MEMORY_BYTES (512ull << 20)

/* The file that comes with it takes the place of *fd. */
static bool receive(struct feed_range *range, int *fd)
{
	int file;
	ssize_t got = pass_fd__receive(STDIN_FILENO, range, sizeof(*range), &file);

	if (file >= 0) {
		if (*fd >= 0)
			close(*fd);
		*fd = file;
	}
	return got == (ssize_t)sizeof(*range);
}

int worker__fold(void)
{
	struct trace_folder *folder;
	struct feed_range range;
	int fd = -1, error = trace_folder__new(MEMORY_BYTES, &folder), failed;

	if (error)
		return 1;
	while (receive(&range, &fd)) {
		uint64_t reached = range.to;

		if (range.keep) {
			/* Without memory for them there are statistics all the same. */
			if (trace_folder__keep(folder, fd, range.keep))
				printf("@folded unkept_why=\"there was not enough memory\"\n");
			fd = -1;
			continue;
		}
		if (range.whole_ns)
			trace_folder__whole(folder, range.whole_ns);
		/* What cannot be read any more is answered all the same: nobody keeps it for us. */
		if (!error)
			error = trace_folder__range(folder, fd, range.from, range.to);
		if (!error)
			reached = trace_folder__reached(folder);
		if (write(STDIN_FILENO, &reached, sizeof(reached)) != (ssize_t)sizeof(reached))
			return 1;
	}
	failed = trace_folder__finish(folder, stdout);
	error = error ? error : failed;
	if (error)
		printf("@folded why=\"%s\"\n", error == -E2BIG
						       ? "more was open at a time than there was memory for"
						       : "a file could not be read");
	trace_folder__free(folder);
	return fflush(stdout) != 0;
}
