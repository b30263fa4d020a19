/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/graind/reports.h"
#include "daemon/graind/worker.h"
#include "daemon/common/beside.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECONDS 60
#define MAX_BYTES (UINT64_C(128) << 20)
/* Each may take a CPU and 4 GiB of memory. */
#define AT_ONCE 4
#define AT_ONCE_OF_A_USER 2

static const struct {
	const char *name, *type;
} formats[] = {
	{"svg", "image/svg+xml"},
	{"html", "text/html; charset=utf-8"},
	{"dot", "text/vnd.graphviz"},
	{"graphml", "application/graphml+xml"},
	{"json", "application/x-ndjson"},
	{"csv", "text/csv; charset=utf-8"},
	{"folded", "text/plain; charset=utf-8"},
	{"groups", "application/json"},
	{"perfetto", "application/vnd.google.protobuf"},
};

static struct {
	pthread_mutex_t lock;
	uid_t users[AT_ONCE];
	size_t count;
	atomic_bool ended;
} making = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *type_of(const char *format)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(format, formats[i].name))
			return formats[i].type;
	return NULL;
}

static int begin(uid_t peer, struct failure *failure)
{
	size_t others = 0, count;
	bool full;

	pthread_mutex_lock(&making.lock);
	count = making.count;
	for (size_t i = 0; i < making.count; i++)
		others += making.users[i] == peer;
	full = count == AT_ONCE || others == AT_ONCE_OF_A_USER || atomic_load(&making.ended);
	if (!full)
		making.users[making.count++] = peer;
	pthread_mutex_unlock(&making.lock);
	if (full)
		return failure__set(failure, 503, "%zu reports are being made; ask again when one is done",
				    count);
	return 0;
}

static void finish(uid_t peer)
{
	size_t i = 0;

	pthread_mutex_lock(&making.lock);
	while (making.users[i] != peer)
		i++;
	making.users[i] = making.users[--making.count];
	pthread_mutex_unlock(&making.lock);
}

void reports__end(void)
{
	atomic_store(&making.ended, true);
}

/* What the worker said of its failure; nothing of it is believed but that it is text. */
static bool tell(int complaints, uint64_t number, struct failure *failure)
{
	char text[RENDER_SAYS_MAX];
	ssize_t length = pread(complaints, text, sizeof(text) - 1, 0);

	if (length < 2 || (text[0] != RENDER_REFUSES && text[0] != RENDER_FAILS))
		return false;
	text[length] = 0;
	for (char *c = text + 1; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (text[0] == RENDER_REFUSES)
		failure__set(failure, 400, "%.500s", text + 1);
	else
		failure__set(failure, 422, "no report of job %llu: %.500s", (unsigned long long)number,
			     text + 1);
	return true;
}

static void explain(int error, int complaints, uint64_t number, struct failure *failure)
{
	unsigned long long job = number;

	if (error == -ECHILD && tell(complaints, number, failure))
		return;
	if (error == -ETIMEDOUT)
		failure__set(
			failure, 504,
			"the report of job %llu takes more than %d s; grainctl report %llu takes its time",
			job, SECONDS, job);
	else if (error == -EFBIG)
		failure__set(failure, 422,
			     "the report of job %llu is larger than %llu MiB; grainctl report %llu writes it",
			     job, (unsigned long long)(MAX_BYTES >> 20), job);
	else if (error == -ECHILD)
		failure__set(failure, 500, "making the report of job %llu failed: the worker ended early",
			     job);
	else if (error == -ENOENT)
		failure__set(failure, 503,
			     "there is no " RENDER_FILE " beside graind; grainctl report %llu does "
			     "without",
			     job);
	else if (error == -ECANCELED)
		failure__set(failure, 503, "graind is ending");
	else
		failure__set(failure, 503, "cannot make the report of job %llu: %s", job, strerror(-error));
}

static int run(struct worker *worker, const char *view, int *fd, struct failure *failure)
{
	int file = memfd_create("graind-report", MFD_CLOEXEC);
	int complaints = memfd_create("graind-render-says", MFD_CLOEXEC);
	char path[PATH_MAX], number[16];
	const char *details[] = {view, number, NULL};
	int error = file < 0 || complaints < 0 ? -errno : beside__find(RENDER_FILE, path, sizeof(path));

	if (!error) {
		snprintf(number, sizeof(number), "%d", complaints);
		worker->program = path;
		worker->details = details;
		worker->keep = &complaints;
		worker->keep_count = 1;
		error = worker__run_into(worker, file);
	}
	if (error)
		explain(error, complaints, worker->job, failure);
	if (complaints >= 0)
		close(complaints);
	if (error && file >= 0)
		close(file);
	*fd = file;
	return error ? -1 : 0;
}

/* Whose rights the worker gets. */
static int owner_of(struct jobs *jobs, uint64_t number, uid_t peer, uid_t *owner, struct failure *failure)
{
	json_t *job;

	if (jobs__get(jobs, number, peer, &job, failure) != 0)
		return -1;
	*owner = (uid_t)json_integer_value(json_object_get(job, "uid"));
	json_decref(job);
	return 0;
}

int reports__make(struct jobs *jobs, uint64_t number, uid_t peer, const struct report_order *order, int *fd,
		  const char **type, struct failure *failure)
{
	const char *format = order->format ? order->format : formats[0].name;
	struct worker worker = {
		.work = format,
		.job = number,
		/* The trace is open: no group's rights are needed. */
		.gid = WORKER_NOBODY,
		.seconds = SECONDS,
		.max_output = MAX_BYTES,
		.unwanted = &making.ended,
	};
	int error;

	*type = type_of(format);
	if (!*type)
		return failure__set(
			failure, 400,
			"there is no such format; use svg, html, dot, graphml, json, csv, folded, "
			"groups or perfetto");
	if (owner_of(jobs, number, peer, &worker.uid, failure) != 0 ||
	    jobs__open_trace(jobs, number, peer, &worker.input, failure) != 0)
		return -1;
	error = begin(peer, failure);
	if (!error) {
		error = run(&worker, order->view ? order->view : "", fd, failure);
		finish(peer);
	}
	close(worker.input);
	return error;
}
