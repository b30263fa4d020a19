// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/attach.h"
#include "daemon/graind/plan_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int attach__find(pid_t pid, struct runtime_file runtimes[ATTACH_MAX_RUNTIMES], struct failure *failure)
{
	struct uprobes_error err = {.text = ""};
	int found = runtime_find__in_process(pid, runtimes, ATTACH_MAX_RUNTIMES, &err);

	if (found == -ESRCH)
		return failure__set(failure, 422, "process %d has ended", (int)pid);
	if (found < 0)
		return failure__set(failure, 503, "%s", err.text);
	return found;
}

const char *attach__name(const struct runtime_file *runtimes, int count)
{
	bool gomp = false, omp = false;

	for (int i = 0; i < count; i++) {
		gomp |= runtimes[i].runtime == RUNTIME_LIBGOMP;
		omp |= runtimes[i].runtime == RUNTIME_LIBOMP;
	}
	return gomp && omp ? "libgomp+libomp" : omp ? "libomp" : "libgomp";
}

int attach__system(struct runtime_file runtimes[2])
{
	static const enum probe_runtime all[] = {RUNTIME_LIBGOMP, RUNTIME_LIBOMP};
	int count = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct runtime_file *file = &runtimes[count];
		struct stat st;

		if (runtime_find__system_of(all[i], file->path, sizeof(file->path)) != 0 ||
		    stat(file->path, &st) != 0)
			continue;
		snprintf(file->opened, sizeof(file->opened), "%s", file->path);
		file->device = st.st_dev;
		file->inode = st.st_ino;
		file->runtime = all[i];
		count++;
	}
	return count;
}

/* What the caller can do something about, or this machine cannot. */
static int status_of(int error)
{
	return error == -ENOTSUP || error == -ENOEXEC || error == -ENOENT || error == -ESRCH ? 422 : 503;
}

int attach__add(struct capture *capture, const struct runtime_file *runtime, bool *bodies,
		struct failure *failure)
{
	struct uprobes_error err = {.text = ""};
	struct cached_plan *plan = NULL;
	struct stat st;
	char path[64];
	int error, fd;

	/* Planning and attaching see the same file, whatever its name leads to by then. */
	fd = open(runtime->opened, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_ino != runtime->inode) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return failure__set(failure, 422, "cannot open the runtime %.300s: %s", runtime->path,
				    fd < 0 ? strerror(error) : "the file was replaced");
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = plan_cache__get(fd, runtime->path, &plan, &err);
	if (!error)
		error = capture__attach(capture, cached_plan__plan(plan), path, &err);
	if (!error)
		*bodies = probe_plan__needs_bodies(cached_plan__plan(plan));
	plan_cache__put(plan);
	close(fd);
	if (error)
		return failure__set(failure, status_of(error), "%s",
				    err.text[0] ? err.text : strerror(-error));
	return 0;
}

int attach__open(bool several, const struct job *job, struct attachment *out, struct failure *failure)
{
	const struct capture_opts opts = {.several = several,
					  /* Those of the system are attached at once. */
					  .ready = job->samples_only || job->fast
							   ? 0
							   : 1u << RUNTIME_LIBGOMP | 1u << RUNTIME_LIBOMP,
					  .method = CAPTURE_AUTO,
					  .scheduler = !job->samples_only,
					  .whole_processes = job->fast,
					  .counters = job->fast ? NULL : job->counters,
					  .sample_hz = job->sample_hz,
					  .memory_event = job->memory_event};
	struct uprobes_error err = {.text = ""};
	struct attachment made = {0};
	int error = capture__open(&opts, &made.capture, &err);

	if (error)
		return failure__set(failure, 503, "%s", err.text[0] ? err.text : strerror(-error));
	/* Without it the costs are absent in the report, which says so. */
	if (job->samples_only || capture__calibrate(made.capture, &made.ns_per_event) != 0)
		made.ns_per_event = 0;
	*out = made;
	return 0;
}

void attach__describe(const struct capture *capture, struct recorder_capture *out)
{
	out->method = capture__method_name(capture);
	out->scheduler_absent = capture__scheduler_absent(capture);
	out->counters = capture__counters(capture);
	capture__sampling(capture, &out->sampling);
	capture__accesses(capture, &out->accesses);
}

void attach__tell_shares(const struct capture *capture, struct recorder *recorder)
{
	const struct counter_set *set = capture__counters(capture);

	for (size_t i = 0; i < set->counter_count && !set->counters[i].absent[0]; i++)
		recorder__share(recorder, i, capture__counter_share(capture, i));
}
