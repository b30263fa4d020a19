// SPDX-License-Identifier: BSD-2-Clause
/* The worker's side: gives up its rights before it looks at anything. */
#include "daemon/graind/worker.h"
#include "daemon/graind/feed.h"

#include "daemon/common/confine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_PRIORITY 19

static const struct confine_limits limits_of_most = {
	.cpu_seconds = 300,
	.memory_bytes = UINT64_C(4) << 30,
	.open_files = 4096,
};

/* Goes on for as long as its job does. */
static const struct confine_limits limits_of_fold = {
	.cpu_seconds = UINT64_MAX,
	.memory_bytes = UINT64_C(1) << 30,
	.open_files = 16,
	.file_bytes = FEED_KEEP_BYTES,
};

static const struct confine_limits limits_of_deliver = {
	.cpu_seconds = 60,
	.memory_bytes = UINT64_C(1) << 30,
	.open_files = 16,
	.file_bytes = UINT64_C(1) << 40,
};

/* Of many files; graind starts another one when it is used up. */
static const struct confine_limits limits_of_find = {
	.cpu_seconds = 60,
	.memory_bytes = UINT64_C(2) << 30,
	.open_files = 16,
};

static int confine(uid_t uid, gid_t gid, enum confine_calls calls, const struct confine_limits *limits)
{
	int error = confine__limit(limits);

	if (!error)
		error = confine__become(uid, gid);
	return error ? error : confine__filter(calls);
}

static int parse_id(const char *text, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || end == text || *end || *out > most ? -EINVAL : 0;
}

int worker__main(int argc, char **argv)
{
	const struct confine_limits *limits = &limits_of_most;
	enum confine_calls calls = CONFINE_READ_FILES;
	uint64_t uid, gid, job;
	bool deliver = argc == 8 && !strcmp(argv[1], WORKER_DELIVER);

	if ((argc != 5 && !deliver) || parse_id(argv[2], UINT32_MAX - 1, &uid) ||
	    parse_id(argv[3], UINT32_MAX - 1, &gid) || parse_id(argv[4], INT64_MAX, &job))
		return 2;
	if (write(STDOUT_FILENO, &(const char){WORKER_READY}, 1) != 1)
		return 125;
	/* Debug information lies in files beside; a trace is all there is to a summary. */
	if (!strcmp(argv[1], WORKER_SUMMARY) || !strcmp(argv[1], WORKER_GLANCE))
		calls = CONFINE_OPEN_FILES;
	/* Nobody waits for it. */
	if (!strcmp(argv[1], WORKER_GLANCE))
		setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
	if (!strcmp(argv[1], WORKER_FOLD)) {
		calls = CONFINE_RECEIVE_FILES;
		limits = &limits_of_fold;
	}
	if (!strcmp(argv[1], WORKER_FIND)) {
		calls = CONFINE_RECEIVE_FILES;
		limits = &limits_of_find;
	}
	if (deliver) {
		calls = CONFINE_WRITE_FILES;
		limits = &limits_of_deliver;
	}
	if (confine((uid_t)uid, (gid_t)gid, calls, limits) != 0)
		return 125;
	if (!strcmp(argv[1], WORKER_SYMBOLIZE))
		return worker__symbolize();
	if (!strcmp(argv[1], WORKER_PLAN))
		return worker__plan();
	if (!strcmp(argv[1], WORKER_BODIES))
		return worker__bodies(job);
	if (!strcmp(argv[1], WORKER_SUMMARY))
		return worker__summary(job);
	if (!strcmp(argv[1], WORKER_FOLD))
		return worker__fold();
	if (!strcmp(argv[1], WORKER_FIND))
		return worker__find();
	if (!strcmp(argv[1], WORKER_GLANCE))
		return worker__glance();
	if (!strcmp(argv[1], WORKER_COUNTERS))
		return worker__counters();
	if (!strcmp(argv[1], WORKER_MEMORY_EVENT))
		return worker__memory_event();
	if (deliver)
		return worker__deliver(argv[5], argv[6], argv[7]);
	return 2;
}
