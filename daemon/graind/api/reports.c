/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/graind/api/reports.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/limits/cpu_budget.h"
#include "daemon/graind/requests/job_requests.h"
#include "daemon/graind/requests/past_job.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/limits/turns.h"
#include "daemon/graind/worker/worker.h"
#include "daemon/common/programs/installed_file.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECONDS 60
#define MAX_BYTES (UINT64_C(128) << 20)
/* How many reports are made at a time. Each may take a CPU and 4 GiB of memory. */
#define AT_ONCE 4
#define RESERVED 1
#define AT_ONCE_OF_A_USER 2
/* The largest number of reports that are being made or sent. */
#define MOST 64
#define MOST_RESERVED 8
#define MOST_OF_A_USER 8

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

/* A report. It takes memory until it is sent. */
struct report {
	uid_t account;
	struct report *next;
};

static struct {
	pthread_once_t once;
	struct turns turns;
	pthread_mutex_t lock;
	struct report *first;
	size_t count;
	atomic_bool ended;
} making = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void init(void)
{
	turns__init(&making.turns, AT_ONCE, RESERVED, AT_ONCE_OF_A_USER, AT_ONCE_OF_A_USER);
}

static const char *type_of(const char *format)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(format, formats[i].name))
			return formats[i].type;
	return NULL;
}

/* Makes an entry for the account. NULL: the account has as many reports as it may. */
static struct report *add(uid_t account)
{
	struct report *report = calloc(1, sizeof(*report));
	size_t of_account = 0;

	if (!report)
		return NULL;
	report->account = account;
	pthread_mutex_lock(&making.lock);
	for (const struct report *other = making.first; other; other = other->next)
		of_account += other->account == account;
	if (account ? of_account < MOST_OF_A_USER &&
			      fair_share__allow(account, of_account,
						fair_share__left(MOST, making.count, MOST_RESERVED))
		    : making.count < MOST) {
		report->next = making.first;
		making.first = report;
		making.count++;
	} else {
		free(report);
		report = NULL;
	}
	pthread_mutex_unlock(&making.lock);
	return report;
}

void reports__sent(struct report *report)
{
	struct report **at = &making.first;

	if (!report)
		return;
	pthread_mutex_lock(&making.lock);
	while (*at != report)
		at = &(*at)->next;
	*at = report->next;
	making.count--;
	pthread_mutex_unlock(&making.lock);
	free(report);
}

void reports__end(void)
{
	atomic_store(&making.ended, true);
}

/* Reads the worker's message about its failure. The worker is not trusted: the message may be any text. */
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
	int error =
		file < 0 || complaints < 0 ? -errno : installed_file__find(RENDER_FILE, path, sizeof(path));

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

/* Finds the user whose rights the worker gets. */
static int owner_of(struct jobs *jobs, uint64_t number, uid_t peer, uid_t *owner, struct failure *failure)
{
	json_t *job;

	if (jobs__get(jobs, number, peer, &job, failure) != 0)
		return -1;
	*owner = (uid_t)json_integer_value(json_object_get(job, "uid"));
	json_decref(job);
	return 0;
}

/* Makes the report when it has its turn. */
static int make(struct worker *worker, uid_t account, const char *view, int *fd, struct failure *failure)
{
	struct turn turn;
	int error = turns__enter(&making.turns, account, &turn, SECONDS, &making.ended);

	if (error == -ECANCELED)
		return failure__set(failure, 503, "graind is ending");
	if (error == -EUSERS)
		return failure__set(failure, 503,
				    "%d reports of yours are being made; ask again when one is done",
				    AT_ONCE_OF_A_USER);
	if (error)
		return failure__set(
			failure, 503,
			"reports of others are being made since a minute; ask again, or make it with "
			"grainctl report %llu",
			(unsigned long long)worker->job);
	error = run(worker, view, fd, failure);
	turns__leave(&making.turns, &turn);
	return error;
}

int reports__make(struct jobs *jobs, uint64_t number, uid_t peer, const struct report_order *order,
		  struct answer *answer, struct failure *failure)
{
	const char *format = order->format ? order->format : formats[0].name;
	struct worker worker = {
		.work = format,
		.job = number,
		/* The trace is already open, so no group's rights are needed. */
		.gid = WORKER_NOBODY,
		.seconds = SECONDS,
		.max_output = MAX_BYTES,
		.unwanted = &making.ended,
		.unpaid = peer == 0,
	};
	uid_t account = account__of(peer);
	unsigned int wait;
	int error;

	pthread_once(&making.once, init);
	answer->type = type_of(format);
	if (!answer->type)
		return failure__set(
			failure, 400,
			"there is no such format; use svg, html, dot, graphml, json, csv, folded, "
			"groups or perfetto");
	if (owner_of(jobs, number, peer, &worker.uid, failure) != 0)
		return -1;
	if (peer && !cpu_budget__allows(CPU_OF_WORKERS, account, &wait))
		return failure__set(failure, 429, CPU_BUDGET_SPENT, wait);
	answer->report = add(account);
	if (!answer->report)
		return failure__set(
			failure, 503,
			"too many reports are being sent to you; read them first, then ask again");
	error = jobs__open_trace(jobs, number, peer, &worker.input, failure);
	if (!error) {
		error = make(&worker, account, order->view ? order->view : "", &answer->fd, failure);
		close(worker.input);
	}
	if (error) {
		reports__sent(answer->report);
		answer->report = NULL;
		answer->fd = -1;
	}
	return error;
}
