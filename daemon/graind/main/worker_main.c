// SPDX-License-Identifier: BSD-2-Clause
/* The worker's side: gives up its rights before it looks at any data. */
#include "daemon/graind/main/worker_main.h"
#include "daemon/graind/worker/counter_names.h"
#include "daemon/graind/summary/deliver.h"
#include "daemon/graind/spool/feed.h"
#include "daemon/graind/worker/runtime_finders.h"
#include "daemon/graind/summary/live_analysis.h"
#include "daemon/graind/summary/job_conclude.h"
#include "daemon/graind/plan/plan_maker.h"
#include "daemon/graind/symbols/symbols.h"
#include "daemon/graind/worker/worker.h"

#include "daemon/common/process/confine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A lower priority for work that can wait. Nobody waits for the live analysis. */
#define LATER_NICE 5
#define LEAST_NICE 19

static const struct confine_limits limits_of_most = {
	.cpu_seconds = 300,
	.memory_bytes = UINT64_C(4) << 30,
	.open_files = 4096,
};

/* This worker runs as long as its job. */
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

/* These limits are for many files. graind starts another worker when the limits of this one are used up. */
static const struct confine_limits limits_of_find = {
	.cpu_seconds = 60,
	.memory_bytes = UINT64_C(2) << 30,
	.open_files = 16,
};

/* The file is mapped, and the results are small. */
static const struct confine_limits limits_of_plan = {
	.cpu_seconds = 20,
	.memory_bytes = UINT64_C(4) << 30,
	.data_bytes = UINT64_C(768) << 20,
	.open_files = 64,
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

/* Each kind of work, and how its worker is confined. `run_of` gets the number in argv[4]. */
static const struct work {
	const char *name;
	enum confine_calls calls;
	const struct confine_limits *limits;
	int nice;
	int (*run)(void);
	int (*run_of)(uint64_t number);
} works[] = {
	/* Debug information is in separate files, but a summary needs only the trace. */
	{WORKER_SYMBOLIZE, CONFINE_READ_FILES, &limits_of_most, LATER_NICE, worker__symbolize, NULL},
	{WORKER_SUMMARY, CONFINE_OPEN_FILES, &limits_of_most, LATER_NICE, NULL, worker__summary},
	{WORKER_LIVE_ANALYSIS, CONFINE_OPEN_FILES, &limits_of_most, LEAST_NICE, worker__live_analysis, NULL},
	{WORKER_PLAN, CONFINE_READ_FILES, &limits_of_plan, 0, worker__plan, NULL},
	{WORKER_BODIES, CONFINE_READ_FILES, &limits_of_plan, 0, NULL, worker__bodies},
	{WORKER_LOOPS, CONFINE_READ_FILES, &limits_of_plan, 0, worker__loops, NULL},
	{WORKER_COUNTERS, CONFINE_READ_FILES, &limits_of_most, 0, worker__counters, NULL},
	{WORKER_MEMORY_EVENT, CONFINE_READ_FILES, &limits_of_most, 0, worker__memory_event, NULL},
	{WORKER_FOLD, CONFINE_RECEIVE_FILES, &limits_of_fold, 0, worker__fold, NULL},
	{WORKER_FIND, CONFINE_RECEIVE_FILES, &limits_of_find, 0, worker__find, NULL},
	{WORKER_DELIVER, CONFINE_WRITE_FILES, &limits_of_deliver, 0, NULL, NULL},
	{.name = WORKER_KILL}, /* this worker only takes the user's rights */
};

static const struct work *find_work(const char *name)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (!strcmp(works[i].name, name))
			return &works[i];
	return NULL;
}

bool worker__has(const char *work)
{
	return find_work(work) != NULL;
}

int worker__main(int argc, char **argv)
{
	const struct work *work = find_work(argv[1]);
	uint64_t uid, gid, number;
	bool deliver = argc == 8 && !strcmp(argv[1], WORKER_DELIVER);

	if ((argc != 5 && !deliver) || parse_id(argv[2], UINT32_MAX - 1, &uid) ||
	    parse_id(argv[3], UINT32_MAX - 1, &gid) || parse_id(argv[4], INT64_MAX, &number))
		return 2;
	pthread_setname_np(pthread_self(), "graind-worker");
	if (write(STDOUT_FILENO, &(const char){WORKER_READY}, 1) != 1)
		return 125;
	confine__give_way(work->nice);
	if (!strcmp(argv[1], WORKER_KILL))
		return confine__become((uid_t)uid, (gid_t)gid) || kill((pid_t)number, SIGKILL) ? 125 : 0;
	if (confine((uid_t)uid, (gid_t)gid, work->calls, work->limits) != 0)
		return 125;
	if (work->run)
		return work->run();
	if (work->run_of)
		return work->run_of(number);
	return deliver ? worker__deliver(argv[5], argv[6], argv[7]) : 2;
}
