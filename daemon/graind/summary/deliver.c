// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/summary/deliver.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/worker/worker.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* If a file server hangs, it delays the end of the job for at most this time. */
#define SUMMARY_SECONDS 20
#define TRACE_SECONDS 120
#define ANSWER_MAX 1024

static void name_file(const struct job *job, const char *ending, char out[DELIVER_NAME])
{
	char host[65] = "", rank[32] = "";

	gethostname(host, sizeof(host) - 1);
	for (char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && (!strchr(".-_", *c) || c == host))
			*c = '_';
	if (job->view.mpi.known)
		snprintf(rank, sizeof(rank), "-rank%u", job->view.mpi.rank);
	snprintf(out, DELIVER_NAME, "%s%s-job%llu.%s", host[0] ? host : "localhost", rank,
		 (unsigned long long)job->number, ending);
}

/* Runs the worker. `why` is what the worker says, or the reason why it says nothing; "": all is well. */
static void run(struct job *job, const char *file, unsigned int seconds, const char *const *details,
		char why[400])
{
	struct worker worker = {
		.work = WORKER_DELIVER,
		.details = details,
		.job = job->number,
		.uid = job->view.uid,
		.gid = job->process.gid,
		.seconds = job__patience(job, seconds),
		.max_output = ANSWER_MAX,
	};
	char *answer = NULL;
	size_t size;
	int error = job_store__open_file(job->dirfd, file, &worker.input);

	why[0] = 0;
	if (!error) {
		error = worker__run(&worker, &answer, &size);
		close(worker.input);
	}
	if (error)
		snprintf(why, 400, "%s",
			 error == -ETIMEDOUT ? "it took too long"
			 : error == -ECHILD  ? "the process that writes it failed"
					     : strerror(-error));
	else
		snprintf(why, 400, "%.399s", answer);
	for (char *c = why; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	free(answer);
}

bool deliver__is_open(char why[400])
{
	char path[POLICY_PATH], *slash;
	struct statvfs fs;

	why[0] = 0;
	/* Two parts of the path need not exist yet: the user's own part, and what is made for a job. */
	if (!policy__report_directory("%u", path))
		return true;
	while (statvfs(path, &fs) != 0) {
		slash = strrchr(path, '/');
		if (!slash || slash == path)
			return true;
		*slash = 0;
	}
	if (!(fs.f_flag & ST_RDONLY))
		return true;
	snprintf(why, 400, "%.300s is read-only for graind", path);
	return false;
}

void deliver__job(struct job *job)
{
	static const struct {
		const char *file, *ending, *called;
		unsigned int seconds;
	} files[] = {{SUMMARY_FILE, "json", "summary", SUMMARY_SECONDS},
		     {TRACE_FILE, "grt", "trace", TRACE_SECONDS}};
	char directory[POLICY_PATH], cluster_job[DELIVER_NAME], name[DELIVER_NAME], why[400] = "", text[900];
	const char *const details[] = {directory, cluster_job, name, NULL};
	struct policy_limits limits;

	if (job->view.uid == 0 || !deliver__cluster_job(job->view.batch, &job->view.mpi, cluster_job) ||
	    !policy__report_directory(job->view.user, directory))
		return;
	policy__limits(&limits);
	for (size_t i = 0; i < (limits.report_traces ? 2 : 1) && !why[0]; i++) {
		name_file(job, files[i].ending, name);
		run(job, files[i].file, files[i].seconds, details, why);
		if (!why[0])
			continue;
		snprintf(text, sizeof(text), "its %s is not in report-directory, %.200s: %s", files[i].called,
			 directory, why);
		job__note(job, text);
	}
}
