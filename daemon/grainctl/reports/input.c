/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/reports/input.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/grainctl/files/output_file.h"
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/terminal/progress.h"
#include "daemon/grainctl/files/recording_owner.h"
#include "daemon/grainctl/client/server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void name_after(const char *path, char name[NAME_MAX])
{
	const char *slash = strrchr(path, '/');
	char *dot;

	snprintf(name, NAME_MAX, "%s", slash ? slash + 1 : path);
	dot = strrchr(name, '.');
	if (dot && dot != name)
		*dot = 0;
}

static enum ctl_exit open_file(struct ctl *ctl, const char *path, struct input *input)
{
	struct stat status;

	if ((size_t)snprintf(input->path, sizeof(input->path), "%s", path) >= sizeof(input->path))
		return ctl__fail(ctl, CTL_FAILED, "%.200s...: the name is too long", path);
	/* Opening a pipe without a writer must not block. */
	input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (input->fd < 0 || fstat(input->fd, &status) < 0)
		return ctl__fail(ctl, errno == EACCES ? CTL_DENIED : CTL_FAILED, "%s: %s%s", path,
				 strerror(errno),
				 errno == ENOENT ? "; give a trace, an event log or a job's number" : "");
	if (!S_ISREG(status.st_mode)) {
		close(input->fd);
		return ctl__fail(ctl, CTL_FAILED, "%s is %s; give a trace or an event log", path,
				 S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
	}
	input->owner = recording_owner__of_file(ctl, &status);
	name_after(path, input->name);
	return CTL_DONE;
}

static enum ctl_exit download(struct ctl *ctl, const char *socket, struct input *input)
{
	char request[64], why[512];
	enum ctl_exit result;
	FILE *file;
	int error = scratch_file__create(&file);

	if (error)
		return ctl__fail(ctl, CTL_FAILED, "cannot make a temporary file: %s; set TMPDIR",
				 strerror(-error));
	snprintf(request, sizeof(request), "/v1/jobs/%llu/trace", (unsigned long long)input->job);
	result = server__download(socket, request, file, why);
	if (result == CTL_DONE &&
	    (fflush(file) || (input->fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0)) < 0)) {
		snprintf(why, sizeof(why), "cannot keep a copy of the trace: %s; set TMPDIR",
			 strerror(errno));
		result = CTL_FAILED;
	}
	fclose(file);
	return result == CTL_DONE ? CTL_DONE : (enum ctl_exit)ctl__fail(ctl, result, "%s", why);
}

/* Opens a stored trace through the store, which follows no links. */
static int open_stored(const struct ctl *ctl, struct input *input)
{
	int directory, error;

	if (!ctl->store)
		return ctl->store_error;
	error = job_store__open_job(ctl->store, input->job, &directory, NULL);
	if (error)
		return error;
	error = job_store__open_file(directory, TRACE_FILE, &input->fd);
	close(directory);
	return error;
}

static enum ctl_exit open_job(struct ctl *ctl, struct input *input)
{
	unsigned long long number = input->job;
	char socket[108], why[512];
	json_t *json = NULL;
	struct job job;
	enum ctl_exit result = job__find(ctl, input->job, &json, socket, why);
	int error;

	if (result != CTL_DONE)
		return ctl__fail(ctl, result, "%s", why);
	snprintf(input->name, sizeof(input->name), "job-%llu", number);
	if (job__parse(json, &job)) {
		input->partial = strcmp(job.state, "finished") != 0;
		if (!job__is_over(&job))
			ctl__say(ctl, "job %llu still runs: this is its trace so far", number);
		else if (!strcmp(job.state, "failed"))
			ctl__say(ctl, "job %llu failed: %s", number, job.error);
	}
	input->owner = recording_owner__of_job(ctl, input->job, json, socket[0] != 0);
	json_decref(json);
	if ((size_t)snprintf(input->path, sizeof(input->path), "%s/jobs/%llu/" TRACE_FILE, ctl->state_dir,
			     number) >= sizeof(input->path))
		return ctl__fail(ctl, CTL_FAILED, "the state directory's path is too long");
	error = open_stored(ctl, input);
	if (!error)
		return CTL_DONE;
	if (socket[0] == 0 && server__reachable(ctl->socket) == 0)
		snprintf(socket, sizeof(socket), "%s", ctl->socket);
	if (socket[0] == 0)
		return ctl__fail(ctl, error == -EACCES ? CTL_DENIED : CTL_FAILED, "%s: %s", input->path,
				 error == -EBADMSG ? "this is not the file that graind wrote"
						   : strerror(-error));
	return download(ctl, socket, input);
}

enum ctl_exit input__open(struct ctl *ctl, const char *argument, bool only_files, struct input *out)
{
	struct input input = {.fd = -1};
	enum ctl_exit result;

	if (!only_files && ctl__parse_number(argument, INT64_MAX, &input.job))
		result = open_job(ctl, &input);
	else
		result = open_file(ctl, argument, &input);
	if (result == CTL_DONE)
		*out = input;
	return result;
}

void input__close(struct input *input)
{
	if (input->fd >= 0)
		close(input->fd);
}

enum ctl_exit input__load(struct ctl *ctl, const struct input *input, const struct grain_load_opts *wanted,
			  struct grain_graph **out)
{
	struct progress progress;
	struct grain_load_opts opts = *wanted;
	struct grain_error error = {""};
	int result;

	opts.keep_going |= input->partial;
	opts.progress = progress__update;
	opts.progress_ctx = &progress;
	progress__start(&progress, "analysing");
	result = grain_graph__load_fd(input->fd, input->path, &opts, out, &error);
	progress__end(&progress);
	if (!result)
		return CTL_DONE;
	return ctl__fail(ctl, result == -EACCES ? CTL_DENIED : CTL_FAILED, "%s",
			 error.text[0] ? error.text : strerror(-result));
}
