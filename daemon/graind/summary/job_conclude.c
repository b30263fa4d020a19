// SPDX-License-Identifier: BSD-2-Clause
/* Finishes a job whose trace is complete: makes its summary and delivers it. */
#include "daemon/common/job_store/job_store.h"
#include "daemon/graind/summary/deliver.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/summary/job_conclude.h"
#include "daemon/graind/base/urgency.h"
#include "daemon/graind/worker/worker.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUMMARY_SECONDS 120
#define SUMMARY_MAX (64u << 20)

/* Writes the worker's object, with graind's own data at its beginning. */
static int write_summary(struct job *job, const char *text, size_t size)
{
	const char *object = memchr(text, '{', size);
	json_t *mpi = mpi_rank__json(&job->view.mpi);
	char *whole = NULL, *rank = mpi ? json_dumps(mpi, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	int length = -1, error;

	json_decref(mpi);
	if (rank && object)
		length = asprintf(&whole, "{\"batch\":\"%s\",\"mpi\":%s,%.*s", job->view.batch, rank,
				  (int)(size - (size_t)(object + 1 - text)), object + 1);
	free(rank);
	if (!object)
		return -EBADMSG;
	if (length < 0)
		return -ENOMEM;
	error = job_store__write_file(job->dirfd, SUMMARY_FILE, whole, (size_t)length);
	free(whole);
	return error;
}

/* Returns the worker's answer, or NULL with the reason in `why`. */
static json_t *summarize(struct job *job, char why[400])
{
	struct worker worker = {
		.work = WORKER_SUMMARY,
		.job = job->number,
		.uid = job->view.uid,
		.gid = job->process.gid,
		.seconds = job__patience(job, SUMMARY_SECONDS),
		.max_output = SUMMARY_MAX,
		.in_turn = true,
	};
	json_t *summary = NULL;
	const char *said;
	char *text;
	size_t size;
	int error = job_store__open_file(job->dirfd, TRACE_FILE, &worker.input);

	if (!error) {
		error = worker__run(&worker, &text, &size);
		close(worker.input);
	}
	if (error) {
		snprintf(why, 400, "analysing the trace failed: %s",
			 error == -ETIMEDOUT ? "it took too long"
			 : error == -ECHILD  ? "the worker ended early"
					     : strerror(-error));
		return NULL;
	}
	/* Counts may be too large for jansson's integers. */
	summary = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);
	said = json_string_value(json_object_get(summary, "error"));
	if (!json_is_object(summary) || said) {
		snprintf(why, 400, "analysing the trace failed: %.300s", said ? said : "no answer");
		json_decref(summary);
		summary = NULL;
	} else {
		error = write_summary(job, text, size);
		if (error)
			snprintf(why, 400, "cannot write " SUMMARY_FILE ": %s", strerror(-error));
	}
	free(text);
	return summary;
}

struct conclusion {
	const json_t *summary;
	const char *error; /* "": none */
};

static void show_conclusion(struct job_view *view, const void *ctx)
{
	const struct conclusion *conclusion = ctx;
	double seconds = (double)(view->end_ns - view->start_ns) / 1e9;

	if (conclusion->summary)
		job_view__take_summary(view, conclusion->summary);
	if (conclusion->error[0] && !view->error[0])
		snprintf(view->error, sizeof(view->error), "%s", conclusion->error);
	view->events_per_s = seconds > 0 ? (double)view->events / seconds : 0;
	view->state =
		view->events == 0 && view->error[0] && view->reason == JOB_EXIT ? JOB_FAILED : JOB_FINISHED;
}

void job__conclude(struct job *job, bool with_summary, int trace_error)
{
	struct conclusion conclusion;
	char why[400] = "";
	json_t *summary = NULL;
	enum urgency before;

	if (with_summary)
		summary = summarize(job, why);
	if (summary)
		deliver__job(job);
	if (trace_error)
		snprintf(why, sizeof(why), "the trace is incomplete: %s", strerror(-trace_error));
	conclusion = (struct conclusion){.summary = summary, .error = why};
	job__retire(job, show_conclusion, &conclusion);
	json_decref(summary);
	/* Returns the memory of a large summary to the system. */
	before = urgency__raise(URGENCY_LOOK);
	malloc_trim(0);
	urgency__set(before);
}
