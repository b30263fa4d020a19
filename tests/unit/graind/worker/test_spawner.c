// SPDX-License-Identifier: BSD-2-Clause
/* What is made in threads that have descriptors of their own. */
#include "daemon/graind/worker/spawner.h"
#include "tests/unit/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define MANY 300

struct seen {
	size_t count, open, copied, above;
	int highest; /* of those that are copied */
	int other;   /* that is not to be open there */
	bool alone;
};

static size_t count_open(void)
{
	DIR *directory = opendir("/proc/thread-self/fd");
	size_t count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count - 3; /* . .. and its own */
}

static int look(void *ctx, const int *copies)
{
	struct seen *seen = ctx;

	seen->open = count_open();
	for (size_t i = 0; i < seen->count; i++) {
		seen->above += copies[i] > seen->highest;
		seen->copied += fcntl(copies[i], F_GETFD) == FD_CLOEXEC;
	}
	return 7;
}

static int look_at_end(void *ctx, const int *copies)
{
	struct seen *seen = ctx;

	seen->alone = fcntl(seen->other, F_GETFD) < 0 && errno == EBADF && copies[0] > seen->other;
	return 0;
}

static void test_copies(size_t count)
{
	int *fds = calloc(count, sizeof(*fds));
	struct seen seen = {.count = count, .highest = 2};

	for (size_t i = 0; i < count; i++) {
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		seen.highest = fds[i] > seen.highest ? fds[i] : seen.highest;
	}
	CHECK(spawner__run(look, &seen, fds, count) == 7, "%zu: the answer is that of what ran there", count);
	CHECK(seen.copied == count, "%zu: it has copies of all, closed on exec: %zu", count, seen.copied);
	CHECK(seen.above == count, "%zu: out of the way of those that they are of", count);
	CHECK(seen.open == count + 4, "%zu: and nothing else but the standard ones and its socket: %zu",
	      count, seen.open);
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	free(fds);
}

int main(void)
{
	struct seen seen = {.count = 1};
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2], bad = 1000;

	CHECK(spawner__run(look, &seen, &input, 1) == -ESRCH, "without a spawner nothing is made");
	CHECK(spawner__start() == 0, "it begins");
	CHECK(pipe(ends) == 0, "a pipe");
	seen.other = ends[1];
	CHECK(spawner__run(look_at_end, &seen, (int[]){ends[1]}, 1) == 0 && seen.alone,
	      "what is open here is not open there");
	close(ends[1]);
	CHECK(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 20000) == 1,
	      "whoever closes it has closed it for good");
	test_copies(1);
	test_copies(3);
	test_copies(MANY);
	test_copies(2);
	CHECK(spawner__run(look, &seen, &bad, 1) == -EBADF, "what is not open cannot be copied");
	close(ends[0]);
	close(input);
	CHECK_DONE();
}
