// SPDX-License-Identifier: BSD-2-Clause
/*
 * Standard input is a socket. Ranges of trace files come over it (feed.h), and each is answered when it has
 * been read. At the end of input, the statistics of all ranges go to standard output as lines of a trace.
 * The events of kept regions go to a file that came before the ranges.
 */
#include "daemon/graind/spool/feed.h"

#include "analysis/include/grain_fold.h"
#include "daemon/common/process/pass_fd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define MEMORY_BYTES (512ull << 20)

/* If a file comes with the range, it replaces *fd. */
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
			/* If there is no memory for regions, statistics are still made. */
			if (trace_folder__keep(folder, fd, range.keep))
				printf("@folded unkept_why=\"there was not enough memory\"\n");
			fd = -1;
			continue;
		}
		if (range.whole_ns)
			trace_folder__whole(folder, range.whole_ns);
		/*
		 * A range that cannot be read is also answered: its bytes are not kept for a second
		 * attempt.
		 */
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
