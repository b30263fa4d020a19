/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/merge/merge_input.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/common/process/read_all.h"
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/client/jobs_list.h"
#include "daemon/grainctl/client/server.h"
#include "daemon/grainctl/terminal/text.h"

#include "analysis/trace/trace_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* graind's summaries are never larger. */
#define MOST_BYTES (64u << 20)
#define MOST_GENERATIONS 1000

/* ---- files -------------------------------------------------------------- */

/* Reads a summary. 0, or a negative errno with the reason in *why; "": the errno says enough. */
static int read_summary(int fd, json_t **out, const char **why)
{
	struct stat st;
	char *text = NULL;
	size_t used = 0;
	int error = 0;

	*why = "";
	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		*why = "no regular file";
		return -EBADMSG;
	}
	if (st.st_size > (off_t)MOST_BYTES) {
		*why = "larger than any summary";
		return -EFBIG;
	}
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	if (!error)
		error = read_all(fd, text, (size_t)st.st_size, &used);
	if (!error) {
		*out = json_loadb(text, used, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
		if (!json_is_object(*out)) {
			*why = used >= 8 && !memcmp(text, TRACE_MAGIC, 8)
				       ? "a trace; give its job, or that job's summary.json"
				       : "no JSON object";
			json_decref(*out);
			error = -EBADMSG;
		}
	}
	free(text);
	return error;
}

/* Adds the summary in an open file. Takes ownership of `fd`, which may also be a negative errno. */
static int add_open(struct merge *merge, int fd, const char *name)
{
	json_t *summary = NULL;
	const char *why = "";
	char from[PATH_MAX];
	int error = fd;

	text__clean(from, sizeof(from), name);
	if (fd >= 0) {
		error = read_summary(fd, &summary, &why);
		close(fd);
	}
	if (error) {
		return error == -ENOMEM ? error
					: merge__leave_out(merge, from, *why ? why : strerror(-error));
	}
	error = merge__add(merge, summary, from);
	json_decref(summary);
	return error;
}

static int open_flags(int at, const char *path, int flags)
{
	/* Opening a pipe without a writer must not block. */
	int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);

	return fd < 0 ? -errno : fd;
}

static int is_summary_name(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 && !strcmp(entry->d_name + length - 5, ".json");
}

static int add_directory(struct merge *merge, int fd, const char *path)
{
	struct dirent **entries = NULL;
	int count = scandirat(fd, ".", &entries, is_summary_name, alphasort), error = 0;
	char from[PATH_MAX];

	if (count < 0)
		error = -errno;
	for (int i = 0; i < count; i++) {
		snprintf(from, sizeof(from), "%s/%s", path, entries[i]->d_name);
		if (!error)
			error = add_open(merge, open_flags(fd, entries[i]->d_name, O_NOFOLLOW), from);
		free(entries[i]);
	}
	free(entries);
	if (count == 0) {
		text__clean(from, sizeof(from), path);
		error = merge__leave_out(merge, from,
					 "no summaries (*.json) in it; of report-directory give the "
					 "directory of one job");
	}
	return error;
}

int merge_input__add_path(struct merge *merge, const char *path)
{
	int fd = open_flags(AT_FDCWD, path, 0), error;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode))
		return add_open(merge, fd, path);
	error = add_directory(merge, fd, path);
	close(fd);
	return error;
}

/* ---- jobs --------------------------------------------------------------- */

static uint64_t number_of(const json_t *job, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(job, key));

	return value > 0 ? (uint64_t)value : 0;
}

static const json_t *find(const json_t *list, uint64_t number)
{
	const json_t *job;
	size_t i;

	json_array_foreach(list, i, job)
	{
		if (number_of(job, "job") == number)
			return job;
	}
	return NULL;
}

static bool is_rank(const json_t *job)
{
	return json_is_object(json_object_get(job, "mpi"));
}

static bool comes_from(const json_t *list, const json_t *job, uint64_t root)
{
	for (int depth = 0; job && depth < MOST_GENERATIONS; depth++) {
		uint64_t parent = number_of(job, "parent_job");

		if (!parent || parent >= number_of(job, "job"))
			return false;
		if (parent == root)
			return true;
		job = find(list, parent);
	}
	return false;
}

/* Whether the job belongs to this batch job: the names are equal, with or without the step. */
static bool is_of_batch(const json_t *job, const char *batch)
{
	const char *name = json_string_value(json_object_get(job, "batch"));
	size_t length = strlen(batch);

	return name && *batch && !strncmp(name, batch, length) &&
	       (!name[length] || (name[length] == '.' && !strncmp(batch, "slurm:", 6)));
}

static int add_job(struct merge *merge, const struct ctl *ctl, const json_t *entry)
{
	char from[64], path[64], why[512] = "";
	json_t *summary = NULL;
	struct job job;
	int error, directory, fd;

	if (!job__parse(entry, &job))
		return 0;
	snprintf(from, sizeof(from), "job %llu", (unsigned long long)job.number);
	if (!job__is_over(&job))
		return merge__leave_out(merge, from, "still runs; wait for its end, or detach it first");
	error = ctl->store ? job_store__open_job(ctl->store, job.number, &directory, NULL) : ctl->store_error;
	if (!error) {
		error = job_store__open_file(directory, SUMMARY_FILE, &fd);
		close(directory);
	}
	if (!error)
		return add_open(merge, fd, from);
	snprintf(path, sizeof(path), "/v1/jobs/%llu/summary", (unsigned long long)job.number);
	if (job.error[0] && error == -ENOENT)
		snprintf(why, sizeof(why), "no summary: %s", job.error);
	else if (server__call(ctl->socket, "GET", path, NULL, &summary, why) == CTL_DONE && summary)
		error = merge__add(merge, summary, from);
	json_decref(summary);
	if (!why[0])
		return error == -ENOMEM ? error : 0;
	return merge__leave_out(merge, from, why);
}

int merge_input__add_jobs(struct merge *merge, const struct ctl *ctl, const uint64_t *numbers, size_t count,
			  const char *batch)
{
	json_t *list = json_array();
	bool any = false;
	char why[512];
	const json_t *job;
	size_t i;
	int error = list ? 0 : -ENOMEM;

	jobs_list__add_served(ctl, true, list, why);
	jobs_list__add_stored(ctl, true, list);
	for (size_t k = 0; !error && k < count; k++) {
		bool ranks = false;

		json_array_foreach(list, i, job)
		{
			if (error || !is_rank(job) || !comes_from(list, job, numbers[k]))
				continue;
			error = add_job(merge, ctl, job);
			ranks = true;
		}
		job = find(list, numbers[k]);
		if (error || (ranks && job && !is_rank(job)))
			continue;
		snprintf(why, sizeof(why), "job %llu", (unsigned long long)numbers[k]);
		if (!job)
			error = merge__leave_out(merge, why, "not there; grainctl jobs --all lists yours");
		else if (!is_rank(job))
			error = merge__leave_out(merge, why, "no rank of an MPI job, nor is what it started");
		else
			error = add_job(merge, ctl, job);
	}
	json_array_foreach(list, i, job)
	{
		if (error || !batch || !is_rank(job) || !is_of_batch(job, batch))
			continue;
		error = add_job(merge, ctl, job);
		any = true;
	}
	if (!error && batch && !any) {
		char clean[256];

		text__clean(clean, sizeof(clean), batch);
		error = merge__leave_out(merge, clean,
					 "no ranks among the jobs here; grainctl jobs --all --json "
					 "names the batch jobs");
	}
	json_decref(list);
	return error;
}
